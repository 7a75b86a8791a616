"""Arrays in lines of a variable length that a time step exchanges: `double (*t)[m] = u;`."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int n = 40, m = 30, up = MPI_PROC_NULL, down = MPI_PROC_NULL;
static void exchange(double u[n + 2][m])
{
    MPI_Sendrecv(u[1], m, MPI_DOUBLE, up, 0, u[n + 1], m, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void step(double u[n + 2][m], double v[n + 2][m])
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = u[i - 1][j] + u[i + 1][j];
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double (*u)[m] = calloc(n + 2, sizeof *u);
    double (*v)[m] = calloc(n + 2, sizeof *v);
    double (*w)[m] = %(third)s;
    for (int it = 0; it < 4; it++) {
        exchange(u);
        step(u, v);
        %(behind)s
    }
    printf("%%g\\n", u[3][4] + w[1][1]);
    MPI_Finalize();
    return 0;
}
"""
NEW = "calloc(n + 2, sizeof *w)"
APART = [
    ("double (*t)[m] = u;\n        u = v;\n        v = t;", NEW),
    ("double (*t)[m] = u; u = v; v = t;", NEW),
    ("double (*const t)[m] = u;\n        u = v;\n        v = t;", NEW),
    ("double (*t)[m] = u;\n        u = v;\n        v = w;\n        w = t;", NEW),
    ("w = u;\n        u = v;\n        v = w;", "NULL"),
]
ONE = [
    ("double (*t)[m] = v;\n        u = v;\n        v = t;", NEW),
    ("double (*t)[m] = u;\n        u = v;\n        v = u;\n        w = t;", NEW),
    ("double (*t)[m] = it ? u : v;\n        u = v;\n        v = t;", NEW),
    ("u = v;", NEW),
]


@pytest.mark.parametrize(("behind", "third"), APART)
def test_they_are_told_apart(tmp_path: Path, behind: str, third: str) -> None:
    assert split(tmp_path, behind, third)


@pytest.mark.parametrize(("behind", "third"), ONE)
def test_they_may_be_one(tmp_path: Path, behind: str, third: str) -> None:
    assert not split(tmp_path, behind, third)


def split(folder: Path, behind: str, third: str) -> bool:
    file = folder / "lines.c"
    file.write_text(PROGRAM % {"behind": behind, "third": third})
    after = transform([file], Options()).after
    return any(b"step_interior(" in text for text in after.values())
