"""C parameters that are declared as arrays are pointers: the callee uses the caller's memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define M 10
static double w[5000];
%s
static void work(void)
{
    for (int i = 0; i < 5000; i++)
        w[i] = 0.5 * w[i] + i;
}
int main(int argc, char **argv)
{
    double a%s, b%s, s;
    MPI_Init(&argc, &argv);
    MPI_Recv(b, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work();
    s = total(M, b);
    work();
    MPI_Send(a, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    work();
    reset(M, a);
    work();
    printf("%%g %%g\\n", s, w[0]);
    MPI_Finalize();
    return 0;
}
"""
ONE = """typedef double row[100];
static double total(int n, const %s)
{
    double s = 0;
    for (int i = 0; i < n * n; i++)
        s += x[i];
    return s;
}
static void reset(int n, %s)
{
    for (int i = 0; i < n * n; i++)
        *(x + i) = 0;
}"""
TWO = """static double total(int n, %s)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s += x[i][j];
    return s;
}
static void reset(int n, %s)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            (x)[i][j] = 0;
}"""
LINES = ["double *x", "double x[]", "double x[100]", "double x[static 100]", "double x[n]", "row x"]
GRIDS = ["double (*x)[M]", "double x[][M]", "double x[M][M]", "double x[n][n]", "double x[][n]"]


@pytest.mark.parametrize(
    ("routines", "declared", "bounds"),
    [(ONE, declared, "[100]") for declared in LINES]
    + [(TWO, declared, "[M][M]") for declared in GRIDS],
)
def test_the_caller_waits(routines: str, declared: str, bounds: str, tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(PROGRAM % (routines % (declared, declared), bounds, bounds))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    assert text.count("MPI_Wait(") == 2, text
    received, sent = (n for n, line in enumerate(text.split("\n")) if "MPI_Wait(" in line)
    lines = text.split("\n")
    assert "total(M, b)" in lines[received + 1], text
    assert "reset(M, a)" in lines[sent + 1], text
