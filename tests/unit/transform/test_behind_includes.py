"""A function that is the first thing behind `#include <...>` is divided as any other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import rewritten

PROGRAM = """#include <mpi.h>
{between}static void sweep(const double *u, double *v, int nx, int ny)
{{
    for (int i = 1; i <= nx; i++)
        for (int j = 1; j < ny - 1; j++)
            v[i * ny + j] = 0.25 * (u[(i - 1) * ny + j] + u[(i + 1) * ny + j]);
}}
static double u[4000], v[4000];
int main(int argc, char **argv)
{{
    int rank, size, nx = 62, ny = 50;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 5; step++) {{
        MPI_Sendrecv(&u[nx * ny], ny, MPI_DOUBLE, (rank + 1) % size, 0, u, ny, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sweep(u, v, nx, ny);
        for (int i = ny; i < (nx + 1) * ny; i++)
            u[i] = v[i];
    }}
    MPI_Finalize();
    return 0;
}}
"""


@pytest.mark.parametrize("name", ["main.c", "main.cpp"])
@pytest.mark.parametrize(
    "between", ["", "\n", "\n/* The sweep. */\n", "#  include <math.h>  \n\n\n"]
)
def test_it_is_divided(name: str, between: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / name, PROGRAM.format(between=between))
    assert "        sweep_interior(u, v, nx, ny);" in text


def test_an_instance_among_two_stays(tmp_path: Path) -> None:
    two = "template <class T,\n          class N>\n"
    program = (
        PROGRAM.format(between=two).replace("double *u,", "T *u,").replace("int nx, int", "N nx, N")
    )
    program = program.replace("return 0;", "float w[9];\n    sweep(w, v, 1, 1);\n    return 0;")
    assert "sweep_interior" not in rewritten(tmp_path / "main.cpp", program)
