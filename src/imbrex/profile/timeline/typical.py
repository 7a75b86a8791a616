"""Which stretch of a time line shows a typical iteration of a call site."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imbrex.profile.timeline.timeline import Timeline

_LOOKED_AT, _LONGEST_CYCLE = 4096, 1024
_REPEATS, _NEARLY = 0.6, 0.02


@dataclass(frozen=True)
class Iteration:
    """A stretch of time in ns since the run began, and the call that it is typical of.

    `row` is that call's row of the time line, in the middle of the stretch; `rank` its rank.
    `period_ns` is how long it takes until the rank's calls repeat, at least until the next call of
    the site; 0 where there is only one.
    """

    begin_ns: int
    end_ns: int
    row: int
    rank: int
    period_ns: int


def typical_iteration(
    timeline: Timeline, site: int | None = None, operation: int | None = None
) -> Iteration | None:
    """The stretch around the call that is most like the others of its site; None without calls.

    That is the one whose length and whose distance to the next are nearest to the medians, on the
    rank that spends most time there. Without a site it is the one where most time is spent; the
    calls of an operation alone where one is given.
    """
    calls = timeline.calls
    rows = np.flatnonzero(timeline.first)
    if not len(rows):
        return None
    length = (calls["exit_ns"] - calls["enter_ns"])[rows].astype(np.float64)
    if site is None:
        sums = np.bincount(calls["site"][rows], weights=length)
        site = int(np.argmax(sums))
    chosen = calls["site"][rows] == site
    if operation is not None:
        chosen &= calls["operation"][rows] == operation
    if not chosen.any():
        return None
    rows, length = rows[chosen], length[chosen]
    rank = int(np.argmax(np.bincount(calls["rank"][rows], weights=length + 1.0)))
    mine = calls["rank"][rows] == rank
    rows, length = rows[mine], length[mine]
    order = np.argsort(calls["enter_ns"][rows], kind="stable")
    rows, length = rows[order], length[order]
    enter = calls["enter_ns"][rows].astype(np.int64)
    at, period = _most_typical(enter, length)
    begin, end = int(enter[at]), int(calls["exit_ns"][rows[at]])
    period = max(period, _cycle_ns(timeline, rank, begin))
    margin_ns = max(period, end - begin, 1)
    return Iteration(
        max(timeline.begin_ns, begin - margin_ns),
        min(timeline.end_ns, end + margin_ns) if timeline.end_ns > begin else end + margin_ns,
        int(rows[at]),
        rank,
        period,
    )


def _most_typical(enter: NDArray[np.int64], length: NDArray[np.float64]) -> tuple[int, int]:
    """The call nearest to the medians, and its distance to the next (ns)."""
    if len(enter) < 2:
        return 0, 0
    period = np.diff(enter).astype(np.float64)
    length = length[:-1]
    far = abs(period - np.median(period)) / max(float(np.median(period)), 1.0)
    far += abs(length - np.median(length)) / max(float(np.median(length)), 1.0)
    # Begin and end of a run are no iterations: of equals the one in the middle.
    far += 1e-6 * abs(np.arange(len(far)) - len(far) / 2) / len(far)
    at = int(np.argmin(far))
    return at, int(period[at])


def _cycle_ns(timeline: Timeline, rank: int, middle_ns: int) -> int:
    """How long a rank's sequence of calls takes until it repeats, around a moment; 0: it does not.

    Of a loop within the iteration (one message per neighbour) only some calls repeat: the shortest
    cycle is taken that explains nearly as many calls as the best one.
    """
    calls = timeline.calls
    mine = np.flatnonzero(timeline.first & (calls["rank"] == rank))
    mine = mine[np.argsort(calls["enter_ns"][mine], kind="stable")]
    at = int(np.searchsorted(calls["enter_ns"][mine], middle_ns))
    mine = mine[max(0, at - _LOOKED_AT // 2) : at + _LOOKED_AT // 2]
    places = calls["site"][mine].astype(np.int64) << 16 | calls["operation"][mine]
    longest = min(len(places) // 3, _LONGEST_CYCLE)
    if longest < 1:
        return 0
    share = np.asarray(
        [np.mean(places[lag:] == places[:-lag]) for lag in range(1, longest + 1)], np.float64
    )
    if share.max() < _REPEATS:
        return 0
    lag = int(np.argmax(share >= share.max() - _NEARLY)) + 1
    enter = calls["enter_ns"][mine]
    return int(np.median(enter[lag:] - enter[:-lag]))
