"""Call sites of two runs, paired: the same place, one that moved, or what a rewrite made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from imbrex import mpi_facts
from imbrex.diagnosis.account import RowAccount, accounts
from imbrex.diagnosis.division import Division, added
from imbrex.profile.run import Run
from imbrex.profile.site_map import Place, SiteMap
from imbrex.profile.summary import Sums


@dataclass(frozen=True)
class SitePair:
    """What stands for one place in both runs; no rows where it made no call in one of them."""

    rows_before: tuple[RowAccount, ...]
    rows_after: tuple[RowAccount, ...]
    rewritten: bool = False

    @property
    def name(self) -> str:
        """The place as it is now, or was where it is no more."""
        return (self.rows_after or self.rows_before)[0].name

    @property
    def operation(self) -> str:
        """`MPI_Recv`, or `MPI_Recv -> MPI_Irecv, MPI_Wait` of a rewritten one."""
        before, after = (
            ", ".join(dict.fromkeys(row.operation for row in found))
            for found in (self.rows_before, self.rows_after)
        )
        return f"{before} -> {after}" if self.rewritten else after or before

    @property
    def before(self) -> Sums | None:
        """The sums before; None where the site made no call."""
        return _sums(self.rows_before)

    @property
    def after(self) -> Sums | None:
        """The sums after; None where the site made no call."""
        return _sums(self.rows_after)

    @property
    def divisions(self) -> tuple[Division, Division]:
        """How the call time was divided, before and after."""
        before, after = (
            added(row.division for row in found) for found in (self.rows_before, self.rows_after)
        )
        return before, after

    @property
    def lines(self) -> tuple[int | None, int | None]:
        """The source lines."""
        before, after = (
            found[0].row.site.line if found and found[0].row.site else None
            for found in (self.rows_before, self.rows_after)
        )
        return before, after

    def change(self, name: str) -> float:
        """After less before of one quantity; a run without the site counts as 0."""
        values = [getattr(sums, name) if sums else 0 for sums in (self.before, self.after)]
        return float(values[1] - values[0])


def pair_sites(before: Run, after: Run, rewrites: SiteMap | None = None) -> list[SitePair]:
    """Match call sites, those whose time in MPI changed most first.

    First by the map of a rewrite; then by file, line and operation; what is left by file, function
    and operation in the order of lines, since an edit above moves them; at last a blocking call
    that is gone with the nonblocking ones that came in its function.
    """
    left, right = list(accounts(before, "site")), list(accounts(after, "site"))
    pairs = _by_map(left, right, rewrites) if rewrites else []
    for key in (_exact, _loose):
        pairs += _by(key, left, right)
    pairs += _by_rewrite(left, right)
    pairs += [SitePair((row,), ()) for row in left] + [SitePair((), (row,)) for row in right]
    pairs.sort(key=lambda pair: abs(pair.change("call_s")), reverse=True)
    return pairs


def _by_map(left: list[RowAccount], right: list[RowAccount], rewrites: SiteMap) -> list[SitePair]:
    groups: dict[Place, tuple[list[RowAccount], list[RowAccount]]] = {
        old: ([], []) for old in rewrites.before_of.values()
    }
    for row in left:
        if (old := rewrites.original(_place(row))) is not None:
            groups[old][0].append(row)
    for row in right:
        if (old := rewrites.stands_for(_place(row))) is not None:
            groups[old][1].append(row)
    found = [
        SitePair(tuple(olds), tuple(news), _operations(olds) != _operations(news))
        for olds, news in groups.values()
        if olds and news
    ]
    _take(found, left, right)
    return found


def _operations(found: list[RowAccount]) -> set[str]:
    return {row.operation for row in found}


def _by(
    key: Callable[[RowAccount], tuple[Any, ...]], left: list[RowAccount], right: list[RowAccount]
) -> list[SitePair]:
    """Rows of one exact key are one place; several of a loose one are matched in order."""
    found: list[SitePair] = []
    for name in dict.fromkeys(map(key, left)):
        olds, news = (
            sorted((row for row in rows if key(row) == name), key=_line) for rows in (left, right)
        )
        if not olds or not news:
            continue
        if key is _exact:
            found.append(SitePair(tuple(olds), tuple(news)))
        else:
            found += [SitePair((a,), (b,)) for a, b in zip(olds, news, strict=False)]
    _take(found, left, right)
    return found


def _by_rewrite(left: list[RowAccount], right: list[RowAccount]) -> list[SitePair]:
    """Blocking calls that are gone, with the starts and waits that came in the same function."""
    found = []
    for name in dict.fromkeys(map(_function, left)):
        olds = [r for r in left if _function(r) == name and mpi_facts.is_blocking(r.operation)]
        news = [
            row
            for row in right
            if _function(row) == name
            and (mpi_facts.is_nonblocking(row.operation) or mpi_facts.is_wait(row.operation))
        ]
        if name[1] is not None and olds and news:
            found.append(SitePair(tuple(olds), tuple(news), rewritten=True))
    _take(found, left, right)
    return found


def _take(pairs: Iterable[SitePair], left: list[RowAccount], right: list[RowAccount]) -> None:
    for pair in pairs:
        for row in pair.rows_before:
            left.remove(row)
        for row in pair.rows_after:
            right.remove(row)


def _sums(found: tuple[RowAccount, ...]) -> Sums | None:
    if not found:
        return None
    return Sums(**{f.name: sum(getattr(r.row.sums, f.name) for r in found) for f in fields(Sums)})


def _line(row: RowAccount) -> int:
    return (row.row.site.line if row.row.site else None) or 0


def _file(row: RowAccount) -> str:
    """The file's name without its folders: the same program is often built in two places."""
    site = row.row.site
    return Path(site.file or site.image or "").name if site is not None else ""


def _place(row: RowAccount) -> Place:
    return _file(row), _line(row), row.operation


def _exact(row: RowAccount) -> tuple[Any, ...]:
    site, place = row.row.site, None
    if site is not None:
        place = site.line if site.file else (site.function or site.offset)
    return _file(row), place, row.operation


def _loose(row: RowAccount) -> tuple[Any, ...]:
    return (*_function(row), row.operation)


def _function(row: RowAccount) -> tuple[str, str | None]:
    return _file(row), row.row.site.function if row.row.site else None
