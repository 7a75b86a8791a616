"""Requests in memory that a field points to, started and completed by one routine of its object."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct {
    int n, up, down;
    double *u, *v;
    MPI_Request *reqs, *more;
} grid;
static grid *last;
static void others(grid *g)
{
    MPI_Irecv(&g->v[0], 1, MPI_DOUBLE, g->up, 3, MPI_COMM_WORLD, &g->reqs[0]);
}
static void exchange(grid *g)
{
    %(first)s
    %(begun)s
    %(wait)s
}
static void step(grid *g)
{
    for (int i = 1; i <= g->n; i++)
        g->v[i] = g->u[i - 1] + g->u[i + 1];
    double *t = g->u;
    g->u = g->v;
    g->v = t;
}
static void begin(grid *g)
{
    g->reqs = malloc(4 * sizeof(MPI_Request));
    g->more = malloc(4 * sizeof(MPI_Request));
}
int main(int argc, char **argv)
{
    grid g = {.n = 100, .up = MPI_PROC_NULL, .down = MPI_PROC_NULL};
    MPI_Init(&argc, &argv);
    g.u = calloc(102, sizeof(double));
    g.v = calloc(102, sizeof(double));
    begin(&g);
    last = &g;
    for (int t = 0; t < 3; t++) {
        exchange(&g);
        step(&g);
    }
    printf("%%g\\n", g.u[5]);
    MPI_Finalize();
    return 0;
}
"""
BEGUN = """MPI_Irecv(&g->u[0], 1, MPI_DOUBLE, g->up, 0, MPI_COMM_WORLD, &g->reqs[0]);
    MPI_Irecv(&g->u[g->n + 1], 1, MPI_DOUBLE, g->down, 1, MPI_COMM_WORLD, &g->reqs[1]);
    %s
    MPI_Isend(&g->u[1], 1, MPI_DOUBLE, g->up, 1, MPI_COMM_WORLD, &g->reqs[2]);
    MPI_Isend(&g->u[g->n], 1, MPI_DOUBLE, g->down, 0, MPI_COMM_WORLD, &g->reqs[3]);"""
LOOPS = """for (int i = 0; i < 2; i++)
        MPI_Irecv(&g->u[i * (g->n + 1)], 1, MPI_DOUBLE, i ? g->down : g->up, i, MPI_COMM_WORLD,
                  &g->reqs[i]);
    for (int i = 0; i < 2; i++) {
        MPI_Isend(&g->u[i ? g->n : 1], 1, MPI_DOUBLE, i ? g->down : g->up, 1 - i, MPI_COMM_WORLD,
                  &g->reqs[2 + i]);
    }"""
PLAIN = {
    "begun": BEGUN % "",
    "first": "",
    "wait": "MPI_Waitall(4, g->reqs, MPI_STATUSES_IGNORE);",
}
SPLIT = [
    {},
    {"wait": "for (int i = 0; i < 4; i++)\n        MPI_Wait(&g->reqs[i], MPI_STATUS_IGNORE);"},
    {"begun": LOOPS},
    {"begun": LOOPS.replace("g->reqs[2 + i]", "g->reqs[i + 2]").replace("i + 2", "2+i")},
    {"wait": "MPI_Waitall(2, &g->reqs[0], MPI_STATUSES_IGNORE);\n"
             "    MPI_Waitall(2, &g->reqs[2], MPI_STATUSES_IGNORE);"},
]  # fmt: skip
WHOLE = [
    {
        "begun": BEGUN % "g->reqs = g->more;",
        "wait": "MPI_Waitall(4, g->reqs, MPI_STATUSES_IGNORE);",
    },
    {"begun": BEGUN % "g->reqs++;", "wait": "MPI_Waitall(3, g->reqs - 1, MPI_STATUSES_IGNORE);"},
    {"begun": BEGUN % "g = last;"},
    {"first": "others(g);"},
    {"begun": LOOPS.replace("i < 2", "i < g->n / 50")},
    {
        "begun": LOOPS.replace("[2 + i]", "[1 + i]"),
        "wait": "MPI_Waitall(3, g->reqs, MPI_STATUSES_IGNORE);",
    },
    {"begun": LOOPS.replace("                  &g->reqs[2 + i]", "                  &g->reqs[2]")},
    {
        "begun": LOOPS.replace(
            "{\n        MPI_Isend",
            "{\n        if (i > g->n)\n            break;\n        MPI_Isend",
        )
    },
    {
        "begun": LOOPS.replace(
            "{\n        MPI_Isend", "{\n        if (g->n > 50)\n            MPI_Isend"
        )
    },
    {"wait": "MPI_Waitall(3, g->reqs, MPI_STATUSES_IGNORE);"},
    {"begun": BEGUN % "others(g);"},
    {"wait": "if (g->n > 50)\n        MPI_Waitall(4, g->reqs, MPI_STATUSES_IGNORE);"},
]


def split(folder: Path, changes: dict[str, str]) -> bool:
    file = folder / "grid.c"
    file.write_text(PROGRAM % {**PLAIN, **changes})
    after = transform([file], Options()).after
    return any(b"step_interior(" in text for text in after.values())


@pytest.mark.parametrize("changes", SPLIT, ids=str)
def test_the_routine_completes_what_it_has_started(tmp_path: Path, changes: dict[str, str]) -> None:
    assert split(tmp_path, changes)


@pytest.mark.parametrize("changes", WHOLE, ids=str)
def test_something_else_may_be_completed(tmp_path: Path, changes: dict[str, str]) -> None:
    assert not split(tmp_path, changes)
