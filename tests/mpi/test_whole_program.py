"""From the call log of a plain run to its replay: programs/whole.c, whose every time is known.

It has wildcards, messages to oneself and to MPI_PROC_NULL, persistent requests, Waitany and
Testsome, a probe, nonblocking collectives, split and intercommunicators, and one-sided epochs.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.mpi.replays import ends_ns, schedule_of, without_computation

from imbrex.replay.arrays import NONE, Kind
from imbrex.replay.evaluate import Route
from imbrex.replay.from_log import LogSchedule

pytestmark = pytest.mark.untimed

LARGE = 1 << 18
ANSWER = re.compile(
    r"(\d+ % of the run is neither .*\. Of the rest )?(transfers take|no network and no overlap)",
    re.IGNORECASE,
)


@pytest.fixture
def made(compiled: Callable[..., Path], measured: Callable[..., Any]) -> LogSchedule:
    run = measured(compiled("whole"), environment={"IMBREX_KEEP_LOG": "1"})
    return schedule_of(run.folder)


def test_every_message_is_there_with_its_partner(made: LogSchedule) -> None:
    schedule = made.schedule
    assert made.not_replayed == {}
    assert made.missing_ns == 0
    assert (schedule.streams, len(schedule.meetings)) == (2, 10)
    for stream in range(2):
        own = schedule.operations[int(schedule.first[stream]) : int(schedule.first[stream + 1])]
        sends = own[own["kind"] == Kind.SEND]
        sizes = Counter(sends["bytes"].tolist())
        # Sendrecv twice, to oneself, as they come, persistent, probed; a put, a lock and a get.
        large = 3 if stream == 0 else 2
        assert sizes == Counter({100: 1, 9: 1, LARGE: large, 64: 5, 1000: 2, 0: 1})
        receives = own[own["kind"] == Kind.RECV]
        came = Counter(receives["bytes"].tolist())
        assert came == Counter({100: 1, 9: 1, LARGE: 5 - large, 64: 5})
        matched = sends[~np.isin(sends["bytes"], (0, 1000))]
        assert (matched["partner"] != NONE).all()
        theirs = schedule.operations[matched["partner"].astype(np.int64)]
        assert (theirs["kind"] == Kind.RECV).all()
        assert (theirs["bytes"] == matched["bytes"]).all()


def test_the_latencies_that_each_rank_waits_for(made: LogSchedule) -> None:
    # Rank 0 / rank 1 after each step: Sendrecv 1/1, the large message 2/2, to oneself 2/2, as they
    # come 3/3, persistent 6/6, announced to the probe 7/7 and then moved 8/8, the Bcast of rank 1
    # beside the Iallreduce 9/9, Alltoall 10/10, Scan 11/11, Comm_split (no message of ours)
    # 11/11, Sendrecv 12/12, Barrier 13/13, Win_create 13/13, fence 14/14, put and fence 15/16, lock
    # 17/18, get 19/20, Win_free 20/20.
    assert ends_ns(without_computation(made.schedule), Route(latency_ns=1000)) == [20_000, 20_000]


def test_the_bytes_that_each_rank_waits_for(made: LogSchedule) -> None:
    # Sendrecv, large, as they come (two on one link), persistent, probed, Bcast, Alltoall (which
    # rank 1 began while rank 0 had its Bcast), Scan, Sendrecv, put and get.
    byte_by_byte = [100, LARGE, 2 * 64, 3 * 64, LARGE, 1000, 100, 8, 9, 1000, 1000]
    assert (
        ends_ns(without_computation(made.schedule), Route(byte_ns=1.0)) == [sum(byte_by_byte)] * 2
    )


def test_predict_answers_from_a_plain_run(
    mpi: Any, compiled: Callable[..., Path], imbrex: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    launcher = [mpi.mpirun, *(["--oversubscribe"] if mpi.name == "openmpi" else []), "-n", "2"]
    run = imbrex("run", "-o", "run", "--", *launcher, str(compiled("whole")))
    assert run.returncode == 0, run.stderr
    answer = imbrex("predict", "run", "--network", "GigE", "--ranks-per-node", "1")
    assert answer.returncode == 0, answer.stderr
    assert "replayed from the log of its calls" in answer.stdout
    first = " ".join(answer.stdout.partition("\n\n")[0].split())
    assert ANSWER.match(first), first
    answer = imbrex("predict", "run", "--json", "--network", "GigE")
    found = json.loads(answer.stdout)
    assert ANSWER.match(found["conclusion"]), found["conclusion"]
    assert found["next"] is None or found["next"].startswith("imbrex ")
    assert {figure["figure"] for figure in found["agreement"]} >= {"run time"}
    refused = imbrex("run", "--no-keep-log", "-o", "other", "--", *launcher, str(compiled("whole")))
    assert refused.returncode == 0
    answer = imbrex("predict", "other", "--progress", "none")
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1 and "--keep-log" in answer.stderr
