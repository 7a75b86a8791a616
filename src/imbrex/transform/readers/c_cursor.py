"""What libclang's answers mean: kinds of operators, elements of types, spans of text."""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.readers import c_std_arrays

# CXBinaryOperatorKind and CXUnaryOperatorKind.
MULTIPLY, DIVIDE, REMAINDER, ADD, SUBTRACT = 3, 4, 5, 6, 7
LESS, GREATER, LESS_EQUAL, GREATER_EQUAL = 11, 12, 13, 14
EQUAL, NOT_EQUAL = 15, 16
AND, XOR, LOGICAL_AND, LOGICAL_OR = 17, 18, 20, 21
ASSIGN, ADD_ASSIGN, SUBTRACT_ASSIGN, COMMA = 22, 26, 27, 33
STEPS = frozenset({1, 2, 3, 4})  # i++ i-- ++i --i
INCREMENTS, DECREMENTS = frozenset({1, 3}), frozenset({2, 4})
ADDRESS_OF, DEREFERENCE, MINUS, COMPLEMENT, NOT = 5, 6, 8, 9, 10


_VERSION = re.compile(r"std::__\w+::")  # the namespaces that some libraries keep theirs in


def element_type(kind: Any) -> str:
    """The innermost element of an array or pointer type, without qualifiers."""
    known: str | None = kind.element_name
    if known is None:
        known = kind.element_name = _innermost(kind)
    return known


def _innermost(kind: Any) -> str:
    canonical = kind.canonical
    while True:
        if canonical.is_array:
            canonical = canonical.element_type.canonical
        elif canonical.library_element is not None:
            canonical = canonical.library_element
        elif canonical.kind == TypeKind.POINTER:
            canonical = canonical.pointee.canonical
        else:
            break
    spelling = canonical.spelling
    if canonical.is_complex:
        spelling = _VERSION.sub("std::", spelling)
    return " ".join(
        keyword for keyword in spelling.split() if keyword not in ("const", "volatile", "struct")
    )


def record_of(kind: Any) -> str:
    """Name of the structure type that a variable or the elements of an array are of."""
    inner = kind.innermost
    known = inner.kind == TypeKind.RECORD and not inner.is_complex
    return element_type(kind) if known else ""


def array_extents(kind: Any) -> list[int | None]:
    """Extents in source order, None where one is not a constant."""
    canonical = kind.canonical
    extents: list[int | None] = []
    while canonical.is_array or canonical.library_element is not None:
        if canonical.library_element is not None:
            extents.append(c_std_arrays.extent_of(canonical))
            canonical = canonical.library_element
            continue
        known = canonical.kind == TypeKind.CONSTANTARRAY
        extents.append(canonical.element_count if known else None)
        canonical = canonical.element_type.canonical
    return extents


def points_to_rows(kind: Any) -> bool:
    """Whether a type is a pointer to pointers to numbers, or to structures of numbers."""
    kind = kind.canonical
    if not kind.is_pointer or not kind.pointee.canonical.is_pointer:
        return False
    element = kind.pointee.canonical.pointee.canonical
    numbers = element.is_number or element.is_record_of_numbers
    return bool(numbers) and not element.is_array and element.spelling.split()[-1] != "char"


def spelled(cursor: Any) -> tuple[int, int]:
    """Byte span in the file (of the macro's use, where the expression comes from one)."""
    _, start, _, end = cursor.span
    return start, end
