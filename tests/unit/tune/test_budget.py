"""The time that a comparison may take, by a clock of the test's own."""

from __future__ import annotations

import math

import pytest

from imbrex.tune.budget import Budget
from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Plan, run_trial


@pytest.mark.parametrize(
    ("seconds", "pairs"),
    # Each pair takes 3 s, and one starts where two of the longest runs, 4 s, fit in.
    [(3.9, 1), (6.9, 1), (7.0, 2), (10.1, 3), (math.inf, 9)],
)
def test_a_pair_starts_where_it_is_likely_to_end_in_time(seconds: float, pairs: int) -> None:
    now = 0.0

    def run(line: Line) -> TimedRun:
        nonlocal now
        now += 1 if line.name == "A" else 2
        return TimedRun(1.0 + now % 7)

    budget = Budget(seconds, lambda: now)
    lines = (Line("A", ("a",)), Line("B", ("b",)))
    trial = run_trial(*lines, Plan(9, warm=0), budget.timed(run), goes_on=budget.allows)
    assert len(trial.pairs) == pairs
    assert budget.over is (pairs < 9)
