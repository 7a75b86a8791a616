"""The search for a faster setting, on runs whose times are written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.errors import ImbrexError
from imbrex.tune import command
from imbrex.tune.answer import Found
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.results import checked_by, comparable, difference
from imbrex.tune.search import Request, search
from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Pair, Plan, Trial
from imbrex.tune.trials_file import TRIALS, Trials

LINE = Line("A", ("mpirun", "-n", "2", "./app"))


def setting(value: str) -> Candidate:
    return Candidate("setting", f"X={value}", Setup({"X": value}), "effect", "cost")


class Machine:
    """Runs take 10 s times a factor that the setting X decides, with noise; the clock goes on."""

    def __init__(
        self, factors: dict[str, float], noise: float = 0.005, seed: int = 1, kind: str = "half"
    ) -> None:
        self.factors, self.noise, self.kind = factors, noise, kind
        self.other: dict[str, float] = {}
        self.added = True
        self.rng = np.random.default_rng(seed)
        self.now = 0.0
        self.runs: list[str] = []
        self.printed: Callable[[str, float], str] = lambda x, t: f"took {t:.6f}\nresult 42\n"

    def __call__(self, line: Line) -> TimedRun:
        x = line.environment.get("X", "")
        self.runs.append(x)
        if x == "bad":
            raise ImbrexError("line B ended with exit code 3: nothing is compared (no such pml)")
        factor = self.factors.get(x, 1.0)
        y = self.other.get(line.environment.get("Y", ""), 1.0)
        factor = factor * y if self.added else min(factor, y)
        seconds = 10 * factor * (1 + self.noise * self._drawn())
        self.now += seconds
        return TimedRun(seconds, None, self.printed(x, seconds))

    def _drawn(self) -> float:
        if self.kind == "spikes":
            return 10 * float(self.rng.random() < 0.1)
        if self.kind == "exponential":
            return float(self.rng.exponential())
        return abs(float(self.rng.normal()))

    def clock(self) -> float:
        return self.now


def tuned(
    machine: Machine, values: Sequence[str], budget_s: float = 1e6, **more: object
) -> tuple[Tried, ...]:
    plan = more.pop("plan", Plan(30, warm=0))
    request = Request(LINE, plan, budget_s, **more)  # type: ignore[arg-type]
    tried = [Tried(setting(v)) for v in values]
    search(request, tried, machine, clock=machine.clock)
    return tuple(tried)


def found(
    tried: tuple[Tried, ...], most: float = 0.3, folder: Path = Path("t"), **more: Any
) -> Found:
    return Found(LINE.words, folder, 0.01, most, "MPI 40 %.", 600, 10, tried, **more)


def trials_of(command: Sequence[str], **more: object) -> str:
    content = {"format": "imbrex-tune", "schema_version": 1, "command": list(command)}
    return json.dumps({**content, "programs": [], "candidates": {}, **more})


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


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    trials = Trials(tmp_path / TRIALS, LINE.words)
    assert trials.load() == {}
    machine = Machine({"fast": 0.9}, 0.02)
    request = Request(LINE, Plan(30, warm=0), 100)
    search(request, [Tried(setting("fast"))], machine, trials.keep, clock=machine.clock)
    again = Trials(tmp_path / TRIALS, LINE.words).load()
    earlier = again["X=fast"]
    assert 1 <= len(earlier) < 10
    (tried,) = tuned(machine, ["fast"], before=again)
    assert tried.trial is not None
    assert tried.trial.pairs[: len(earlier)] == earlier
    assert tried.recommended


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}", "is not the trials.json of imbrex tune"),
        ("nonsense", "remove its folder to start anew"),
        (trials_of(["x"]), "of another command; name another with -o"),
        (trials_of(LINE.words, programs=["./app 1 2"]), "of another build of the program"),
        (trials_of(LINE.words, candidates={"a": [{}]}), "damaged: candidates.a.*is missing"),
    ],
)
def test_bad_trials_are_one_line(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / TRIALS).write_text(content)
    with pytest.raises(ImbrexError, match=words):
        Trials(tmp_path / TRIALS, LINE.words).load()


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


def test_outputs_are_compared_word_by_word() -> None:
    base = ["a 1 t=0.5\nresult 7\n", "a 1 t=0.6\nresult 7\n"]
    assert comparable(base)
    assert difference(base, "a 1 t=0.9\nresult 7\n") is None
    assert str(difference(base, "a 1 t=0.9\nresult 8\n")) == (
        "line 2 of its output has '8', not '7'"
    )
    assert not comparable(["t=1 a", "t=2 a"])
    assert not comparable(["x 1"])
    assert difference(["a", "a\nb"], "c") is None


def test_what_gains_most_for_certain_is_recommended() -> None:
    def tried(value: str, times: Sequence[float]) -> Tried:
        pairs = tuple(Pair(TimedRun(1.0), TimedRun(t), True, True) for t in times)
        return Tried(setting(value), Trial(LINE, LINE, Plan(30), pairs))

    wide = tried("wide", [0.5, 0.7] * 10)
    narrow = tried("narrow", [0.64, 0.65] * 10)
    assert wide.recommended and narrow.recommended and wide.estimate > narrow.estimate
    assert [t.candidate.label for t in found((wide, narrow)).recommended] == ["X=narrow", "X=wide"]


@pytest.mark.parametrize("base", [["0 right", "1 right"], ["1 right", "0 right"]])
def test_lines_of_ranks_come_in_any_order(base: list[str]) -> None:
    one, other = "\n".join(base), "\n".join(reversed(base))
    for known in ([one, one], [one, other]):
        assert comparable(known)
        assert difference(known, one) is None
        assert difference(known, other) is None
        assert difference(known, "0 right\n2 right") is not None
        assert difference(known, "0 right\n0 right") is not None
        assert difference(known, "0 right") is not None


def test_and_so_with_times_in_them() -> None:
    base = [
        "rank 0: 5.5 in 0.11 s\nrank 1: 7.5 in 0.12 s",
        "rank 1: 7.5 in 0.10 s\nrank 0: 5.5 in 9 s",
    ]
    assert comparable(base)
    assert difference(base, "rank 1: 7.5 in 0.31 s\nrank 0: 5.5 in 0.32 s") is None
    assert difference(base, "rank 1: 7.6 in 0.31 s\nrank 0: 5.5 in 0.32 s") is not None
    assert difference(base[:1], "rank 1: 7.5 in 0.12 s\nrank 0: 5.6 in 0.11 s") is not None


@given(st.data())
def test_any_order_and_no_other_number(data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(["a 1", "a 2", "b 1 x", "c 3 4"]), min_size=1))
    shuffled = data.draw(st.permutations(lines))
    base = ["\n".join(lines), "\n".join(data.draw(st.permutations(lines)))]
    assert difference(base, "\n".join(shuffled)) is None
    changed = [*shuffled[:-1], shuffled[-1].replace("1", "9").replace("2", "8").replace("4", "7")]
    assert difference(base, "\n".join(changed)) is not None


def test_the_users_own_check() -> None:
    assert checked_by("grep -q 'result 42'", "result 42\n") is None
    assert checked_by("echo wrong >&2; exit 4", "") == "--check ended with exit code 4 (wrong)"


def test_pairs_survive_their_file(tmp_path: Path) -> None:
    trials = Trials(tmp_path / TRIALS, ["x"])
    pairs = (Pair(TimedRun(1.5), TimedRun(2.5, "load"), True, False),)
    trials.keep("X=1", pairs)
    assert Trials(tmp_path / TRIALS, ["x"]).load() == {"X=1": pairs}
