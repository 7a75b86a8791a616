"""`imbrex compare`: what changed between two runs, in seconds and percent."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.as_json import totals_json
from imbrex.diagnosis.difference import Change, Difference, differences
from imbrex.diagnosis.interval import Interval
from imbrex.diagnosis.pairs import SitePair
from imbrex.diagnosis.segments import segments
from imbrex.profile.format import SCHEMA_VERSION
from imbrex.report.bar import bar, legend
from imbrex.report.paragraph import held, print_paragraph
from imbrex.report.stripped import print_stripped

NARROW = 72
"""Below this width a site takes several lines in place of columns."""
WIDEST = 100


def compare_json(difference: Difference) -> dict[str, Any]:
    """The object of `compare --json`: totals and sites of both runs and their difference."""
    old, new = totals_json(difference.before), totals_json(difference.after)
    return {
        "schema_version": SCHEMA_VERSION,
        "sentence": difference.sentence,
        "answer": difference.answer,
        "command": difference.advice.command if difference.advice else None,
        "told_apart_above": difference.noise,
        "before": old,
        "after": new,
        "change": {
            name: new[name] - old[name]
            if isinstance(new[name], (int, float)) and isinstance(old[name], (int, float))
            else None
            for name in new
        },
        "causes": {change.name: _change_json(change) for change in difference.causes},
        "differences": differences(difference.before.run, difference.after.run, difference.pairs),
        "sites": [_pair_json(difference, pair) for pair in difference.pairs],
    }


def _change_json(change: Change) -> dict[str, Any]:
    """Seconds a rank, mean."""
    return {
        "before_s": change.before.to_json(),
        "after_s": change.after.to_json(),
        "told_apart": change.told,
    }


def _pair_json(difference: Difference, pair: SitePair) -> dict[str, Any]:
    before, after = pair.before, pair.after
    return {
        "site": pair.name,
        "operation": pair.operation,
        "rewritten": pair.rewritten,
        "line_before": pair.lines[0],
        "line_after": pair.lines[1],
        "before": before.to_json() if before else None,
        "after": after.to_json() if after else None,
        "causes": {change.name: _change_json(change) for change in difference.of_pair(pair)},
    }


def print_comparison(difference: Difference, console: Console, limit: int = 10) -> None:
    """Print the sentence, both runs as bars, totals side by side, then the sites that changed."""
    print_stripped(lambda: _print(difference, console, limit), console)


def _print(difference: Difference, console: Console, limit: int) -> None:
    width = min(console.width, WIDEST)
    print_paragraph(console, difference.sentence, width, style="bold")
    if difference.advice is not None:
        print_paragraph(console, difference.advice.text, width)
        # a command is copied whole: it is the terminal that breaks it
        console.print(Text(f"   $ {difference.advice.command}", style="cyan"), soft_wrap=True)
    before, after = difference.before.run, difference.after.run
    for line in differences(before, after, difference.pairs):
        print_paragraph(console, f"{line[0].upper()}{line[1:]}.", width)
    _print_bars(difference, console, width)
    table = _table(console, ("mean of a rank", "before", "after", "change", ""))
    for change in _totals(difference):
        table.add_row(change.name, *map(held, _cells(change)))
    console.print(table, width=width)
    if any(not change.told for change in _totals(difference)):
        console.print(Text(f"~: {difference.told_apart_words}"))
    changed = [pair for pair in difference.pairs if pair.change("call_s") != 0]
    shown = changed[:limit] if limit else changed
    if not shown:
        return
    console.print()
    if width < NARROW:
        for pair in shown:
            told = f"{_in_mpi(difference, pair)}; {_why(difference, pair)}".removesuffix("; ")
            print_paragraph(console, f"{pair.name} {pair.operation}", width)
            print_paragraph(console, told, width, mark=" ")
    else:
        table = _table(console, ("where", "call", "in MPI, a rank", "what changed"))
        for pair in shown:
            operation = pair.operation.replace("MPI_", "")
            cells = _in_mpi(difference, pair), _why(difference, pair)
            table.add_row(pair.name, operation, *map(held, cells))
        console.print(table, width=width)
    if len(shown) < len(changed):
        console.print(Text(f"{len(changed) - len(shown)} more call sites: --limit 0 shows all"))


def _print_bars(difference: Difference, console: Console, width: int) -> None:
    """Both runs on one scale, so that the shorter bar is the faster run."""
    both = (difference.before, difference.after)
    longest = max(account.wall_s for account in both)
    if longest <= 0:
        return
    console.print()
    for title, account in zip(("before ", "after  "), both, strict=True):
        room = round((width - 8) * account.wall_s / longest)
        console.print(Text(title).append_text(bar(segments(account), room)))
    told = {part.kind: part for account in both for part in segments(account)}
    for account in both:
        for line in legend([p for p in segments(account) if told.get(p.kind)], width):
            console.print(line, width=width)
    console.print()


def _totals(difference: Difference) -> list[Change]:
    def of(name: str, value: Any) -> Change:
        both = (difference.before, difference.after)
        before, after = (Interval(value(a) * a.per_rank, value(a) * a.per_rank) for a in both)
        return difference.change(name, before, after)

    rows = [
        difference.wall,
        of("compute", lambda a: a.compute_s),
        of("in MPI", lambda a: a.whole.call_s),
        *difference.causes,
    ]
    if not difference.causes:
        rows.append(difference.change("waiting", *_waiting(difference)))
    return [*rows, difference.gainable()]


def _waiting(difference: Difference) -> tuple[Interval, Interval]:
    def of(account: Account) -> Interval:
        sums = account.sums
        return Interval(sums.wait_min_s * account.per_rank, sums.wait_max_s * account.per_rank)

    return of(difference.before), of(difference.after)


def _table(console: Console, names: tuple[str, ...]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def _cells(change: Change) -> tuple[str, str, str, str]:
    """Before, after, the change with its sign, and whether one run of each tells it."""
    before, after = (wording.interval(i.low, i.high) for i in (change.before, change.after))
    if change.before == change.after:
        return before, after, "0 s", ""
    if not change.told:
        return before, after, "~", ""
    sign = "+" if change.change > 0 else "-"
    share = ""
    if change.before.middle > 0:
        share = f"{sign}{wording.percent(abs(change.change) / change.before.middle)}"
    return before, after, f"{sign}{wording.seconds(abs(change.change))}", share


def _in_mpi(difference: Difference, pair: SitePair) -> str:
    before, after = pair.divisions
    old = wording.seconds(before.call_s * difference.before.per_rank) if pair.before else "-"
    new = wording.seconds(after.call_s * difference.after.per_rank) if pair.after else "-"
    return f"{old} -> {new}"


def _why(difference: Difference, pair: SitePair) -> str:
    """The causes that shrank or grew by more than runs differ by."""
    if not pair.before:
        return "new"
    if not pair.after:
        return "gone"
    told = sorted(
        (change for change in difference.of_pair(pair) if change.told),
        key=lambda change: -abs(change.change),
    )
    return ", ".join(
        f"{change.name} {'-' if change.change < 0 else '+'}{wording.seconds(abs(change.change))}"
        for change in told[:3]
    )
