"""Odd but legal programs with a progress thread that looks as often as it may: each checks itself,
and ends as it does without (`programs/odd.c`, which test_traps.py measures, and `spawned.c`).
"""

from __future__ import annotations

import os
import subprocess

import pytest

pytestmark = pytest.mark.untimed

SETTINGS = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_osc": "ucx", "UCX_TLS": "tcp,self"}
"""Over TCP large messages move only inside calls. (Why `osc`: test_progress_operations.py.)"""
ANYHOW = ("sessions",)
"""Not over TCP, where the end of a session stays for good now and then in MPICH 4.0, bare too."""
OPTIONS = ("--progress=300", "--progress-share=100")
PROGRAMS = (
    *("shared", "paused", "late", "forked", "nested", "threads", "jumped", "elsewhere", "limited"),
    *("errors", "some", "truncated", "freed", "communicators", "windows", "many"),
    *("sessions", "partitions"),
)


@pytest.fixture
def start(mpi, runtime, compiled, tmp_path):
    """A program behind imbrex-exec: what it printed, and the lines of Imbrex."""

    def run(ranks, name, *words):
        prefix = [str(runtime.prefix / "bin" / "imbrex-exec"), *OPTIONS]
        binding = ["--bind-to", "none"] if mpi.name == "openmpi" else []
        without = {k: v for k, v in os.environ.items() if k != "IMBREX_DIR"}
        settings = {} if words == ANYHOW else SETTINGS
        done = subprocess.run(
            [mpi.mpirun, *binding, "-n", str(ranks), *prefix, str(compiled(name)), *words],
            cwd=tmp_path,
            env={**without, **settings},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        lines = [line for line in done.stderr.splitlines() if line.startswith("imbrex: ")]
        return done.stdout, lines

    return run


@pytest.mark.parametrize("scenario", PROGRAMS)
def test_it_is_right_and_ends(mpi, start, scenario):
    if (mpi.name, scenario) == ("mpich", "jumped"):
        pytest.skip("under MPI_THREAD_MULTIPLE MPICH 4.0 ends at the call after, bare too")
    printed, lines = start(2, "odd", scenario)
    if "not with this library" in printed or "no threads" in printed:
        pytest.skip("not with this library")
    assert (printed, lines) == ("", [])


def test_processes_that_another_one_started(mpi, start):
    if mpi.name == "mpich":
        pytest.skip("Debian's MPICH 4.0 starts no processes")
    printed, lines = start(1, "spawned")
    assert (printed, lines) == ("", [])
