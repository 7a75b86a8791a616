"""Scalars of one iteration whose address is known: those that each iteration makes anew go."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """#include <mpi.h>
static double u[66][40], v[66][40];
static double half(const double *x) { return 0.5 * *x; }
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 9; step++) {
        MPI_Sendrecv(&u[64][0], 40, MPI_DOUBLE, (rank + 1) % size, 0, &u[0][0], 40, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i < 65; i++)
            for (int j = 0; j < 40; j++) {
                double t = u[i - 1][j] + u[i][j];
                v[i][j] = half(&t);
            }
        for (int i = 1; i < 65; i++)
            for (int j = 0; j < 40; j++)
                u[i][j] = v[i][j];
    }
    MPI_Finalize();
    return 0;
}
"""
OUTSIDE = {"    int rank, size;\n": "    int rank, size;\n    double t;\n", "double t = u": "t = u"}
OUTER = "            for (int j = 0; j < 40; j++) {\n"
IN_ROWS = {
    OUTER: "            {\n            double t;\n" + OUTER[:-2] + "{\n",
    "double t = u": "t = u",
    "half(&t);\n            }\n": "half(&t);\n            }\n            }\n",
}
GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "set through its address": {"= half(&t);": "= t;", "t = u[i - 1]": "t; *(&t) = u[i - 1]"},
    "made in each row": IN_ROWS,
}
STAY: dict[str, dict[str, str]] = {
    "made once": OUTSIDE,
    "the last is read by its address": {
        **OUTSIDE,
        "double t;\n": "double t, *held = &t;\n",
        "half(&t)": "t",
        "= v[i][j];": "= v[i][j] + *held;",
    },
}
DIVIDED = "for (int i = 2; i < 65; i++)"


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_the_loop_is_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    assert DIVIDED in rewritten(tmp_path / "main.c", changed(PROGRAM, replaced))


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_the_loop_stays(replaced: dict[str, str], tmp_path: Path) -> None:
    assert DIVIDED not in rewritten(tmp_path / "main.c", changed(PROGRAM, replaced))
