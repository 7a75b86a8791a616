"""Points and durations of std::chrono, which are classes but hold one number of ticks.

What the library declares for them (C++17, section 23.17) reads a clock, computes one of others, or
sets the one that it is called for. It runs no code of the program, and keeps no address.
"""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.cxx_library import is_call_of

_NUMBERS = r"(?:long|int|long long|float|double|long double)"
_DURATION = rf"std::chrono::duration<{_NUMBERS}(?:, std::ratio<[\d, ]+> ?)?>"
_CLOCK = r"std::chrono::(?:_V2::)?(?:system|steady)_clock"
_CLASS = re.compile(
    rf"(?:const )?(?:{_DURATION}|std::chrono::time_point<{_CLOCK}(?:, {_DURATION} ?)?>)$"
)
_HEADER = re.compile(r"/c\+\+/(?:.*/)?(?:bits/)?chrono(?:\.h)?$")
_SETS = frozenset({"operator=", "operator+=", "operator-="})
_COMPUTES = frozenset(
    {
        *("now", "count", "time_since_epoch", "duration_cast", "time_point_cast", "zero"),
        *("operator-", "operator+", "operator*", "operator/"),
        *("operator<", "operator>", "operator<=", "operator>=", "operator==", "operator!="),
    }
)


def is_time(kind: Any) -> bool:
    """Whether a type is that of a point in time or a duration, in a number."""
    canonical = kind.canonical
    return canonical.kind is TypeKind.RECORD and _CLASS.match(canonical.spelling) is not None


def time_computed_of(cursor: Any) -> list[Any] | None:
    """The operands of a call that sets nothing and computes, or makes, a time; else None."""
    if not is_call_of(cursor, _HEADER, is_time):
        return None
    named = cursor.referenced
    makes = named.kind is ck.CONSTRUCTOR
    if not makes and cursor.spelling not in _COMPUTES:
        return None
    first = cursor.operands[0] if cursor.operands else None
    owner = first.operands[:1] if first is not None and first.kind is ck.MEMBER_REF_EXPR else []
    operands = [*([] if makes else owner), *cursor.arguments]
    known = all(_is_known(operand.type) for operand in operands) and _is_known(cursor.type)
    return operands if known else None


def time_set_by(cursor: Any) -> tuple[Any, Any, bool] | None:
    """What a call sets, from what, and whether its value from before counts; None: it sets none."""
    if (
        not is_call_of(cursor, _HEADER, is_time)
        or cursor.spelling not in _SETS
        or len(cursor.arguments) != 2
    ):
        return None
    target, value = cursor.arguments
    if not is_time(target.type) or not _is_known(value.type):
        return None
    return target, value, cursor.spelling != "operator="


def _is_known(kind: Any) -> bool:
    canonical = kind.canonical
    if canonical.is_reference:
        canonical = canonical.pointee.canonical
    return bool(canonical.is_number) or is_time(canonical)
