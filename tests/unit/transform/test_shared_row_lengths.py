"""Rows whose length is a variable at file scope: routines that are given them know it by that.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static double **e, **h;
static int n = 16, m = 32, rank, size, up, down;
static double **make(int rows, int columns)
{
    double **a = malloc(rows * sizeof *a);
    a[0] = calloc(rows * columns, sizeof **a);
    for (int i = 1; i < rows; i++)
        a[i] = a[0] + i * columns;
    return a;
}
static void send_row(double **f, int from, int to, int here, int there, int tag)
{
    MPI_Sendrecv(f[from], m, MPI_DOUBLE, here, tag, f[to], m, MPI_DOUBLE, there, tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void update(void)
{
    for (int i = 1; i <= n; i++)
        for (int j = 0; j < m; j++)
            h[i][j] += 0.5 * (e[i + 1][j] - e[i][j]);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = (rank + 1) % size;
    down = (rank + size - 1) % size;
    if (argc > 1)
        m = atoi(argv[1]);
    e = make(n + 2, m);
    h = make(n + 2, m);
    for (int i = 1; i <= n; i++)
        e[i][3] = i;
    for (int step = 0; step < 9; step++) {
        send_row(e, 1, n + 1, up, down, 0);
        update();
        for (int i = 1; i <= n; i++)
            e[i][5] += h[i][4];
    }
    printf("%g\\n", e[1][5]);
    MPI_Finalize();
    return 0;
}
"""
MADE = "    h = make(n + 2, m);\n"
LOCAL = {"static double **e, **h;\n": "", "    e = make": "    double **e = make"}
BY_FILE = {
    "static double **make(int rows, int columns)": "static double **make(int rows)",
    "columns": "m",
    "make(n + 2, m)": "make(n + 2)",
}
# name: (replacements, whether the update is divided)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "made by the same variable": (BY_FILE, True),
    "changed behind": ({MADE: f"{MADE}    m = 16;\n"}, False),
    "changed in between": ({MADE: f"    m = 40;\n{MADE}"}, False),
    "changed in the loop": ({"        update();": "        m--;\n        update();"}, False),
    "changed where it is made": (BY_FILE | {"    return a;": "    m += 2;\n    return a;"}, False),
    "changed before it is sent": (
        {"{\n    MPI_Sendrecv": "{\n    m = 8;\n    MPI_Sendrecv"},
        False,
    ),
    "rows of another length": ({MADE: MADE.replace(", m", ", m + 2")}, True),
    "which are sent, too": (
        {
            MADE: MADE.replace(", m", ", m + 2"),
            "        update();": "        update();\n        send_row(h, 1, n + 1, up, down, 1);",
        },
        False,
    ),
    "a message longer than a row": ({"f[to], m,": "f[to], m + 1,"}, False),
}


@pytest.mark.parametrize("name", CASES)
def test_divided(name: str, tmp_path: Path) -> None:
    replacements, divided = CASES[name]
    text = rewritten(tmp_path / "case.c", changed(PROGRAM, replacements))
    assert ("update_interior(" in text) is divided, text
