"""The whole search: measure, decide whether anything can be gained, try, and leave the answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from imbrex.diagnosis.account import Account, take_account
from imbrex.diagnosis.sentence import first_sentence
from imbrex.errors import ImbrexError
from imbrex.launch.measure import Settings, measure, prepare
from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.profile.run import Run, load_run
from imbrex.steps import step
from imbrex.tune.answer import MEASURED, Found
from imbrex.tune.candidate import Tried
from imbrex.tune.obstacle import NotPossibleError
from imbrex.tune.predicted import in_order, with_predictions
from imbrex.tune.progress_candidates import progress_candidates
from imbrex.tune.search import Request, search
from imbrex.tune.settings import setting_candidates
from imbrex.tune.short import too_short
from imbrex.tune.source_candidates import Place, source_candidates
from imbrex.tune.sources import NOTHING_TOLD, Told
from imbrex.tune.start import saved_in_start
from imbrex.tune.timed_run import Line, run_timed
from imbrex.tune.trial import Plan
from imbrex.tune.trials_file import TRIALS, Trials, builds


@dataclass(frozen=True)
class Wanted:
    """What the user asked for. `written` is the line as it was written, `line` the one that is
    run: without its `env`. `budget_s` is for all of it, measuring included."""

    written: tuple[str, ...]
    line: Line
    plan: Plan
    budget_s: float
    check: str | None
    output: Path
    machine: Path | None = None
    told: Told = NOTHING_TOLD
    """What the user says of the sources."""
    options: tuple[str, ...] = ()
    """What was given beside the budget, as words of a line."""


def tune(wanted: Wanted) -> Found:
    """Find what makes a program faster; ImbrexError where it cannot be run, or the folder is of
    something else. Nothing is written before the program was found."""
    end = time.monotonic() + wanted.budget_s
    folder = wanted.output
    _check_folder(folder)
    programs = [words[0] for words in parse_launcher_line(wanted.line.words).programs()]
    trials = Trials(folder / TRIALS, wanted.written, builds(programs))
    before = trials.load()
    account = take_account(_measured(wanted))
    plan = wanted.plan
    found = Found(
        command=wanted.written,
        folder=folder,
        worth=plan.worth,
        most=account.gainable.high,
        reason=first_sentence(account),
        budget_s=wanted.budget_s,
        options=wanted.options,
        run_s=account.wall_s,
    )
    if found.most < plan.worth:
        found = replace(found, hopeless=True)
    elif not before and (whole_s := too_short(found, wanted.line, run_timed)) is not None:
        found = replace(found, whole_s=whole_s)
    else:
        tried, notes, obstacle = _candidates(wanted, account, lambda: end - time.monotonic())
        found = replace(found, notes=notes, obstacle=obstacle)
        if not any(t.candidate.kind == "source" for t in tried):
            found = replace(found, unchanged=_most_gainable(account))
        left_s = end - time.monotonic()
        found = replace(found, left_s=left_s)
        request = Request(wanted.line, plan, left_s, wanted.check, before, found.run_s)
        found = _try(found, request, tried, trials)
    found.write()
    return found


def _most_gainable(account: Account) -> str:
    """The place whose calls overlap could help most; empty where there is none."""
    best = max(account.sites, key=lambda site: site.division.gainable.high, default=None)
    return best.name if best is not None and best.division.gainable.high > 0 else ""


def _candidates(
    wanted: Wanted, account: Account, left_s: Callable[[], float]
) -> tuple[list[Tried], tuple[str, ...], str]:
    """What is to be tried, why some is not, and what stands in the way of the source; those first
    that can save most."""
    worth, most = wanted.plan.worth, account.gainable.high
    place = Place(wanted.line.words, wanted.output, account.run, wanted.machine, left_s)
    tried: list[Tried] = []
    notes: tuple[str, ...] = ()
    obstacle = ""
    try:
        tried += map(Tried, progress_candidates(place, account, worth, wanted.written))
    except NotPossibleError as error:
        notes += (f"the progress thread: not tried: {error}",)
    changed, left = setting_candidates(account, worth)
    tried += map(Tried, changed)
    notes += left
    interval_s = account.knowledge.progress_interval_s
    try:
        rewritten, stays = source_candidates(place, wanted.told, most, worth, interval_s)
        tried += rewritten
        notes += stays
    except NotPossibleError as error:
        obstacle = str(error)
        notes += (f"the source: not rewritten: {obstacle}",)
    known = with_predictions(account.run, [t.candidate for t in tried])
    tried = [replace(t, candidate=c) for t, c in zip(tried, known, strict=True)]
    order = in_order(known, account.wall_s)
    return sorted(tried, key=lambda t: order.index(t.candidate)), notes, obstacle


def _try(found: Found, request: Request, tried: list[Tried], trials: Trials) -> Found:
    """Try the candidates; what is proven when the user interrupts it, or the program as it is fails
    in the midst of it, is kept."""
    try:
        objection = saved_in_start(request.line, run_timed)
        search(request, tried, run_timed, trials.keep, step, objection=objection)
    except KeyboardInterrupt:
        return replace(found, tried=tuple(tried), interrupted=True)
    except ImbrexError as error:
        if not any(t.pairs for t in tried):
            raise
        return replace(found, tried=tuple(tried), interrupted=True, failure=str(error))
    return replace(found, tried=tuple(tried))


def _check_folder(folder: Path) -> None:
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir():
        raise ImbrexError(f"{folder}: exists and is not a directory; name another with -o")
    if any(folder.iterdir()) and not (folder / MEASURED).is_dir():
        raise ImbrexError(f"{folder}: is not of imbrex tune; name another with -o")


def _measured(wanted: Wanted) -> Run:
    """The measured run of the program as it is: of an earlier start, or made now."""
    folder = wanted.output / MEASURED
    if (folder / "run.json").exists():
        run, code = load_run(folder), None
        if run.job.command != wanted.written:
            raise ImbrexError(
                f"{wanted.output}: holds the trials of another command; name another with -o"
            )
    else:
        ready = prepare(
            Settings(
                wanted.line.words,
                folder,
                force=folder.exists(),
                machine=wanted.machine,
                written=wanted.written,
                silent=True,
            )
        )
        with step("measuring the program as it is"):
            outcome = measure(ready)
        if outcome.run is None:
            raise ImbrexError(outcome.warnings[-1] if outcome.warnings else "nothing was measured")
        run, code = outcome.run, outcome.exit_code
    if code or run.job.exit_code:
        code = code or run.job.exit_code
        raise ImbrexError(f"the program ended with exit code {code}: nothing is tried")
    return run
