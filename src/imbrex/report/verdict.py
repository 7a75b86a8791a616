"""The verdict: one screen that says where the time went, why, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.commands import show
from imbrex.diagnosis.diagnosis import Diagnosis
from imbrex.diagnosis.segments import segments
from imbrex.diagnosis.weaknesses import met_with
from imbrex.diagnosis.words import short
from imbrex.profile.sites import plain
from imbrex.report.bar import bar, legend
from imbrex.report.guard import guard_lines, guard_title
from imbrex.report.paragraph import held, print_paragraph
from imbrex.report.progress_words import progress_words
from imbrex.report.site_words import hidden_words, why
from imbrex.report.stripped import print_stripped, stripped

LINES = 20
"""What the verdict takes at most on 100 columns, but for guard and a narrow screen."""
MOST_FINDINGS = 3
SIZES = (
    *((4, MOST_FINDINGS, 2), (3, MOST_FINDINGS, 2), (4, 2, 2), (3, 2, 2), (2, 2, 2)),
    *((3, 1, 2), (2, 1, 2), (2, 1, 1), (1, 1, 2), (1, 1, 1)),
    *((4, 0, 2), (3, 0, 2), (2, 0, 2), (1, 0, 2)),
)
"""Sites, findings and weaknesses that a screen has, the best first: a line that costs time is left
out last, what the run met with never, and what its machine profile did rather than what to do."""
LEAST_AT_STAKE = 0.002
"""The share of the run from which a site is worth a line."""
NARROW = 72
"""Below this width a site takes two lines in place of columns."""
WIDEST = 100


def print_verdict(diagnosis: Diagnosis, console: Console) -> None:
    """Print the verdict; without colours and escapes where the console is a pipe or file.

    It has as many sites and findings as leave the screen its length.
    """
    met = len({*met_with(diagnosis.run)} & {*diagnosis.further_weaknesses})
    for size in SIZES:
        if size[2] < min(met, 2):
            continue
        bare = stripped(partial(_print_all, diagnosis, console, *size, guard=False), console)
        if bare.count("\n") <= LINES:
            break
    print_stripped(partial(_print_all, diagnosis, console, *size, guard=True), console)


def _print_all(
    diagnosis: Diagnosis,
    console: Console,
    sites: int,
    findings: int,
    weaknesses: int,
    *,
    guard: bool,
) -> None:
    """The screen; `guard`: with forbidden uses of buffers."""
    account, width = diagnosis.account, min(console.width, WIDEST)
    print_paragraph(console, diagnosis.sentence, width, style="bold")
    print_paragraph(console, head(account), width)
    parts = segments(account)
    if parts:
        console.print(bar(parts, width))
        for line in legend(parts, width):
            console.print(line, width=width)
    if guard and account.run.guard is not None:
        console.print()
        print_paragraph(console, guard_title(account.run.guard), width, style="bold")
        for text in guard_lines(account.run.guard):
            print_paragraph(console, text, width, style="red", mark="-")
    _print_sites(account, console, width, sites)
    _print_findings(diagnosis, console, width, findings)
    _print_weaknesses(diagnosis, console, width, weaknesses)
    _print_cost(account, console, width)


def head(account: Account) -> str:
    """What ran, and POP's efficiencies."""
    run = account.run
    ranks, hosts = len(run.ranks), len(run.job.hosts)
    text = f"Imbrex: {ranks} rank{'s' if ranks != 1 else ''}"
    text += f" on {hosts} hosts, " if hosts > 1 else ", "
    text += f"{wording.seconds(account.wall_s)}, {wording.library(run)}"
    found = account.efficiency
    if found is not None and ranks > 1:
        text += (
            f"; efficiency {found.parallel:.2f} = balance {found.load_balance:.2f} x "
            f"communication {found.communication:.2f}"
        )
    return text


def _print_sites(account: Account, console: Console, width: int, most: int) -> None:
    shown = _chosen(account, most)
    if not shown:
        return
    console.print()
    _print_table(account, console, width, shown)
    if unknown := _without_lines(shown):
        text = f"No source lines: {' and '.join(unknown)} without debug information (compile with "
        text += "-g, or install its symbols)"
        print_paragraph(console, text, width)


