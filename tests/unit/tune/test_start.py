"""A setting that only starts MPI faster is not recommended."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from imbrex.errors import ImbrexError
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.search import Request, search
from imbrex.tune.start import saved_in_start
from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Plan

LINE = Line("A", ("mpirun", "-n", "2", "./app"))


def timed(line: Line) -> TimedRun:
    """MPI starts in 0.3 s, or 0.1 s with `start`; the program takes 0.4 s, with `both` 0.2 s."""
    x = line.environment.get("X", "")
    seconds = 0.3 - 0.2 * (x in ("start", "both"))
    if "empty" not in line.words:
        seconds += 0.4 - 0.2 * (x in ("both", "program"))
    return TimedRun(seconds, None, "result 42\n")


def tuned(line: Line, *values: str, kind: str = "setting") -> list[Tried]:
    tried = [Tried(Candidate(kind, f"X={x}", Setup({"X": x}))) for x in values]
    objection = saved_in_start(line, timed, lambda line: ("mpirun", "-n", "2", "empty"))
    search(Request(line, Plan(30, warm=0), 1e6), tried, timed, objection=objection)
    return tried


def test_what_starts_mpi_faster_does_not_help_the_program() -> None:
    (start,) = tuned(LINE, "start")
    assert not start.recommended and start.finished
    assert start.failed == (
        "what it saves (200 ms a run) it saves in the start and the end of MPI (200 ms), however "
        "long the program runs"
    )


@pytest.mark.parametrize("value", ["both", "program"])
def test_what_helps_the_program_is_recommended(value: str) -> None:
    start, found = tuned(LINE, "start", value)
    assert found.recommended
    assert not start.recommended


def test_a_time_of_the_user_and_other_changes_are_believed() -> None:
    for line, kind in ((replace(LINE, time_from=re.compile("(x)")), "setting"), (LINE, "source")):
        (found,) = tuned(line, "start", kind=kind)
        assert found.recommended


def test_where_it_cannot_be_told_the_trial_decides() -> None:
    def fails(line: Line) -> TimedRun:
        raise ImbrexError("line A ended with exit code 1")

    (found,) = tuned(LINE, "program")
    assert saved_in_start(LINE, fails, lambda line: ("x",))(found) is None
