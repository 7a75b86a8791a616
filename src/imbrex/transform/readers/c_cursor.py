"""The parts of libclang's interface that its Python binding leaves out."""

from __future__ import annotations

import ctypes
from typing import Any

from clang import cindex
from clang.cindex import Cursor, CursorKind, TypeKind

_LIB = cindex.conf.lib
_BINARY = _LIB.clang_getCursorBinaryOperatorKind
_BINARY.argtypes, _BINARY.restype = [Cursor], ctypes.c_int
_UNARY = _LIB.clang_getCursorUnaryOperatorKind
_UNARY.argtypes, _UNARY.restype = [Cursor], ctypes.c_int
_INITIALIZER = _LIB.clang_Cursor_getVarDeclInitializer
_INITIALIZER.argtypes, _INITIALIZER.restype = [Cursor], Cursor
_EVALUATE = _LIB.clang_Cursor_Evaluate
_EVALUATE.argtypes, _EVALUATE.restype = [Cursor], ctypes.c_void_p
_EVAL_KIND = _LIB.clang_EvalResult_getKind
_EVAL_KIND.argtypes, _EVAL_KIND.restype = [ctypes.c_void_p], ctypes.c_int
_EVAL_INT = _LIB.clang_EvalResult_getAsLongLong
_EVAL_INT.argtypes, _EVAL_INT.restype = [ctypes.c_void_p], ctypes.c_longlong
_EVAL_FREE = _LIB.clang_EvalResult_dispose
_EVAL_FREE.argtypes, _EVAL_FREE.restype = [ctypes.c_void_p], None

# CXBinaryOperatorKind and CXUnaryOperatorKind.
MULTIPLY, ADD, SUBTRACT = 3, 6, 7
LESS, GREATER, LESS_EQUAL, GREATER_EQUAL = 11, 12, 13, 14
LOGICAL_OR = 21
ASSIGN, ADD_ASSIGN, SUBTRACT_ASSIGN, COMMA = 22, 26, 27, 33
STEPS = frozenset({1, 2, 3, 4})  # i++ i-- ++i --i
INCREMENTS, DECREMENTS = frozenset({1, 3}), frozenset({2, 4})
ADDRESS_OF, DEREFERENCE, MINUS = 5, 6, 8

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
_EXPRESSIONS_WITHOUT_EFFECT = frozenset({CursorKind.TYPE_REF, CursorKind.NAMESPACE_REF})


def binary_operator(cursor: Any) -> int:
    return int(_BINARY(cursor.raw))


def unary_operator(cursor: Any) -> int:
    return int(_UNARY(cursor.raw))


def initializer(cursor: Any) -> Any | None:
    """The initializer of a variable's declaration, if it has one."""
    raw = cursor.raw
    found = Cursor.from_cursor_result(_INITIALIZER(raw), _INITIALIZER, (raw,))
    return None if found is None else cursor.tree.node(found)


def evaluate_integer(cursor: Any) -> int | None:
    """The value of an integer constant expression."""
    result = _EVALUATE(cursor.raw)
    if not result:
        return None
    try:
        return int(_EVAL_INT(result)) if _EVAL_KIND(result) == 1 else None
    finally:
        _EVAL_FREE(result)


def operands(cursor: Any) -> list[Any]:
    return [c for c in cursor.get_children() if c.kind not in _EXPRESSIONS_WITHOUT_EFFECT]


def strip(cursor: Any) -> Any:
    """The expression inside parentheses and casts."""
    while cursor.kind in _TRANSPARENT:
        inner = operands(cursor)
        if len(inner) != 1:
            return cursor
        cursor = inner[0]
    return cursor


def is_reference(kind: Any) -> bool:
    """Whether the type is a reference of C++: what it names is another object."""
    return kind.get_canonical().kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)


def is_array(kind: Any) -> bool:
    return kind.get_canonical().kind in _ARRAYS


def is_pointer(kind: Any) -> bool:
    return bool(kind.get_canonical().kind == TypeKind.POINTER)


def element_type(kind: Any) -> str:
    """The innermost element of an array or pointer type, without qualifiers."""
    canonical = kind.get_canonical()
    while True:
        if canonical.kind in _ARRAYS:
            canonical = canonical.element_type.get_canonical()
        elif canonical.kind == TypeKind.POINTER:
            canonical = canonical.get_pointee().get_canonical()
        else:
            break
    return " ".join(
        word for word in canonical.spelling.split() if word not in ("const", "volatile", "struct")
    )


def record_of(kind: Any) -> str:
    """Name of the structure type that a variable or the elements of an array are of."""
    canonical = kind.get_canonical()
    while canonical.kind in _ARRAYS:
        canonical = canonical.element_type.get_canonical()
    return element_type(kind) if canonical.kind == TypeKind.RECORD else ""


def array_extents(kind: Any) -> list[int | None]:
    """Extents in source order, None where one is not a constant."""
    canonical = kind.get_canonical()
    extents: list[int | None] = []
    while canonical.kind in _ARRAYS:
        known = canonical.kind == TypeKind.CONSTANTARRAY
        extents.append(canonical.element_count if known else None)
        canonical = canonical.element_type.get_canonical()
    return extents


def spelled(cursor: Any) -> tuple[int, int]:
    """Byte span in the file (of the macro's use, where the expression comes from one)."""
    _, start, _, end = cursor.span
    return start, end
