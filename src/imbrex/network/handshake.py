"""Who has to be inside MPI before a message moves between hosts: from the experiment `handshake`.

One side leaves after its start, computes, and begins other messages meanwhile; the other waits.
When it comes back there is a whole message to move, or less. Whatever disturbs a trial only
lengthens this: so the shortest trials count, and must agree, or nothing is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from imbrex.network.exchanges import Exchange
from imbrex.network.profile import Handshake, Point

LEAST_TRIALS = 3
AGREE = 1.25
"""The second shortest trial is at most so many times the shortest."""
LITTLE = 0.25
"""What moved before is at most this share of a message, or it does not wait."""
RESOLUTION = 0.02
"""Of a message; what moved before is not known better."""

LEAVES = {
    "handshake-sender-leaves": "sender",
    "handshake-receiver-late": "sender",
    "handshake-receiver-leaves": "receiver",
}
"""Which side computes, by label."""


def handshakes(rows: Sequence[Exchange], points: Sequence[Point]) -> tuple[Handshake, ...]:
    """Of one path, by size; empty where nothing was measured."""
    trials: dict[int, dict[str, list[Exchange]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.label in LEAVES:
            trials[row.size_bytes][row.label].append(row)
    found = []
    least = {p.size_bytes: p.least_s for p in points if p.least_s is not None}
    latency_s = min(least.values(), default=0.0)
    for size, of_size in sorted(trials.items()):
        larger = [time for s, time in least.items() if s >= size]
        smaller = [time for s, time in least.items() if s <= size]
        if larger and smaller:
            # No message of this size was faster, whatever the network had saved up for it.
            found.append(_of_size(size, of_size, max(smaller), latency_s))
    return tuple(found)


def _of_size(
    size: int, trials: Mapping[str, Sequence[Exchange]], least_s: float, latency_s: float
) -> Handshake:
    """`least_s`: the shortest one-way time of a message of this size."""
    needs = {"sender": True, "receiver": True}
    before_s = 0.0
    for label, side in LEAVES.items():
        left_s = _shortest_s(trials.get(label, ()), _left_by[side])
        # The first words after the return carry no data: the answer, and that it came.
        moved_s = least_s if left_s is None else max(0.0, least_s - left_s) + 2 * latency_s
        if moved_s > LITTLE * least_s:
            needs[side] = False
        else:
            before_s = max(before_s, moved_s)
    return Handshake(
        size, needs["sender"], needs["receiver"], before_s + RESOLUTION * least_s, latency_s / 2
    )


_left_by: Mapping[str, Callable[[Exchange], float]] = {
    "sender": lambda x: x.receiver.done_ns - x.sender.wait_ns,
    "receiver": lambda x: x.receiver.done_ns - x.receiver.wait_ns,
}


def _shortest_s(trials: Sequence[Exchange], left_ns: Callable[[Exchange], float]) -> float | None:
    """What was left at the least when the side came back; None where trials do not agree."""
    times = sorted(left_ns(x) for x in trials)
    if len(times) < LEAST_TRIALS or times[1] > AGREE * max(times[0], 1.0):
        return None
    return times[0] * 1e-9
