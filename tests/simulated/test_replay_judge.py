"""A few points of benchmarks/replay_judge.py: replays of plain runs against simulated run time."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.modules import load

pytestmark = pytest.mark.untimed

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "replay_judge.py"


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    if not (shutil.which("smpicc") and shutil.which("smpirun")):
        pytest.skip("SimGrid is not installed (libsimgrid-dev)")
    return load(SCRIPT)


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        ("halo", 4),
        ("wavefront", 4),
        ("cg", 4),
        ("halo3d", 16),
        ("fft", 16),
        ("bucket", 16),
        ("ssor", 4),
        ("line", 4),
        ("sweep", 4),
        ("windows", 4),
        ("farm", 4),
    ],
)
def test_replays_of_plain_runs_come_true(
    judge: ModuleType, name: str, ranks: int, tmp_path: Path, simulator: Any
) -> None:
    points = [(1.0, 5000.0), (8.0, 100.0)]
    rows = judge.judge(name, ranks, points, tmp_path, simulator.build / "libimbrex.a")
    assert len(rows) == len(points)
    for row in rows:
        assert abs(row.error) < 0.001, row
    # The networks differ by more than what is tolerated.
    times = [row.simulated_s for row in rows]
    assert max(times) / min(times) > 1.1


def test_tasks_go_to_whoever_asks_first(judge: ModuleType, tmp_path: Path, simulator: Any) -> None:
    points = [(1.0, 1000.0), (8.0, 1000.0)]
    rows = judge.judge("bossworker", 16, points, tmp_path, simulator.build / "libimbrex.a")
    # In the order of the run they would be 2.0 and 6.9 % too short.
    assert max(abs(row.error) for row in rows) < 0.01, rows
