"""`imbrex show --by`: one table of a run, where its time went by site, rank, ..."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account
from imbrex.profile.sites import plain
from imbrex.profile.summary import By
from imbrex.report.columns import columns, every_rank
from imbrex.report.paragraph import print_paragraph
from imbrex.report.stripped import print_stripped

NARROW = 72
"""Below this width a row takes several lines in place of columns."""
LONGEST_PLACE = 40
"""A longer place takes several lines."""
_GAP = 2


def print_table(account: Account, by: By, console: Console, limit: int | None = None) -> None:
    """Print where the time of a run went by site, operation, size, section, rank or path."""
    found = every_rank(account, by, limit or None)
    shown = found[:limit] if limit else found
    number = len(account.run.ranks) if by == "rank" else len(found)
    cells = columns(account, by, found)
    rows = [[plain(column.text(row)) for column in cells] for row in shown]
    kept = _that_fit([c.name for c in cells], rows, [c.spare for c in cells], console.width)
    if console.width < NARROW or kept is None:
        names = [column.name for column in cells]
        print_stripped(lambda: _print_list(names, rows, console), console)
    else:
        table = Table(box=None, padding=(0, _GAP, 0, 0), header_style="bold", pad_edge=False)
        for at in kept:
            column = cells[at]
            table.add_column(
                column.name,
                justify="right" if column.number else "left",
                no_wrap=at > 0,
                max_width=LONGEST_PLACE if at == 0 else None,
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(row[at] for at in kept))
        print_stripped(lambda: console.print(table), console)
    print_paragraph(console, _total(account), console.width, style="dim")
    if len(shown) < number:
        console.print(Text(f"{number - len(shown)} more rows: --limit 0 shows all"))


def _that_fit(
    names: list[str], rows: list[list[str]], spare: list[int], width: int
) -> list[int] | None:
    """The columns that fit beside each other; None where not even those do that must stay."""
    widths = [
        max([len(name), *(len(row[at]) for row in rows)]) + _GAP for at, name in enumerate(names)
    ]
    widths[0] = min(widths[0], LONGEST_PLACE + _GAP)
    kept = list(range(len(names)))
    while sum(widths[at] for at in kept) - _GAP > width:
        least = max(kept, key=lambda at: spare[at])
        if not spare[least]:
            return None
        kept.remove(least)
    return kept


def _print_list(names: list[str], rows: list[list[str]], console: Console) -> None:
    for first, *rest in rows:
        print_paragraph(console, first, console.width, style="bold")
        told = ", ".join(
            f"{name} {text}"
            for name, text in zip(names[1:], rest, strict=True)
            if text not in ("", "0 s")
        )
        print_paragraph(console, told, console.width, mark=" ")


def _total(account: Account) -> str:
    share = account.whole.call_s / account.busy_s if account.busy_s else 0.0
    return (
        f"total: {wording.seconds(account.whole.call_s)} in MPI "
        f"({wording.percent(share)} of the run), {account.sums.count:,} calls, "
        f"{wording.amount(account.sums.bytes)}; times are sums over ranks"
    )
