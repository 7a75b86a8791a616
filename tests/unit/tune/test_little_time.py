"""With little time, what looks best is proven before the rest is tried."""

from __future__ import annotations

import numpy as np
import pytest

from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.search import Request, search
from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Plan

LINE = Line("A", ("mpirun", "-n", "2", "./app"))


def tuned(factors: dict[str, float], budget_s: float) -> list[Tried]:
    """Runs take 1 s times a factor, with noise of 1 %."""
    rng, now = np.random.default_rng(3), [0.0]

    def run(line: Line) -> TimedRun:
        seconds = factors.get(line.environment.get("X", ""), 1.0) * (1 + 0.01 * rng.normal())
        now[0] += seconds
        return TimedRun(seconds)

    tried = [Tried(Candidate("setting", f"X={x}", Setup({"X": x}))) for x in factors]
    request = Request(LINE, Plan(30, warm=0), budget_s, run_s=1.0)
    search(request, tried, run, clock=lambda: now[0])
    return tried


def test_the_best_is_proven_before_the_others_are_tried() -> None:
    fast, *later = tuned({"fast": 0.7, "1": 1.0, "2": 1.0, "3": 1.0}, budget_s=18)
    assert fast.recommended
    assert any(t.trial is None for t in later)


@pytest.mark.parametrize("first", [True, False])
def test_what_is_left_of_the_time_goes_to_the_others(first: bool) -> None:
    factors = {"fast": 0.7, "better": 0.5} if first else {"better": 0.5, "fast": 0.7}
    found = {t.candidate.label: t for t in tuned(factors, budget_s=30)}
    assert found["X=fast"].pairs and found["X=better"].recommended


def test_the_best_is_narrowed_down_last() -> None:
    found = tuned({"1": 0.8, "2": 0.9}, budget_s=1000)
    best = found[0]
    assert best.gain is not None
    assert best.gain[1] - best.gain[0] <= 0.5 * best.estimate


def test_one_run_that_others_disturbed_does_not_end_the_search() -> None:
    """A run in the middle takes 12 s; there is time to look at what is left all the same."""
    now, runs = [0.0], [0]

    def run(line: Line) -> TimedRun:
        runs[0] += 1
        seconds = 12.0 if runs[0] == 5 else 1.0
        now[0] += seconds
        return TimedRun(seconds)

    tried = [Tried(Candidate("setting", f"X={x}", Setup({"X": x}))) for x in "12"]
    request = Request(LINE, Plan(30, warm=0), 45.0, run_s=1.0)
    search(request, tried, run, clock=lambda: now[0])
    assert all(t.pairs >= 3 for t in tried)
