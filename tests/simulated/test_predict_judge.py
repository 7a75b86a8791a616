"""A few points of benchmarks/predict_judge.py: predicted against simulated run time."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.modules import load

from imbrex.profile.recording import load_recording
from imbrex.replay.schedule import make_schedule

pytestmark = pytest.mark.untimed

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "predict_judge.py"


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    if not (shutil.which("smpicc") and shutil.which("smpirun")):
        pytest.skip("SimGrid is not installed (libsimgrid-dev)")
    return load(SCRIPT)


@pytest.mark.parametrize(
    ("name", "most_error"),
    [("halo", 0.001), ("halo3d", 0.001), ("cg", 0.002), ("wavefront", 0.01)],
)
def test_predictions_come_true(
    judge: ModuleType, name: str, most_error: float, tmp_path: Path, simulator: Any
) -> None:
    runtime = simulator.build / "libimbrex.a"
    rows = judge.judge(name, 4, [8.0], [200.0, 5000.0], tmp_path, runtime)
    assert {row.variant for row in rows} == set(judge.CATALOGUE[name].variants)
    for row in rows:
        assert abs(row.error) < most_error, row
    # Before its first call an app computes nothing: what the runtime does at its start is not told.
    # It waits there until a second is over, in the simulator's time.
    schedule = make_schedule(load_recording(tmp_path / f"{name}-4"))
    assert all(0.9e9 < own[0].ns < 1e9 for own in schedule.operations.values())
    # What the simulator says of overlap is worth predicting at all.
    assert max(row.simulated for row in rows) > 1.1
