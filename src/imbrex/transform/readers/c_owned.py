"""What a std::unique_ptr to an array of numbers is given: memory that only it knows, or not."""

from __future__ import annotations

from typing import Any

from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.cxx_library import is_library

_MAKES = frozenset({"make_unique", "make_unique_for_overwrite"})


def made_anew(value: Any | None) -> list[Any] | None:
    """What makes memory for the pointer alone: a `new`, or the numbers that `make_unique` is given.

    Empty where it is null; None where the memory may be known elsewhere.
    """
    inner = value
    while inner is not None:
        inner = inner.stripped
        if inner.kind is ck.INIT_LIST_EXPR and len(inner.operands) <= 1:
            inner = inner.operands[0] if inner.operands else None
        elif inner.kind is ck.CALL_EXPR and inner.spelling == "unique_ptr":
            given = [c for c in inner.arguments if c.kind is not ck.UNEXPOSED_EXPR or c.operands]
            if len(given) > 1:  # what deletes it
                return None
            inner = given[0] if given else None
        else:
            break
    if inner is None or inner.kind in ck.NULLS:
        return []
    if inner.kind is ck.CXX_NEW_EXPR:
        return [inner]
    named = inner.referenced if inner.kind is ck.CALL_EXPR else None
    if named is None or inner.spelling not in _MAKES or not is_library(named):
        return None
    numbers = list(inner.arguments)
    return numbers if all(number.stripped.type.is_number for number in numbers) else None
