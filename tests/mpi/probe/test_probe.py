"""The regimes of overlap that are known of one node, and the probe's bad input."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.complaints import complaints

Probed = Callable[..., dict[str, Any]]
Run = Callable[..., subprocess.CompletedProcess[str]]

VADER = ("mpirun.openmpi", "-n", "2")
TCP = ("mpirun.openmpi", "--mca", "btl", "tcp,self", "-n", "2")
TCP_THREAD = (*TCP[:4], "--mca", "btl_tcp_progress_thread", "1", "-n", "2")
MPICH = ("mpirun.mpich", "-n", "2")


def ranges(answer: dict[str, Any], operation: str) -> list[dict[str, Any]]:
    found = [o for o in answer["operations"] if o["operation"] == operation]
    assert len(found) == 1
    return list(found[0]["ranges"])


def synchronizes(answer: dict[str, Any], operation: str, size: int) -> bool | None:
    """Of the range that holds `size`; ranges must neither overlap nor leave gaps."""
    found = [
        r
        for r in ranges(answer, operation)
        if r["from_bytes"] <= size and (r["to_bytes"] is None or size <= r["to_bytes"])
    ]
    assert len(found) == 1
    value = found[0]["synchronization"]
    assert value is None or isinstance(value, bool)
    return value


SIZES = [1, 1024, 16384, 65536, 1 << 20, 4 << 20]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (VADER, [True] * 6),
        (TCP, [True, True, True, False, False, False]),
        (TCP_THREAD, [True] * 6),
    ],
    ids=["vader", "tcp", "tcp-progress-thread"],
)
def test_where_synchronization_overlap_ends(
    probed: Probed, line: tuple[str, ...], expected: list[bool]
) -> None:
    """The flip: over TCP it ends at the eager limit, and a progress thread brings it back.

    On a machine too busy the answer may be that it cannot tell, but never the opposite.
    """
    answer = probed(*line)
    found = [synchronizes(answer, "MPI_Isend/MPI_Recv", size) for size in SIZES]
    assert all(f is None or f == e for f, e in zip(found, expected, strict=True)), found
    assert sum(f is None for f in found) <= 2, found


def test_step_lies_at_the_advertised_limit(probed: Probed) -> None:
    """btl_tcp_eager_limit counts a header of some 56 bytes."""
    answer = probed(*TCP)
    step = next(o["step"] for o in answer["operations"] if o["operation"] == "MPI_Isend/MPI_Recv")
    if step is None:
        pytest.skip("the machine was too busy for the step to show twice")
    limit = answer["limits"]["advertised_bytes"]["btl_tcp_eager_limit"]
    assert step["first_bytes"] == step["last_bytes"] + 1
    assert limit - 128 <= step["last_bytes"] <= limit


def test_isend_overlaps_where_a_blocking_send_waits(probed: Probed) -> None:
    """The two facts that an eager limit mixes up: vader copies for a late receiver by itself."""
    answer = probed(*VADER)
    assert synchronizes(answer, "MPI_Isend/MPI_Recv", 1 << 20) is not False
    assert synchronizes(answer, "MPI_Send/MPI_Irecv", 1 << 20) is not True
    limits = answer["limits"]["measured_bytes"]["intra-node"]
    assert limits["send_returns_before_match_late_bytes"] < 4096


def test_large_messages_over_tcp_need_both_sides(probed: Probed) -> None:
    last = ranges(probed(*TCP), "MPI_Isend/MPI_Recv")[-1]
    assert last["class"] in ("two-sided", "unknown")
    assert last["to_bytes"] is None


def bounds_contain_the_truth(answer: dict[str, Any]) -> None:
    """What a side's calls alone give must hold what the times of both sides show.

    X_hi is a 95th percentile: single transfers may pass it, sums hardly.
    """
    found = answer["overlap"]
    assert len(found) > 50
    outside, transfers = (sum(o[name] for o in found) for name in ("outside", "transfers"))
    assert outside <= 0.05 * transfers, [o for o in found if o["outside"]]
    for o in found:
        assert 0 <= o["overlap_min_s"] <= o["overlap_max_s"]
        assert 0 <= o["true_overlap_min_s"] <= o["true_overlap_max_s"]
    for side in ("sender", "receiver"):
        mine = [o for o in found if o["side"] == side]
        low, high, true_low, true_high = (
            sum(o["transfers"] * o[name] for o in mine)
            for name in (
                *("overlap_min_s", "overlap_max_s"),
                *("true_overlap_min_s", "true_overlap_max_s"),
            )
        )
        assert low <= true_high and true_low <= high


@pytest.mark.parametrize("line", [VADER, TCP, MPICH], ids=["vader", "tcp", "mpich"])
def test_answer_is_whole(probed: Probed, line: tuple[str, ...]) -> None:
    answer = probed(*line)
    assert answer["schema_version"] == 1
    assert answer["missing"] == []
    assert set(answer["spent_s"]) >= {"delay", "pingpong", "persistent"}
    assert all(0 <= seconds < 90 for seconds in answer["spent_s"].values())
    names = {o["operation"] for o in answer["operations"]}
    assert {"MPI_Isend/MPI_Irecv", "MPI_Iallreduce", "MPI_Ialltoallv"} <= names
    assert {"MPI_Send_init/MPI_Recv_init", "MPI_Put/MPI_Win_fence"} <= names
    assert {f"MPI_{o}" for o in ("Put", "Get", "Rput", "Rget")} <= names
    for of_mpi_4 in ("MPI_Psend_init/MPI_Precv_init", "MPI_Allreduce_init", "MPI_Alltoall_init"):
        assert (of_mpi_4 in names) == (line == MPICH)
    solver = answer["krylov"]
    assert solver["same_residuals"] and solver["residual"] < 2e-8
    assert solver["improvement_low"] <= solver["improvement"] <= solver["improvement_high"]
    for operation in answer["operations"]:
        # A barrier moves nothing: one range, from 0.
        border = -1 if operation["operation"] == "MPI_Ibarrier" else 0
        for r in operation["ranges"]:
            assert r["from_bytes"] == border + 1
            border = r["to_bytes"]
            assert r["class"] in ("two-sided", "one-sided", "third-party", "unknown")
            assert set(r["moved"]) == {"sender_computing", "receiver_computing", "both_computing"}
            assert all(0 <= s <= 1 for s in r["moved"].values() if s is not None)
            assert 0 <= r["confidence"] <= 1
        assert border is None
    bounds_contain_the_truth(answer)
    for quoted in answer["quoted"]:
        assert 0 <= quoted["imb_percent"] <= 100


def test_profile_carries_the_verdicts(
    probed: Probed, machines: dict[tuple[str, ...], Path]
) -> None:
    probed(*MPICH)
    points = json.loads(machines[MPICH].read_text())["paths"]["intra-node"]["points"]
    assert any(p["synchronization"] is not None for p in points)
    assert any(p["class"] != "unknown" for p in points)


@pytest.mark.untimed
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--", "mpirun.mpich", "-n", "1"], "even number of ranks, the launcher started 1"),
        (["--", "mpirun.mpich", "-n", "3"], "even number of ranks, the launcher started 3"),
        (["-o", "/no/such/folder/x", "--", *MPICH], "cannot write"),
    ],
)
def test_bad_usage_is_one_line(imbrex: Run, words: list[str], complaint: str) -> None:
    done = imbrex("probe", "--quick", *words)
    assert done.returncode == 2
    assert len(complaints(done.stderr)) == 1
    assert complaint in done.stderr


def test_puts_into_shared_memory_need_no_target(probed: Probed) -> None:
    """MPI_Win_allocate within a node gives shared memory: the origin copies by itself."""
    last = ranges(probed(*VADER), "MPI_Put")[-1]
    assert last["synchronization"] is not False
    assert last["class"] in ("one-sided", "unknown")


def test_time_limit_is_kept_and_what_is_missing_is_said(imbrex: Run, tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    begin = time.monotonic()
    done = imbrex("probe", "--time-limit", "4", "-o", str(file), "--", *MPICH)
    # The command's own start, and the grace that the launcher gets to end, come on top.
    assert time.monotonic() - begin < 4 + 15
    assert done.returncode in (0, 2), done.stderr
    if done.returncode == 0:
        assert json.loads(file.read_text())["missing"]
        assert "missing, because the time was over" in done.stdout


def test_processor_time_of_a_progress_thread_shows(probed: Probed) -> None:
    """Without one nothing else runs in the processes; with one it is told of."""
    (without,) = probed(*TCP)["processor_time"]
    (with_thread,) = probed(*TCP_THREAD)["processor_time"]
    assert without["other_threads"] < 0.01 < with_thread["other_threads"]
    assert any("own threads used" in note for note in probed(*TCP_THREAD)["notes"])
