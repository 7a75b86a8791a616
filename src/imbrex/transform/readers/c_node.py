"""libclang's cursors and types, each asked once.

A reader looks at every expression several times, and each question to libclang through ctypes
costs microseconds. A node keeps the answers; it delegates what is rarely asked to its cursor.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, NamedTuple

from clang.cindex import Cursor, CursorKind, LinkageKind, TypeKind

from imbrex.transform.readers import c_calls

_KINDS: dict[int, Any] = {kind.value: kind for kind in CursorKind.get_all_kinds()}
_EXPRESSIONS_WITHOUT_EFFECT = frozenset({CursorKind.TYPE_REF, CursorKind.NAMESPACE_REF})
_LEAVES = frozenset(
    {
        CursorKind.INTEGER_LITERAL,
        CursorKind.FLOATING_LITERAL,
        CursorKind.CHARACTER_LITERAL,
        CursorKind.STRING_LITERAL,
    }
)
_TRANSPARENT = frozenset(
    {
        CursorKind.UNEXPOSED_EXPR,
        CursorKind.PAREN_EXPR,
        CursorKind.CSTYLE_CAST_EXPR,
        CursorKind.CXX_STATIC_CAST_EXPR,
        CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
    }
)
_ARRAYS = frozenset({TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY})
_REFERENCES = frozenset({TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE})
# What computes a value: it has no array type, whatever type libclang shows.
_COMPUTED = frozenset(
    {
        CursorKind.BINARY_OPERATOR,
        CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
        CursorKind.CONDITIONAL_OPERATOR,
    }
)
_DEREFERENCE = 6


class Tree:
    """The nodes and types of one translation unit; `data` is the text of its main file."""

    def __init__(self, unit: Any, data: bytes, *, plus_plus: bool) -> None:
        self.unit = unit
        self.plus_plus = plus_plus
        self.leaves = _LEAVES if plus_plus else _LEAVES | {CursorKind.DECL_REF_EXPR}
        self.name = str(unit.spelling)
        self.lines = [0, *(match.end() for match in re.finditer(b"\n", data))]
        # A place in the main file that no macro makes is a number: that of the file's first byte
        # and the offset. Asking for line and offset takes many calls; they are made if a probe
        # shows another numbering.
        self.first, last = (
            c_calls.location_at(unit, self.name, offset).number for offset in (0, len(data))
        )
        self.size = len(data) if last - self.first == len(data) else -1
        self.types: dict[tuple[int, int | None, int | None], TypeNode] = {}
        self.adjusted: dict[int, AdjustedType] = {}
        self.declarations: dict[tuple[int, int | None], Node] = {}
        self.files: dict[int | None, str | None] = {None: None}

    def top(self) -> list[Node]:
        """The declarations of the unit."""
        return Node(self, c_calls.raw_cursor(self.unit.cursor)).children

    def declaration(self, raw: Any) -> Node:
        """The one node of a declaration, however often it is referred to."""
        key = (raw.kind_id, raw.first)
        found = self.declarations.get(key)
        if found is None:
            found = self.declarations[key] = Node(self, raw)
        return found

    def type(self, raw: Any) -> TypeNode:
        key = (raw.kind_id, raw.first, raw.second)
        found = self.types.get(key)
        if found is None:
            found = self.types[key] = TypeNode(self, raw)
        return found

    def file(self, handle: int | None) -> str | None:
        """The name of a file, as it was given or included; None for code of no file."""
        if handle is not None and handle not in self.files:
            self.files[handle] = c_calls.file_name(handle)
        return self.files[handle]


class TypeNode:
    """A type."""

    __slots__ = (
        "_spelling",
        "canonical",
        "element_name",
        "element_type",
        "is_array",
        "is_pointer",
        "is_reference",
        "kind",
        "pointee",
        "raw",
        "tree",
        "vector_element",
    )
    canonical: TypeNode
    pointee: TypeNode
    element_type: TypeNode
    is_array: bool
    is_pointer: bool
    is_reference: bool  # of C++: what it names is another object

    def __init__(self, tree: Tree, raw: Any) -> None:
        self.tree = tree
        self.raw = raw
        self.kind = TypeKind.from_id(raw.kind_id)
        self._spelling: str | None = None
        # What the readers find out, once each.
        self.element_name: str | None = None
        self.vector_element: str | None = None

    def __getattr__(self, name: str) -> Any:
        """What has not been asked."""
        ask = _OF_TYPES.get(name)
        if ask is None:
            raise AttributeError(name)
        found = ask(self)
        setattr(self, name, found)
        return found

    @property
    def element_count(self) -> int:
        return int(c_calls.element_count(self.raw))

    @property
    def spelling(self) -> str:
        if self._spelling is None:
            self._spelling = c_calls.type_spelling(self.raw)
        return self._spelling


_OF_TYPES: dict[str, Any] = {
    "canonical": lambda node: node.tree.type(c_calls.canonical(node.raw)),
    "pointee": lambda node: node.tree.type(c_calls.pointee(node.raw)),
    "element_type": lambda node: node.tree.type(c_calls.element_type(node.raw)),
    "is_array": lambda node: node.canonical.kind in _ARRAYS,
    "is_pointer": lambda node: bool(node.canonical.kind == TypeKind.POINTER),
    "is_reference": lambda node: node.canonical.kind in _REFERENCES,
}


class AdjustedType(TypeNode):
    """A parameter that is declared as an array is a pointer to its elements.

    libclang shows the array that was written, also of expressions that name the parameter.
    """

    def __init__(self, array: TypeNode) -> None:
        super().__init__(array.tree, array.raw)
        self.kind = TypeKind.POINTER
        self.canonical = self
        self.pointee = array.canonical.element_type
        self.is_array, self.is_pointer, self.is_reference = False, True, False


class Place(NamedTuple):
    """Where a node stands."""

    file: str | None
    line: int
    offset: int


class Node:
    """A cursor with its answers; those that most nodes are asked for are plain properties."""

    _arguments: list[Node] | None = None
    _children: list[Node] | None = None
    _integer: int | bool | None = False  # False, here and below: not asked yet
    _location: Place | None = None
    _operands: list[Node] | None = None
    _operator: int | None = None
    _referenced: Node | bool | None = False
    _span: tuple[int, int, int, int] | None = None
    _spelling: str | None = None
    _stripped: Node | None = None
    _type: TypeNode | None = None
    key: str | None = None  # of a declaration: its variable in the model

    def __init__(self, tree: Tree, raw: Any) -> None:
        self.tree = tree
        self.raw = raw
        self.kind = _KINDS[raw.kind_id]

    def __getattr__(self, name: str) -> Any:
        """What is rarely asked; a cursor in the answer of the binding becomes a node."""
        found = getattr(c_calls.binding_cursor(self.raw, self.tree.unit), name)
        if isinstance(found, Cursor):
            return Node(self.tree, c_calls.raw_cursor(found))
        return found

    def forget(self) -> None:
        """Drop the nodes below: a file has many."""
        self._children = self._operands = self._arguments = None

    @property
    def children(self) -> list[Node]:
        found = self._children
        if found is None:
            tree = self.tree
            leaf = self.kind in tree.leaves
            raws = [] if leaf else c_calls.children(self.raw)
            found = self._children = [Node(tree, raw) for raw in raws]
        return found

    @property
    def arguments(self) -> list[Node]:
        found = self._arguments
        if found is None:
            raws = c_calls.arguments(self.raw)
            found = self._arguments = [Node(self.tree, raw) for raw in raws]
        return found

    @property
    def operands(self) -> list[Node]:
        """The children that are expressions."""
        found = self._operands
        if found is None:
            children = self.children
            found = [child for child in children if child.kind not in _EXPRESSIONS_WITHOUT_EFFECT]
            self._operands = found
        return found

    @property
    def stripped(self) -> Node:
        """The expression inside parentheses and casts."""
        if self.kind not in _TRANSPARENT:
            return self
        found = self._stripped
        if found is None:
            found = self
            while found.kind in _TRANSPARENT:
                inner = found.operands
                if len(inner) != 1:
                    break
                found = inner[0]
            self._stripped = found
        return found

    @property
    def type(self) -> TypeNode:
        found = self._type
        if found is None:
            found = self.tree.type(c_calls.type_of(self.raw))
            if found.is_array and self._is_adjusted():
                known = self.tree.adjusted
                found = known.setdefault(id(found), AdjustedType(found))
            self._type = found
        return found

    def _is_adjusted(self) -> bool:
        """Whether what is shown as an array is a pointer, as a parameter declared so is."""
        if self.kind == CursorKind.DECL_REF_EXPR:
            named = self.referenced
            return (
                named is not None and named.kind == CursorKind.PARM_DECL and named.type.is_pointer
            )
        if self.kind == CursorKind.UNARY_OPERATOR:
            return self.unary_operator != _DEREFERENCE
        if self.kind in _TRANSPARENT:
            return self.stripped is not self and self.stripped.type.is_pointer
        return self.kind == CursorKind.PARM_DECL or self.kind in _COMPUTED

    @property
    def referenced(self) -> Node | None:
        found = self._referenced
        if found is False:
            raw = c_calls.referenced(self.raw)
            known = None if c_calls.is_null(raw) else self.tree.declaration(raw)
            found = self._referenced = known
        return found  # type: ignore[return-value]

    @property
    def integer(self) -> int | None:
        """The value of an integer constant expression."""
        found = self._integer
        if found is False:
            found = self._integer = c_calls.integer(self.raw)
        return found

    @property
    def binary_operator(self) -> int:
        """Of which kind the operator is, as libclang numbers them."""
        found = self._operator
        if found is None:
            found = self._operator = int(c_calls.binary_operator(self.raw))
        return found

    @property
    def unary_operator(self) -> int:
        found = self._operator
        if found is None:
            found = self._operator = int(c_calls.unary_operator(self.raw))
        return found

    @property
    def spelling(self) -> str:
        found = self._spelling
        if found is None:
            found = self._spelling = c_calls.spelling(self.raw)
        return found

    @property
    def location(self) -> Place:
        found = self._location
        if found is None:
            location, tree = c_calls.location_of(self.raw), self.tree
            offset = location.number - tree.first
            if 0 <= offset <= tree.size:
                found = Place(tree.name, bisect_right(tree.lines, offset), offset)
            else:
                found = Place(tree.file(c_calls.file_of(location)), *c_calls.where(location))
            self._location = found
        return found

    @property
    def span(self) -> tuple[int, int, int, int]:
        """First line, first byte, last line, and the byte behind the last one."""
        found = self._span
        if found is None:
            extent, tree = c_calls.extent_of(self.raw), self.tree
            start, end = extent.start - tree.first, extent.end - tree.first
            if 0 <= start <= end <= tree.size:
                lines = tree.lines
                found = (bisect_right(lines, start), start, bisect_right(lines, end), end)
            else:
                ends = (c_calls.range_start(extent), c_calls.range_end(extent))
                found = (*c_calls.where(ends[0]), *c_calls.where(ends[1]))
            self._span = found
        return found

    @property
    def initializer(self) -> Node | None:
        """Of a variable's declaration."""
        found = c_calls.initializer(self.raw)
        return None if c_calls.is_null(found) else Node(self.tree, found)

    @property
    def linkage(self) -> Any:
        return LinkageKind.from_id(c_calls.linkage(self.raw))

    @property
    def in_system_header(self) -> bool:
        cursor = c_calls.binding_cursor(self.raw, self.tree.unit)
        return bool(cursor.location.is_in_system_header)

    def get_definition(self) -> Node | None:
        found = c_calls.binding_cursor(self.raw, self.tree.unit).get_definition()
        return None if found is None else self.tree.declaration(c_calls.raw_cursor(found))
