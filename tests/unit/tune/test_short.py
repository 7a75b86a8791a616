"""A program so short that its start hides what overlap could gain is told so, and not tried."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.tune.answer import Found
from imbrex.tune.short import too_short
from imbrex.tune.timed_run import Line, TimedRun

LINE = Line("A", ("mpirun", "-n", "2", "./app"))


def found(most: float, run_s: float) -> Found:
    return Found(LINE.words, Path("t"), 0.01, most, "MPI 11 %.", 60, run_s)


@pytest.mark.parametrize(
    ("most", "run_s", "whole_s", "told"),
    [
        (0.10, 0.086, 0.921, True),  # 8.6 ms are 0.9 % of a whole run
        (0.10, 0.086, 0.850, False),  # and 1.01 % of this one
        (0.10, 0.30, 0.921, False),
        (0.0105, 60.0, 64.0, True),
    ],
)
def test_by_what_is_left_of_the_gain_in_a_whole_run(most, run_s, whole_s, told):
    short = too_short(found(most, run_s), LINE, lambda line: TimedRun(whole_s))
    assert short == (whole_s if told else None)


def test_it_is_not_run_for_it_where_no_start_takes_so_long():
    def never(line: Line) -> TimedRun:
        raise AssertionError

    assert too_short(found(0.10, 0.6), LINE, never) is None
    assert too_short(found(0.02, 60.0), LINE, never) is None
    timed = replace(LINE, time_from=re.compile("took (.*)"))
    assert too_short(found(0.10, 0.086), timed, never) is None


def test_a_program_that_cannot_be_run_is_told_by_the_search():
    def fails(line: Line) -> TimedRun:
        assert line.limit_s is not None
        raise ImbrexError("line A ended with exit code 1")

    assert too_short(found(0.10, 0.086), LINE, fails) is None


def test_the_answer_says_so_and_what_helps():
    answer = replace(found(0.10, 0.0863), whole_s=0.921)
    assert answer.verdict == (
        "Nothing tried: only 86.3 ms of the 921 ms of a run lie between MPI_Init and MPI_Finalize, "
        "and overlap could gain at most 10 % of them."
    )
    assert answer.lines()[1:] == [
        "MPI 11 %.",
        "Let the program take more steps, or give --time-from if it prints how long they take.",
    ]
    assert answer.to_json()["complete"] is True
