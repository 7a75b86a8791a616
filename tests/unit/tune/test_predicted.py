"""What a replay says that candidates save, the order that follows, and how far it was off."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from imbrex.replay.evaluate import Network, Route
from imbrex.tune.answer import Found
from imbrex.tune.candidate import Candidate, Tried
from imbrex.tune.predicted import _changed, in_order, with_predictions
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
    kinds = ("source", "progress", "setting")
    assert names([Candidate(kind, kind, most=0.3) for kind in kinds]) == [
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
