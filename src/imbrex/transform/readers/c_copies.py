"""Which structures are copied where one is: itself, those in it, and those that it inherits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.cxx_library import is_library


def copied_with(kind: Any) -> set[str]:
    """The names of all structures that are copied with an object of this type, or an array."""
    found: set[str] = set()
    work = [kind]
    while work:
        each = work.pop()
        name = cc.record_of(each)
        record = each.innermost.record if name else None
        if not name or name in found:
            continue
        found.add(name)
        for child in record.children if record is not None else []:
            if child.kind in (ck.FIELD_DECL, ck.CXX_BASE_SPECIFIER):
                work.append(child.type)
    return found


def assigns_numbers(cursor: Any) -> bool:
    """Whether a call assigns a structure of numbers to another one, as C++ does by itself."""
    if not cursor.tree.plus_plus or cursor.spelling != "operator=" or len(cursor.arguments) != 2:
        return False
    left, right = (side.type.canonical for side in cursor.arguments)
    return _are_one(left, right) and not any(
        child.spelling == "operator=" for child in _members(left.record)
    )


def copies_numbers(cursor: Any) -> bool:
    """Whether a call makes a structure of numbers from another one, as C++ does by itself."""
    if not cursor.tree.plus_plus or len(cursor.arguments) != 1:
        return False
    made, given = cursor.type.canonical, cursor.arguments[0].type.canonical
    if cursor.referenced is None or cursor.referenced.kind is not ck.CONSTRUCTOR:
        return False
    return _are_one(made, given) and not any(
        child.kind in (ck.CONSTRUCTOR, ck.DESTRUCTOR) for child in _members(made.record)
    )


def copied_by_code(kind: Any) -> bool:
    """Whether a copy of an object of this type, or its end, runs code, of what is in it too."""
    record = None if kind.is_complex else kind.canonical.innermost.record
    return record is not None and any(
        child.kind is ck.DESTRUCTOR
        or (
            child.kind is ck.CONSTRUCTOR
            and len(child.arguments) == 1
            and child.arguments[0].type.is_reference
        )
        for child in _members(record)
    )


def converts_by_code(value: Any) -> bool:
    """Whether an element becomes the variable of a range-based loop by code of the program.

    What copies one of the same type is told by `copied_by_code`.
    """
    if value.kind is ck.CALL_EXPR and not _is_copy(value):
        named = value.referenced
        if named is None or not is_library(named):
            return True
    return any(converts_by_code(child) for child in value.operands)


def _is_copy(call: Any) -> bool:
    if call.referenced is None or call.referenced.kind is not ck.CONSTRUCTOR:
        return False
    given = [child.type.canonical.spelling.removeprefix("const ") for child in call.arguments]
    return given == [call.type.canonical.spelling.removeprefix("const ")]


def leaves_unset(cursor: Any) -> bool:
    """Whether an object is made of which no code runs: `MPI_Status status;`."""
    if not cursor.tree.plus_plus or cursor.arguments or cursor.referenced is None:
        return False
    return cursor.referenced.kind is ck.CONSTRUCTOR and bool(cursor.type.innermost.is_plain)


def _members(record: Any) -> Iterator[Any]:
    """What a structure declares, and what those within it do: of each of them code may run."""
    for child in record.children:
        yield child
        within = child.type.innermost.record if child.kind is ck.FIELD_DECL else None
        if within is not None and not child.type.is_complex:
            yield from _members(within)


def _are_one(left: Any, right: Any) -> bool:
    numbers = left.is_record_of_numbers and right.is_record_of_numbers
    return numbers and cc.record_of(left) == cc.record_of(right)
