"""The call log knows the types of locks (programs/locks.c and .f90), and a replay who waits."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.profile.call_log import EXCLUSIVE, SHARED, Flag, Kind, read_call_log
from imbrex.profile.run import load_run
from imbrex.replay.arrays import Kind as OperationKind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.from_log import schedule_from_log
from imbrex.replay.run_log import read_run_log

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
    mpi: Any, measured: Callable[..., Any], tmp_path: Path, module: str
) -> None:
    compiler = shutil.which(f"mpif90.{mpi.name}")
    if compiler is None:
        pytest.skip(f"mpif90.{mpi.name} is not installed")
    source = Path(__file__).parent / "programs" / "locks.f90"
    program = tmp_path / "locks"
    flags = ["-cpp", *(["-DF08"] if module == "mpi_f08" else [])]
    command = [compiler, *flags, "-w", "-o", str(program), str(source)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip(f"{compiler} has no module {module}")
    run = measured(program, ranks=2, environment=KEEP)
    for rank in range(2):
        assert locks_of(run, rank) == [
            ("MPI_Win_lock", rank, EXCLUSIVE, False),
            ("MPI_Win_lock", rank, SHARED, True),
        ]


def ends_ns(run: Any) -> float:
    """When the last of ranks on a node each ends, which begin together and only communicate."""
    (run.folder / "run.json").write_text((run.folder / "job.json").read_text())
    made = schedule_from_log(read_run_log(load_run(run.folder, resolve=False)))
    assert made.not_replayed == {}
    operations = made.schedule.operations.copy()
    operations["calc_ns"] = 0
    operations["bytes"][operations["kind"] == OperationKind.CALC] = 0
    streams = made.schedule.streams
    schedule = replace(
        made.schedule,
        operations=operations,
        start_ns=np.zeros(streams),
        node=np.arange(streams, dtype=np.uint32),
    )
    route = Route(latency_ns=LATENCY_NS)
    return Replayer(schedule).run(Network(route, route), shared=False).run_ns


def test_who_locks_exclusively_waits_for_the_other(
    compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    program = compiled("locks")
    shared, exclusive = (
        ends_ns(measured(program, how, ranks=RANKS, environment=KEEP))
        for how in ("shared", "exclusive")
    )
    # Both ask, put and have it confirmed in 4; the second has the lock 2 after the first is through
    # and needs 2 more.
    assert exclusive - shared == pytest.approx(4 * LATENCY_NS)
