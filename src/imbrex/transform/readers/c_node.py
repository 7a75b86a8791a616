"""libclang's cursors and types, each asked once.

A reader looks at every expression several times, and each question to libclang through ctypes
costs microseconds. A node keeps the answers; it delegates what is rarely asked to its cursor.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from clang.cindex import LinkageKind, StorageClass, TypeKind

from imbrex.transform.readers import c_calls
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_lengths import parts_of_cast
from imbrex.transform.readers.c_macros import behind_macro
from imbrex.transform.readers.c_types import AdjustedType, TypeNode
from imbrex.transform.readers.once import Once

_WITHOUT_EFFECT = frozenset({ck.TYPE_REF, ck.NAMESPACE_REF, ck.TEMPLATE_REF})
_LEAVES = frozenset(
    {
        ck.INTEGER_LITERAL,
        ck.FLOATING_LITERAL,
        ck.CHARACTER_LITERAL,
        ck.STRING_LITERAL,
    }
)
# What computes a value: it has no array type, whatever type libclang shows.
_COMPUTED = frozenset(
    {
        ck.BINARY_OPERATOR,
        ck.COMPOUND_ASSIGNMENT_OPERATOR,
        ck.CONDITIONAL_OPERATOR,
    }
)
_VARIABLES = frozenset({ck.VAR_DECL, ck.PARM_DECL})
_DEREFERENCE = 6


class Tree:
    """The nodes and types of one translation unit, for as long as it is read.

    `data` is the text of its main file, `texts` those of the program's files by name. Nodes and
    their tree refer to each other: libclang's unit, of a hundred megabytes where a file includes
    much of a library, must not wait until Python looks for such circles.
    """

    def __init__(
        self, unit: Any, data: bytes, *, plus_plus: bool, texts: Mapping[str, bytes] | None = None
    ) -> None:
        self.unit = unit
        self.plus_plus = plus_plus
        self.leaves = _LEAVES if plus_plus else _LEAVES | {ck.DECL_REF_EXPR}
        self.name = str(unit.spelling)
        self.texts = texts or {self.name: data}
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

    def __enter__(self) -> Tree:
        return self

    def __exit__(self, *_: object) -> None:
        self.unit = None

    def top(self, without: Iterable[tuple[str, int]] = ()) -> list[Node]:
        """The declarations of the unit, but for those of headers of the system of these names and
        sizes in bytes: to ask each of some hundreds where it stands takes long.
        """
        left_out = [c_calls.numbers_of_header(self.unit, name, size) for name, size in without]
        raws = c_calls.children(c_calls.raw_cursor(self.unit.cursor))
        return [
            Node(self, raw)
            for raw in raws
            if not any(c_calls.location_of(raw).number in numbers for numbers in left_out)
        ]

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
            self.files[handle] = c_calls.file_name(handle).removeprefix("./")
        return self.files[handle]


class Place(NamedTuple):
    """Where a node stands."""

    file: str | None
    line: int
    offset: int


class Node:
    """A cursor with its answers."""

    key: str | None = None  # of a declaration: its variable in the model
    routine_name: str | None = None  # of a function: its name in the model
    readable: bool | None = None  # of an instance of a template; see c_instances
    held_lambda: Node | None = None  # of a variable: see c_lambdas
    small: bool | None = None  # of a declaration: no value of it is an address; see c_alignment

    def __init__(self, tree: Tree, raw: Any) -> None:
        self.tree = tree
        self.raw = raw
        self.kind = ck.BY_NUMBER[raw.kind_id]

    def forget(self) -> None:
        """Drop the nodes below: a file has many."""
        for name in ("children", "operands", "arguments"):
            self.__dict__.pop(name, None)

    @Once
    def children(self) -> list[Node]:
        tree = self.tree
        raws = [] if self.kind in tree.leaves else c_calls.children(self.raw)
        return [Node(tree, raw) for raw in raws]

    @Once
    def arguments(self) -> list[Node]:
        if self.kind is ck.CALL_EXPR and not self.tree.plus_plus:
            # Behind the function. In C++ some arguments are not written, or before the operator.
            return self.operands[1:]
        return [Node(self.tree, raw) for raw in c_calls.arguments(self.raw)]

    @Once
    def operands(self) -> list[Node]:
        """The children that are expressions."""
        return [child for child in self.children if child.kind not in _WITHOUT_EFFECT]

    @property
    def stripped(self) -> Node:
        """The expression inside parentheses and casts."""
        return self._inner if self.kind in ck.CASTS else self

    @Once
    def _inner(self) -> Node:
        found = self
        while found.kind in ck.CASTS:
            inner = found.operands
            if len(inner) > 1:
                _, inner = parts_of_cast(found)
            if len(inner) != 1:
                break
            found = inner[0]
        return found

    @Once
    def type(self) -> TypeNode:
        if self.kind is ck.DECL_REF_EXPR and not self.tree.plus_plus:
            named = self.referenced
            if named is not None and named.kind in _VARIABLES:
                return named.type  # the same in C, and known
        found = self.tree.type(c_calls.type_of(self.raw))
        if found.is_array and self._is_adjusted():
            found = self.tree.adjusted.setdefault(id(found), AdjustedType(found))
        return found

    def _is_adjusted(self) -> bool:
        """Whether what is shown as an array is a pointer, as a parameter declared so is."""
        if self.kind is ck.DECL_REF_EXPR:
            named = self.referenced
            return named is not None and named.kind is ck.PARM_DECL and named.type.is_pointer
        if self.kind is ck.UNARY_OPERATOR:
            return self.unary_operator != _DEREFERENCE
        if self.kind in ck.CASTS:
            return self.stripped is not self and self.stripped.type.is_pointer
        return self.kind is ck.PARM_DECL or self.kind in _COMPUTED

    @Once
    def referenced(self) -> Node | None:
        raw = c_calls.referenced(self.raw)
        return None if c_calls.is_null(raw) else self.tree.declaration(raw)

    @Once
    def integer(self) -> int | None:
        """The value of an integer constant expression."""
        return c_calls.integer(self.raw)

    @Once
    def binary_operator(self) -> int:
        """Of which kind the operator is, as libclang numbers them."""
        return int(c_calls.binary_operator(self.raw))

    @Once
    def unary_operator(self) -> int:
        return int(c_calls.unary_operator(self.raw))

    @Once
    def spelling(self) -> str:
        return c_calls.spelling(self.raw)

    @Once
    def location(self) -> Place:
        location, tree = c_calls.location_of(self.raw), self.tree
        offset = location.number - tree.first
        if 0 <= offset <= tree.size:
            return Place(tree.name, bisect_right(tree.lines, offset), offset)
        return Place(tree.file(c_calls.file_of(location)), *c_calls.where(location))

    @Once
    def span(self) -> tuple[int, int, int, int]:
        """First line, first byte, last line, and the byte behind the last one."""
        extent, tree = c_calls.extent_of(self.raw), self.tree
        start, end = extent.start - tree.first, extent.end - tree.first
        if 0 <= start <= end <= tree.size:
            lines = tree.lines
            return bisect_right(lines, start), start, bisect_right(lines, end), end
        ends = (c_calls.range_start(extent), c_calls.range_end(extent))
        line, end = c_calls.where(ends[1])
        text = tree.texts.get(tree.file(c_calls.file_of(ends[1])) or "")
        end = end if text is None else behind_macro(text, end)
        return *c_calls.where(ends[0]), line, end

    @Once
    def initializer(self) -> Node | None:
        """Of a variable's declaration."""
        found = c_calls.initializer(self.raw)
        return None if c_calls.is_null(found) else Node(self.tree, found)

    @Once
    def linkage(self) -> Any:
        return LinkageKind.from_id(c_calls.linkage(self.raw))

    @Once
    def storage_class(self) -> Any:
        return StorageClass.from_id(c_calls.storage_class(self.raw))

    @Once
    def is_virtual(self) -> bool:
        """Of a method."""
        return bool(c_calls.is_virtual(self.raw))

    @Once
    def is_pure(self) -> bool:
        """Whether it is a virtual method without code: those of other classes run for it."""
        return bool(c_calls.is_pure(self.raw))

    @Once
    def is_static_method(self) -> bool:
        return bool(c_calls.is_static(self.raw))

    @property
    def is_implicit(self) -> bool:
        """Of a method: whether the compiler makes it, or refuses to."""
        return bool(c_calls.is_defaulted(self.raw) or c_calls.is_deleted(self.raw))

    @Once
    def is_instance(self) -> bool:
        """Whether a function is an instance or a specialization of a template."""
        return not c_calls.is_null(c_calls.template_of(self.raw))

    # What is rarely asked: the binding answers.

    @property
    def _cursor(self) -> Any:
        return c_calls.binding_cursor(self.raw, self.tree.unit)

    @property
    def in_system_header(self) -> bool:
        return bool(self._cursor.location.is_in_system_header)

    @property
    def returns_reference(self) -> bool:
        return (
            self.tree.plus_plus
            and "REFERENCE" in self._cursor.result_type.get_canonical().kind.name
        )

    @property
    def returns_number_or_nothing(self) -> bool:
        kind = self.tree.type(c_calls.result_type(self.type.raw)).canonical
        return kind.is_number or kind.kind is TypeKind.VOID

    @property
    def keeps_object(self) -> bool:
        """Of a method: whether it is one of constant objects."""
        return bool(self._cursor.is_const_method())

    @property
    def returns_constant(self) -> bool:
        """Of a function that returns a reference: nothing may be changed through it."""
        return bool(self._cursor.result_type.get_pointee().is_const_qualified())

    @property
    def refers_to_constant(self) -> bool:
        """Of a declaration of a reference: nothing may be changed through it."""
        return bool(self._cursor.type.get_pointee().is_const_qualified())

    @property
    def enum_value(self) -> int:
        return int(self._cursor.enum_value)

    @property
    def semantic_parent(self) -> Node | None:
        return self._of(self._cursor.semantic_parent)

    @property
    def canonical(self) -> Node | None:
        """Of a declaration: the first of the same thing."""
        return self._of(self._cursor.canonical)

    def is_definition(self) -> bool:
        return bool(self._cursor.is_definition())

    def get_usr(self) -> str:
        return str(self._cursor.get_usr())

    def get_definition(self) -> Node | None:
        found = self._cursor.get_definition()
        return None if found is None else self.tree.declaration(c_calls.raw_cursor(found))

    def _of(self, cursor: Any) -> Node | None:
        return None if cursor is None else Node(self.tree, c_calls.raw_cursor(cursor))
