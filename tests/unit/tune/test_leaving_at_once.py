"""A setting that helps nothing but the rewritten program: tried with the best rewrite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imbrex.probe.knobs import Knob, knobs_for
from imbrex.tune.answer import Found
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.search import Request, search
from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Plan

LINE = Line("A", ("mpirun", "-n", "2", "./app"))
BUILT = ("mpirun", "-n", "2", "./built")
REWRITTEN = ("mpirun", "-n", "2", "./rewritten")
SOURCE = Candidate(
    "source",
    "a.c:7 rewritten",
    Setup(words=REWRITTEN),
    "starts",
    "a change",
    beside=Setup(words=BUILT),
    commands=("git apply a.patch",),
)
EAGER = Candidate("setting", "LIMIT=4", Setup({"LIMIT": "4"}), "at once", "memory", eager_bytes=4)
OTHER = replace(EAGER, label="OTHER=1", setup=Setup({"OTHER": "1"}), eager_bytes=0)


def tuned(
    candidates: list[Candidate], both: float, rewritten: float = 0.9, budget_s: float = 1e4
) -> list[Tried]:
    """The program takes 10 s, rewritten `rewritten` of it, and with the limit too `both`."""
    rng, now = np.random.default_rng(5), [0.0]

    def run(line: Line) -> TimedRun:
        factor = 1.0
        if line.words == REWRITTEN:
            factor = both if "LIMIT" in line.environment else rewritten
        seconds = 10 * factor * (1 + 0.002 * abs(float(rng.normal())))
        now[0] += seconds
        return TimedRun(seconds)

    tried = [Tried(candidate) for candidate in candidates]
    request = Request(LINE, Plan(30, warm=0), budget_s, run_s=10.0)
    search(request, tried, run, clock=lambda: now[0])
    return tried


def test_it_is_recommended_where_both_together_save_more() -> None:
    tried = tuned([SOURCE, EAGER, OTHER], both=0.6)
    assert [t.candidate.label for t in tried] == [
        *("a.c:7 rewritten", "LIMIT=4", "OTHER=1"),
        "a.c:7 rewritten and LIMIT=4",
    ]
    assert [t.recommended for t in tried] == [True, False, False, True]
    answer = Found(LINE.words, Path("t"), 0.01, 0.5, "MPI.", 600, 10, tuple(tried))
    best = answer.recommended[0]
    assert answer.verdict.startswith("40.1 % faster (38.7 to 41.4, 33.3 % of it by the second")
    assert best.candidate.apply == ("git apply a.patch", "export LIMIT=4")
    assert best.candidate.beside.words == REWRITTEN


def test_it_is_not_where_it_adds_nothing() -> None:
    tried = tuned([SOURCE, EAGER], both=0.9)
    assert [t.recommended for t in tried] == [True, False, False]


def test_of_several_limits_only_the_largest_is_tried_with_it() -> None:
    small = replace(EAGER, label="LIMIT=1", setup=Setup({"LIMIT": "1"}), eager_bytes=1)
    tried = tuned([SOURCE, small, EAGER], both=0.6)
    assert [t.candidate.label for t in tried[3:]] == ["a.c:7 rewritten and LIMIT=4"]


def test_nothing_is_added_without_a_proven_rewrite() -> None:
    assert len(tuned([SOURCE, EAGER], both=0.6, rewritten=1.0)) == 2
    assert len(tuned([EAGER, OTHER], both=0.6)) == 2


def test_a_limit_is_raised_to_the_messages_of_the_program() -> None:
    tcp = {"OMPI_MCA_btl": "tcp"}
    (knob,) = (k for k in knobs_for("Open MPI", tcp) if k.memory_per_peer_bytes == 1 << 20)
    assert knob.up_to(1 << 20) is knob
    raised = knob.up_to(1 << 22)
    assert raised.variables == {
        "OMPI_MCA_btl_tcp_eager_limit": "4194304",
        "OMPI_MCA_btl_tcp_rndv_eager_limit": "4194304",
    }
    assert raised.effect == "messages up to 4 MiB leave without asking"
    assert raised.cost == "a buffer of up to 4 MiB for each unexpected message"
    assert raised.memory_per_peer_bytes == 1 << 22


@pytest.mark.parametrize("most", [0, 1 << 21])
def test_a_limit_is_not_raised_beyond_what_it_may_be(most: int) -> None:
    knob = Knob(["Open MPI"], {"X": "1048576"}, "1 MiB", "1 MiB", memory_per_peer_bytes=1 << 20)
    knob = replace(knob, most_per_peer_bytes=most)
    assert knob.up_to(1 << 22) is knob
