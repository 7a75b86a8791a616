"""The call log holds the members of epochs by post, start, complete and wait
(programs/group_epochs.c and .f90), and a replay knows who waits for whom (windows.c)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.mpi.replays import ends_ns, schedule_of, without_computation

from imbrex.profile.call_log import CallLog, Flag, Kind, read_call_log
from imbrex.replay.evaluate import Route
from imbrex.replay.from_log import LogSchedule

pytestmark = pytest.mark.untimed

RANKS = 3
KEEP = {"IMBREX_KEEP_LOG": "1"}


def first_epochs(rank: int) -> list[tuple[Any, ...]]:
    """Operation, kind, peer, sequence, whether the start waits for nobody."""
    origin, target = (rank + 1) % RANKS, (rank - 1) % RANKS
    return [
        ("MPI_Win_post", Kind.EXPOSURE, origin, 1, False),
        ("MPI_Win_start", Kind.ACCESS, target, 1, False),
        ("MPI_Win_complete", Kind.ACCESS, target, 1, False),
        ("MPI_Win_wait", Kind.EXPOSURE, origin, 1, False),
    ]


def all_epochs(rank: int) -> list[tuple[Any, ...]]:
    next_one, previous = (rank + 1) % RANKS, (rank - 1) % RANKS
    # The first epochs counted the next as an origin, the one before as a target.
    exposed = [(Kind.EXPOSURE, next_one, 2, False), (Kind.EXPOSURE, previous, 1, False)]
    accessed = [(Kind.ACCESS, next_one, 1, False), (Kind.ACCESS, previous, 2, False)]
    of_neighbours = (
        ("MPI_Win_post", exposed),
        ("MPI_Win_start", accessed),
        ("MPI_Win_complete", accessed),
        ("MPI_Win_test", exposed),
    )
    found = first_epochs(rank) + [(name, *e) for name, epochs in of_neighbours for e in epochs]
    # Rank 0 was the next of 2 once and its neighbour once; of 1 it was the one before.
    if rank == 0:
        last = [(Kind.EXPOSURE, 1, 3, False), (Kind.EXPOSURE, 2, 2, False)]
        return found + [(name, *e) for name in ("MPI_Win_post", "MPI_Win_wait") for e in last]
    number = 3 if rank == 1 else 2
    return [
        *found,
        ("MPI_Win_start", Kind.ACCESS, 0, number, True),
        ("MPI_Win_complete", Kind.ACCESS, 0, number, False),
    ]


def members(log: CallLog, operations: list[str]) -> list[tuple[Any, ...]]:
    calls = log.calls
    chosen = calls[(calls["kind"] == Kind.EXPOSURE) | (calls["kind"] == Kind.ACCESS)]
    return [
        (
            operations[c["operation"]],
            Kind(c["kind"]),
            int(c["peer"]),
            int(c["sequence"]),
            bool(c["flags"] & Flag.VARYING),
        )
        for c in chosen
    ]


def logs_of(run: Any) -> list[CallLog]:
    return [read_call_log(run.folder / "log" / f"rank-{rank}.log") for rank in range(RANKS)]


def test_members_of_epochs(compiled: Callable[..., Path], measured: Callable[..., Any]) -> None:
    run = measured(compiled("group_epochs"), ranks=RANKS, environment=KEEP)
    for world_rank, log in enumerate(logs_of(run)):
        rank = RANKS - 1 - world_rank
        assert members(log, run.operations) == all_epochs(rank)
        calls = log.calls
        epochs = calls[calls["kind"] == Kind.EPOCH]
        names = [run.operations[c["operation"]] for c in epochs]
        handed_over = [n for n in names if n not in ("MPI_Win_fence", "MPI_Win_free")]
        rounds = 4 + 4 + 2 + 4
        assert len(handed_over) == rounds
        of_window = calls[calls["kind"] >= Kind.EXPOSURE]
        assert set(of_window["comm"]) == set(epochs["comm"])
        assert not (of_window["flags"] & Flag.FIRST).any(), "the epoch itself comes first"
        assert (of_window["end_call"] == of_window["id"]).all()
        window = log.communicators[int(epochs["comm"][0])]
        assert window.peers == [2, 1, 0]


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_members_of_epochs_from_fortran(
    compiled_fortran: Callable[..., Path], measured: Callable[..., Any], module: str
) -> None:
    run = measured(compiled_fortran("group_epochs", module), ranks=RANKS, environment=KEEP)
    for rank, log in enumerate(logs_of(run)):
        assert members(log, run.operations) == first_epochs(rank)


@pytest.fixture
def replayed(compiled: Callable[..., Path], measured: Callable[..., Any]) -> Callable[..., Any]:
    """What four ranks of windows.c did, a step of it, 1000 doubles to each neighbour."""

    def run(how: str) -> LogSchedule:
        done = measured(compiled("windows"), how, "1000", "1", ranks=4, environment=KEEP)
        return schedule_of(done.folder)

    return run


def ends(made: LogSchedule, route: Route) -> list[float]:
    """Of ranks on a node each that begin together and only communicate."""
    assert made.not_replayed == {}
    assert made.missing_ns == 0
    return ends_ns(without_computation(made.schedule), route)


def test_the_latencies_that_a_replay_waits_for(replayed: Callable[..., LogSchedule]) -> None:
    # Posts 1; puts, and what completes say, 2. Of the other half posts were there at 2, and puts
    # and completes at 3 (even ranks); odd ranks go on at 2. In the allreduce these wait for even
    # ones, 4, and then for each other, 5, even ones for each other, 4; MPI_Win_free may meet all.
    found = ends(replayed("post"), Route(latency_ns=1000))
    assert found in ([4000, 5000, 4000, 5000], [5000] * 4)
    # A get takes two, and what tells its target one more: odd ranks know it at 4, have theirs at
    # 6, and even ones know at 7.
    found = ends(replayed("get"), Route(latency_ns=1000))
    assert max(found) == 9000


def test_the_bytes_that_a_replay_waits_for(replayed: Callable[..., LogSchedule]) -> None:
    # Two blocks leave each rank one after the other; the allreduce has 4 bytes, twice.
    assert max(ends(replayed("post"), Route(byte_ns=1.0))) == 2 * 2 * 8000 + 8


def test_fences_meet_all(replayed: Callable[..., LogSchedule]) -> None:
    # Dissemination takes 2 latencies among 4: three fences and an allreduce, the put 1.
    found = ends(replayed("fence"), Route(latency_ns=1000))
    assert max(found) == 3 * 2000 + 1000 + 2000
