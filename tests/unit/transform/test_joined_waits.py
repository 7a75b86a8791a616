"""Waits of one MPI_Waitall that end at one place are one statement, which releases what all do."""

from __future__ import annotations

from pathlib import Path

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

# `begin` and `end` only start and only complete: they are moved after the waits were joined.
PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double u[N], v[N], f[N], d[N], g[N];
static MPI_Request open[2];
static int left, right;

static void begin(void)
{
    for (int i = 0; i < N; i++)
        g[i] = 0.5 * g[i];
    MPI_Irecv(&u[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &open[0]);
    MPI_Isend(&u[N - 2], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &open[1]);
}

static void end(void)
{
    MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
}

static void joined(void)
{
    MPI_Request r[3];
    MPI_Irecv(&d[0], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&v[0], 10, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&f[0], 10, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &r[2]);
    for (int i = 1; i < N - 1; i++)
        g[i] = 0.5 * g[i] + 1.0;
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Bcast(f, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(v, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 1; i < N - 1; i++)
        g[i] = 0.5 * g[i] + 1.0;
    g[0] = f[0] + v[0] + d[0];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 10; k++) {
        begin();
        for (int i = 0; i < N; i++)
            v[i] = 0.5 * v[i];
        end();
        joined();
    }
    printf("%g %g %g\\n", u[0], v[3], g[5]);
    MPI_Finalize();
    return 0;
}
"""


def test_a_collective_does_not_pass_a_joined_wait_for_its_buffer(tmp_path: Path) -> None:
    source = tmp_path / "joined.c"
    source.write_text(PROGRAM)
    text = transform([source], Options()).after[str(source)].decode()
    joined = text[text.index("static void joined") : text.index("int main")]
    wait = joined.index("MPI_Waitall(2, &r[1]")
    assert wait < joined.index("MPI_Ibcast(f") < joined.index("MPI_Ibcast(v")
