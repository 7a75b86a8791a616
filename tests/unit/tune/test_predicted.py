"""What a replay says that candidates save, the order that follows, and how far it was off."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imbrex.profile.progress import Progress
from imbrex.replay.evaluate import Network, Route
from imbrex.tune.answer import Found
from imbrex.tune.candidate import Candidate, Tried
from imbrex.tune.predicted import _changed, computation_longer, in_order, with_predictions
from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Pair, Plan, Trial

HELD = Route(byte_ns=1.0, eager_bytes=4096, held_by_sender=True, held_by_receiver=True)
LINE = Line("A", ("./app",))


def names(candidates: list[Candidate], run_s: float = 10.0) -> list[str]:
    return [candidate.label for candidate in in_order(candidates, run_s)]


def test_what_is_predicted_to_save_most_comes_first() -> None:
    little = Candidate("setting", "little", saves_s=0.1, most=0.4)
    much = Candidate("source", "much", saves_s=3.0, most=0.4)
    unknown = Candidate("setting", "unknown", most=0.4)
    assert names([little, unknown, much]) == ["much", "unknown", "little"]
    # No prediction is more than what can be gained at all.
    assert names([replace(much, most=0.1), unknown, little]) == ["unknown", "much", "little"]


def test_of_equals_the_one_that_costs_least_comes_first() -> None:
    candidate_kinds = ("source", "progress", "setting")
    assert names([Candidate(kind, kind, most=0.3) for kind in candidate_kinds]) == [
        "setting",
        "progress",
        "source",
    ]


def test_what_a_candidate_changes_of_the_network() -> None:
    network = Network(HELD, HELD)
    free = _changed(network, Candidate("setting", "x", progress=True))
    assert free is not None
    assert (free.between.held_by_sender, free.between.eager_bytes) == (False, 4096)
    eager = _changed(network, Candidate("setting", "x", eager_bytes=1 << 20))
    assert eager is not None
    assert (eager.between.held_by_sender, eager.between.eager_bytes) == (True, 1 << 20)
    smaller = _changed(network, Candidate("setting", "x", eager_bytes=64))
    assert smaller == network
    assert _changed(network, Candidate("source", "x")) is None


THREAD = Progress(2, 1e-3, 0.03, 100, 50, looking_s=0.1, moving_s=0.3)


@pytest.mark.parametrize(
    ("candidate", "cores", "longer"),
    [
        # 0.4 s of looks beside 8 s of computation, where both cores compute.
        (Candidate("progress", "x", progress=True, thread=THREAD), 2, 1.05),
        (Candidate("progress", "x", progress=True, thread=THREAD), 3, 1.0),
        (Candidate("progress", "x", progress=True, thread=THREAD), None, 1.0),
        # A thread of the library moves as much, and looks for nothing in vain.
        (Candidate("setting", "x", progress=True), 2, 1.0375),
        # Two ranks and two threads that never pause.
        (Candidate("setting", "x", progress=True, spins=True), 2, 2.0),
        (Candidate("setting", "x", progress=True, spins=True), 3, 4 / 3),
        (Candidate("setting", "x", progress=True, spins=True), 4, 1.0),
        # Two ranks share one core already: four do now.
        (Candidate("setting", "x", progress=True, spins=True), 1, 2.0),
        (Candidate("setting", "x", eager_bytes=4096), 2, 1.0),
    ],
)
def test_who_makes_progress_takes_a_core_that_is_not_idle(
    candidate: Candidate, cores: int | None, longer: float
) -> None:
    class Job:
        pass

    class Measured:
        job = Job()
        ranks = np.array([(5e9,), (3e9,)], dtype=[("compute_ns", "<i8")])

    Job.cores = cores  # type: ignore[attr-defined]
    assert computation_longer(Measured(), candidate, THREAD) == pytest.approx(longer)  # type: ignore[arg-type]


def test_what_costs_more_than_it_saves_comes_last() -> None:
    costs = Candidate("setting", "costs", saves_s=-2.0, most=0.4)
    assert names([costs, Candidate("source", "little", saves_s=0.01, most=0.4)]) == [
        "little",
        "costs",
    ]


def test_without_a_log_nothing_is_predicted(tmp_path: Path) -> None:
    class Bare:
        directory = tmp_path

    candidates = [Candidate("progress", "x", progress=True)]
    assert with_predictions(Bare(), candidates) == candidates  # type: ignore[arg-type]


def tried(saves_s: float | None, b_s: float, failed: str | None = None) -> Tried:
    pairs = tuple(Pair(TimedRun(10.0), TimedRun(b_s), k % 2 == 0, True) for k in range(4))
    trial = Trial(LINE, replace(LINE, name="B"), Plan(30), pairs)
    return Tried(Candidate("setting", f"{saves_s}", saves_s=saves_s), trial, failed)


def test_predictions_stand_beside_what_was_measured() -> None:
    search = (tried(3.0, 8.0), tried(1.0, 8.5), tried(None, 9.0), tried(5.0, 9.9, "wrong"))
    found = Found(("./app",), Path("t"), 0.01, 0.5, "why", 600, 10, search)
    assert found.prediction_errors == pytest.approx([0.1, 0.05])
    lines = found.lines()
    assert any(line.endswith("4 pairs); predicted 30.0 %") for line in lines)
    assert "Predictions and trials differ by 7.5 % of the run in the median, 10.0 % at worst." in (
        lines
    )
    document = json.loads(json.dumps(found.to_json()))
    assert document["prediction_error"] == pytest.approx({"median": 0.075, "worst": 0.1})
    assert [c["prediction"] for c in document["candidates"]] == pytest.approx([0.3, 0.1, None, 0.5])
