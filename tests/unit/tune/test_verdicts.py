"""What a search that proves nothing says of it, and the line that starts it again."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.tune.simulated_runs import LINE, Machine, found, setting, tuned

from imbrex.tune.candidate import Tried
from imbrex.tune.search import Request, search
from imbrex.tune.timed_run import TimedRun
from imbrex.tune.trial import Pair, Plan, Trial


def test_verdicts_without_a_gain() -> None:
    assert found((), 0.003, hopeless=True).verdict == (
        "Nothing to gain from overlap here: at most 0.3 %."
    )
    assert found((), 0.00003, hopeless=True).verdict.endswith("less than 0.01 %.")
    assert found(()).verdict == (
        "Overlap could gain at most 30 %, but nothing is known to try: no setting helps this "
        "library as it is set, and there is no call that can be rewritten."
    )
    tried = tuned(Machine({}), ["1"])
    assert found(tried).verdict == (
        "Nothing found that helps: overlap could gain at most 30 %, and the one candidate does not "
        "save more than 1 % for certain."
    )


def test_where_no_source_could_be_tried_it_is_said_why() -> None:
    assert found((), 0.031, unchanged="pair_lj.cpp:88").verdict == (
        "Overlap could gain at most 3.1 %, but nothing is known to try: no setting helps this "
        "library as it is set, and no call can be rewritten, also at pair_lj.cpp:88 (why is told "
        "below)."
    )
    tried = tuned(Machine({}), ["1", "2"])
    why = "lmp has no debug information: compile it with -g"
    notes = ("X=3: not tried: X is set by you", f"the source: not rewritten: {why}")
    answer = found(tried, 0.031, unchanged="f+0x2bb", obstacle=why, notes=notes)
    assert answer.verdict == (
        "Nothing found that helps: overlap could gain at most 3.1 %, none of 2 saves more than 1 % "
        f"for certain, and no rewrite of the source could be tried ({why})."
    )
    # It is said once on the screen, and whole where another program reads it.
    assert answer.lines()[-1] == "- X=3: not tried: X is set by you"
    assert answer.to_json()["notes"] == list(notes)


def test_a_budget_without_room_for_pairs_is_said() -> None:
    tried = tuned(Machine({"fast": 0.5}), ["fast"], budget_s=50, run_s=10.0)
    assert tried[0].trial is None
    answer = replace(found(tried), budget_s=50, options=("--build", "make -j2"))
    assert answer.verdict == (
        "Nothing tried: a run takes 10 s, and the budget of 50 s leaves no time for 3 pairs."
    )
    assert answer.lines()[2:4] == [
        "Started again with more time it goes on where it stopped:",
        "   $ imbrex tune --budget 3m --build 'make -j2' -- mpirun -n 2 ./app",
    ]
    stopped = replace(answer, budget_s=90, interrupted=True, options=()).lines()
    assert "   $ imbrex tune --budget 90s -- mpirun -n 2 ./app" in stopped


def test_runs_that_take_longer_than_the_measured_one_are_said() -> None:
    tried = tuned(Machine({"fast": 0.5}), ["fast"], budget_s=5, run_s=10.0)
    answer = replace(found(tried), budget_s=100, run_s=1.5)
    assert answer.verdict == (
        "Nothing tried: the budget of 100 s was over before the first pair, though a run took "
        "1.5 s when it was measured: others may keep this machine busy."
    )


def test_a_budget_that_measuring_has_taken_is_said() -> None:
    tried = tuned(Machine({"fast": 0.5}), ["fast"], budget_s=5, run_s=1.0)
    answer = replace(found(tried), budget_s=60, run_s=1.0, left_s=4.0)
    assert answer.verdict == (
        "Nothing tried: measuring the program and its network took 56 s of the budget of 60 s, and "
        "a run takes 1 s; started again only the trials are left."
    )


def test_time_that_is_over_before_there_is_a_candidate_is_said() -> None:
    """What could be tried is not known then: a build takes time too."""
    answer = replace(found(()), budget_s=60, run_s=1.0, left_s=-4.0)
    assert answer.verdict.startswith("Nothing tried: measuring the program and its network took")
    assert answer.to_json()["complete"] is False
    assert any("Started again with more time it goes on" in line for line in answer.lines())


def test_the_pairs_that_would_prove_it_are_more_than_were_run() -> None:
    """Few pairs were allowed: the answer asks for more, with the confidence of all candidates."""
    for seed in range(10):
        machine = Machine({"fast": 0.88}, 0.2, seed)
        request = Request(LINE, Plan(5, warm=0), 1e6)
        tried = [Tried(setting(v)) for v in ("1", "2", "3", "fast")]
        search(request, tried, machine, clock=machine.clock)
        if tried[-1].recommended or not tried[-1].looks_faster:
            continue
        told = [line for line in found(tuple(tried)).lines() if "would prove it" in line]
        for line in told:
            number = line.split(" pairs would prove it")[0].split()[-1].replace(",", "")
            assert int(number) > tried[-1].pairs
            assert line.endswith("would prove it (--repeat).")
        if told:
            return
    raise AssertionError("no trial was left open")


def test_what_more_pairs_could_prove_is_not_said_to_help_nothing() -> None:
    """Three pairs were allowed: the line that follows allows as many as would prove it."""
    tried = tuned(Machine({"fast": 0.7}, 0.2, seed=3), ["fast"], plan=Plan(3, warm=0))
    assert tried[0].finished and not tried[0].recommended and tried[0].looks_faster
    answer = replace(found(tried), options=("--repeat", "3", "--warm", "0"))
    assert answer.verdict.startswith("Nothing proven with 3 pairs; X=fast looks ")
    assert answer.to_json()["complete"] is False
    (again,) = (line for line in answer.lines() if line.startswith("   $ "))
    words = again.split()
    assert words.count("--repeat") == 1 and "--warm" in words
    assert int(words[words.index("--repeat") + 1]) >= 6


def test_the_line_that_starts_again_has_the_pairs_that_would_prove_it() -> None:
    """The time was over first: with the pairs of before more time alone would prove nothing."""
    seconds = [(1.0, 0.6), (1.0, 1.1), (1.0, 0.95), (1.0, 0.9)]
    pairs = tuple(Pair(TimedRun(a), TimedRun(b), True, True) for a, b in seconds)
    trial = Trial(LINE, LINE, Plan(5, warm=0), pairs)
    answer = replace(found((Tried(setting("fast"), trial),)), budget_s=60)
    (noise,) = (line for line in answer.lines() if "would prove it" in line)
    needed = int(noise.split(" pairs would prove it")[0].split()[-1])
    assert needed > 5 and noise.endswith("(--repeat, --budget).")
    (again,) = (line for line in answer.lines() if line.startswith("   $ "))
    words = again.split()
    assert int(words[words.index("--repeat") + 1]) == needed


def test_what_is_not_proven_in_time_is_no_gain() -> None:
    tried = tuned(Machine({"fast": 0.8}, 0.3), ["fast"], budget_s=95)
    assert not tried[0].recommended
    answer = replace(found(tried), budget_s=95)
    assert answer.verdict.startswith("Nothing proven within 95 s; X=fast looks ")
    assert any("This machine is noisy" in line for line in answer.lines())
