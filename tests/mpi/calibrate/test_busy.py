"""Two ranks on one core wait for it about half of the time: the probes say so."""

from __future__ import annotations

import os
import subprocess

import pytest
from tests.conftest import Mpi

from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from imbrex.network.columns import read_columns

pytestmark = pytest.mark.untimed


def test_ranks_that_share_a_core_are_told(mpi: Mpi, job_environment: dict[str, str]) -> None:
    parsed = parse_launcher_line([mpi.mpirun, "-n", "2", "imbrex-probes"])
    probes = build("probes", library_of_launcher(parsed)) / "bin" / "imbrex-probes"
    core = min(os.sched_getaffinity(0))
    # Open MPI may give each rank a core of its own, also one that its mpirun was not given.
    binding = ["--bind-to", "none"] if mpi.name == "openmpi" else []
    line = ["taskset", "-c", str(core), mpi.mpirun, *binding, "-n", "2", str(probes)]
    done = subprocess.run(
        [*line, "--experiments", "pingpong", "--quick", "--time-limit", "4"],
        env=job_environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert 0.25 < read_columns(done.stdout.splitlines()).core_wait["pingpong"] <= 1.05
