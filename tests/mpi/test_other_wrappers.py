"""MPI functions that the program or a tool defines besides the runtime."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.untimed

PROGRAMS = Path(__file__).resolve().parent / "programs"
Run = Callable[..., Any]

NAMES_ONE = """
#include <mpi.h>
int (*volatile barrier)(MPI_Comm);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    barrier = MPI_Barrier;
    barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


@pytest.mark.parametrize(
    ("linked", "said"), [("into", "are not measured"), ("behind", "they are not called")]
)
def test_wrappers_of_others_are_told(
    mpi: Any, measured: Run, tmp_path: Path, linked: str, said: str
) -> None:
    program, tool = tmp_path / "program", tmp_path / "libsends.so"
    flags = [mpi.mpicc, "-w", "-fPIC"]
    sends = str(PROGRAMS / "sends.c")
    if linked == "behind":
        subprocess.run([*flags, "-shared", "-o", str(tool), sends], check=True)
        sends = f"-Wl,--no-as-needed,-rpath,{tmp_path},{tool}"
    subprocess.run([*flags, "-o", str(program), str(PROGRAMS / "endings.c"), sends], check=True)
    run = measured(program, "end")
    (warning,) = json.loads((run.folder / "job.json").read_text())["warnings"]
    assert "has MPI functions of its own (1, the first MPI_Send)" in warning
    assert said in warning
    assert str(program if linked == "into" else tool) in warning


def test_a_program_that_only_names_a_function_does_not_define_it(
    mpi: Any, measured: Run, tmp_path: Path
) -> None:
    """At fixed addresses a function's address is that of the program's own jump to it."""
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(NAMES_ONE)
    flags = ["-fno-pie", "-no-pie", "-o", str(program), str(source)]
    subprocess.run([mpi.mpicc, *flags], check=True)
    run = measured(program)
    assert json.loads((run.folder / "job.json").read_text())["warnings"] == []
    assert run.total("MPI_Barrier", "count") == 2
