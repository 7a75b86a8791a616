"""The progress thread with each kind of transfer: data moves while no rank calls MPI, and is right.

Messages, persistent ones, alltoall and allreduce are in test_progress.py (`programs/helped.c`).

MPICH 4.0 over TCP hangs in MPI_Finalize now and then, with Imbrex or without, where one rank ends
while the other is still inside its last call: `helped.h` says why, and how the programs do without.
"""

from __future__ import annotations

import os
import re
import subprocess

import pytest

pytestmark = pytest.mark.untimed

TCP = {"OMPI_MCA_btl": "tcp,self", "UCX_TLS": "tcp,self"}
WINDOWS = {"OMPI_MCA_osc": "ucx"}
"""The one-sided component of Open MPI 4.1 that works over TCP and under MPI_THREAD_MULTIPLE."""


@pytest.fixture
def start(mpi, runtime, compiled, tmp_path):
    """Two ranks of operations.c behind imbrex-exec: what they print, and the looks of each rank."""

    def run(scenario, options=("--progress",), **variables):
        prefix = [str(runtime.prefix / "bin" / "imbrex-exec"), *options] if options else []
        binding = ["--bind-to", "none"] if mpi.name == "openmpi" else []
        done = subprocess.run(
            [mpi.mpirun, *binding, "-n", "2", *prefix, str(compiled("operations")), scenario],
            cwd=tmp_path,
            env={**os.environ, **TCP, "IMBREX_PROGRESS_TELL": "1", **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if "none" in done.stdout:
            pytest.skip(f"{mpi.name} has no such kind of transfer")
        looks = [int(count) for count in re.findall(r"progress thread: (\d+) looks", done.stderr)]
        return done.stdout.splitlines(), looks

    return run


@pytest.mark.parametrize("scenario", ["broadcast", "partitioned", "persistent-collective"])
def test_data_moves_while_no_rank_calls(start, scenario):
    printed, looks = start(scenario)
    assert printed == ["moved", "right"]
    assert len(looks) == 2 and all(looks)


@pytest.mark.parametrize("scenario", ["put", "get", "put-locked", "get-locked", "rget"])
def test_data_of_one_sided_transfers_moves(start, scenario):
    printed, looks = start(scenario, **WINDOWS)
    assert printed == ["moved", "right"]
    assert len(looks) == 2 and all(looks)


def test_a_put_with_a_request_is_right(start):
    """Complete where it began; whether its target is helped depends on what that has open."""
    printed, looks = start("rput", HELPED_WAIT_S="0.3", **WINDOWS)
    assert printed[1:] == ["right"]
    assert len(looks) == 2


@pytest.mark.parametrize("scenario", ["broadcast", "put"])
def test_it_does_not_move_without_the_thread(start, scenario):
    printed, looks = start(scenario, options=(), HELPED_WAIT_S="0.3", **WINDOWS)
    assert (printed, looks) == (["not moved", "right"], [])


def test_a_program_of_sessions_runs_without(start):
    printed, looks = start("session")
    assert (printed, looks) == (["right"], [])
