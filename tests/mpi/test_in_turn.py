"""Programs that share a launch are told apart, and none hides what another does wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.mpi import in_turn
from tests.mpi.lean_compiling import OF_SUFFIX

pytestmark = pytest.mark.untimed

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int runs;
int main(int argc, char **argv)
{{
    int rank, sent = 1, got = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("{name} %d %d\\n", rank, ++runs);
    {body}
    MPI_Finalize();
    return 0;
}}
"""
BODIES = {
    "first": "",
    "left": "if (rank == 0) MPI_Send(&sent, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);",
    "failed": "if (rank == 1) exit(3);",
    "killed": "if (rank == 1) abort();",
    "ended": "exit(0);",
    "last": "MPI_Allreduce(&sent, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);"
    ' printf("sum %d\\n", got);',
}


def test_one_fault_is_that_of_its_program(mpi: Any, tmp_path: Path) -> None:
    objects = {}
    for name, body in BODIES.items():
        source = tmp_path / name / "program.c"
        source.parent.mkdir()
        source.write_text(PROGRAM.format(name=name, body=body))
        objects[name] = in_turn.shared_object(source, mpi.name, ["-w", *OF_SUFFIX[".c"]])
    found = in_turn.run(mpi.name, 2, objects.values(), tmp_path / "all")
    known = {path.parent.name: lines for path, lines in found.items()}
    assert known.keys() == {"first", "ended", "last"}
    assert known["first"] == ["first 0 1", "first 1 1"]
    assert known["ended"] == ["ended 0 1", "ended 1 1"]
    assert known["last"] == ["last 0 1", "last 1 1", "sum 2", "sum 2"]
    for name in ("left", "failed", "killed"):
        with pytest.raises(AssertionError, match=f"^{name}: "):
            in_turn.run(mpi.name, 2, [objects[name]], tmp_path / "alone")
