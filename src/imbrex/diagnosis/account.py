"""Where the time of a run went: all that sentences and findings are drawn from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from imbrex.diagnosis.division import NO_TIME, Division, divide, has_causes
from imbrex.diagnosis.efficiency import Efficiency, efficiency
from imbrex.diagnosis.hidden import NOT_KNOWN, Hidden, hidden_of
from imbrex.diagnosis.interval import Interval
from imbrex.diagnosis.knowledge import Knowledge, know
from imbrex.diagnosis.link import shared_load
from imbrex.diagnosis.places import callers_apart, short_place
from imbrex.diagnosis.rank_divisions import divide_all
from imbrex.profile.aggregate import sum_columns
from imbrex.profile.run import Run
from imbrex.profile.sites import Site
from imbrex.profile.summary import By, Row, Sums, rows, totals, wall_s

UNEQUAL = 0.5
"""The share of all lateness from which unequal work is its reason, whatever else was going on."""

_DIVIDED: dict[By, tuple[str, ...]] = {
    "site": ("site", "operation"),
    "operation": ("operation",),
    "section": ("section",),
    "rank": ("rank",),
}
_OF_TRANSFERS: dict[By, tuple[str, ...]] = {
    **_DIVIDED,
    "size": ("size_class",),
    "path": ("path",),
}


@dataclass(frozen=True)
class Waited:
    """What a completing call waited for: the place that began it, and for how long (s)."""

    site: Site
    operation: str
    late: Interval
    moving: Interval

    @property
    def name(self) -> str:
        """The place as a user reads it."""
        return short_place(self.site)


@dataclass(frozen=True)
class RowAccount:
    """One row of a table: the transfers that began there, and the time spent there.

    `division` has no causes where the time is not divided by what the rows are (sizes, paths).
    `caller` tells rows of one name apart: where the compiler put this copy of the call.
    """

    row: Row
    division: Division = NO_TIME
    hidden: Hidden = NOT_KNOWN
    waited: tuple[Waited, ...] = ()
    caller: str = ""

    @property
    def name(self) -> str:
        """The place as a user reads it."""
        return self.row.key if self.row.site is None else short_place(self.row.site)

    @property
    def place(self) -> str:
        """The name, and where that is not enough, the caller."""
        return f"{self.name} from {self.caller}" if self.caller else self.name

    @property
    def operation(self) -> str:
        """Its MPI name."""
        return self.row.operation or ""

    @property
    def at_stake_s(self) -> float:
        """The time that some remedy could save: all but what MPI itself needs."""
        return self.division.call_s - self.division.cause("library").low


@dataclass(frozen=True)
class Partner:
    """How long all ranks together waited for one (s)."""

    rank: int
    late: Interval


@dataclass(frozen=True)
class Account:
    """A run taken apart. Times in s are sums over the ranks; `sites` those most at stake first."""

    run: Run
    sums: Sums
    compute_s: float
    wall_s: float
    overhead_s: float
    whole: Division
    hidden: Hidden
    sites: tuple[RowAccount, ...]
    partners: tuple[Partner, ...]
    efficiency: Efficiency | None
    knowledge: Knowledge

    @property
    def busy_s(self) -> float:
        """The ranks' time: what every share of the run is taken of."""
        return self.compute_s + self.whole.call_s

    @property
    def unequal_s(self) -> float:
        """How long the others wait at least for the rank that computes most, summed over them."""
        computed = np.asarray(self.run.ranks["compute_ns"], np.int64)
        return int((computed.max(initial=0) - computed).sum()) / 1e9

    @property
    def loaded(self) -> str | None:
        """What else kept the machine busy, where the ranks do not compute unequally: then it may
        be why they wait for each other."""
        explained = self.unequal_s >= UNEQUAL * self.whole.late.high > 0
        return None if explained else self.run.job.crowded

    @property
    def per_rank(self) -> float:
        """What makes the mean of a rank of a sum over them."""
        ranks = int(np.count_nonzero(self.run.ranks["wall_ns"]))
        return 1 / ranks if ranks else 1.0

    @cached_property
    def caused(self) -> bool:
        """Whether the run tells lateness from transfer."""
        return has_causes(self.run)

    @cached_property
    def link_load(self) -> float:
        """How busy ranks of one host kept its link together while they waited for data."""
        return shared_load(self.run)

    @property
    def gainable(self) -> Interval:
        """The most that overlap could save, as a share of the ranks' time."""
        return self.whole.gainable.over(self.busy_s)

    def share(self, seconds: Interval) -> Interval:
        """As a share of the ranks' time."""
        return seconds.over(self.busy_s)


