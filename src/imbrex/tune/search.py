"""Try candidates on the program itself, each beside the baseline, and keep what is proven."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.combination import combined
from imbrex.tune.results import checked_by, comparable, difference
from imbrex.tune.statistics import CONFIDENCE
from imbrex.tune.timed_run import HangError, Line, TimedRun
from imbrex.tune.trial import Pair, Plan, Run, Trial, run_trial

SCREENED_PAIRS = 3
"""After so many pairs a candidate that does not look faster is left for those that do."""

PROVING_PAIRS = 4
"""So many more prove a gain of several times the noise."""

LEAST_BASELINES = 2
"""So many runs of the baseline show what differs between them."""
KNOWN_BASELINES = 4
"""From so many on a difference ends the trial of a candidate at once."""

HANGS = 5
LEAST_LIMIT_S = 30.0
"""A run that takes so many times the longest of the program as it is, and so long, is ended."""

Keep = Callable[[str, Sequence[Pair]], None]
"""Is told what a candidate is, and its pairs after each."""
Step = Callable[[str], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Request:
    """What is to be tried: the baseline's line, a plan, seconds for all of it, and the check.

    `before`: pairs of an earlier start, by what the candidate is; `run_s`: how long a run of the
    baseline took.
    """

    line: Line
    plan: Plan
    budget_s: float
    check: str | None = None
    before: dict[str, tuple[Pair, ...]] | None = None
    run_s: float = 0.0


class _Outputs:
    """Runs lines, and keeps what each printed for the comparison of results."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.baselines: list[str] = []
        self._changed: dict[str, list[str]] = {}

    def __call__(self, line: Line) -> TimedRun:
        found = self._run(line)
        (self.baselines if line.name == "A" else self.of(line)).append(found.output)
        return replace(found, output="")

    def of(self, line: Line) -> list[str]:
        """What the runs of a changed line printed."""
        return self._changed.setdefault(f"{line.words} {sorted(line.environment.items())}", [])


