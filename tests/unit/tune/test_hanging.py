"""A run that hangs ends its candidate, not the search."""

from __future__ import annotations

import time

import pytest

from imbrex.errors import ImbrexError
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.search import (
    HANGS,
    LEAST_CHANGED_LIMIT_S,
    LEAST_LIMIT_S,
    SLOWER,
    Request,
    search,
)
from imbrex.tune.timed_run import HangError, Line, TimedRun, run_timed
from imbrex.tune.trial import Plan

pytestmark = pytest.mark.slow

LINE = Line("A", ("mpirun", "-n", "2", "./app"))


def setting(value: str) -> Tried:
    return Tried(Candidate("setting", f"X={value}", Setup({"X": value}), "effect", "cost"))


class Hangs:
    """Runs take 10 s; those of `who` with these numbers are ended."""

    def __init__(self, who: str, numbers: set[int], seconds: float = 10.0) -> None:
        self.who, self.numbers, self.seconds, self.ran = who, numbers, seconds, 0
        self.limits_s: list[float] = []

    def __call__(self, line: Line) -> TimedRun:
        assert line.limit_s is not None
        self.limits_s.append(line.limit_s)
        if line.environment.get("X", "A") == self.who:
            self.ran += 1
            if self.ran in self.numbers:
                raise HangError(f"line {line.name} was not over: nothing is compared")
        return TimedRun(self.seconds * (0.5 if line.environment.get("X") == "fast" else 1.0))


def tuned(run: Hangs, *values: str) -> list[Tried]:
    tried = [setting(value) for value in values]
    search(Request(LINE, Plan(30, warm=0), 1e6, run_s=run.seconds), tried, run)
    return tried


def test_a_candidate_that_hangs_is_out_and_the_others_are_tried() -> None:
    hung, fast = tuned(Hangs("slow", {2}), "slow", "fast")
    assert hung.failed == "was not over"
    assert not hung.recommended and hung.finished
    assert fast.recommended


def test_the_program_may_hang_once_as_it_is() -> None:
    (fast,) = tuned(Hangs("A", {2}), "fast")
    assert fast.recommended
    with pytest.raises(ImbrexError, match="the program as it is was not over: nothing more is"):
        tuned(Hangs("A", {2, 3}), "fast")


def test_the_limit_follows_the_program() -> None:
    quick, long = Hangs("A", set(), 0.1), Hangs("A", set(), 100.0)
    tuned(quick, "fast")
    tuned(long, "fast")
    assert set(quick.limits_s) == {LEAST_LIMIT_S, LEAST_CHANGED_LIMIT_S}
    assert set(long.limits_s) == {HANGS * 100.0, SLOWER * 100.0}


def test_a_wait_with_a_limit_has_no_grain() -> None:
    """Times of runs are told to a few ms: looked at 20 times a second they would be equal."""
    asked = [0.2 + 0.009 * n for n in range(6)]
    took = [run_timed(Line("B", ("sleep", f"{t}"), limit_s=30.0)).seconds for t in asked]
    over = [a - b for a, b in zip(took, asked, strict=True)]
    assert min(over) < 0.02
    assert sorted(over)[2] < 0.025, over


def test_a_line_is_ended_with_all_that_it_started() -> None:
    began = time.monotonic()
    with pytest.raises(HangError, match="line B was not over after 1 s and was ended"):
        run_timed(Line("B", ("sh", "-c", "sleep 60 & wait"), limit_s=1.0))
    assert time.monotonic() - began < 30
