"""The runtime linked into a program: beside a shared MPI library, and before one that is static."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.untimed

SOURCE = """
#include <mpi.h>
int main(int argc, char **argv)
{
    static double x[1000];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++)
        if (rank == 0)
            MPI_Send(x, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(x, 1000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _static_mpi(mpicc: str, program: Path) -> list[str]:
    """How to link libmpich.a where a program uses libmpich.so: in its place, with what it needs."""
    shared = re.search(r"libmpich\S* => (\S+)", _output("ldd", str(program)))
    assert shared is not None
    archive = Path(shared[1]).with_name("libmpich.a")
    if not archive.exists():
        pytest.skip(f"no {archive.name}")
    needed = re.findall(r"NEEDED\W+Shared library: \[(\S+)\]", _output("readelf", "-d", shared[1]))
    return [str(archive), *(f"-l:{name}" for name in needed)]


@pytest.mark.parametrize("library", ["shared", "static"])
def test_counts_once_with_and_without_imbrex_run(
    mpi: Any,
    static_runtime: Path,
    imbrex: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    library: str,
) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(SOURCE)
    linked = [str(static_runtime), "-lpthread", "-ldl", "-lm"]
    build = [mpi.mpicc, "-g", "-w", "-o", str(program), str(source)]
    _output(*build, *linked)
    if library == "static":
        if mpi.name != "mpich":
            pytest.skip("Debian's Open MPI has no static library")
        static = _static_mpi(mpi.mpicc, program)
        compiler = _output(mpi.mpicc, "-compile_info").split()
        includes = [argument for argument in compiler if argument.startswith("-I")]
        _output("gcc", *includes, *build[1:], *linked, *static)
        assert "libmpich" not in _output("ldd", str(program))
    alone, under = tmp_path / "alone", tmp_path / "under"
    alone.mkdir()
    launched = [mpi.mpirun, "-n", "2"]
    _output(*launched, "env", f"IMBREX_DIR={alone}", str(program))
    done = imbrex("run", "-o", str(under), "--", *launched, str(program))
    assert done.returncode == 0, done.stderr
    assert "records every access" not in done.stderr
    for folder in (alone, under):
        shown = imbrex("show", str(folder), "--by", "operation", "--json")
        totals = json.loads(shown.stdout)["totals"]
        assert (totals["transfers"], totals["bytes"]) == (20, 20 * 8000)
