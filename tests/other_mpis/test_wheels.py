"""`imbrex run` with MPI libraries that Debian does not have."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.imbrex_command import imbrex
from tests.python_lines import PROGRAM, check_lines

from imbrex.mpi_environment.mpi_library import library_of_binary
from imbrex.profile.run import load_run
from imbrex.profile.summary import rows

pytestmark = pytest.mark.untimed


@pytest.mark.calibrates
def test_a_run_with_the_wheel(wheel, halo3d, tmp_path):
    # The same soname is MPICH's and Intel's.
    library = library_of_binary(Path(halo3d))
    assert library is not None
    assert library.name == wheel.name
    assert library.file.is_relative_to(wheel.folder)
    line = [wheel.command("mpiexec"), "-n", "2", halo3d, "--n", "32", "--steps", "5"]
    done = imbrex(tmp_path, "run", "-o", "run", "--", *line)
    assert done.returncode == 0, done.stderr
    assert "PASSED" in done.stdout
    assert f"{wheel.name} " in done.stderr
    run = load_run(tmp_path / "run")
    assert run.merged
    assert run.job.library[0] == wheel.name
    # Two Sendrecv for each of three dimensions and five steps, on two ranks; one neighbour each.
    calls = {row.operation: row.sums for row in rows(run, "operation")}
    assert calls["MPI_Sendrecv"].count == 2 * 5 * 6
    assert calls["MPI_Sendrecv"].bytes == 2 * 2 * 5 * 32 * 32 * 8
    assert calls["MPI_Sendrecv"].uncalibrated == 0


@pytest.mark.parametrize("threads", [[], ["threads"]], ids=["one", "threads"])
def test_lines_of_python(wheel, runtime, tmp_path, threads):
    line = [wheel.command("mpiexec"), "-n", "2", wheel.command("python"), str(PROGRAM), *threads]
    done = imbrex(tmp_path, "run", "-q", "-o", "run", "--", *line)
    assert done.returncode == 0, done.stderr
    run = load_run(tmp_path / "run")
    assert run.merged and run.job.library[0] == wheel.name
    check_lines(run, done.stdout)