class _Clock:
    """The time that is left, in pairs, and the time that a run has."""

    def __init__(self, request: Request, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._end = clock() + request.budget_s
        self._pair_s = 2 * request.run_s
        self._longest_s = request.run_s
        self._hung = False

    def has_time(self, pairs: int = 1) -> bool:
        """Whether there is time for so many pairs."""
        return self._clock() + pairs * self._pair_s <= self._end

    def timed(self, run: Run) -> Run:
        """The same run, ended where it hangs, which tells how long a pair takes.

        A program that hangs as it is, once, is run again: some do, now and then, in MPI_Finalize.
        """

        def timed(line: Line) -> TimedRun:
            limited = replace(line, limit_s=max(LEAST_LIMIT_S, HANGS * self._longest_s))
            began = self._clock()
            try:
                found = run(limited)
            except HangError:
                if line.name != "A" or self._hung:
                    raise
                self._hung = True
                began = self._clock()
                found = run(limited)
            took_s = self._clock() - began
            self._pair_s = max(self._pair_s, 2 * took_s)
            if line.name == "A":
                self._longest_s = max(self._longest_s, took_s)
            return found

        return timed


def search(
    request: Request,
    tried: list[Tried],
    run: Run,
    keep: Keep = lambda label, pairs: None,
    step: Step = lambda label: nullcontext(),
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Fill in what became of each candidate in `tried`; one that combines may follow them.

    First all are screened with a few pairs, while there is time to prove the best of them too; then
    those that look faster are tried on, the best first, until they are proven, hopeless, or the
    budget is used up, and those that were not screened with what time is left. What was proven is
    tried together at last, and the best of all narrowed down. The confidence of each is raised so
    that with as many candidates as these, and their combination, the whole is wrong as rarely as
    one.
    """
    left = _Clock(request, clock)
    many = len(tried) + (len(tried) > 1)
    plan = replace(request.plan, confidence=1 - (1 - CONFIDENCE) / max(1, many))
    outputs = _Outputs(left.timed(run))

    def prove(found: Tried, enough: Callable[[Trial], bool]) -> Tried:
        return _prove(request, found, plan, outputs, keep, step, left, enough)

    for number, found in enumerate(tried):
        if found.finished:  # it could not even be made
            continue
        promising = any(t.looks_faster and not t.recommended for t in tried)
        if not left.has_time(plan.warm + SCREENED_PAIRS + promising * PROVING_PAIRS):
            break
        with step(f"trying {found.candidate.label} ({number + 1} of {len(tried)})"):
            tried[number] = _try(
                request,
                found.candidate,
                plan,
                outputs,
                keep,
                lambda trial: len(trial.counted) < SCREENED_PAIRS and left.has_time(),
            )
    for number in sorted(range(len(tried)), key=lambda n: -tried[n].estimate):
        found = tried[number]
        if found.finished:
            continue
        unseen = found.trial is None and left.has_time(plan.warm + SCREENED_PAIRS)
        if found.looks_faster or unseen:
            tried[number] = prove(found, _decided)
        elif found.pairs >= SCREENED_PAIRS or found.failed is not None:
            tried[number] = replace(found, finished=True)
    combination = combined(tried)
    if combination is not None and left.has_time(SCREENED_PAIRS):
        new = Tried(combination)
        tried.append(new)
        tried[-1] = prove(new, _decided)
    proven = [number for number, found in enumerate(tried) if found.recommended]
    # A combination says its gain beside that of the best alone.
    for number in sorted(proven, key=lambda n: -tried[n].estimate)[:2]:
        if left.has_time():
            tried[number] = prove(tried[number], _settled)


def _prove(
    request: Request,
    found: Tried,
    plan: Plan,
    outputs: _Outputs,
    keep: Keep,
    step: Step,
    left: _Clock,
    enough: Callable[[Trial], bool],
) -> Tried:
    candidate = found.candidate
    if found.trial is not None:
        request = replace(request, before={candidate.label: found.trial.pairs})
        plan = replace(plan, warm=0)
    with step(f"trying {candidate.label}: is it proven?"):
        tried = _try(
            request,
            candidate,
            plan,
            outputs,
            keep,
            lambda trial: not enough(trial) and left.has_time(),
        )
    over = tried.failed is not None or tried.trial is None
    return replace(
        tried,
        finished=over or tried.pairs >= plan.most or _settled(tried.trial),  # type: ignore[arg-type]
    )


def _try(
    request: Request,
    candidate: Candidate,
    plan: Plan,
    outputs: _Outputs,
    keep: Keep,
    goes_on: Callable[[Trial], bool],
) -> Tried:
    baseline = candidate.beside.line("A", request.line)
    changed = candidate.setup.line("B", request.line)
    before = (request.before or {}).get(candidate.label, ())
    ran: list[Pair] = list(before)

    def heard(pairs: Sequence[Pair]) -> None:
        ran[:] = pairs
        keep(candidate.label, pairs)
        if request.check is not None or len(outputs.baselines) >= KNOWN_BASELINES:
            _check(request, outputs, outputs.of(changed)[-1])

    try:
        trial = run_trial(baseline, changed, plan, outputs, heard, before, goes_on)
        if trial.counted:
            while len(outputs.baselines) < LEAST_BASELINES:  # of pairs of an earlier start
                outputs(baseline)
            if not outputs.of(changed):
                outputs(changed)
            for output in outputs.of(changed):
                _check(request, outputs, output)
    except _WrongResultsError as error:
        return Tried(candidate, Trial(baseline, changed, plan, tuple(ran)), str(error))
    except ImbrexError as error:
        if str(error).startswith("line A") and candidate.beside == Setup():
            raise ImbrexError(
                str(error)
                .replace("line A", "the program as it is")
                .replace("nothing is compared", "nothing more is tried")
            ) from error
        reason = str(error).removeprefix("line B ").replace(": nothing is compared", "")
        return Tried(candidate, Trial(baseline, changed, plan, tuple(ran)), reason)
    checked = "command" if request.check else "output" if comparable(outputs.baselines) else ""
    return Tried(candidate, trial, None, checked)


class _WrongResultsError(Exception):
    """The candidate computed something else."""


def _check(request: Request, outputs: _Outputs, output: str) -> None:
    if request.check is not None:
        wrong = checked_by(request.check, output)
    else:
        found = difference(outputs.baselines, output)
        wrong = None if found is None else str(found)
    if wrong is not None:
        raise _WrongResultsError(wrong)


def _decided(trial: Trial) -> bool:
    """Proven to be worth it, or hopeless: the estimate of several pairs is not worth it."""
    low, high = trial.ratio.gain
    worth = trial.plan.worth
    if low > worth or high < worth:
        return True
    return len(trial.counted) >= 2 * SCREENED_PAIRS and 1 - trial.ratio.estimate < worth


def _settled(trial: Trial) -> bool:
    """Decided, and what is proven to be worth it narrowed down."""
    if trial.ratio.gain[0] > trial.plan.worth:
        return trial.ratio.enough(trial.plan.worth)
    return _decided(trial)
