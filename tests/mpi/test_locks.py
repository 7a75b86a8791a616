"""The call log knows the types of locks (programs/locks.c and .f90), and a replay who waits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.mpi.replays import ends_ns, schedule_of, without_computation

from imbrex.profile.call_log import EXCLUSIVE, SHARED, Flag, Kind, read_call_log
from imbrex.replay.evaluate import Route

pytestmark = pytest.mark.untimed

RANKS = 3
KEEP = {"IMBREX_KEEP_LOG": "1"}
LATENCY_NS = 1000


def locks_of(run: Any, rank: int) -> list[tuple[str, int, int, bool]]:
    """Operation, target, type, whether it waits for nobody."""
    log = read_call_log(run.folder / "log" / f"rank-{rank}.log")
    named = [(run.operations[c["operation"]], c) for c in log.calls if c["kind"] == Kind.EPOCH]
    return [
        (name, int(c["peer"]), int(c["tag"]), bool(c["flags"] & Flag.VARYING))
        for name, c in named
        if name.startswith("MPI_Win_lock")
    ]


@pytest.mark.parametrize("how", ["exclusive", "shared"])
def test_the_log_knows_types(
    compiled: Callable[..., Path], measured: Callable[..., Any], how: str
) -> None:
    run = measured(compiled("locks"), how, ranks=RANKS, environment=KEEP)
    first = ("MPI_Win_lock", 0, EXCLUSIVE if how == "exclusive" else SHARED, False)
    assert locks_of(run, 0) == []
    assert locks_of(run, 1) == [first]
    unchecked = ("MPI_Win_lock", 1, SHARED, True)
    assert locks_of(run, 2) == [first, unchecked, ("MPI_Win_lock_all", -1, 0, False)]


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_types_from_fortran(
    compiled_fortran: Callable[..., Path], measured: Callable[..., Any], module: str
) -> None:
    run = measured(compiled_fortran("locks", module), ranks=2, environment=KEEP)
    for rank in range(2):
        assert locks_of(run, rank) == [
            ("MPI_Win_lock", rank, EXCLUSIVE, False),
            ("MPI_Win_lock", rank, SHARED, True),
        ]


def last_end_ns(run: Any) -> float:
    made = schedule_of(run.folder)
    assert made.not_replayed == {}
    return max(ends_ns(without_computation(made.schedule), Route(latency_ns=LATENCY_NS)))


def test_who_locks_exclusively_waits_for_the_other(
    compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    program = compiled("locks")
    shared, exclusive = (
        last_end_ns(measured(program, how, ranks=RANKS, environment=KEEP))
        for how in ("shared", "exclusive")
    )
    # Both ask, put and have it confirmed in 4; the second has the lock 2 after the first is through
    # and needs 2 more.
    assert exclusive - shared == pytest.approx(4 * LATENCY_NS)
