"""Matching on a simulated cluster, where a rank sleeps for exactly as long as it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.profile.run import Run, load_run

from .conftest import Simulator

pytestmark = pytest.mark.untimed

LATE = Path(__file__).resolve().parents[1] / "mpi" / "programs" / "late.c"
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="nodes" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="1GBps" lat="2us"/>
</platform>
"""
PAUSE_MS, TIMES = 10, 20
NEAR_NS = 200_000
"""What 20 calls of the simulator's own take."""


@pytest.fixture(scope="module")
def late(simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulator.link(tmp_path_factory.mktemp("late") / "late", [LATE])


def job(simulator: Simulator, program: Path, folder: Path, ranks: int, *words: object) -> Run:
    """The run directory of `ranks` ranks, one on each node."""
    platform = folder / "cluster.xml"
    platform.write_text(PLATFORM.format(last=ranks - 1))
    hosts = [f"n{rank}" for rank in range(ranks)]
    simulator.run(program, *words, platform=platform, hosts=hosts, folder=folder)
    return load_run(folder / "run", resolve=False)


@pytest.mark.parametrize(
    ("case", "operation", "rank", "cause"),
    [
        ("recv", "MPI_Recv", 1, "late_sender"),
        ("waitany", "MPI_Waitany", 1, "late_sender"),
        ("sendrecv", "MPI_Sendrecv", 1, "late_sender"),
        ("ssend", "MPI_Ssend", 0, "late_receiver"),
        ("barrier", "MPI_Barrier", 1, "late_collective"),
        ("bcast", "MPI_Bcast", 1, "late_collective"),
    ],
)
def test_a_rank_is_late_by_as_much_as_it_slept(
    simulator: Simulator,
    late: Path,
    tmp_path: Path,
    case: str,
    operation: str,
    rank: int,
    cause: str,
) -> None:
    run = job(simulator, late, tmp_path, 2, case, PAUSE_MS)
    assert run.causes is not None
    chosen = run.causes[
        (run.causes["operation"] == run.job.operations.index(operation))
        & (run.causes["rank"] == rank)
    ]
    slept = TIMES * PAUSE_MS * 1_000_000
    assert abs(int(chosen[f"{cause}_min_ns"].sum()) - slept) < NEAR_NS
    assert abs(int(chosen[f"{cause}_max_ns"].sum()) - slept) < NEAR_NS
    assert run.job.matching is not None
    assert not run.job.matching.unmatched
