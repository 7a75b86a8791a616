"""Whether what a structure begins with brings handles into its requests: `halo h = {n, m};`.

What a list leaves out is zero, which is no handle of a message that is under way.
"""

from __future__ import annotations

import re
from typing import Any

from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_initial_values import members, value_of

_REQUEST = re.compile(r"\bMPI_Request\b|\b\w+_request(?:_t)? \*")


def begin_unused(declarations: list[Any], data: bytes) -> bool:
    """Whether some variables are declared for requests, none of which is under way at first.

    `data`: the text of their file.
    """
    values = [(each.type, each.initializer) for each in declarations]
    if any(value is not None and _may_set(of, value, data) for of, value in values):
        return False
    return any(_holds(of) for of, _ in values)


def _holds(kind: Any) -> bool:
    """Whether an object of a type is a request, or has some in it."""
    return any(map(_is_request, (kind, *(field.type for field in kind.fields))))


def _is_request(kind: Any) -> bool:
    return _REQUEST.search(f"{kind.spelling} {kind.innermost.spelling}") is not None


def _may_set(kind: Any, value: Any, data: bytes) -> bool:
    """Whether a value of a type may have a request that is under way in it."""
    if not _holds(kind):
        return False
    inner = value.stripped
    if inner.kind is not ck.INIT_LIST_EXPR:
        first, last = cc.spelled(value)
        null = data[first:last] == b"MPI_REQUEST_NULL"
        return not null and (inner.integer is None or bool(inner.integer))
    if kind.is_array or not kind.fields:  # a single one may have braces
        element = kind.canonical.element_type if kind.is_array else kind
        return any(_may_set(element, value_of(part), data) for part in inner.operands)
    every = [field.type for field in kind.fields]
    return any(
        _may_set(of, part, data)
        for field, part in members(kind, inner)
        for of in (every if field is None else [field.type])
    )