def take_account(run: Run) -> Account:
    """Work out where the time of a run went."""
    sums = totals(run)
    whole = divide_all(run)
    compute_s = int(np.asarray(run.ranks["compute_ns"], np.int64).sum()) / 1e9
    if not has_causes(run) and sums.exposed_min_s > 0:
        high = whole.gainable.high
        whole = replace(whole, gainable=Interval(min(sums.exposed_min_s, high), high))
    return Account(
        run=run,
        sums=sums,
        compute_s=compute_s,
        wall_s=wall_s(run),
        overhead_s=int(np.asarray(run.ranks["overhead_ns"], np.int64).sum()) / 1e9,
        whole=whole,
        hidden=hidden_of(run, ()).get((), Hidden()),
        sites=accounts(run, "site"),
        partners=_partners(run),
        efficiency=efficiency(run),
        knowledge=know(run),
    )


def accounts(run: Run, by: By) -> tuple[RowAccount, ...]:
    """The rows of a table: sites, operations and sections with most at stake first."""
    divisions = divide(run, _DIVIDED[by]) if by in _DIVIDED else {}
    hidden = hidden_of(run, _OF_TRANSFERS[by])
    numbers = {name: number for number, name in enumerate(run.job.operations)}
    waited = _waited(run) if by == "site" else {}
    found = []
    for row in rows(run, by):
        key: tuple[int, ...] = (row.number,)
        if by == "site":
            key = (row.number, numbers.get(row.operation or "", -1))
        division = divisions.get(key, Division(call_s=row.sums.call_s))
        found.append(RowAccount(row, division, hidden.get(key, Hidden()), waited.get(key, ())))
    if by == "site":
        found = _told_apart(found)
    if by in ("site", "operation", "section"):
        found.sort(key=lambda account: account.at_stake_s, reverse=True)
    return tuple(found)


def _told_apart(found: list[RowAccount]) -> list[RowAccount]:
    """With callers where several rows have one name and operation."""
    groups: dict[tuple[str, str], list[int]] = {}
    for number, account in enumerate(found):
        groups.setdefault((account.name, account.operation), []).append(number)
    for numbers in groups.values():
        sites = [site for n in numbers if (site := found[n].row.site) is not None]
        if len(sites) == len(numbers) > 1:
            for number, caller in zip(numbers, callers_apart(sites), strict=True):
                found[number] = replace(found[number], caller=caller)
    return found


def _waited(run: Run) -> dict[tuple[int, ...], tuple[Waited, ...]]:
    """For each completing call what it waited for, the longest first."""
    table = run.waits
    if table is None:
        return {}
    names = ("late_min_ns", "late_max_ns", "moving_min_ns", "moving_max_ns")
    keys = ("site", "operation", "start_site", "start_operation")
    found: dict[tuple[int, ...], list[Waited]] = {}
    distinct, sums = sum_columns(table, keys, names)
    for key, times in zip(distinct.tolist(), (sums / 1e9).tolist(), strict=True):
        late_low, late_high, moving_low, moving_high = times
        found.setdefault(tuple(key[:2]), []).append(
            Waited(
                run.site(key[2]),
                run.operation(key[3]),
                Interval(late_low, max(late_low, late_high)),
                Interval(moving_low, max(moving_low, moving_high)),
            )
        )
    for waited in found.values():
        waited.sort(key=lambda w: w.late.middle + w.moving.middle, reverse=True)
    return {key: tuple(waited) for key, waited in found.items()}


def _partners(run: Run) -> tuple[Partner, ...]:
    """Whom the ranks waited for, the longest first."""
    table = run.partners
    if table is None or not len(table):
        return ()
    peers, inverse = np.unique(table["peer"], return_inverse=True)
    low = np.bincount(inverse, weights=table["late_min_ns"]) / 1e9
    high = np.bincount(inverse, weights=table["late_max_ns"]) / 1e9
    found = [
        Partner(int(peer), Interval(float(a), max(float(a), float(b))))
        for peer, a, b in zip(peers, low, high, strict=True)
        if b > 0
    ]
    return tuple(sorted(found, key=lambda partner: partner.late.middle, reverse=True))
