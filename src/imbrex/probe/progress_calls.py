"""How many MPI_Test calls during the work complete the overlap, and the interval to recommend.

Shet et al., section 4.3, call MPI_Iprobe during the work for the same end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.network.exchanges import Exchange

DONE = 0.1
"""Overlap is complete when at most this share of a transfer is left for the wait."""


@dataclass(frozen=True)
class ProgressCalls:
    """For one size: residual wait over the number of calls; `needed` None: no number was enough."""

    size_bytes: int
    residual: dict[int, float]
    needed: int | None
    interval_s: float | None


def needed_calls(trials: Sequence[Exchange], size_bytes: int, transfer: float) -> ProgressCalls:
    """From the "progress" exchanges of one size; `transfer` in nanoseconds.

    `interval_s` is the time between calls at the smallest sufficient number; None when no call
    or no number was needed.
    """
    residual: dict[int, float] = {}
    work: dict[int, float] = {}
    for tests in sorted({x.receiver_tests for x in trials}):
        mine = [x for x in trials if x.receiver_tests == tests]
        waits = [max(0.0, x.receiver.done_ns - x.receiver.wait_ns) / transfer for x in mine]
        residual[tests] = float(np.median(np.asarray(waits)))
        work[tests] = float(np.median([x.receiver.wait_ns - x.receiver.started_ns for x in mine]))
    enough = [
        tests for tests in residual if all(r <= DONE for t, r in residual.items() if t >= tests)
    ]
    needed = min(enough, default=None)
    interval = work[needed] * 1e-9 / (needed + 1) if needed else None
    return ProgressCalls(size_bytes, residual, needed, interval)


AFFORDABLE = 0.05
"""Share of the work that calls may cost."""


def recommended_interval_s(found: Sequence[ProgressCalls], cost_s: float) -> float | None:
    """The shortest interval that any size needed, but none so short that calls cost too much.

    `cost_s` is the time of one call. None when no size needed calls, or none was helped by them.
    """
    shortest = min((f.interval_s for f in found if f.interval_s is not None), default=None)
    return None if shortest is None else max(shortest, cost_s / AFFORDABLE)
