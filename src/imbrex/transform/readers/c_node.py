"""libclang's cursors and types, each asked once.

A reader looks at every expression several times, and each question to libclang through ctypes
costs microseconds. A node keeps the answers; it delegates what is rarely asked to its cursor.
"""

from __future__ import annotations

import ctypes
from typing import Any

from clang import cindex
from clang.cindex import Cursor, CursorKind, TypeKind
from clang.cindex import Type as CursorType

# A handle of its own: the binding's converts results in ways that cost more than the calls.
_LIB = ctypes.CDLL(cindex.conf.lib._name)
_VISITOR = ctypes.CFUNCTYPE(ctypes.c_int, Cursor, Cursor, ctypes.py_object)


class _Location(ctypes.Structure):
    _fields_ = (("ptr_data", ctypes.c_void_p * 2), ("int_data", ctypes.c_uint))


class _Extent(ctypes.Structure):
    _fields_ = (
        ("ptr_data", ctypes.c_void_p * 2),
        ("begin_int_data", ctypes.c_uint),
        ("end_int_data", ctypes.c_uint),
    )


def _function(name: str, result: Any, *arguments: Any) -> Any:
    found = getattr(_LIB, name)
    found.argtypes, found.restype = list(arguments), result
    return found


_visit = _function("clang_visitChildren", ctypes.c_uint, Cursor, _VISITOR, ctypes.py_object)
_extent_of = _function("clang_getCursorExtent", _Extent, Cursor)
_range_start = _function("clang_getRangeStart", _Location, _Extent)
_range_end = _function("clang_getRangeEnd", _Location, _Extent)
_location_of = _function("clang_getCursorLocation", _Location, Cursor)
_referenced = _function("clang_getCursorReferenced", Cursor, Cursor)
_is_null = _function("clang_Cursor_isNull", ctypes.c_int, Cursor)
_type_of = _function("clang_getCursorType", CursorType, Cursor)
_canonical = _function("clang_getCanonicalType", CursorType, CursorType)
_element = _function("clang_getElementType", CursorType, CursorType)
_pointee = _function("clang_getPointeeType", CursorType, CursorType)
_elements = _function("clang_getNumElements", ctypes.c_longlong, CursorType)
_count_arguments = _function("clang_Cursor_getNumArguments", ctypes.c_int, Cursor)
_argument = _function("clang_Cursor_getArgument", Cursor, Cursor, ctypes.c_uint)
_expansion = _function(
    "clang_getInstantiationLocation",
    None,
    _Location,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint),
)
_line, _offset = ctypes.c_uint(), ctypes.c_uint()
_LINE, _OFFSET = ctypes.byref(_line), ctypes.byref(_offset)


def _append(child: Any, _parent: Any, found: Any) -> int:
    found.append(child)
    return 1  # go on with the next child


_collect = _VISITOR(_append)


def _where(location: Any) -> tuple[int, int]:
    """Line and byte offset (of the macro's use, where the place comes from one)."""
    _expansion(location, None, _LINE, None, _OFFSET)
    return _line.value, _offset.value


class Tree:
    """The nodes and types of one translation unit."""

    def __init__(self, unit: Any) -> None:
        self.unit = unit
        self.types: dict[tuple[int, int | None, int | None], TypeNode] = {}
        self.declarations: dict[tuple[int, int | None], Node] = {}

    def node(self, cursor: Any) -> Node:
        return Node(self, cursor)

    def declaration(self, cursor: Any) -> Node:
        """The one node of a declaration, however often it is referred to."""
        key = (cursor._kind_id, cursor.data[0])
        found = self.declarations.get(key)
        if found is None:
            found = self.declarations[key] = Node(self, cursor)
        return found

    def type(self, raw: Any) -> TypeNode:
        key = (raw._kind_id, raw.data[0], raw.data[1])
        found = self.types.get(key)
        if found is None:
            found = self.types[key] = TypeNode(self, raw)
        return found


