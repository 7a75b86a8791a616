"""How fast data of any size can move on a path: at a peak rate at first, at a sustained one later.

A link lets a burst pass and then keeps to its rate; memory moves what a cache holds faster than
what it does not. Both are an envelope with two slopes: n bytes take at least

    max(peak x n, sustained x (n - burst)),

where the peak is the smallest gap of all.

Why it holds for every n, beyond the largest size measured too: docs/theory/measuring.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imbrex.network.columns import RoundTrip, Stream
from imbrex.network.interpolation import BANDWIDTH_BYTES
from imbrex.network.profile import NetworkPath

# Empty messages that one message with a rendezvous waits for: its announcement, the answer and
# itself. They move no data; the batch of a stream also ends with an answer, a round trip later.
_LATENCIES, _LATENCIES_STREAM = 3, 5


@dataclass(frozen=True)
class Moved:
    """So many bytes were seen to move within a time, in messages of one size.

    `possible_ns` is as far below the shortest time as that lies below the median: where times vary,
    a faster one may come.
    """

    size_bytes: int
    message_bytes: int
    seen_ns: float
    possible_ns: float


def moved(size_bytes: int, message_bytes: int, shortest_ns: float, median_ns: float) -> Moved:
    """From times without latencies."""
    spread = max(0.0, median_ns - shortest_ns)
    return Moved(size_bytes, message_bytes, max(0.0, shortest_ns), max(0.0, shortest_ns - spread))


def moved_by_messages(
    round_trips: Sequence[RoundTrip],
    streams: Sequence[Stream],
    whole: Sequence[tuple[int, float]] = (),
) -> list[Moved]:
    """What the messages of a calibration show, latencies taken off.

    Of several rounds the quietest tells how times vary, as for X_hi.
    """
    latency = min(r.min_ns for r in round_trips)
    alone, batch = _LATENCIES * latency, _LATENCIES_STREAM * latency
    seen: dict[tuple[int, int], tuple[float, float]] = {}
    rows = [
        *((r.size_bytes, 1, r.min_ns - alone, r.median_ns - alone) for r in round_trips),
        *((s.size_bytes, s.messages, s.min_ns - batch, s.median_ns - batch) for s in streams),
    ]
    for size, messages, shortest, median in rows:
        key = (messages * size, size)
        so_far = seen.get(key, (math.inf, math.inf))
        seen[key] = min(so_far[0], shortest), min(so_far[1], median)
    found = [moved(*key, *times) for key, times in seen.items()]
    found += [moved(size, size, time - alone, time - alone) for size, time in whole if size]
    return found


def sustained(
    seen: Sequence[Moved], by_collectives: Sequence[Moved], sizes: Sequence[int]
) -> tuple[float, int]:
    """Nanoseconds per byte of what is larger than any burst, and the burst; 0, 0 if unknown.

    `sizes` are those of the ping-pong. The gap is that of the most bytes that moved in messages of
    about the largest, and no larger than that between the largest and the next of at most half of
    it: where the most bytes were slow for another reason than their number, that tells.
    What moved by collectives makes it smaller where it was faster, and never larger.
    """
    last_bytes = max(sizes)
    near = max(BANDWIDTH_BYTES, last_bytes / 4)
    whole = max((m.size_bytes for m in seen if m.message_bytes >= near), default=0)
    if not whole:
        return 0.0, 0
    between = _between_largest(seen, sizes)
    seen = [*seen, *by_collectives]
    gap = min(least_ns(seen, whole, last_bytes) / whole, between)
    if gap <= 0:
        return 0.0, 0
    parts = {m.size_bytes for m in seen if m.size_bytes <= whole}
    ahead = max(size - least_ns(seen, size, last_bytes) / gap for size in parts)
    return gap, math.ceil(max(0.0, ahead))


def _between_largest(seen: Sequence[Moved], sizes: Sequence[int]) -> float:
    """Nanoseconds per byte between the largest size and the next that is at most half of it."""
    single = [m for m in seen if m.size_bytes == m.message_bytes]
    last = max(sizes)
    smaller = max((size for size in sizes if 2 * size <= last), default=0)
    if not smaller:
        return math.inf
    slow = min(m.possible_ns for m in single if m.size_bytes >= last)
    fast = min(m.seen_ns for m in single if m.size_bytes >= smaller)
    return (slow - fast) / (last - smaller)


def least_ns(seen: Sequence[Moved], size_bytes: int, last_bytes: int) -> float:
    """The least time in which so many bytes can have moved at any moment of what was seen.

    Of k times as many one k-th part took no longer than the k-th part of the time. Messages much
    smaller than what moves may live in a cache that it cannot, as in `assemble.gap_near`.
    """
    smallest = min(size_bytes, last_bytes) / 4
    return min(
        m.possible_ns / (m.size_bytes // size_bytes)
        for m in seen
        if m.size_bytes >= size_bytes and m.message_bytes >= smallest
    )


def behind_burst_s(
    paths: Mapping[str, NetworkPath], slowest: str, partners: int, size_bytes: float
) -> float:
    """Least seconds in which a rank exchanges so many bytes with all of its partners, bursts apart.

    `slowest` is the slowest path between two of the ranks; others may be as fast as any path of
    `paths` that is no slower. A partner's share may move while those of others do.
    """
    within = ("intra-node",) if slowest == "intra-node" else ("intra-node", "inter-node")
    known = [path for name, path in paths.items() if name in within]
    share = size_bytes / max(1, partners)
    return min(
        (p.sustained_gap_s_per_byte * max(0.0, share - p.burst_bytes) for p in known), default=0.0
    )
