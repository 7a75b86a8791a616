"""`imbrex show --by ... --bounds`: the bounds of transfer, hidden and exposed time."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from imbrex.diagnosis import wording
from imbrex.profile.format import Ended
from imbrex.profile.run import Run
from imbrex.profile.sites import plain
from imbrex.profile.summary import By, Row, Sums, rows, totals
from imbrex.report.paragraph import held
from imbrex.report.stripped import print_stripped

SHARE = "hidden share"
WIDE = 140
"""The console's width in columns from which every column of numbers fits."""
WITH_FUNCTION = 170
"""The same with the function of each site, which the site itself names where it has no line."""


def print_bounds_table(run: Run, by: By, console: Console, limit: int | None = None) -> None:
    """Print the sums of a run by site, operation, size, section, rank or path."""
    found = rows(run, by)
    if by == "rank":
        found = _every_rank(run, found)
    shown = found[:limit] if limit else found
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column(by, overflow="fold", min_width=12)
    wide = console.width >= WIDE
    function = by == "site" and console.width >= WITH_FUNCTION and wording.any_line(shown)
    if by == "site":
        table.add_column("operation", overflow="fold")
        if function:
            table.add_column("function", overflow="fold")
    for name in _columns(wide):
        # a number that is cut over two lines is hard to read: rather the site is
        table.add_column(name, justify="right", no_wrap=wide, overflow="fold")
    if by == "rank":
        table.add_column("compute", justify="right")
        table.add_column("ended")
    for row in shown:
        table.add_row(*map(held, _cells(run, row, by, wide, function)))
    table.add_section()
    whole = Row("total", totals(run), number=-1)
    blank = [""] * ((1 + function) if by == "site" else 0)
    table.add_row(
        "total", *blank, *map(held, _numbers(whole, wide)), *([""] * (2 if by == "rank" else 0))
    )
    print_stripped(lambda: console.print(table), console)
    if len(shown) < len(found):
        console.print(Text(f"{len(found) - len(shown)} more rows: --limit 0 shows all"))


def _every_rank(run: Run, found: list[Row]) -> list[Row]:
    """The rows of ranks, with those that measured nothing in their places."""
    by_rank = {row.number: row for row in found}
    return [by_rank.get(r, Row(str(r), Sums(), number=r)) for r in run.ranks["rank"].tolist()]


def _columns(wide: bool) -> list[str]:
    """The columns with numbers; a narrow terminal goes without some of them."""
    names = ["calls", "bytes", "transfer", "hidden", "exposed", SHARE, "in MPI", "waiting"]
    return names if wide else [n for n in names if n not in ("bytes", "transfer", SHARE)]


def _cells(run: Run, row: Row, by: By, wide: bool, function: bool) -> list[str]:
    cells = [plain(row.key)]
    if by == "site":
        cells.append(row.operation or "")
        if function:
            cells.append((row.site.function or "") if row.site else "")
    cells += _numbers(row, wide)
    if by == "rank":
        entry = run.ranks[run.ranks["rank"] == row.number][0]
        cells.append(wording.seconds(int(entry["compute_ns"]) / 1e9))
        cells.append(Ended(min(int(entry["ended"]), Ended.MISSING)).name.lower())
    return cells


def _numbers(row: Row, wide: bool) -> list[str]:
    sums = row.sums
    values = {
        "calls": f"{sums.count:,}",
        "bytes": wording.amount(sums.bytes),
        "transfer": wording.interval(sums.transfer_min_s, sums.transfer_max_s),
        "hidden": wording.interval(sums.overlap_min_s, sums.overlap_max_s),
        "exposed": wording.interval(sums.exposed_min_s, sums.exposed_max_s),
        SHARE: wording.shares(sums.hidden_share),
        "in MPI": wording.seconds(sums.call_s),
        "waiting": wording.interval(sums.wait_min_s, sums.wait_max_s),
    }
    return [values[name] for name in _columns(wide)]
