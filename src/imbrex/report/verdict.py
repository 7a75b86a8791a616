"""The verdict: one screen that says how much was hidden, what was exposed, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from imbrex.profile.run import Run
from imbrex.profile.summary import Row, Sums, rows, totals, wall_s
from imbrex.report import findings, wording
from imbrex.report.guard import guard_lines, guard_title
from imbrex.report.stripped import print_stripped

WORST_SITES = 5
WORTH_A_REMEDY = 0.1
"""The share of the transfer time from which a reason comes with what to do about it."""


@dataclass(frozen=True)
class Verdict:
    """Everything the verdict says, for the terminal and for the HTML report.

    `parts` are (name, seconds) of the transfer time: hidden for certain, exposed for certain,
    undetermined; `reasons` are those of the last.
    """

    run: Run
    sums: Sums
    compute_s: float
    wall_s: float
    overhead_s: float
    parts: tuple[tuple[str, float], ...]
    reasons: tuple[findings.Reason, ...]
    worst: tuple[Row, ...]
    advice: tuple[str, ...]
    weaknesses: tuple[str, ...]


def judge(run: Run) -> Verdict:
    """Work out the verdict of a run."""
    sums = totals(run)
    compute_s = int(np.asarray(run.ranks["compute_ns"], np.int64).sum()) / 1e9
    overhead_s = int(np.asarray(run.ranks["overhead_ns"], np.int64).sum()) / 1e9
    sites = rows(run, "site")
    exposed = [row for row in sites if row.sums.exposed_max_s > 0]
    return Verdict(
        run=run,
        sums=sums,
        compute_s=compute_s,
        wall_s=wall_s(run),
        overhead_s=overhead_s,
        parts=(
            ("hidden for certain", sums.overlap_min_s),
            ("exposed for certain", sums.exposed_min_s),
            ("undetermined", sums.undetermined_s),
        ),
        reasons=tuple(findings.why_undetermined(run, rows(run, "operation"))),
        worst=tuple(exposed[:WORST_SITES]),
        advice=tuple(findings.advice(run, sums, sites, compute_s)),
        weaknesses=tuple(findings.weaknesses(run, sums)),
    )


_STYLES = {
    "hidden for certain": "green",
    "exposed for certain": "red",
    "undetermined": "yellow",
}
_BAR = 24


def print_verdict(verdict: Verdict, console: Console) -> None:
    """Print the verdict; without colours and escapes where the console is a pipe or file."""
    print_stripped(lambda: _print(verdict, console), console)


def _print(verdict: Verdict, console: Console) -> None:
    run, sums = verdict.run, verdict.sums
    busy = verdict.compute_s + sums.call_s
    hosts = len(run.job.hosts)
    places = f" on {hosts} hosts" if hosts > 1 else ""
    console.print(
        Text(
            f"Imbrex: {len(run.ranks)} rank{'s' if len(run.ranks) != 1 else ''}{places}, "
            f"{wording.seconds(verdict.wall_s)}, {wording.library(run)}, "
            f"events: {wording.events(run)}",
            style="bold",
        )
    )
    console.print(Text(f"transfer times: {wording.machine(run)}"))
    console.print()
    _print_parts(verdict, console)
    console.print()
    table = Table.grid(padding=(0, 2))
    table.add_row("compute", wording.seconds(verdict.compute_s), _of(verdict.compute_s, busy))
    table.add_row("in MPI calls", wording.seconds(sums.call_s), _of(sums.call_s, busy))
    table.add_row(
        "of it waiting",
        wording.interval(sums.wait_min_s, sums.wait_max_s),
        f"{wording.share(sums.wait_min_s, busy)} to {wording.share(sums.wait_max_s, busy)}",
    )
    console.print(table)
    if run.guard is not None:
        console.print()
        console.print(Text(guard_title(run.guard), style="bold"))
        for line in guard_lines(run.guard):
            grid = Table.grid(padding=(0, 1))
            grid.add_row("-", Text(line, style="red"))
            console.print(grid)
    if verdict.worst:
        console.print()
        _print_sites(verdict, console)
    _print_lines("What to try next", verdict.advice, console)
    _print_lines("What weakens these numbers", verdict.weaknesses, console)
    console.print()
    console.print(
        Text(
            f"Imbrex's own cost: {wording.seconds(verdict.overhead_s)} over all ranks "
            f"({wording.share(verdict.overhead_s, busy)} of their time), measured; "
            f"run directory: {run.directory}"
        ),
        soft_wrap=True,
    )


def _of(part: float, whole: float) -> str:
    return f"{wording.share(part, whole)} of the ranks' time"


def _print_parts(verdict: Verdict, console: Console) -> None:
    whole = verdict.sums.transfer_max_s
    if not verdict.sums.transfers:
        console.print(Text(findings.nothing_moved(verdict.run)))
        return
    console.print(
        Text(
            f"Transfer time {wording.interval(verdict.sums.transfer_min_s, whole)} "
            f"({verdict.sums.transfers:,} transfers, {wording.amount(verdict.sums.bytes)}), "
            "summed over ranks:"
        )
    )
    table = Table.grid(padding=(0, 2))
    for name, value in verdict.parts:
        filled = min(max(round(_BAR * value / whole), 0), _BAR) if whole > 0 else 0
        bar = Text("#" * filled + "." * (_BAR - filled), style=_STYLES[name])
        table.add_row(
            f"  {name}",
            Text(wording.seconds(value), justify="right"),
            Text(wording.share(value, whole), justify="right"),
            bar,
        )
    console.print(table)
    for number, reason in enumerate(verdict.reasons):
        line = Text(f"{'because of' if number == 0 else '       and'} {reason.why}: ")
        line.append(f"{wording.seconds(reason.seconds)} ({wording.share(reason.seconds, whole)})")
        console.print(Padding(line, (0, 0, 0, 4)))
        if reason.remedy and reason.seconds >= WORTH_A_REMEDY * whole:
            console.print(Padding(Text(f"({reason.remedy})", style="dim"), (0, 0, 0, 15)))
    if verdict.sums.hidden_share is None:
        return
    share = wording.shares(verdict.sums.hidden_share)
    console.print(Text(f"  so of all transfer time, however long, {share} was hidden"))


def _print_sites(verdict: Verdict, console: Console) -> None:
    console.print(Text("Call sites that expose most:", style="bold"))
    narrow = console.width < 100
    gap = 1 if narrow else 2
    table = Table(box=None, padding=(0, gap, 0, 0), header_style="dim", pad_edge=False)
    for name in ("site", "operation"):
        table.add_column(name, overflow="fold")
    for name in ("calls", "size", "exposed", "hidden", "waiting"):
        table.add_column(name, justify="right", overflow="fold")
    for row in verdict.worst:
        sums = row.sums
        table.add_row(
            row.key,
            (row.operation or "").removeprefix("MPI_" if narrow else ""),
            f"{sums.count:,}",
            wording.sizes(row),
            wording.interval(sums.exposed_min_s, sums.exposed_max_s),
            wording.interval(sums.overlap_min_s, sums.overlap_max_s),
            wording.interval(sums.wait_min_s, sums.wait_max_s),
        )
    console.print(table)


def _print_lines(title: str, lines: tuple[str, ...], console: Console) -> None:
    if not lines:
        return
    console.print()
    console.print(Text(f"{title}:", style="bold"))
    for line in lines:
        table = Table.grid(padding=(0, 1))
        table.add_row("-", Text(line))
        console.print(table)
