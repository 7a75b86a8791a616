"""Whether a replay of the network that a run had says what the run itself says, figure by figure.

The run knows only what its calls took, the replay only what their messages need: each limits the
other. What hiding or progress saves is time of the critical path, which is call time of one rank at
each moment; so it is at most what the run has over all ranks as gainable, or as lost overlap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex import mpi_facts
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.interval import Interval
from imbrex.diagnosis.rank_divisions import divide_ranks
from imbrex.replay.arrays import NONE, ArraySchedule, Flag, Kind

_OFF = 0.01
"""A replay is as measured within this share."""
_ROUNDED = 1e-3
_GRAIN_S = 1e-6
_BUSY = "the machine was busy when its profile was made: `imbrex calibrate` when nothing else runs"
_FASTER = "messages were faster than the machine profile says"
_NO_NETWORK = ("library", "file_io", "unattributed")
"""Causes of time in MPI that no network explains."""
_WAITS = (Kind.WAIT_SEND, Kind.WAIT_RECV, Kind.WAIT_ARRIVAL)


@dataclass(frozen=True)
class Figure:
    """A figure of `predict` beside what `run` says of it, s or a share. `why` it lies outside:
    empty where it lies within, or where nothing explains it."""

    name: str
    predicted: float
    run: Interval
    site: str = ""
    why: str = ""

    @property
    def within(self) -> bool:
        """Whether both agree."""
        grain = _GRAIN_S + _ROUNDED * abs(self.predicted)
        return self.run.low - grain <= self.predicted <= self.run.high + grain

    def to_json(self) -> dict[str, Any]:
        """An entry of `agreement`."""
        return {
            "figure": self.name,
            "site": self.site,
            "predicted": float(self.predicted),
            "run": [float(self.run.low), float(self.run.high)],
            "within": bool(self.within),
            "why": self.why,
        }


def agreement(
    account: Account, schedule: ArraySchedule, document: dict[str, Any], *, busy: bool = False
) -> list[Figure]:
    """The figures of the network that the run had, the first of `document`, beside the run's.

    `busy`: the machine was when its profile was made.
    """
    row, measured_s = document["networks"][0], float(document["measured_s"])
    reading = _Reading(account, schedule, row["time_s"] - measured_s, measured_s)
    own = Interval((1 - _OFF) * measured_s, (1 + _OFF) * measured_s)
    found = [Figure("run time", row["time_s"], own, why=reading.disturbed)]
    if schedule.streams == schedule.ranks:
        found += _of_computation(account, document, reading)
    moving = account.whole.moving.high
    needs = row["time_s"] - row["without_network_s"]
    found.append(
        Figure(
            "transfer",
            needs,
            Interval(0.0, moving),
            why=reading.why(needs, moving, account.sites),
        )
    )
    numbers: dict[str, set[int]] = {}
    for number in np.unique(schedule.site if schedule.site is not None else ()).tolist():
        numbers.setdefault(account.run.site(number).label, set()).add(number)
    for entry in row.get("sites", ()):
        places = set().union(*(awaited_at(schedule, n) for n in numbers[entry["site"]]))
        rows = [found for found in account.sites if found.row.number in places]
        found += _of_site(entry, rows, reading)
    doubt = _BUSY if busy else ""
    return [replace(figure, why="" if figure.within else figure.why or doubt) for figure in found]


def unexplained(figures: Iterable[Figure]) -> list[Figure]:
    """Those that contradict the run for no known reason."""
    return [figure for figure in figures if not figure.within and not figure.why]


def awaited_at(schedule: ArraySchedule, site: int) -> set[int]:
    """The call sites where what began at `site`, or was received there, is waited for."""
    sites = schedule.site
    assert sites is not None
    ops = schedule.operations
    kind, known = ops["kind"], ops["partner"] != NONE
    partner = np.where(known, ops["partner"], 0).astype(np.int64)
    mine, blocking = sites == site, (ops["flags"] & Flag.BLOCKING) != 0
    # The engine takes a message to be of both its ends' sites.
    moved = (kind == Kind.SEND) & (mine | (known & mine[partner]))
    met = (kind == Kind.MEET) & mine
    waits = known & np.isin(kind, _WAITS) & moved[partner]
    waits |= known & (kind == Kind.RECV) & blocking & moved[partner]
    waits |= known & (kind == Kind.WAIT_MEET) & met[partner]
    waits |= (moved | met) & blocking
    return set(np.unique(sites[waits]).tolist())


@dataclass(frozen=True)
class _Reading:
    """What may explain a difference: the replay is `off_s` longer than what was measured."""

    account: Account
    schedule: ArraySchedule
    off_s: float
    measured_s: float

    @property
    def disturbed(self) -> str:
        """Why the replay is not as measured; empty where it is."""
        if abs(self.off_s) <= _OFF * self.measured_s:
            return ""
        if self.off_s > 0:
            return _FASTER
        return "the run had stalls, or was disturbed, which no replay has in it"

    def why(self, predicted: float, limit: float, rows: Iterable[RowAccount]) -> str:
        """Why something saves more than `limit`, which the run has at these places."""
        rows = list(rows)
        if any(mpi_facts.is_poll(row.operation) for row in rows):
            return "the program asks for it again and again, and what it computes between counts"
        moving = sum(row.division.moving.high for row in rows)
        if predicted <= moving * (1 + _ROUNDED):
            return "the ranks compute too little to hide all of it"
        rest = sum(row.division.cause(n).high for row in rows for n in _NO_NETWORK)
        if predicted <= moving + rest:
            return "the run cannot tell all of it from MPI's own time"
        if self.off_s > 0 and predicted <= limit + self.off_s:
            return self.disturbed or _FASTER
        return self.disturbed if self.off_s < 0 else ""


def _of_computation(account: Account, document: dict[str, Any], reading: _Reading) -> list[Figure]:
    """Computation, balance and communication: calls that wait for nothing may count as either."""
    ranks, row = divide_ranks(account.run), document["networks"][0]
    compute: NDArray[np.float64] = ranks.of(account.run, "compute_ns") / 1e9
    most = compute + sum(ranks.spans[name].high for name in _NO_NETWORK)
    most = most + document["not_replayed_share"] * reading.measured_s * len(compute)
    polls = any(mpi_facts.is_poll(found.operation) for found in account.sites)
    why = "what is computed between tests that failed counts as waiting" if polls else ""
    longest, efficiency = Interval(compute.max(), most.max()), row["efficiency"]
    product = efficiency["serialization"] * efficiency["transfer"]
    balance = Interval(compute.mean() / longest.high, most.mean() / longest.low)
    return [
        Figure("computation", document["computation_s"], longest, why=why),
        Figure("load balance", efficiency["load_balance"], balance, why=why),
        Figure(
            "communication efficiency",
            product,
            longest.over(reading.measured_s),
            why=reading.disturbed or why or _grain(reading),
        ),
    ]


def _grain(reading: _Reading) -> str:
    """What is left where the replay is as measured but for less than a hundredth."""
    share = abs(reading.off_s) / reading.measured_s
    return f"the replay is {100 * share:.1f} % off" if share > _ROUNDED else ""


def _of_site(entry: dict[str, Any], rows: list[RowAccount], reading: _Reading) -> list[Figure]:
    found = []
    for name, key, limit in (
        ("hidden saves at most", "saves_at_most_s", sum(r.division.gainable.high for r in rows)),
        ("progress saves", "progress_saves_s", sum(r.division.progress.high for r in rows)),
    ):
        if key in entry:
            why = reading.why(entry[key], limit, rows)
            found.append(Figure(name, entry[key], Interval(0.0, limit), entry["site"], why))
    return found
