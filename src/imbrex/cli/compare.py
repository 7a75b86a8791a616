"""`imbrex compare`: its options, and where the answer goes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import click

from imbrex.cli.output import json_wanted
from imbrex.cli.parameters import COUNT, FILE, LAUNCHER, duration
from imbrex.cli.shown_steps import shown_steps
from imbrex.cli.terminal import emit_json, output_console
from imbrex.diagnosis import wording
from imbrex.diagnosis.account import take_account
from imbrex.diagnosis.difference import Difference
from imbrex.errors import ImbrexError
from imbrex.profile.run import Run, load_run
from imbrex.profile.site_map import NAME as SITE_MAP_NAME
from imbrex.profile.site_map import SiteMap, load_site_map
from imbrex.report.compare import WIDEST, compare_json, print_comparison
from imbrex.report.paragraph import print_paragraph
from imbrex.steps import step
from imbrex.tune.budget import Budget
from imbrex.tune.statistics import LEAST_PAIRS
from imbrex.tune.timed_run import Line, run_timed, time_pattern
from imbrex.tune.trial import Pair, Plan, Trial, run_trial
from imbrex.tune.words import remarks, sentence

BETWEEN = "---"
"""What stands between the two lines of --repeat."""


def _map_of(before: Run, after: Run) -> SiteMap | None:
    """The map of a rewrite: in the run directory, or with the sources, as transform leaves it.

    One with the sources says nothing of two runs of which the first is of the new sources too.
    """
    beside = after.directory / SITE_MAP_NAME
    if beside.is_file():
        return load_site_map(beside)
    for folder in sorted({Path(site.file).parent for site in after.sites if site.file}):
        file = folder / SITE_MAP_NAME
        if file.is_file():
            found = load_site_map(file)
            sites = [(Path(s.file or "").name, s.line or 0) for s in before.sites]
            return found if found.begins_at(sites) else None
    return None


@click.command(epilog="Example: imbrex compare --repeat 20 -- mpirun -n 4 ./a --- mpirun -n 4 ./b")
@click.argument("words", metavar="BEFORE AFTER | LINE_A --- LINE_B", nargs=-1, type=LAUNCHER)
@click.option(
    "--map",
    "rewrites",
    type=FILE,
    help="Which calls a rewrite made of which [imbrex-sites.json in AFTER or with its sources].",
)
@click.option(
    "--repeat",
    type=click.IntRange(min=LEAST_PAIRS),
    metavar="N",
    help="Run two launcher lines in turns, at most N times each, and say which is faster.",
)
@click.option(
    "--budget",
    metavar="TIME",
    callback=duration,
    help="With --repeat: the time that all runs may take, as 90s, 10m, 2h.",
)
@click.option(
    "--worth",
    type=click.FloatRange(0, 50, min_open=True),
    default=1.0,
    show_default=True,
    help="With --repeat: the least difference that matters, in percent.",
)
@click.option("--warm", type=COUNT, default=1, show_default=True, help="Runs that do not count.")
@click.option("--time-from", metavar="REGEX", help="Take the time from the output, in seconds.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/reference/json.md).")
@click.option("-o", "--output", type=FILE, help="Write to a file: .txt or .json.")
@click.option(
    "--limit", type=COUNT, default=10, show_default=True, help="Call sites shown; 0 for all."
)
def compare(
    words: tuple[str, ...],
    rewrites: Path | None,
    repeat: int | None,
    budget: float | None,
    worth: float,
    warm: int,
    time_from: str | None,
    as_json: bool,
    output: Path | None,
    limit: int,
) -> None:
    """Compare two runs: what changed, why, at which call sites, and what one run cannot tell.

    With --repeat, whether one of two launcher lines is faster: pairs of runs in turns, and an
    interval on the ratio of their times.
    """
    as_json = json_wanted(output, "imbrex compare", as_json=as_json)
    if repeat is not None:
        plan = Plan(repeat, warm, worth / 100)
        _repeat(words, plan, budget, time_from, output, as_json=as_json)
        return
    for option, value in (("--time-from", time_from), ("--budget", budget)):
        if value is not None:
            raise ImbrexError(f"{option} belongs to --repeat")
    if BETWEEN in words:
        raise ImbrexError("two launcher lines are compared with --repeat N")
    if len(words) != 2:
        raise ImbrexError("name two run directories: imbrex compare BEFORE AFTER")
    with shown_steps():
        first, second = load_run(Path(words[0])), load_run(Path(words[1]))
    sites = load_site_map(rewrites) if rewrites else _map_of(first, second)
    difference = Difference(take_account(first), take_account(second), sites)
    if as_json:
        emit_json(compare_json(difference), output)
        return
    with output_console(output) as screen:
        print_comparison(difference, screen, limit)


def _repeat(
    words: tuple[str, ...],
    plan: Plan,
    budget_s: float | None,
    time_from: str | None,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    if words.count(BETWEEN) != 1:
        raise ImbrexError(
            f"--repeat takes two launcher lines: -- LINE_A {BETWEEN} LINE_B (a blank around it)"
        )
    at = words.index(BETWEEN)
    pattern = time_pattern(time_from) if time_from is not None else None
    a = Line("A", words[:at], time_from=pattern, limit_s=budget_s)
    b = Line("B", words[at + 1 :], time_from=pattern, limit_s=budget_s)
    for line in (a, b):
        if not line.words:
            raise ImbrexError(f"line {line.name} has no command: -- LINE_A {BETWEEN} LINE_B")
    budget = Budget(math.inf if budget_s is None else budget_s)
    trial = _tried(a, b, plan, budget)
    if as_json:
        emit_json(trial.to_json(), output)
        return
    with output_console(output) as screen:
        width = min(screen.width, WIDEST)
        print_paragraph(screen, sentence(trial), width, style="bold")
        over = [
            f"The budget of {wording.seconds(budget.seconds)} was over before {plan.most} pairs."
        ]
        for remark in [*(over if budget.over else []), *remarks(trial)]:
            print_paragraph(screen, remark, width, mark="-")


def _tried(a: Line, b: Line, plan: Plan, budget: Budget) -> Trial:
    def tell_pairs(pairs: Sequence[Pair]) -> None:
        tell(min(1.0, len(pairs) / plan.most))

    with shown_steps(), step(f"running A and B in turns, at most {plan.most} times") as tell:
        return run_trial(a, b, plan, budget.timed(run_timed), tell_pairs, goes_on=budget.allows)
