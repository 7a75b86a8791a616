"""Overlap over work (Shet et al., section 3): the truth from both sides' times, and the bounds.

The bounds are those that `imbrex run` would give the computing side from its own calls alone, by
the same rule (docs/theory/measuring.md) and with the profile of the same probe. The truth uses what
no single process sees: when the other side started, and when the data had arrived.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.network import MachineProfile, transfer_time
from imbrex.network.exchanges import Exchange, Side

BOTH_WAYS, BACK = "grid-both-ways", "grid-both-ways-back"
GRID = {
    "grid-isend-recv": "MPI_Isend/MPI_Recv",
    "grid-send-irecv": "MPI_Send/MPI_Irecv",
    "grid-isend-irecv": "MPI_Isend/MPI_Irecv",
    BOTH_WAYS: "MPI_Isend/MPI_Irecv",
}
SIDES = {
    "grid-isend-recv": ("sender",),
    "grid-send-irecv": ("receiver",),
    "grid-isend-irecv": ("sender", "receiver"),
    BOTH_WAYS: ("sender", "receiver"),
}


@dataclass(frozen=True)
class WorkOverlap:
    """One operation, size, kind and amount of work, seen from one side; medians in seconds.

    `outside` of the `transfers` have bounds that the truth does not meet.
    """

    operation: str
    path: str
    side: str
    both_directions: bool
    size_bytes: int
    flavour: str
    work_s: float
    transfers: int
    outside: int
    transfer_s: float
    wait_s: float
    true_overlap_min_s: float
    true_overlap_max_s: float
    overlap_min_s: float
    overlap_max_s: float


def work_overlaps(rows: Sequence[Exchange], profile: MachineProfile) -> list[WorkOverlap]:
    """Of all exchanges of the grid whose path was calibrated."""
    groups: dict[tuple[str, str, int, str], list[Exchange]] = defaultdict(list)
    for x in rows:
        label = BOTH_WAYS if x.label == BACK else x.label
        if label in GRID and x.path in profile.paths:
            groups[x.path, label, x.size_bytes, x.flavour].append(x)
    found = []
    for (path, label, _, _), trials in sorted(groups.items()):
        of_work: dict[float, list[Exchange]] = defaultdict(list)
        for x in trials:
            of_work[max(x.sender_work_ns, x.receiver_work_ns)].append(x)
        if 0.0 not in of_work:
            continue
        shortest, typical = transfer_range_ns(of_work[0.0])
        for work in sorted(of_work):
            for side in SIDES[label]:
                found.append(
                    _work_overlap(of_work[work], label, side, profile, path, (shortest, typical))
                )
    return found


def transfer_range_ns(rows: Sequence[Exchange]) -> tuple[float, float]:
    """Shortest and usual time of a transfer without work: what it can have been.

    The shortest from the later start to the arrival; the usual, a median, from the send's start: a
    receiver that a busy machine kept away may have found data there already.
    """
    later = [x.receiver.done_ns - max(x.sender.enter_ns, x.receiver.enter_ns) for x in rows]
    whole = [x.receiver.done_ns - x.sender.enter_ns for x in rows]
    return float(np.min(later)), float(np.median(whole))


def hidden_ns(x: Exchange, side: Side, transfer_ns: float) -> float:
    """What of a transfer of `transfer_ns` went on while `side` computed.

    The transfer is taken to be the last `transfer_ns` before the arrival, but not to have begun
    before its send. Where the receiver computes, an arrival shows only at its wait.
    """
    end = x.receiver.done_ns
    begin = max(x.sender.enter_ns, end - transfer_ns)
    return max(0.0, min(end, side.wait_ns) - max(begin, side.started_ns))


def bounds_ns(x: Exchange, side: str, profile: MachineProfile) -> tuple[float, float]:
    """Bounds of the overlap that this side's calls alone give."""
    t = transfer_time(profile.paths[x.path].points, x.size_bytes)
    mine, known = (x.sender, t.tail_s) if side == "sender" else (x.receiver, t.head_s)
    slack = t.x_hi_s if known is None else known
    compute = 1e-9 * (mine.wait_ns - mine.started_ns)
    calls = 1e-9 * (mine.started_ns - mine.enter_ns + mine.done_ns - mine.wait_ns)
    contradicted = t.x_lo_s > compute + calls + slack
    low = 0.0 if contradicted else max(0.0, t.x_lo_s - calls - slack)
    return 1e9 * low, 1e9 * min(t.x_hi_s, compute + slack)


def outside(truth: tuple[float, float], bounds: tuple[float, float], x: Exchange) -> bool:
    """Whether the bounds miss the truth, both (low, high), by more than the clocks' error."""
    return truth[1] + x.clock_error_ns < bounds[0] or min(truth) - x.clock_error_ns > bounds[1]


def _work_overlap(
    trials: Sequence[Exchange],
    label: str,
    side: str,
    profile: MachineProfile,
    path: str,
    transfer: tuple[float, float],
) -> WorkOverlap:
    x_hi_ns = 1e9 * transfer_time(profile.paths[path].points, trials[0].size_bytes).x_hi_s
    sides = [x.sender if side == "sender" else x.receiver for x in trials]
    bounds = [bounds_ns(x, side, profile) for x in trials]
    # X_hi is a percentile: what a single transfer takes beyond it is no overlap that was claimed.
    truths = [
        (min(x_hi_ns, hidden_ns(x, s, transfer[0])), min(x_hi_ns, hidden_ns(x, s, transfer[1])))
        for x, s in zip(trials, sides, strict=True)
    ]
    missed = sum(outside(*of) for of in zip(truths, bounds, trials, strict=True))
    return WorkOverlap(
        operation=GRID[label],
        path=path,
        side=side,
        both_directions=label == BOTH_WAYS,
        size_bytes=trials[0].size_bytes,
        flavour=trials[0].flavour,
        work_s=1e-9 * max(trials[0].sender_work_ns, trials[0].receiver_work_ns),
        transfers=len(trials),
        outside=missed,
        transfer_s=1e-9 * transfer[1],
        wait_s=_median_s([s.done_ns - s.wait_ns for s in sides]),
        true_overlap_min_s=_median_s([t[0] for t in truths]),
        true_overlap_max_s=_median_s([t[1] for t in truths]),
        overlap_min_s=_median_s([b[0] for b in bounds]),
        overlap_max_s=_median_s([b[1] for b in bounds]),
    )


def _median_s(values_ns: Sequence[float]) -> float:
    return 1e-9 * float(np.median(np.asarray(values_ns)))
