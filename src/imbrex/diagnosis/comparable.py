"""Whether two runs can be compared at all, and what decides what one run of each leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from imbrex.diagnosis.account import Account
from imbrex.diagnosis.commands import line, measure_again
from imbrex.diagnosis.weaknesses import endings

MOST_PAIRS = 20
"""Pairs of runs that are advised at most: a trial ends as soon as it can tell."""
PLACE = "LINE_A"
"""Stands for the launcher line of the first program where the run does not tell it."""


@dataclass(frozen=True)
class Advice:
    """What to do next: a sentence, and the command."""

    text: str
    command: str


def why_not(before: Account, after: Account) -> str:
    """Why the run times are not those of the same work; empty where they may be."""
    for name, account in (("before", before), ("after", after)):
        if account.wall_s <= 0:
            return f"the run {name} has no run time"
    codes = [account.run.job.exit_code for account in (before, after)]
    if None not in codes and codes[0] != codes[1]:
        return f"the program exited with {codes[0]} before and with {codes[1]} after"
    if _states(before) != _states(after):
        told = [
            f"{name}, {how}"
            for name, account in (("before", before), ("after", after))
            for how in endings(account.run)
        ]
        return "the runs ended differently: " + "; ".join(told)
    return ""


def _states(account: Account) -> frozenset[int]:
    return frozenset(account.run.ranks["ended"].tolist())


def measured_again(before: Account, after: Account) -> Advice:
    """What to do about runs that cannot be compared: the one that did not end well comes again."""
    worse = before if _well(after) and not _well(before) else after
    name = "first" if worse is before else "second"
    return Advice(f"Measure the {name} run again, to its end:", measure_again(worse))


def _well(account: Account) -> bool:
    return account.wall_s > 0 and not account.run.job.exit_code and not endings(account.run)


def in_turns(before: Account, after: Account) -> Advice:
    """The trial that tells whether the second line is faster."""
    first, second = (_words(account) for account in (before, after))
    text = f"Runs of both in turns decide it (at most {MOST_PAIRS} of each):"
    if first == second:
        first = (PLACE,)
        text = (
            f"Runs of both in turns decide it (at most {MOST_PAIRS} of each). Both runs had one "
            f"line: in place of {PLACE} write that of the program as it was before:"
        )
    words = ["imbrex", "compare", "--repeat", str(MOST_PAIRS), "--", *first, "---", *second]
    return Advice(text, line(words))


def _words(account: Account) -> Sequence[str]:
    """The launcher line, with the helper thread that the run had."""
    words = account.run.job.command
    launcher = account.knowledge.launcher
    if account.run.job.progress is None or launcher is None:
        return words
    if words[: len(launcher)] != launcher or len(words) == len(launcher):
        return words
    return (*launcher, "imbrex-exec", "--progress", *words[len(launcher) :])
