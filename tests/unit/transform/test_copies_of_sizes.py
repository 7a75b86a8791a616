"""Variables of C that copy a size where they are declared: `g.nx = 64; int nx = g.nx;`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { int nx, ny, up, down; } grid;
void exchange(double *f, const grid *g)
{
    MPI_Request r[4];
    MPI_Irecv(&f[0], g->nx, MPI_DOUBLE, g->down, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&f[(g->ny + 1) * g->nx], g->nx, MPI_DOUBLE, g->up, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&f[g->ny * g->nx], g->nx, MPI_DOUBLE, g->up, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&f[g->nx], g->nx, MPI_DOUBLE, g->down, 2, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}
void shrink(grid *g)
{
    g->ny--;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    grid g;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    g.nx = 128;
    g.ny = 192 / size;
    g.up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    g.down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int nx = g.nx, ny = g.ny;
    double *u = calloc(128 * 194, sizeof *u);
    double *v = calloc(128 * 194, sizeof *v);
    for (int t = 0; t < 30; t++) {
        exchange(u, &g);
        for (int j = 1; j <= ny; j++)
            for (int i = 0; i < nx; i++)
                v[j * nx + i] = 0.5 * u[(j - 1) * nx + i] + 0.5 * u[(j + 1) * nx + i] + i;
        for (int j = 1; j <= ny; j++)
            for (int i = 0; i < nx; i++)
                u[j * nx + i] = v[j * nx + i];
    }
    printf("%g\\n", u[nx]);
    MPI_Finalize();
    return 0;
}
"""
COPY = "    int nx = g.nx, ny = g.ny;\n"
CALL = "        exchange(u, &g);\n"
LOOP = "    for (int t = 0; t < 30; t++) {\n"
LAST = "                u[j * nx + i] = v[j * nx + i];\n"
MOVED: dict[str, dict[str, str]] = {
    "behind what sets them": {},
    "in the loop": {COPY: "    int nx = g.nx;\n", LOOP: LOOP + "        int ny = g.ny;\n"},
    "in the loop, changed in front of it": {
        COPY: "    int nx = g.nx;\n",
        LOOP: LOOP + "        g.ny = 191 - t;\n        int ny = g.ny;\n",
    },
    "one made of the other": {
        COPY: "    int nx = g.nx, ny = g.ny, rows = ny;\n",
        "j <= ny": "j <= rows",
    },
    "constant": {COPY: "    const int nx = g.nx, ny = g.ny;\n"},
}
STAYS: dict[str, dict[str, str]] = {
    "another size behind": {COPY: COPY + "    g.ny--;\n"},
    "another size in the loop": {CALL: CALL.replace("exchange", "g.ny--;\n        exchange")},
    "another size at the end of the loop": {LAST: LAST + "        g.ny--;\n"},
    "another size by a call": {LAST: LAST + "        shrink(&g);\n"},
    "another size in the declaration": {
        COPY: "    int nx = g.nx, ny = g.ny, less = g.ny--;\n",
        'printf("%g\\n", u[nx]': 'printf("%g %d\\n", u[nx], less',
    },
    "another copy": {LAST: LAST + "        ny--;\n"},
    "a copy whose address is taken": {
        COPY: COPY + "    int *p = &ny;\n",
        LAST: LAST + "        --*p;\n",
    },
    "one that lasts": {
        COPY: "    int nx = g.nx;\n",
        LOOP: LOOP + "        static int ny = 40;\n        if (t == 3)\n            ny = 30;\n",
    },
}


@pytest.mark.parametrize("change", MOVED)
def test_compared_with_what_it_copies(tmp_path: Path, change: str) -> None:
    text = rewritten(tmp_path / "heat.c", changed(PROGRAM, MOVED[change]))
    assert "        exchange_start(u," in text, text


@pytest.mark.parametrize("change", STAYS)
def test_stays(tmp_path: Path, change: str) -> None:
    text = rewritten(tmp_path / "heat.c", changed(PROGRAM, STAYS[change]))
    assert "exchange_start" not in text, text
