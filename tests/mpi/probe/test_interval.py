"""From the probe to the source: the interval that it recommends is that of the progress calls."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

VADER = ("mpirun.openmpi", "-n", "2")
TCP = ("mpirun.openmpi", "--mca", "btl", "tcp,self", "-n", "2")
SOURCE = """#include <mpi.h>
static double a[1000000], b[1000000];
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(a, 1000000, MPI_DOUBLE, 1 - rank, 0, b, 1000000, MPI_DOUBLE, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double sum = 0.0;
    for (int i = 0; i < 200000000; i++)
        sum = 0.5 * sum + i;
    MPI_Finalize();
    return b[0] + sum < 0.0;
}
"""


@pytest.mark.parametrize("line", [TCP, VADER], ids=["tcp", "vader"])
def test_a_probe_places_the_progress_calls(
    line: tuple[str, ...],
    probed: Callable[..., dict[str, Any]],
    machines: dict[tuple[str, ...], Path],
    imbrex: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    """Over TCP a rendezvous waits for calls; over shared memory the library needs none."""
    answer = probed(*line)
    interval_s = json.loads(machines[line].read_text())["progress_interval_s"]
    found = [path["interval_s"] for path in answer["progress"].values()]
    assert interval_s == min((i for i in found if i is not None), default=None)
    source = tmp_path / "program.c"
    source.write_text(SOURCE)
    done = imbrex("transform", "--diff", "--machine", str(machines[line]), str(source))
    assert done.returncode == 0, done.stderr
    calls = done.stdout.count("MPI_Iprobe(") + done.stdout.count("MPI_Request_get_status(")
    if interval_s is None:
        assert calls == 0
        assert "recommends none" in done.stdout + done.stderr
        if line == TCP:
            pytest.skip("the machine was too busy for the probe to find an interval")
        return
    assert calls >= 1
    given = imbrex("transform", "--diff", "--progress", str(1e6 * interval_s), str(source))
    assert given.stdout == done.stdout
    longer = imbrex("transform", "--diff", "--progress", str(8e6 * interval_s), str(source))
    assert longer.stdout != done.stdout
