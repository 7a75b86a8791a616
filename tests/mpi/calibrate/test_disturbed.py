"""One disturbed repetition of a collective is not what the network needs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests import forked
from tests.conftest import Mpi

from imbrex.network import load

DISTURBER = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <time.h>

/* Of each size the call 2 (the pilot) and 6 take 60 ms more; each all-to-all takes 3 ms besides. */
static int last, calls;

static void pause_for(long ms)
{
    struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

static int disturbed(int count)
{
    calls = count == last ? calls + 1 : 1;
    last = count;
    return calls == 2 || calls == 6;
}

int MPI_Allgather(const void *in, int n, MPI_Datatype a, void *out, int m, MPI_Datatype b,
                  MPI_Comm comm)
{
    if (disturbed(n))
        pause_for(60);
    return PMPI_Allgather(in, n, a, out, m, b, comm);
}

int MPI_Alltoall(const void *in, int n, MPI_Datatype a, void *out, int m, MPI_Datatype b,
                 MPI_Comm comm)
{
    pause_for(disturbed(-n) && calls == 6 ? 63 : 3);
    return PMPI_Alltoall(in, n, a, out, m, b, comm);
}
"""


@pytest.fixture
def disturber(mpi: Mpi, tmp_path: Path) -> Path:
    source, library = tmp_path / "disturb.c", tmp_path / "libdisturb.so"
    source.write_text(DISTURBER)
    command = [mpi.mpicc, "-shared", "-fPIC", "-w", "-o", str(library), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return library


def test_a_disturbed_repetition_does_not_count(
    mpi: Mpi, disturber: Path, tmp_path: Path, job_environment: dict[str, str]
) -> None:
    file = tmp_path / "machine.json"
    preload = {
        "openmpi": ("-x", f"LD_PRELOAD={disturber}"),
        "mpich": ("-genv", "LD_PRELOAD", str(disturber)),
    }[mpi.name]
    # Only the smallest messages are asked about.
    words = ["calibrate", "--quick", "--max-bytes", "1K", "-q", "-o", str(file), "--"]
    line = [mpi.mpirun, *preload, "-n", "2"]
    done = forked.imbrex([*words, *line], env=job_environment, timeout=120)
    assert done.returncode == 0, done.stderr
    curves = {c.operation: c.points for c in load(file).collectives if c.ranks == 2}
    for operation in ("MPI_Allgather", "MPI_Alltoall"):
        small = curves[operation][0]
        assert small.size_bytes <= 128
        assert small.x_hi_s < 0.03, operation
    assert curves["MPI_Alltoall"][0].x_hi_s >= 0.003
