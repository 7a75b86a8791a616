"""One thing to tell a user, with the time at stake and the command that comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.interval import Interval, total
from imbrex.profile.sites import Site

WORTH = 0.01
"""The share of the ranks' time below which nothing is worth telling."""


@dataclass(frozen=True)
class Finding:
    """`at_stake` is in s over ranks; `evidence` names what the times rest on.

    That is `matched` (both sides' calls), `call` (this process's calls alone) or `run` (what was
    run and how). `operation` is the MPI name at the site.
    """

    kind: str
    at_stake: Interval
    evidence: str
    text: str
    command: str
    site: Site | None = None
    operation: str | None = None

    @property
    def certainty(self) -> str:
        """Whether all of it, part of it or perhaps nothing of it is at stake."""
        if self.at_stake.low >= 0.8 * self.at_stake.high:
            return "certain"
        return "partly" if self.at_stake.low > 0 else "possible"

    def to_json(self) -> dict[str, Any]:
        """An entry of `findings`."""
        return {
            "kind": self.kind,
            "site": None if self.site is None else self.site.label,
            "file": None if self.site is None else self.site.file,
            "line": None if self.site is None else self.site.line,
            "operation": self.operation,
            "at_stake_s": self.at_stake.to_json(),
            "evidence": self.evidence,
            "certainty": self.certainty,
            "text": self.text,
            "command": self.command,
        }


Rule = Callable[[Account], Iterator[Finding]]
"""What holds of a run; one file of `findings` each."""


def evidence(account: Account) -> str:
    """What tells where the time in calls went."""
    return "matched" if account.caused else "call"


def overlap_can_help(account: Account) -> bool:
    """Whether perfect overlap could save what is worth telling."""
    return account.gainable.high >= WORTH


def worth(account: Account, seconds: Interval) -> bool:
    """Whether a time is worth telling, taken at its middle."""
    return seconds.middle >= WORTH * account.busy_s > 0


def place(site: RowAccount) -> str:
    """`halo.c:12 (MPI_Waitall)`."""
    return f"{site.place} ({site.operation})"


def gain(site: RowAccount) -> Interval:
    """What overlap could gain at a site, less what stalls for certain: that no overlap moves."""
    gainable, stalled = site.division.gainable, site.division.cause("stalled")
    return Interval(max(0.0, gainable.low - stalled.high), max(0.0, gainable.high - stalled.low))


@dataclass(frozen=True)
class Group:
    """Sites with one operation of which the same is to be told, the largest first."""

    sites: tuple[RowAccount, ...]
    at_stake: Interval

    @property
    def worst(self) -> RowAccount:
        """The site with most at stake."""
        return self.sites[0]

    @property
    def place(self) -> str:
        """`halo.c:12 (MPI_Recv)`, and how many more there are."""
        more = len(self.sites) - 1
        return place(self.worst) + (f" and {more} more place{'s' * (more > 1)}" if more else "")


def groups(
    account: Account,
    value: Callable[[RowAccount], Interval],
    concerns: Callable[[RowAccount], bool],
    key: Callable[[RowAccount], str] = lambda site: site.operation,
) -> list[Group]:
    """The sites that a rule concerns, by operation or another key; those that are worth telling."""
    by_key: dict[str, list[tuple[RowAccount, Interval]]] = {}
    for site in account.sites:
        if concerns(site) and value(site).high > 0:
            by_key.setdefault(key(site), []).append((site, value(site)))
    found = []
    for members in by_key.values():
        members.sort(key=lambda member: member[1].middle, reverse=True)
        # what is next to nothing at a place adds nothing to what is to be told of it
        least = 0.05 * members[0][1].middle
        kept = [(site, part) for site, part in members if part.middle >= least]
        at_stake = total(part for _, part in kept)
        if worth(account, at_stake):
            found.append(Group(tuple(site for site, _ in kept), at_stake))
    return sorted(found, key=lambda group: group.at_stake.middle, reverse=True)
