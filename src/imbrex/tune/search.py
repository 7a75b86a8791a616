"""Try candidates on the program itself, each beside the baseline, and keep what is proven."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.choosing import LEAST_SEEN, at_best, left_out, next_to_narrow, noise_of
from imbrex.tune.combination import combined, is_eager, leaving_at_once
from imbrex.tune.results import checked_by, comparable, difference, may_be_chance
from imbrex.tune.statistics import CONFIDENCE
from imbrex.tune.timed_run import HangError, Line, TimedRun
from imbrex.tune.trial import LEAST_DISTURBED, Pair, Plan, Run, Trial, run_trial

SCREENED_PAIRS = 3
"""After so many pairs a candidate that does not look faster is left for those that do."""
LEAST_TURN = 2
"""So many pairs a candidate has at a time before another may overtake it."""

PROVING_PAIRS = 4
"""So many more prove a gain of several times the noise."""

LEAST_BASELINES = 2
"""So many runs of the baseline show what differs between them."""
KNOWN_BASELINES = 4
"""From so many on a difference ends the trial of a candidate at once."""
CHANCE_BASELINES = 8
"""So many are run at most to see whether a number of few digits is always the same."""

HANGS = 5
LEAST_LIMIT_S = 30.0
"""A run of the program as it is that takes so many times its longest, and so long, is ended."""
SLOWER = 3
LEAST_CHANGED_LIMIT_S = 10.0
"""And one of a candidate earlier: it is hopeless long before."""

Keep = Callable[[str, Sequence[Pair]], None]
"""Is told what a candidate is, and its pairs after each."""
Step = Callable[[str], AbstractContextManager[Any]]
Objection = Callable[[Tried], str | None]
"""Is told what is proven; why it is out all the same, or None."""


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
        self._ran: Counter[str] = Counter()

    def __call__(self, line: Line) -> TimedRun:
        found = self._run(line)
        self._ran[_key(line)] += 1
        (self.baselines if line.name == "A" else self.of(line)).append(found.output)
        return replace(found, output="")

    def of(self, line: Line) -> list[str]:
        """What the runs of a changed line printed."""
        return self._changed.setdefault(_key(line), [])

    def warm(self, line: Line, times: int) -> None:
        """Run a line until it ran so often: the baseline of many candidates is warm but once."""
        while self._ran[_key(line)] < times:
            self(line)


def _key(line: Line) -> str:
    return f"{line.words} {sorted(line.environment.items())}"


class _Clock:
    """The time that is left, in pairs, and the time that a run has.

    A pair takes as long as the median of runs: one that others disturbed must not end the search.
    """

    def __init__(self, request: Request, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._end = clock() + request.budget_s
        self._longest_s = request.run_s
        self._plain_s: list[float] = []
        self._changed_s: list[float] = []
        self._hung = False

    def turn(self) -> None:
        """Another candidate is tried from now on: how long it takes is not known."""
        self._changed_s = []

    def has_time(self, pairs: int = 1) -> bool:
        """Whether there is time for so many pairs."""
        run_s = median(self._plain_s) if self._plain_s else self._longest_s
        pair_s = run_s + max(run_s, median(self._changed_s) if self._changed_s else 0.0)
        return self._clock() + pairs * pair_s <= self._end

    def timed(self, run: Run) -> Run:
        """The same run, ended where it hangs, which tells how long a pair takes.

        A program that hangs as it is, once, is run again: some do, now and then, in MPI_Finalize.
        """

        def timed(line: Line) -> TimedRun:
            plain = line.name == "A"
            limit_s = max(LEAST_LIMIT_S, HANGS * self._longest_s)
            if not plain:
                limit_s = max(LEAST_CHANGED_LIMIT_S, SLOWER * self._longest_s)
            limited = replace(line, limit_s=limit_s)
            began = self._clock()
            try:
                found = run(limited)
            except HangError:
                if not plain or self._hung:
                    raise
                self._hung = True
                began = self._clock()
                found = run(limited)
            took_s = self._clock() - began
            if plain:
                self._plain_s.append(took_s)
                self._longest_s = max(self._longest_s, took_s)
            else:
                self._changed_s.append(took_s)
            return found

        return timed


def search(
    request: Request,
    tried: list[Tried],
    run: Run,
    keep: Keep = lambda label, pairs: None,
    step: Step = lambda label: nullcontext(),
    clock: Callable[[], float] = time.monotonic,
    objection: Objection = lambda found: None,
) -> None:
    """Fill in what became of each candidate in `tried`; one that combines may follow them.

    First all are screened with a few pairs, while there is time to prove the best of them too; then
    those that look faster are tried on, the best first, until they are proven, hopeless, or the
    budget is used up, and those that were not screened with what time is left. What was proven is
    tried together at last, and what only helps a rewritten program with the best rewrite; the best
    of all is narrowed down. `objection` has a word in what is proven. What can no longer become the
    answer has no more pairs at any time. The confidence of each is raised so that with as many
    candidates as these, and their combinations, the whole is wrong as rarely as one.
    """
    left = _Clock(request, clock)
    rewrites = any(t.candidate.kind == "source" for t in tried) and any(map(is_eager, tried))
    many = len(tried) + (len(tried) > 1) + rewrites
    plan = replace(request.plan, confidence=1 - (1 - CONFIDENCE) / max(1, many))
    outputs = _Outputs(left.timed(run))

    def go_on(number: int, label: str, goes_on: Callable[[Trial], bool]) -> None:
        left.turn()
        found = tried[number]
        patient = replace(plan, repeated=_repeated_more(tried, found))
        with step(f"trying {found.candidate.label}{label}"):
            more = _more(request, found, patient, outputs, keep, goes_on, left)
            why = objection(more) if more.recommended and not found.recommended else None
        tried[number] = more if why is None else replace(more, failed=why, finished=True)
        tried[:] = left_out(tried, plan.worth)

    def proving(enough: Callable[[Trial], bool]) -> Callable[[Trial], bool]:
        return lambda trial: not enough(trial) and left.has_time()

    for number in range(len(tried)):
        if tried[number].finished:  # it could not even be made, or cannot be the best
            continue
        promising = any(t.looks_faster and not t.recommended for t in tried)
        if not left.has_time(plan.warm + SCREENED_PAIRS + promising * PROVING_PAIRS):
            break
        go_on(number, f" ({number + 1} of {len(tried)})", proving(_Screened(noise_of(tried))))
    while (turn := _next(tried, left.has_time(plan.warm + SCREENED_PAIRS))) is not None:
        found = tried[turn]
        estimates = [tried[n].estimate for n in _contenders(tried) if n != turn]
        go_on(turn, ": is it proven?", proving(_Turn(found, max(estimates, default=-math.inf))))
        if not left.has_time():
            break
    tried[:] = [replace(t, finished=True) if _screened_out(t) else t for t in tried]
    combinations = (combined(tried), leaving_at_once(tried))
    for combination in (c for c in combinations if c is not None):
        if left.has_time(SCREENED_PAIRS):
            tried.append(Tried(combination))
            go_on(len(tried) - 1, ": is it proven?", proving(_decided))
    while left.has_time() and (narrow := next_to_narrow(tried, plan.worth)) is not None:
        go_on(tried.index(narrow), ": how much?", proving(_settled))


def _next(tried: Sequence[Tried], unseen_too: bool) -> int | None:
    """Which candidate has the next pairs: the one that looks best, then one without any."""
    if contenders := _contenders(tried):
        return max(contenders, key=lambda n: tried[n].estimate)
    unseen = [n for n, found in enumerate(tried) if found.trial is None and not found.finished]
    return unseen[0] if unseen and unseen_too else None


def _contenders(tried: Sequence[Tried]) -> list[int]:
    """Those that look faster and are not settled; none where all of them are proven: which is best
    is told by narrowing down what is proven too."""
    found = [n for n, t in enumerate(tried) if t.looks_faster and not t.finished]
    return found if any(not tried[n].recommended for n in found) else []


def _repeated_more(tried: Sequence[Tried], found: Tried) -> int:
    """How many disturbed pairs of a candidate are repeated: those of all are shared out, so that a
    machine that never becomes quiet does not cost three pairs of each."""
    pairs = [pair for t in tried if t.trial is not None for pair in t.trial.pairs]
    mine = found.trial.pairs if found.trial is not None else ()
    repeated = sum(not pair.counted for pair in pairs)
    quiet = sum(pair.counted and pair.disturbed is None for pair in pairs)
    own = sum(not pair.counted for pair in mine)
    return own + max(0, LEAST_DISTURBED + quiet // 2 - repeated)


def _screened_out(found: Tried) -> bool:
    """Whether it was tried enough to see that it does not look faster."""
    if found.failed is not None:
        return True
    return found.pairs >= SCREENED_PAIRS and not found.looks_faster


def _more(
    request: Request,
    found: Tried,
    plan: Plan,
    outputs: _Outputs,
    keep: Keep,
    goes_on: Callable[[Trial], bool],
    left: _Clock,
) -> Tried:
    """More pairs of a candidate, behind those that it has."""
    if found.trial is not None:
        request = replace(request, before={found.candidate.label: found.trial.pairs})
    tried = _try(request, found.candidate, plan, outputs, keep, goes_on, left.has_time)
    over = tried.failed is not None or tried.pairs >= plan.most
    if not over and tried.trial is not None:
        over = _settled(tried.trial) or tried.trial.ratio.enough(plan.worth)
    return replace(tried, finished=over)


def _try(
    request: Request,
    candidate: Candidate,
    plan: Plan,
    outputs: _Outputs,
    keep: Keep,
    goes_on: Callable[[Trial], bool],
    has_time: Callable[[], bool],
) -> Tried:
    baseline = candidate.beside.line("A", request.line)
    changed = candidate.setup.line("B", request.line)
    before = (request.before or {}).get(candidate.label, ())
    ran: list[Pair] = list(before)
    warm, plan = plan.warm, replace(plan, warm=0)

    def check(output: str) -> None:
        while (found := _wrong(request, outputs, output)) is not None:
            known = len(outputs.baselines) >= CHANCE_BASELINES
            if known or not found.may_be_chance or not has_time():
                raise _WrongResultsError(found.told)
            outputs(baseline)

    def heard(pairs: Sequence[Pair]) -> None:
        ran[:] = pairs
        keep(candidate.label, pairs)
        if request.check is not None or len(outputs.baselines) >= KNOWN_BASELINES:
            check(outputs.of(changed)[-1])

    try:
        if not ran and goes_on(Trial(baseline, changed, plan, ())):
            outputs.warm(baseline, warm)
            outputs.warm(changed, warm)
        trial = run_trial(baseline, changed, plan, outputs, heard, before, goes_on)
        if trial.counted:
            while len(outputs.baselines) < LEAST_BASELINES:  # of pairs of an earlier start
                outputs(baseline)
            if not outputs.of(changed):
                outputs(changed)
            for output in outputs.of(changed):
                check(output)
    except _WrongResultsError as error:
        return Tried(candidate, Trial(baseline, changed, plan, tuple(ran)), str(error))
    except ImbrexError as error:
        if str(error).startswith("line A") and candidate.beside == Setup():
            again = " when it was started again" if "exit code" in str(error) else ""
            raise ImbrexError(
                str(error)
                .replace("line A", "the program as it is")
                .replace(": nothing is compared", f"{again}: nothing more is tried")
            ) from error
        reason = str(error).removeprefix("line B ").replace(": nothing is compared", "")
        return Tried(candidate, Trial(baseline, changed, plan, tuple(ran)), reason)
    checked = "command" if request.check else "output" if comparable(outputs.baselines) else ""
    return Tried(candidate, trial, None, checked)


class _WrongResultsError(Exception):
    """The candidate computed something else."""


@dataclass(frozen=True)
class _Wrong:
    """What is wrong with a result, and whether more runs of the baseline may show that it is
    right all the same."""

    told: str
    may_be_chance: bool = False


def _wrong(request: Request, outputs: _Outputs, output: str) -> _Wrong | None:
    if request.check is not None:
        told = checked_by(request.check, output)
        return None if told is None else _Wrong(told)
    found = difference(outputs.baselines, output)
    return None if found is None else _Wrong(str(found), may_be_chance(found))


@dataclass(frozen=True)
class _Screened:
    """Tells that a candidate was seen: so many pairs, or fewer where it cannot save what matters.
    `noise`: how much pairs vary here."""

    noise: float

    def __call__(self, trial: Trial) -> bool:
        count = len(trial.counted)
        if count >= SCREENED_PAIRS:
            return True
        hoped = at_best(Tried(Candidate("", ""), trial), self.noise)
        return count >= LEAST_SEEN and hoped < trial.plan.worth


def _decided(trial: Trial) -> bool:
    """Proven to be worth it, or hopeless: the estimate of several pairs is not worth it."""
    low, high = trial.ratio.gain
    worth = trial.plan.worth
    if low > worth or high < worth:
        return True
    return len(trial.counted) >= 2 * SCREENED_PAIRS and 1 - trial.ratio.estimate < worth


@dataclass(frozen=True)
class _Turn:
    """Tells when a candidate is decided, or narrowed down where it was proven before, or another
    looks better, whose turn it is then. `other`: what the best of the others seems to save."""

    before: Tried
    other: float

    def __call__(self, trial: Trial) -> bool:
        if (_settled if self.before.recommended else _decided)(trial):
            return True
        count = len(trial.counted)
        if count < max(SCREENED_PAIRS, self.before.pairs + LEAST_TURN):
            return False
        return 1 - trial.ratio.estimate < self.other


def _settled(trial: Trial) -> bool:
    """Decided, and what is proven to be worth it narrowed down."""
    if trial.ratio.gain[0] > trial.plan.worth:
        return trial.ratio.enough(trial.plan.worth)
    return _decided(trial)
