"""Arrays of integers that never change, as the steps to a cell's neighbours: their values' bounds.

`u[j - dy[q]]` touches a row that is no further from `j` than the least and the largest of `dy`.
"""

from __future__ import annotations

from typing import Any

from imbrex.transform.readers import c_cursor_kinds as ck


def bounds_of(element: Any) -> tuple[int, int] | None:
    """The least and the largest value of the constant array that an expression is an element of."""
    inner = element
    while inner.kind is ck.ARRAY_SUBSCRIPT_EXPR:
        inner = inner.operands[0].stripped
    named = inner.referenced if inner.kind is ck.DECL_REF_EXPR else None
    if named is None or named.kind is not ck.VAR_DECL or not named.type.is_array:
        return None
    value = named.initializer
    if not _is_fixed(named) or value is None:
        return None
    values = _values(value.stripped)
    return None if values is None else (min(values), max(values))


def is_constant(declaration: Any) -> bool:
    """Whether it declares numbers that nothing may change and that no code of the program sets."""
    value = declaration.initializer
    if value is None or not _is_fixed(declaration):
        return False
    return not declaration.tree.plus_plus or _values(value.stripped) is not None


def _is_fixed(declaration: Any) -> bool:
    kind = declaration.type
    return bool(kind.canonical.spelling.startswith("const ") and kind.innermost.is_number)


def _values(cursor: Any) -> list[int] | None:
    """The integers in a list of initial values, with 0."""
    if cursor.kind is not ck.INIT_LIST_EXPR:
        return None if cursor.integer is None else [cursor.integer]
    found: list[int] = [0]  # what the list does not name
    for child in cursor.operands:
        inner = _values(child.stripped)
        if inner is None:
            return None
        found += inner
    return found
