"""std::array: an array as those of C, whose elements are named by methods."""

from __future__ import annotations

import re
from typing import Any

from imbrex.transform.readers import c_calls
from imbrex.transform.readers import c_cursor_kinds as ck

ELEMENTS = frozenset({"operator[]", "front", "back"})
SIZES = frozenset({"size", "empty", "max_size"})
_ARRAY = re.compile(r"(?:const )?(?:struct )?std::(?:__\w+::)?array<.*, (\d+)(?:U?L?L?)>$")


def extent_of(kind: Any) -> int | None:
    """The number of elements, where a type is a std::array."""
    canonical = kind.canonical
    if "array<" not in canonical.spelling:
        return None
    match = _ARRAY.match(canonical.spelling)
    return None if match is None else int(match[1])


def element_of(kind: Any) -> Any | None:
    """The type of the elements, where a type is a std::array."""
    if extent_of(kind) is None:
        return None
    arguments = c_calls.type_arguments(kind.canonical.raw)
    return kind.tree.type(arguments[0]).canonical if arguments else None


def method(cursor: Any) -> tuple[str, Any | None]:
    """The name of the method that a call calls on a std::array, and the array's expression."""
    if cursor.kind is not ck.CALL_EXPR or not cursor.tree.plus_plus or not cursor.operands:
        return "", None
    first = cursor.operands[0]
    if cursor.spelling == "operator[]":
        return cursor.spelling, first if extent_of(first.type) is not None else None
    if first.kind is ck.MEMBER_REF_EXPR and first.operands:
        owner = first.operands[0]
        return cursor.spelling, owner if extent_of(owner.type) is not None else None
    return "", None
