"""`imbrex show --bounds`: how the bounds of hidden and exposed time came about."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.diagnosis import Diagnosis
from imbrex.diagnosis.weaknesses import nothing_moved
from imbrex.diagnosis.words import EVIDENCE_WORDS
from imbrex.report.paragraph import held
from imbrex.report.stripped import print_stripped

_BAR, _BESIDE_THE_BAR = 24, 46
_STYLES = {"hidden for certain": "green", "exposed for certain": "red", "undetermined": "yellow"}
WORTH_A_REMEDY = 0.1
"""The share of the transfer time from which a reason comes with what to do about it."""


def print_bounds(diagnosis: Diagnosis, console: Console) -> None:
    """Print where the numbers come from, the parts of the transfer time, and what weakens them."""
    print_stripped(lambda: _print(diagnosis, console), console)


def transfer_parts(account: Account) -> tuple[tuple[str, float], ...]:
    """(name, s) of the transfer time: hidden for certain, exposed for certain, undetermined."""
    sums = account.sums
    return (
        ("hidden for certain", sums.overlap_min_s),
        ("exposed for certain", sums.exposed_min_s),
        ("undetermined", sums.undetermined_s),
    )


def sources(account: Account) -> list[tuple[str, str]]:
    """(what, from where) of everything that the numbers rest on."""
    run = account.run
    found = [("events", wording.events(run)), ("transfer times", wording.machine(run))]
    log, clocks, matching = run.job.log, run.job.clocks, run.job.matching
    if log is None or not log.budget_bytes:
        found.append(("call log", "none: lateness and transfer are not told apart"))
    else:
        found.append(
            (
                "call log",
                f"{wording.percent(log.logged_share)} of the time, "
                f"{wording.amount(log.budget_bytes)} a rank",
            )
        )
    if clocks is not None and clocks.error_s is not None:
        wrong = f", {clocks.violations:,} messages against causality" if clocks.violations else ""
        error = f"error at most {wording.seconds(clocks.error_s)}"
        found.append(("clocks", (error if clocks.error_s else "one for all ranks") + wrong))
    if matching is not None:
        text = f"{matching.matched:,} transfers found on both sides"
        left = {reason: count for reason, count in matching.unmatched.items() if count}
        if left:
            text += "; not: " + ", ".join(f"{n:,} {reason}" for reason, n in left.items())
        found.append(("matching", matching.reason or text))
    return found


def _print(diagnosis: Diagnosis, console: Console) -> None:
    account = diagnosis.account
    grid = Table.grid(padding=(0, 2))
    for name, text in sources(account):
        grid.add_row(name, Text(text))
    console.print(grid)
    console.print()
    if not account.sums.transfers:
        console.print(Text(nothing_moved(account.run)))
    else:
        _print_parts(diagnosis, console)
        _print_evidence(account, console)
    if diagnosis.weaknesses:
        console.print()
        console.print(Text("What weakens these numbers:", style="bold"))
        for line in diagnosis.weaknesses:
            row = Table.grid(padding=(0, 1))
            row.add_row("-", Text(line))
            console.print(row)


def _print_parts(diagnosis: Diagnosis, console: Console) -> None:
    account = diagnosis.account
    sums, whole = account.sums, account.sums.transfer_max_s
    console.print(
        Text(
            f"Transfer time {wording.interval(sums.transfer_min_s, whole)} "
            f"({sums.transfers:,} transfers, {wording.amount(sums.bytes)}), summed over ranks:"
        )
    )
    room = min(_BAR, max(0, console.width - _BESIDE_THE_BAR))
    table = Table.grid(padding=(0, 2))
    for name, value in transfer_parts(account):
        filled = min(max(round(room * value / whole), 0), room) if whole > 0 else 0
        bar = Text("#" * filled + "." * (room - filled), style=_STYLES[name])
        table.add_row(
            f"  {name}",
            Text(held(wording.seconds(value)), justify="right"),
            Text(held(wording.share(value, whole)), justify="right"),
            bar,
        )
    console.print(table)
    for number, reason in enumerate(diagnosis.reasons):
        why = f"{'because of' if number == 0 else '       and'} {reason.why}: "
        why += f"{wording.seconds(reason.seconds)} ({wording.share(reason.seconds, whole)})"
        line = Text(held(why))
        console.print(Padding(line, (0, 0, 0, 4 if room else 2)))
        if reason.remedy and reason.seconds >= WORTH_A_REMEDY * whole:
            console.print(
                Padding(Text(f"({reason.remedy})", style="dim"), (0, 0, 0, 15 if room else 4))
            )


def _print_evidence(account: Account, console: Console) -> None:
    """The hidden share that each kind of evidence shows."""
    if not account.hidden.by:
        return
    console.print()
    console.print(Text("Of all transfer time, however long, was hidden:"))
    table = Table.grid(padding=(0, 2))
    for kind, share in account.hidden.by.items():
        table.add_row(
            f"  {kind}", Text(held(wording.shares(share)), justify="right"), EVIDENCE_WORDS[kind]
        )
    console.print(table)
