"""What a rank that polls with MPI_Parrived waits for in a replay (programs/partitions.c)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.profile.run import load_run
from imbrex.replay.arrays import Kind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.from_log import schedule_from_log
from imbrex.replay.run_log import read_run_log

pytestmark = pytest.mark.untimed

FASTEST_NS = 100_000_000
"""Two pauses of the sender, before which nothing can be whole."""


def test_a_look_waits_for_what_its_sender_makes_ready(
    mpi: Any, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    if mpi.name == "openmpi":
        pytest.skip("openmpi has no partitioned communication")
    run = measured(compiled("partitions"), environment={"IMBREX_KEEP_LOG": "1"})
    (run.folder / "run.json").write_text((run.folder / "job.json").read_text())
    made = schedule_from_log(read_run_log(load_run(run.folder, resolve=False)))
    assert made.not_replayed == {}
    schedule = replace(made.schedule, node=np.arange(2, dtype=np.uint32))
    waits = schedule.operations["kind"] == Kind.WAIT_ARRIVAL
    assert waits[int(schedule.first[1]) :].any()
    replayer = Replayer(schedule)
    near, far = (
        replayer.run(Network(route, route), shared=False).end_ns
        for route in (Route(latency_ns=1000), Route(latency_ns=50_001_000))
    )
    # The polls are no computation of rank 1 beside which a message could hide: what comes 50 ms
    # later ends it that much later, and the barrier before does so once more.
    assert near[1] > FASTEST_NS
    assert far[1] - near[1] == pytest.approx(100_000_000)
