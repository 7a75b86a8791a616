"""Vectors of vectors: each row is a vector with memory of its own, as in an array of vectors."""

from __future__ import annotations

import re
from typing import Any

from imbrex.transform.readers import c_calls
from imbrex.transform.readers import c_cursor_kinds as ck

_VECTOR = re.compile(r"(?:const )?(?:class )?std::(?:__\w+::)?vector<")
_ALLOCATOR = re.compile(r"std::(?:__\w+::)?allocator<")


def referred(kind: Any) -> Any:
    """The canonical type of what a reference is to; of another type its own."""
    canonical = kind.canonical
    return canonical.pointee.canonical if canonical.is_reference else canonical


def rows_of(kind: Any) -> Any | None:
    """The type of the elements, where a type is a vector of vectors or a reference to one."""
    canonical = referred(kind)
    if canonical.spelling.count("vector<") < 2 or not _VECTOR.match(canonical.spelling):
        return None
    arguments = [kind.tree.type(raw) for raw in c_calls.type_arguments(canonical.raw)]
    if len(arguments) != 2 or not _ALLOCATOR.match(arguments[1].canonical.spelling):
        return None
    rows = arguments[0].canonical
    return rows if _VECTOR.match(rows.spelling) else None


def depth_of(kind: Any) -> int:
    """How many vectors there are around the innermost ones."""
    rows = rows_of(kind)
    return 0 if rows is None else 1 + depth_of(rows)


def innermost(kind: Any) -> Any:
    """The type of the vectors that hold no vectors; the type itself where it is no such vector."""
    rows = rows_of(kind)
    return kind if rows is None else innermost(rows)


def row(cursor: Any) -> tuple[Any | None, Any | None]:
    """The vector of vectors and the index, where an expression names one of its rows by `[]`."""
    if cursor.kind is not ck.CALL_EXPR or cursor.spelling != "operator[]":
        return None, None
    operands = cursor.operands
    if len(operands) < 2 or rows_of(operands[0].stripped.type) is None:
        return None, None
    return operands[0], operands[-1]
