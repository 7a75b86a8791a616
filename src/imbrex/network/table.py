"""The runtime's table: a profile as plain lines, in nanoseconds.

Its format: docs/reference/machine-profile.md.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.network.collective_bytes import moved_of_size
from imbrex.network.gaps import behind_burst_s
from imbrex.network.interpolation import BANDWIDTH_BYTES, transfer_time
from imbrex.network.profile import Collective, MachineProfile, MovingRates, NetworkPath, Point, Rate
from imbrex.network.rates import rates_at

FAR_BYTES = 1 << 40
MOST_CLASSES = 64
"""Of a path (runtime/core/times_table.h)."""
MOST_HANDSHAKES = 16
MEMORYLESS = ("self", "intra-node")
"""The paths on which a side that is inside MPI copies, whatever went before. Over a network it also
depends on how far the handshake has come and on what the buffers of both hosts hold, which the
situations that were measured do not show: one message in eight broke such bounds. There handshakes
say from when on a message can have moved."""
Line = Callable[[int], float]
"""Seconds that so many bytes take at least."""
# What the runtime takes for a time: up to 2^50 ns, 13 days.
_MOST_S = (1 << 50) * 1e-9


def format_table(profile: MachineProfile) -> str:
    """The lines of the table. Lower bounds are rounded down, everything else up."""
    lines = ["imbrex-table 1"]
    if profile.progress_interval_s is not None:
        lines.append(f"progress {max(1, _up(profile.progress_interval_s))}")
    for name, path in profile.paths.items():
        lines.append(f"path {name}")
        lines += [
            f"point {p.size_bytes} {_down(p.x_lo_s)} {_up(p.x_hi_s)} "
            f"{_up(p.tail_s)} {_up(p.head_s)}"
            + (f" {_down(p.least_s)}" if p.least_s is not None else "")
            for p in (
                *path.points,
                *_past_the_last(path.points, path.gap_s_per_byte, _of_message(path)),
            )
        ]
        lines += _classes(path, name in MEMORYLESS)
        lines += [
            f"handshake {h.size_bytes} {h.sender + 2 * h.receiver} {_up(h.before_s)} "
            f"{_down(h.latency_s)}"
            for h in path.handshakes[:MOST_HANDSHAKES]
        ]
    for c in profile.collectives:
        lines.append(f"collective {c.operation} {c.ranks} {c.role} {c.path}")
        points = [
            Point(p.size_bytes, p.x_lo_s, p.x_hi_s, head_s=_within(p.early_s, p.x_hi_s))
            for p in c.points
        ]
        lines += [
            f"point {p.size_bytes} {_down(p.x_lo_s)} {_up(p.x_hi_s)} -1 {_up(p.head_s)}"
            for p in (*points, *_past_the_last(points, _gap(points), _of_collective(profile, c)))
        ]
    for o in profile.one_sided:  # two processes, looked up by the operation like a collective
        lines.append(f"collective {o.operation} 2 any {o.path}")
        lines += [
            f"point {p.size_bytes} {_down(p.x_lo_s)} {_up(p.x_hi_s)} {_up(p.tail_s)} -1"
            for p in (*o.points, *_past_the_last(o.points, o.gap_s_per_byte))
        ]
    lines.append("end")
    return "\n".join(lines) + "\n"


def _within(early_s: float | None, x_hi_s: float) -> float | None:
    return None if early_s is None else min(early_s, x_hi_s)


_RETURNS = {None: -1, False: 0, True: 1}
_NOTHING_KNOWN = "-1" + " 0 1000" * 4


def _classes(path: NetworkPath, with_rates: bool) -> list[str]:
    """The sizes at which rates or protocol may change: both ends of each range that agrees."""
    sizes = {p.size_bytes for p in path.points} | {r.size_bytes for r in path.rates}
    found = [(size, _class_at(path, size, with_rates)) for size in sorted(sizes)]
    if all(text == _NOTHING_KNOWN for _, text in found):
        return []
    texts = [None, *(text for _, text in found), None]
    lines = [
        f"class {size} {text}"
        for i, (size, text) in enumerate(found)
        if texts[i] != text or texts[i + 2] != text
    ]
    return lines[:MOST_CLASSES]


def _class_at(path: NetworkPath, size: int, with_rates: bool) -> str:
    """Whether a send of this size returns early; rates in thousandths, by who is inside MPI."""
    rates = rates_at(path, size) if with_rates else MovingRates(size, *[Rate(0.0, 1.0)] * 4)
    words = [str(_RETURNS[_returns_early(path.points, size)])]
    for rate in (rates.neither, rates.sender, rates.receiver, rates.both):
        words.append(f"{math.floor(1000 * rate.lowest)} {math.ceil(1000 * rate.highest)}")
    return " ".join(words)


def _returns_early(points: Sequence[Point], size: int) -> bool | None:
    """What the nearest sizes on both sides have shown, where they agree."""
    below = [p.send_returns_before_match for p in points if p.size_bytes <= size][-1:]
    above = [p.send_returns_before_match for p in points if p.size_bytes >= size][:1]
    found = {*below, *above}
    return found.pop() if len(found) == 1 else None


def _past_the_last(
    points: Sequence[Point], gap_s_per_byte: float, behind_burst_s: Line = lambda _: 0.0
) -> list[Point]:
    """Points between which the runtime interpolates beyond the last measured one.

    What it would do by itself, let X_lo grow in proportion, holds only for sizes at which the last
    X_lo is nothing but its bytes. It grows by the gap until what may move in a burst is through.
    """
    size = FAR_BYTES
    while points and size > points[-1].size_bytes:
        far = _extrapolated(points, size, gap_s_per_byte)
        if far.x_hi_s <= _MOST_S:
            break
        size //= 2  # cut to what the runtime takes, the time would grow too slowly
    else:
        return []

    def through(at_bytes: int) -> bool:
        return behind_burst_s(at_bytes) > _extrapolated(points, at_bytes, gap_s_per_byte).x_lo_s

    far = _with_x_lo(far, max(far.x_lo_s, behind_burst_s(size)))
    first = points[-1].size_bytes + 1
    if not through(size - 1):
        return [far]
    # The lines meet between this size and the next: from the lower one on nothing bends.
    knee = max(first, first + bisect_left(range(first, size), True, key=through) - 1)
    here = _extrapolated(points, knee, gap_s_per_byte)
    return [_with_x_lo(here, behind_burst_s(knee)), far] if knee < size else [far]


def _extrapolated(points: Sequence[Point], size_bytes: int, gap_s_per_byte: float) -> Point:
    t = transfer_time(points, size_bytes, gap_s_per_byte)
    return Point(size_bytes, t.x_lo_s, t.x_hi_s, t.tail_s, t.head_s)


def _with_x_lo(point: Point, x_lo_s: float) -> Point:
    """This point with that lower bound."""
    return replace(point, x_lo_s=min(point.x_hi_s, x_lo_s))


def _of_message(path: NetworkPath) -> Line:
    """Of one message."""
    return lambda size_bytes: behind_burst_s({"inter-node": path}, "inter-node", 1, size_bytes)


def _of_collective(profile: MachineProfile, c: Collective) -> Line:
    """Of a collective, whose size holds the blocks of all ranks or of one."""

    def least(size_bytes: int) -> float:
        moved = moved_of_size(c.operation, c.role, c.ranks, size_bytes)
        return behind_burst_s(profile.paths, c.path, c.ranks - 1, moved)

    return least


def _gap(points: Sequence[Point]) -> float:
    """The least time per byte that a collective's bounds have shown for sizes that bandwidth
    decides, about the largest: what each further byte takes at least."""
    near = max(BANDWIDTH_BYTES, points[-1].size_bytes / 4)
    return min((p.x_lo_s / p.size_bytes for p in points if p.size_bytes >= near), default=0.0)


def write_table(profile: MachineProfile, file: Path) -> None:
    """Write the table to `file`."""
    try:
        file.write_text(format_table(profile), encoding="ascii")
    except OSError as error:
        raise ImbrexError(f"cannot write the table {file}: {error.strerror}") from None


# Seconds that were nanoseconds once must not gain one by the division and multiplication.
_HAIR = 1e-6


def _down(seconds: float) -> int:
    return math.floor(min(seconds, _MOST_S) * 1e9 + _HAIR)


def _up(seconds: float | None) -> int:
    return -1 if seconds is None else math.ceil(min(seconds, _MOST_S) * 1e9 - _HAIR)