class TypeNode:
    """A type."""

    __slots__ = ("_canonical", "_element", "_pointee", "_spelling", "kind", "raw", "tree")

    def __init__(self, tree: Tree, raw: Any) -> None:
        self.tree = tree
        self.raw = raw
        raw._tu = tree.unit
        self.kind = TypeKind.from_id(raw._kind_id)
        self._canonical: TypeNode | None = None
        self._element: TypeNode | None = None
        self._pointee: TypeNode | None = None
        self._spelling: str | None = None

    def get_canonical(self) -> TypeNode:
        if self._canonical is None:
            self._canonical = self.tree.type(_canonical(self.raw))
        return self._canonical

    def get_pointee(self) -> TypeNode:
        if self._pointee is None:
            self._pointee = self.tree.type(_pointee(self.raw))
        return self._pointee

    @property
    def element_type(self) -> TypeNode:
        if self._element is None:
            self._element = self.tree.type(_element(self.raw))
        return self._element

    @property
    def element_count(self) -> int:
        return int(_elements(self.raw))

    @property
    def spelling(self) -> str:
        if self._spelling is None:
            self._spelling = str(self.raw.spelling)
        return self._spelling


class Place:
    """Where a node stands; `file` is asked only where it is needed."""

    __slots__ = ("_raw", "line", "offset")

    def __init__(self, raw: Any, line: int, offset: int) -> None:
        self._raw = raw
        self.line = line
        self.offset = offset

    @property
    def file(self) -> Any:
        return self._raw.location.file

    @property
    def is_in_system_header(self) -> bool:
        return bool(self._raw.location.is_in_system_header)


class Node:
    """A cursor with its answers."""

    __slots__ = (
        "_arguments",
        "_children",
        "_extent",
        "_location",
        "_referenced",
        "_spelling",
        "_type",
        "key",
        "kind",
        "raw",
        "tree",
    )

    def __init__(self, tree: Tree, raw: Any) -> None:
        self.tree = tree
        self.raw = raw
        raw._tu = tree.unit  # the unit lives as long as its cursors
        self.kind = CursorKind.from_id(raw._kind_id)
        self._children: list[Node] | None = None
        self._arguments: list[Node] | None = None
        self._extent: tuple[int, int, int, int] | None = None
        self._location: Place | None = None
        self._referenced: Node | bool | None = False
        self._type: TypeNode | None = None
        self._spelling: str | None = None
        self.key: str | None = None  # of a declaration: its variable in the model

    def __getattr__(self, name: str) -> Any:
        """What is rarely asked; a cursor in the answer becomes a node."""
        found = getattr(self.raw, name)
        return Node(self.tree, found) if isinstance(found, Cursor) else found

    def forget(self) -> None:
        """Drop the nodes below: a file has many."""
        self._children = self._arguments = None

    def get_children(self) -> list[Node]:
        if self._children is None:
            found: list[Any] = []
            _visit(self.raw, _collect, found)
            self._children = [Node(self.tree, child) for child in found]
        return self._children

    def get_arguments(self) -> list[Node]:
        if self._arguments is None:
            count = _count_arguments(self.raw)
            raws = [_argument(self.raw, number) for number in range(count)]
            self._arguments = [Node(self.tree, raw) for raw in raws]
        return self._arguments

    def get_definition(self) -> Node | None:
        found = self.raw.get_definition()
        return None if found is None else self.tree.declaration(found)

    @property
    def referenced(self) -> Node | None:
        if self._referenced is False:
            found = _referenced(self.raw)
            self._referenced = None if _is_null(found) else self.tree.declaration(found)
        return self._referenced  # type: ignore[return-value]

    @property
    def type(self) -> TypeNode:
        if self._type is None:
            self._type = self.tree.type(_type_of(self.raw))
        return self._type

    @property
    def spelling(self) -> str:
        if self._spelling is None:
            self._spelling = str(self.raw.spelling)
        return self._spelling

    @property
    def location(self) -> Place:
        if self._location is None:
            self._location = Place(self.raw, *_where(_location_of(self.raw)))
        return self._location

    @property
    def span(self) -> tuple[int, int, int, int]:
        """First line, first byte, last line, and the byte behind the last one."""
        if self._extent is None:
            extent = _extent_of(self.raw)
            self._extent = (*_where(_range_start(extent)), *_where(_range_end(extent)))
        return self._extent
