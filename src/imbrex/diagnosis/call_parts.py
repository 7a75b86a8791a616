"""One call as stretches of time, each with its cause: how a time line draws it."""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.diagnosis.division import APART, LATE, MOVING
from imbrex.profile.causes import CAUSES
from imbrex.profile.format import Table

_IN_TIME = ("late_sender", "late_collective", "late_receiver", "moving", "stalled", "transfer")
_ORDER = (*_IN_TIME, "library", "file_io", "unattributed")
assert set(_ORDER) - {"moving"} == set(CAUSES)
assert set(LATE) | set(MOVING) < set(_ORDER)


@dataclass(frozen=True)
class CallPart:
    """A stretch of a call in ns on the clock of the time line; `moving`: transfer or stalled."""

    cause: str
    begin_ns: int
    end_ns: int


def parts_of_call(call: Table) -> list[CallPart]:
    """What a call did, one behind the other; `call` is the first row of it, TIMELINE_DTYPE.

    First it waited for those who were late, in the order in which causes are shared out
    (docs/theory/measuring.md); of the rest the data stood still and then moved. Each part has the
    middle of its interval; together they are the call. A call of no time has none.
    """
    begin, end = int(call["enter_ns"]), int(call["exit_ns"])
    middles = {
        name: (int(call[f"{name}_min_ns"]) + int(call[f"{name}_max_ns"])) / 2 for name in CAUSES
    }
    widths = [int(call[f"{name}_max_ns"]) - int(call[f"{name}_min_ns"]) for name in MOVING]
    late = min(end - begin, sum(middles[name] for name in LATE))
    certain = sum(int(call[f"{name}_min_ns"]) for name in ("library", "file_io", "unattributed"))
    rest = max(0.0, end - begin - late - certain)
    moving = min(rest, sum(middles[name] for name in MOVING))
    if moving > 0 and max(widths) > APART * moving:
        for name in MOVING:
            middles[name] = 0.0
        middles["moving"] = moving
    whole = sum(middles.values())
    found: list[CallPart] = []
    so_far = 0.0
    for name in _ORDER:
        if middles.get(name, 0.0) <= 0 or whole <= 0:
            continue
        first = begin + round((end - begin) * so_far / whole)
        so_far += middles[name]
        last = begin + round((end - begin) * so_far / whole)
        if last > first:
            found.append(CallPart(name, first, last))
    return found
