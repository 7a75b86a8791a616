"""For which part of their time ranks that share a core had none (programs/shared_core.c)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.untimed


@pytest.mark.parametrize(
    ("program_does", "low", "high"), [("computes", 0.3, 1.0), ("sleeps", 0.0, 0.3)]
)
def test_ranks_on_one_core_wait_for_it(
    compiled: Callable[..., Path],
    measured: Callable[..., Any],
    program_does: str,
    low: float,
    high: float,
) -> None:
    core = str(min(os.sched_getaffinity(0)))
    program = [str(compiled("shared_core")), program_does]
    run = measured(["taskset", "-c", core, *program])
    share = json.loads((run.folder / "job.json").read_text())["core_wait_share"]
    assert low <= share <= high
