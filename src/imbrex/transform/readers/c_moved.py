"""Objects of C++ that are moved member by member: no code of the program runs where one is."""

from __future__ import annotations

from typing import Any

from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods, c_vectors
from imbrex.transform.readers.c_instances import fields_of, members_of

_OWN_CODE = frozenset({ck.DESTRUCTOR, ck.CXX_BASE_SPECIFIER, ck.FUNCTION_TEMPLATE})


def moves_as_it_is(kind: Any) -> bool:
    """Whether an object is moved by moving its members, which are numbers, pointers and vectors."""
    record = kind.record
    if record is None or not c_methods.is_own(record):
        return False
    name = str(record.spelling)
    for child in members_of(record):
        if child.kind in _OWN_CODE and not (child.kind is ck.DESTRUCTOR and child.is_implicit):
            return False
        if child.kind is ck.CXX_METHOD and child.spelling == "operator=" and not child.is_implicit:
            return False
        if child.kind is ck.CONSTRUCTOR and not child.is_implicit and _takes_one(child, name):
            return False
    return all(map(_moves_so, (field.type for field in fields_of(record))))


def _takes_one(constructor: Any, name: str) -> bool:
    given = [argument.type.canonical.spelling for argument in constructor.arguments]
    return any(name in each for each in given)


def _moves_so(kind: Any) -> bool:
    inner = kind.innermost
    if kind.is_reference or inner.is_ordered:
        return False
    if inner.is_number or inner.is_complex or inner.is_pointer or c_vectors.is_vector(kind):
        return True
    return bool(inner.is_plain) or moves_as_it_is(inner)


def fields_within(kind: Any) -> list[Any]:
    """The fields of a class, and those of the objects that are members of it."""
    record = kind.record
    found: list[Any] = []
    for field in [] if record is None else fields_of(record):
        found.append(field)
        if not c_vectors.is_vector(field.type):
            found += fields_within(field.type.innermost)
    return found
