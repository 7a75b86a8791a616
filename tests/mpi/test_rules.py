"""The bounds of each kind of call, worked out by hand from a hand-written table.

One message of 1 MiB with X_lo = 10 ms and X_hi = 40 ms, and where there is work in between it lasts
60 ms: longer than any transfer, so that only the rules and no noise decide the upper bounds. With C
compute and N call time between begin and end, S the slack:

    overlap_min = max(0, X_lo - N - S)    overlap_max = min(X_hi, C + S)
    exposed_min = max(0, X_lo - C - S)    exposed_max = min(X_hi, N + S)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.untimed

MS = 1_000_000
LO, HI = 10 * MS, 40 * MS

Build = Callable[..., Path]
Run = Callable[..., Any]


def table(tail: int, head: int) -> str:
    point = f"point 1048576 {LO} {HI} {tail} {head}"
    collective = f"collective MPI_Allreduce 2 any intra-node\npoint 1048576 {LO} {HI} -1 -1"
    put = f"collective MPI_Put 2 any intra-node\npoint 1048576 {LO} {HI} {tail} -1"
    return f"path intra-node\n{point}\n{collective}\n{put}"


def bounds(run: Any, operation: str, rank: int) -> tuple[int, int, int, int]:
    """overlap and exposed, min and max, of the single transfer of that operation."""
    assert run.total(operation, "transfers", rank) == 1
    assert run.total(operation, "transfer_min_ns", rank) == LO
    assert run.total(operation, "transfer_max_ns", rank) == HI
    names = ("overlap_min_ns", "overlap_max_ns", "exposed_min_ns", "exposed_max_ns")
    low, high, exposed_low, exposed_high = (run.total(operation, n, rank) for n in names)
    return low, high, exposed_low, exposed_high


def within_one_call(run: Any, operation: str, rank: int, slack: int) -> None:
    """C = 0 and N = the call's time: every bound follows exactly from the measured call time."""
    call = int(run.rows(operation, rank)["call_ns"].sum())
    if call + slack < LO:
        expected = (0, min(HI, slack), 0, min(HI, call + slack))
        assert run.total(operation, "contradicted", rank) == 1
    else:
        expected = (
            *(max(0, LO - call - slack), min(HI, slack)),
            *(max(0, LO - slack), min(HI, call + slack)),
        )
    assert bounds(run, operation, rank) == expected


@pytest.mark.parametrize(("tail", "head"), [(0, 0), (2 * MS, 3 * MS), (-1, -1)])
def test_blocking_send_and_receive(tail: int, head: int, compiled: Build, measured: Run) -> None:
    """Nothing is hidden but what the tail or the head leaves open; unknown is X_hi."""
    run = measured(compiled("timing"), "blocking", table=table(tail, head))
    within_one_call(run, "MPI_Send", 0, HI if tail < 0 else tail)
    within_one_call(run, "MPI_Recv", 1, HI if head < 0 else head)
    assert run.total("MPI_Send", "undetermined") == (tail < 0)
    assert run.total("MPI_Recv", "undetermined") == (head < 0)


def test_modes_of_sending(compiled: Build, measured: Run) -> None:
    """Ssend: the tail, no more. Bsend and Rsend: nothing is known, whatever the table says."""
    run = measured(compiled("timing"), "modes", table=table(0, 0))
    within_one_call(run, "MPI_Ssend", 0, 0)
    for operation in ("MPI_Bsend", "MPI_Rsend"):
        assert bounds(run, operation, 0) == (0, HI, 0, HI)
        assert run.total(operation, "undetermined") == 1


def between_two_calls(run: Any, begin: str, end: str, rank: int, slack: int) -> None:
    """C >= 60 ms; N lies between 0 and the time of both calls."""
    calls = int(run.rows(begin, rank)["call_ns"].sum() + run.rows(end, rank)["call_ns"].sum())
    low, high, exposed_low, exposed_high = bounds(run, begin, rank)
    assert high == HI
    assert exposed_low == 0
    assert exposed_high == min(HI, calls + slack)
    assert low == max(0, LO - calls - slack)


@pytest.mark.parametrize(("tail", "head"), [(0, 0), (2 * MS, 3 * MS), (-1, -1)])
def test_work_between_start_and_wait(tail: int, head: int, compiled: Build, measured: Run) -> None:
    run = measured(compiled("timing"), "nonblocking", table=table(tail, head))
    between_two_calls(run, "MPI_Irecv", "MPI_Wait", 1, HI if head < 0 else head)
    shared = run.total("MPI_Isend", "undetermined", 0) == (tail < 0)
    assert shared
    between_two_calls(run, "MPI_Isend", "MPI_Wait", 0, HI if tail < 0 else tail)


def test_a_collective_is_undetermined(compiled: Build, measured: Run) -> None:
    run = measured(compiled("timing"), "collective", table=table(0, 0))
    for rank in range(2):
        assert bounds(run, "MPI_Iallreduce", rank) == (0, HI, 0, HI)
    assert run.total("MPI_Iallreduce", "undetermined") == 2


@pytest.mark.parametrize(
    ("scenario", "closing", "slack"),
    [("put", "MPI_Win_flush", 0), ("local", "MPI_Win_flush_local", 3 * MS)],
)
def test_a_put_ends_at_the_flush(
    scenario: str, closing: str, slack: int, compiled: Build, measured: Run
) -> None:
    """flush_local is local: the tail stays open."""
    environment = {"OMPI_MCA_osc": "^rdma"}
    run = measured(compiled("timing"), scenario, table=table(3 * MS, 0), environment=environment)
    between_two_calls(run, "MPI_Put", closing, 0, slack)
    assert run.total("MPI_Put", "transfers", 1) == 0