def _chosen(account: Account, most: int) -> list[RowAccount]:
    """The sites with most at stake, and that which takes most of the run: the sentence names it."""
    least = LEAST_AT_STAKE * account.busy_s
    worth = [site for site in account.sites if site.at_stake_s >= least > 0]
    longest = max(account.sites, key=lambda site: site.division.call_s, default=None)
    if longest is None or most < 1 or longest.division.call_s < least or longest in worth[:most]:
        return worth[:most]
    left = [site for site in worth if site is not longest][: most - 1]
    return [site for site in account.sites if site in left or site is longest]


def _without_lines(sites: Sequence[RowAccount]) -> list[str]:
    """The programs and libraries that some sites lie in whose lines nothing tells."""
    places = [site.row.site for site in sites]
    names = [Path(p.image).name for p in places if p is not None and p.image and p.file is None]
    return list(dict.fromkeys(map(plain, names)))


def _print_table(
    account: Account, console: Console, width: int, shown: Sequence[RowAccount]
) -> None:
    if width < NARROW:
        for site in shown:
            share = wording.percent(site.division.call_s / account.busy_s)
            print_paragraph(console, f"{site.place} {short(site.operation)}: {share}", width)
            told = "; ".join(filter(None, [why(account, site), hidden_words(site)]))
            print_paragraph(console, told, width, mark=" ")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("where", overflow="fold", max_width=max(24, width // 3))
    table.add_column("call", overflow="fold", max_width=24)
    table.add_column("of the run", justify="right", no_wrap=True)
    table.add_column("why (of the run)", overflow="fold")
    hidden = [hidden_words(site) for site in shown]
    if any(hidden):
        table.add_column("hidden", overflow="fold")
    for site, told in zip(shown, hidden, strict=True):
        cells = [site.place, short(site.operation)]
        cells += [wording.percent(site.division.call_s / account.busy_s), why(account, site)]
        table.add_row(*map(held, cells), *([held(told)] if any(hidden) else []))
    console.print(table, width=width)


def _print_findings(diagnosis: Diagnosis, console: Console, width: int, most: int) -> None:
    shown = diagnosis.findings[:most]
    if not shown:
        return
    console.print()
    for number, finding in enumerate(shown, 1):
        print_paragraph(console, finding.text, width, mark=f"{number}.")
        if number == len(shown) or shown[number].command != finding.command:
            # a command is copied whole: it is the terminal that breaks it
            console.print(Text(f"   $ {finding.command}", style="cyan"), soft_wrap=True)


def _print_weaknesses(diagnosis: Diagnosis, console: Console, width: int, most: int) -> None:
    lines = diagnosis.further_weaknesses
    if not lines:
        return
    console.print()
    bounds = show(diagnosis.account, "--bounds")
    console.print(Text("What weakens these numbers:", style="bold"))
    for line in lines[:most]:
        print_paragraph(console, line, width, mark="-")
    if len(lines) > most:
        console.print(Text(f"- {len(lines) - most} more: {bounds}"), soft_wrap=True)


def _print_cost(account: Account, console: Console, width: int) -> None:
    """What measuring took, after what of all transfers was hidden where that is known."""
    cost = wording.percent(account.overhead_s / account.busy_s) if account.busy_s else "nothing"
    hidden, text = account.hidden, ""
    if hidden.says_something and hidden.kind is not None:
        text = f"{wording.shares(hidden.share)} of the transfer time hidden ({hidden.kind}). "
    text += f"Measuring took {cost} of the run. More:"
    command = show(account, "--bounds")
    if account.run.job.progress is not None:
        print_paragraph(console, progress_words(account), width)
    if len(text) + 1 + len(command) <= width:
        console.print(Text(f"{text} {command}"))
        return
    print_paragraph(console, text, width)
    console.print(Text(f"   $ {command}"), soft_wrap=True)
