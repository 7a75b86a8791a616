"""The search for a faster setting, on runs whose times are written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.tune.simulated_runs import LINE, Machine, found, setting, tuned

from imbrex.errors import ImbrexError
from imbrex.tune import command
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.search import Request, search
from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Pair, Plan, Trial
from imbrex.tune.trials_file import TRIALS, Trials


def test_the_best_is_recommended_and_the_others_cost_little() -> None:
    machine = Machine({"fast": 0.8, "slow": 1.2, "better": 0.9})
    tried = tuned(machine, ["slow", "better", "same", "fast"])
    assert tried[-1].recommended and not tried[0].recommended and not tried[2].recommended
    assert max(machine.runs.count("slow"), machine.runs.count("same")) <= 3
    assert machine.runs.count("better") <= 4  # it looks faster, but cannot become the best
    answer = found(tried)
    assert answer.recommended[0].candidate.label == "X=fast"
    assert answer.to_json()["complete"] is True
    assert answer.verdict.startswith(("19.9 %", "20."))
    assert answer.verdict.endswith("same results) with X=fast.")
    assert "   $ export X=fast" in answer.lines()
    low, high = answer.recommended[0].gain or (0, 0)
    assert low < 0.2 < high


def test_it_ends_when_nothing_else_can_become_the_answer() -> None:
    """What is proven saves all but what matters of what overlap could save at all."""
    machine = Machine({"fast": 0.8, "other": 0.79}, noise=0.001)
    tried = [Tried(replace(setting(v), most=0.2)) for v in ("fast", "1", "other", "2")]
    # Time for the first alone, at first: it is proven before the others are looked at.
    request = Request(LINE, Plan(30, warm=0), 190, run_s=10)
    search(request, tried, machine, clock=machine.clock)
    assert [t.recommended for t in tried] == [True, False, False, False]
    assert set(machine.runs) == {"", "fast"}
    answer = found(tuple(tried), most=0.2)
    assert answer.to_json()["complete"] is True
    assert "- X=2: not tried: it cannot save more than what is proven" in answer.lines()


def test_the_rest_of_the_time_goes_to_what_may_be_best() -> None:
    """Two that save something, much noise: more pairs go to the one that saves more."""
    for seed in range(5):
        machine = Machine({"good": 0.94, "best": 0.9}, 0.03, seed)
        values = ["1", "good", "2", "best", "3"]
        tried = {t.candidate.label: t for t in tuned(machine, values, budget_s=700)}
        assert found(tuple(tried.values())).recommended[0].candidate.label == "X=best"
        assert tried["X=best"].pairs > tried["X=good"].pairs
        assert max(tried[f"X={n}"].pairs for n in (1, 2, 3)) <= 6


def test_a_certain_gain_decides_what_is_narrowed_down() -> None:
    """The answer is the best for certain, and so is what has the last pairs."""
    machine = Machine({"a": 0.8, "b": 0.82}, 0.02)
    tried = tuned(machine, ["a", "b"])
    best = found(tried).recommended[0]
    assert best.finished
    assert best.gain is not None and best.gain[1] - best.gain[0] <= 0.5 * best.estimate


def test_the_baseline_is_warm_but_once() -> None:
    machine = Machine({}, 0.001)
    request = Request(LINE, Plan(3, warm=2), 1e6)
    search(request, [Tried(setting("1")), Tried(setting("2"))], machine, clock=machine.clock)
    pairs = machine.runs.count("1") - 2 + machine.runs.count("2") - 2
    assert machine.runs.count("") == pairs + 2


def test_a_machine_that_never_becomes_quiet_costs_three_pairs_in_all() -> None:
    machine = Machine({}, 0.001)

    def run(line: Line) -> TimedRun:
        return replace(machine(line), disturbed="others kept it busy")

    tried = [Tried(setting(v)) for v in "123"]
    search(Request(LINE, Plan(30, warm=0), 1e6), tried, run, clock=machine.clock)
    pairs = [pair for t in tried if t.trial is not None for pair in t.trial.pairs]
    assert sum(not pair.counted for pair in pairs) == 3


def test_equal_settings_are_not_recommended() -> None:
    """One program beside itself, 60 times: none may be called faster."""
    wrong = 0
    for seed in range(20):
        tried = tuned(Machine({}, 0.03, seed), ["1", "2", "3"])
        wrong += sum(t.recommended for t in tried)
    assert wrong == 0


def test_a_gain_of_less_than_matters_is_not_recommended() -> None:
    tried = tuned(Machine({"little": 0.995}, 0.001), ["little"])
    assert not tried[0].recommended


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        (lambda x, t: f"took {t}\nresult {43 if x else 42}\n", "'43', not '42'"),
        (lambda x, t: f"took {t}\n" if x else f"took {t}\nresult 42\n", "'', not 'result'"),
    ],
)
def test_another_result_is_never_recommended(
    printed: Callable[[str, float], str], why: str
) -> None:
    machine = Machine({"fast": 0.5})
    machine.printed = printed
    (tried,) = tuned(machine, ["fast"])
    assert not tried.recommended
    assert why in (tried.failed or "")


def test_what_differs_between_baselines_may_differ() -> None:
    machine = Machine({"fast": 0.5})
    machine.printed = lambda x, t: f"took {t} s on {machine.now:.3f}\n"
    (tried,) = tuned(machine, ["fast"])
    assert tried.recommended
    assert tried.checked == ""
    assert "results not checked" in found((tried,)).verdict


def test_a_time_that_is_alike_by_chance_is_no_result() -> None:
    machine = Machine({"fast": 0.5})
    machine.printed = lambda x, t: f"setup CPU = 0.00{2 if x else 3} seconds\nresult 42\n"
    (tried,) = tuned(machine, ["fast"])
    assert tried.recommended
    assert tried.checked == "output"


@pytest.mark.parametrize(("unlike", "recommended"), [(7, True), (99, False)])
def test_more_runs_show_whether_few_digits_are_a_result(unlike: int, recommended: bool) -> None:
    """The seventh run of the program as it is prints another number, or none does."""
    machine = Machine({"fast": 0.5})
    machine.printed = lambda x, t: (
        f"x {4 if x else 3 + (machine.runs.count('') >= unlike)}\nresult 42\n"
    )
    (tried,) = tuned(machine, ["fast"])
    assert tried.recommended == recommended
    assert recommended or tried.failed == "line 1 of its output has '4', not '3'"
    assert machine.runs.count("") >= min(unlike, 8)


def test_a_candidate_that_fails_is_out_and_the_others_go_on() -> None:
    bad, fast = tuned(Machine({"fast": 0.5}), ["bad", "fast"])
    assert bad.failed == "ended with exit code 3 (no such pml)"
    assert fast.recommended
    assert "- X=bad: out: ended with exit code 3 (no such pml)" in found((bad, fast)).lines()


def test_a_baseline_that_fails_ends_it() -> None:
    def run(line: Line) -> TimedRun:
        raise ImbrexError("line A ended with exit code 1: nothing is compared")

    with pytest.raises(ImbrexError, match="the program as it is ended"):
        search(Request(LINE, Plan(5), 100), [Tried(setting("1"))], run)


def test_what_was_proven_outlives_a_program_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine({"fast": 0.5}, noise=0.15)

    def run(line: Line) -> TimedRun:
        if machine.runs.count("") == 4 and not line.environment:
            raise ImbrexError("line A ended with exit code 3: nothing is compared")
        return machine(line)

    monkeypatch.setattr(command, "run_timed", run)
    tried = [Tried(setting("fast"))]
    trials = Trials(tmp_path / TRIALS, LINE.words)
    answer = command._try(found(()), Request(LINE, Plan(30, warm=0), 1e6), tried, trials)
    assert answer.failure == (
        "the program as it is ended with exit code 3 when it was started again: nothing more is "
        "tried"
    )
    assert answer.verdict.endswith("with X=fast.")
    assert f"The trials ended early: {answer.failure}." in answer.lines()
    assert answer.to_json()["complete"] is False


def test_the_budget_ends_it() -> None:
    machine = Machine({"fast": 0.5})
    tried = tuned(machine, ["1", "2", "3", "fast"], budget_s=130)
    assert machine.now <= 130 + 20
    assert tried[-1].trial is None
    assert "not tried: the time was over" in found(tried).lines()[-1]


def test_what_helps_together_is_recommended_together() -> None:
    machine = Machine({"1": 0.8})
    machine.other = {"1": 0.9}
    first, second = setting("1"), Candidate("setting", "Y=1", Setup({"Y": "1"}), "e", "c")
    tried = [Tried(first), Tried(second)]
    search(Request(LINE, Plan(30, warm=0), 1e6), tried, machine, clock=machine.clock)
    combination = tried[-1]
    assert combination.candidate.kind == "combination"
    assert combination.recommended and 0.08 < combination.estimate < 0.12  # beside X alone
    answer = found(tuple(tried))
    assert answer.recommended[0] is combination
    assert answer.verdict.startswith(("28.", "27."))
    assert "   $ export X=1 Y=1" in answer.lines()


def test_what_adds_nothing_is_not_combined() -> None:
    machine = Machine({"1": 0.8})
    machine.other, machine.added = {"1": 0.9}, False
    tried = [Tried(setting("1")), Tried(Candidate("setting", "Y=1", Setup({"Y": "1"}), "e", "c"))]
    search(Request(LINE, Plan(30, warm=0), 1e6), tried, machine, clock=machine.clock)
    assert not tried[-1].recommended
    assert found(tuple(tried)).recommended[0].candidate.label == "X=1"


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["normal", "spikes", "exponential"])
def test_of_many_candidates_that_change_nothing_none_is_recommended(noise: str) -> None:
    """The family as a whole is wrong as rarely as a single trial: the confidence is shared out."""
    wrong = 0
    for seed in range(40):
        machine = Machine({}, 0.03, 100 + seed, noise)
        wrong += any(t.recommended for t in tuned(machine, [str(n) for n in range(8)]))
    assert wrong <= 1


def test_the_files_that_it_leaves(tmp_path: Path) -> None:
    answer = found(tuned(Machine({"it's": 0.5}), ["it's"]), folder=tmp_path)
    answer.write()
    content = json.loads((tmp_path / "answer.json").read_text())
    assert content["verdict"] == answer.verdict
    (entry,) = content["candidates"]
    assert entry["recommended"] and entry["pairs"] >= 3
    assert entry["kind"] == "setting"
    assert len(content["baseline"]["seconds"]) == entry["pairs"]
    assert (tmp_path / "apply.sh").read_text() == "export X='it'\"'\"'s'\n"
    assert (tmp_path / "answer.txt").read_text().startswith(answer.verdict)


def test_what_gains_most_for_certain_is_recommended() -> None:
    def tried(value: str, times: Sequence[float]) -> Tried:
        pairs = tuple(Pair(TimedRun(1.0), TimedRun(t), True, True) for t in times)
        return Tried(setting(value), Trial(LINE, LINE, Plan(30), pairs))

    wide = tried("wide", [0.5, 0.7] * 10)
    narrow = tried("narrow", [0.64, 0.65] * 10)
    assert wide.recommended and narrow.recommended and wide.estimate > narrow.estimate
    assert [t.candidate.label for t in found((wide, narrow)).recommended] == ["X=narrow", "X=wide"]
