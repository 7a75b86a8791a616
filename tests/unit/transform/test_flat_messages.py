"""Messages of an exchange that counts along a field, beside a step that counts in its rows.

`exchange(u)` knows no rows: its messages are parts of one array. Beside the step they are in lines.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int nx = 40, ny = 30, size, up, down, turns, seen;
static double kept;
static void exchange(double *u)
{
    %(first)s
    MPI_Sendrecv(%(sent)s, %(count)s, MPI_DOUBLE, up, 0, %(below)s, %(count)s, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(u + nx * (ny + 2), ny + 2, MPI_DOUBLE, down, %(tag)s, %(above)s, ny + 2,
                 MPI_DOUBLE, up, %(tag)s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    %(last)s
}
static void step(const double *u, double *v)
{
    for (int i = %(low)s; i <= nx; i++)
        for (int j = 1; j <= ny; j++)
            v[i * (%(row)s) + j] = u[(i - 1) * (%(row)s) + j] + u[(i + 1) * (%(row)s) + j]
                + u[i * (%(row)s) + j - 1] + u[i * (%(row)s) + j + 1];
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = (rank + size - 1) %% size;
    down = (rank + 1) %% size;
    double *u = calloc(2 * (nx + 3) * (ny + 3), sizeof(double));
    double *v = calloc(2 * (nx + 3) * (ny + 3), sizeof(double));
    for (int i = 0; i < (nx + 2) * (ny + 2); i++)
        u[i] = v[i] = (i * 7 + rank) %% 5;
    for (int t = 0; t < 6; t++) {
        exchange(u);
        %(between)s
        step(u, v);
        double *w = u;
        u = v;
        v = w;
    }
    double sum = 0.0;
    for (int i = 0; i < (nx + 2) * (ny + 2); i++)
        sum += u[i] * (i %% 7);
    printf("%%d %%.17g %%d %%d %%d\\n", rank, sum, turns, seen, kept > 2.0);
    MPI_Finalize();
    return 0;
}
"""
USUAL = {
    "first": "",
    "sent": "u + (ny + 2)",
    "count": "ny + 2",
    "below": "u + (nx + 1) * (ny + 2)",
    "above": "u",
    "tag": "1",
    "last": "",
    "low": "1",
    "row": "ny + 2",
    "between": "",
}
GOES: dict[str, dict[str, str]] = {
    "as usual": {},
    "the first row sent, and received anew": {"above": "u + (ny + 2)"},
    "inner elements": {
        "sent": "u + (ny + 3)",
        "count": "ny",
        "below": "&u[(nx + 1) * (ny + 2) + 1]",
    },
    "a counter in front": {"first": "turns++;"},
    "a declaration in front": {"first": "turns++;\n double begin = 1.0;", "last": "kept += begin;"},
    "a value that the counter leaves alone": {
        "first": "int tag = size + 1;\n turns++;",
        "tag": "tag",
    },
    "a value of the counter": {"first": "turns++;\n int tag = turns;", "tag": "tag"},
    "a value that counts": {"first": "int tag = turns++;", "tag": "tag"},
    "a value of the message": {
        "last": "double come = u[0];\n kept += come;",
    },
}
STAYS: dict[str, dict[str, str]] = {
    "more than a row": {"count": "ny + 3"},
    "a row of the interior": {"above": "u + 7 * (ny + 2)"},
    "other rows": {"row": "ny + 3"},
    "across two rows": {"above": "u + (ny + 2) / 2 + ny"},
    "a length that changes between": {"between": "ny -= 1;"},
    "a place that is not known": {"above": "u + seen"},
    "a value that is printed": {"first": 'int tag = printf("%d", turns);', "tag": "tag"},
}


def split(fields: dict[str, str], folder: Path) -> bool:
    source = folder / "program.c"
    source.write_text(PROGRAM % {**USUAL, **fields})
    return b"exchange_start(" in transform([source], Options()).after[str(source)]


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    assert split(GOES[name], tmp_path)


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    assert not split(STAYS[name], tmp_path)
