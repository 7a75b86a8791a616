"""What a rank that polls with MPI_Parrived waits for in a replay (programs/partitions.c)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.mpi.replays import ends_ns, schedule_of

from imbrex.profile.call_log import Kind as LogKind
from imbrex.profile.call_log import partition_of, read_call_log
from imbrex.replay.arrays import Kind
from imbrex.replay.evaluate import Route

pytestmark = pytest.mark.untimed

FASTEST_NS = 100_000_000
"""Two pauses of the sender, before which nothing can be whole."""


def test_a_look_waits_for_what_its_sender_makes_ready(
    mpi: Any, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    if mpi.name == "openmpi":
        pytest.skip("openmpi has no partitioned communication")
    run = measured(compiled("partitions"), environment={"IMBREX_KEEP_LOG": "1"})
    ready, asked = (
        [partition_of(call) for call in read_call_log(file).calls if call["kind"] == kind]
        for file, kind in zip(
            (run.folder / "log" / f"rank-{rank}.log" for rank in (0, 1)),
            (LogKind.PART_READY, LogKind.PART_ARRIVED),
            strict=True,
        )
    )
    assert ready == [0, 1]
    # Only looks that had found nothing before are logged.
    assert asked == [0] or asked == [0, 1]
    made = schedule_of(run.folder)
    assert made.not_replayed == {}
    schedule = replace(made.schedule, node=np.arange(2, dtype=np.uint32))
    waits = schedule.operations["kind"] == Kind.WAIT_ARRIVAL
    assert waits[int(schedule.first[1]) :].any()
    near, far = (ends_ns(schedule, Route(latency_ns=ns)) for ns in (20_000_000, 70_000_000))
    # Latencies longer than the ranks are apart, so that the barrier's other side decides with both.
    # The polls are no computation of rank 1 beside which a message could hide: what comes 50 ms
    # later ends it that much later, and the barrier before does so once more.
    assert near[1] > FASTEST_NS
    assert far[1] - near[1] == pytest.approx(100_000_000)
