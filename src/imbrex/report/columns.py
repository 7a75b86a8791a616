"""What a table of a run shows, for the terminal and the page alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account, RowAccount, accounts
from imbrex.diagnosis.interval import Interval
from imbrex.profile.aggregate import Integers
from imbrex.profile.format import Ended, Table
from imbrex.profile.run import Run
from imbrex.profile.summary import By, Row, Sums


@dataclass(frozen=True)
class Column:
    """One column: what it says of a row, and by what it sorts.

    Where not all fit, those with the largest `spare` are left out first; those with 0 stay.
    """

    name: str
    text: Callable[[RowAccount], str]
    order: Callable[[RowAccount], float | str]
    number: bool = True
    spare: int = 0


def every_rank(account: Account, by: By, most: int | None = None) -> tuple[RowAccount, ...]:
    """The rows of a table; of ranks also those that measured nothing, in their places.

    With `most` no more than so many ranks are worked out.
    """
    if by != "rank":
        return account.sites if by == "site" else accounts(account.run, by)
    ranks = account.run.ranks["rank"][:most]
    run = account.run if len(ranks) == len(account.run.ranks) else _of_ranks(account.run, ranks)
    by_rank = {row.row.number: row for row in accounts(run, by)}
    return tuple(
        by_rank.get(rank) or RowAccount(Row(str(rank), Sums(), number=rank))
        for rank in ranks.tolist()
    )


def _of_ranks(run: Run, ranks: Integers) -> Run:
    """The run with the rows of these ranks alone."""

    def some(table: Table | None) -> Table | None:
        return None if table is None else table[np.isin(table["rank"], ranks)]

    return replace(
        run,
        measures=run.measures[np.isin(run.measures["rank"], ranks)],
        causes=some(run.causes),
        evidence=some(run.evidence),
    )


def columns(account: Account, by: By, found: tuple[RowAccount, ...]) -> list[Column]:
    """All columns of a table by what its rows are."""
    cells = [_key(by)]
    if by == "site":
        cells.append(_words("operation", lambda row: row.operation))
    calls = Column("calls", lambda r: f"{r.row.sums.count:,}", lambda r: r.row.sums.count, spare=5)
    amount = Column(
        "bytes", lambda r: wording.amount(r.row.sums.bytes), lambda r: r.row.sums.bytes, spare=6
    )
    hidden = [_hidden()] if any(row.hidden.says_something for row in found) else []
    if by in ("size", "path"):
        return [*cells, calls, amount, _interval("transfer", lambda r: _of(r, "transfer")), *hidden]
    cells += [calls, amount]
    if by == "rank":
        cells.append(_rank("compute", account, "compute_ns"))
    cells += [
        Column("in MPI", lambda r: wording.seconds(_call_s(r)), _call_s),
        Column("of the run", lambda r: wording.percent(_share(account, r)), _call_s, spare=2),
    ]
    if account.caused:
        cells += [
            _interval("late", lambda r: r.division.late),
            _interval("transfer", lambda r: r.division.cause("transfer"), spare=1),
            _interval("stalled", lambda r: r.division.cause("stalled"), spare=4),
            _interval("MPI itself", lambda r: r.division.cause("library"), spare=7),
            _interval("gainable", lambda r: r.division.gainable, spare=3),
        ]
        if by == "rank" and account.partners:
            cells.append(_waited_for(account))
    else:
        cells.append(_interval("waiting", lambda r: _of(r, "wait")))
        cells.append(_interval("exposed", lambda r: _of(r, "exposed"), spare=4))
    cells += hidden
    if by == "rank":
        cells.append(_ended(account))
    return cells


def _key(by: By) -> Column:
    number = by in ("size", "rank")
    return Column(
        by,
        lambda row: row.place,
        lambda row: row.row.number if number else row.row.key,
        number=False,
    )


def _words(name: str, text: Callable[[RowAccount], str], spare: int = 0) -> Column:
    return Column(name, text, text, number=False, spare=spare)


def _interval(name: str, of: Callable[[RowAccount], Interval], spare: int = 0) -> Column:
    return Column(
        name,
        lambda row: wording.interval(of(row).low, of(row).high),
        lambda row: of(row).high,
        spare=spare,
    )


def _of(row: RowAccount, name: str) -> Interval:
    sums = row.row.sums
    return Interval(getattr(sums, f"{name}_min_s"), getattr(sums, f"{name}_max_s"))


def _call_s(row: RowAccount) -> float:
    return row.division.call_s or row.row.sums.call_s


def _share(account: Account, row: RowAccount) -> float:
    return _call_s(row) / account.busy_s if account.busy_s else 0.0


def _hidden() -> Column:
    """The hidden share where it is narrow enough to be told, with its evidence."""

    def text(row: RowAccount) -> str:
        if not row.hidden.says_something:
            return ""
        return f"{wording.shares(row.hidden.share)} ({row.hidden.kind})"

    return Column("hidden", text, lambda row: (row.hidden.share or (0.0, 0.0))[1], spare=2)


def _waited_for(account: Account) -> Column:
    """How long the other ranks waited for this one."""
    late = {partner.rank: partner.late for partner in account.partners}
    return _interval("waited for", lambda row: late.get(row.row.number, Interval()))


def _rank(name: str, account: Account, field: str) -> Column:
    ranks = account.run.ranks
    of = dict(zip(ranks["rank"].tolist(), (ranks[field] / 1e9).tolist(), strict=True))
    return Column(
        name,
        lambda row: wording.seconds(of.get(row.row.number, 0.0)),
        lambda row: of.get(row.row.number, 0.0),
    )


def _ended(account: Account) -> Column:
    """How each rank ended; left out early where all finalized."""
    ranks = account.run.ranks
    ended = dict(zip(ranks["rank"].tolist(), ranks["ended"].tolist(), strict=True))
    return _words(
        "ended",
        lambda row: Ended(
            min(ended.get(row.row.number, Ended.MISSING), Ended.MISSING)
        ).name.lower(),
        spare=0 if any(ended.values()) else 8,
    )
