"""`imbrex run --runtime`: what cmake --install left is used, and refused for another MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.complaints import complaints

from imbrex.mpi_environment.mpi_library import library_of_compiler
from imbrex.mpi_environment.native import build

pytestmark = pytest.mark.untimed

PROGRAM = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n"
RUN = [sys.executable, "-m", "imbrex.cli", "run"]


def installed(mpicc: str) -> Path:
    """A prefix: the cache is filled by cmake --install."""
    compiler = Path(shutil.which(mpicc) or mpicc)
    library = library_of_compiler(compiler)
    assert library is not None
    return build("runtime", replace(library, mpicc=compiler))


def test_an_installed_runtime(mpi, tmp_path: Path) -> None:
    prefix = installed(mpi.mpicc)
    (tmp_path / "a.c").write_text(PROGRAM)
    subprocess.run([mpi.mpicc, "-o", "a", "a.c"], cwd=tmp_path, check=True)
    line = ["--", mpi.mpirun, "-n", "2", "./a"]
    options = ["-v", "-q", "-o", "run", "--runtime", str(prefix)]
    done = subprocess.run(
        [*RUN, *options, *line], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"runtime {prefix}/lib/libimbrex.so" in done.stderr
    assert (tmp_path / "run" / "measures.npy").exists()


def test_one_of_another_mpi_is_refused_before_anything_starts(mpi, tmp_path: Path) -> None:
    other = {"openmpi": "mpicc.mpich", "mpich": "mpicc.openmpi"}[mpi.name]
    if shutil.which(other) is None:
        pytest.skip(f"{other} is not installed")
    prefix = installed(other)
    (tmp_path / "a.c").write_text(PROGRAM)
    subprocess.run([mpi.mpicc, "-o", "a", "a.c"], cwd=tmp_path, check=True)
    done = subprocess.run(
        [*RUN, "-o", "run", "--", mpi.mpirun, "-n", "2", "./a"],
        cwd=tmp_path,
        env=os.environ | {"IMBREX_RUNTIME": str(prefix)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "was built for" in done.stderr
    assert len(complaints(done.stderr)) == 1
    assert not (tmp_path / "run").exists()
