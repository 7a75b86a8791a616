"""Messages of C whose count is in bytes, of arrays of numbers: which elements they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
static %(type)s *u, *v;
static int n = 40, m = 30, up = MPI_PROC_NULL, down = MPI_PROC_NULL;
static void exchange(void)
{
    %(count)s
    MPI_Sendrecv(u + m, %(bytes)s, MPI_BYTE, up, 0, u, %(bytes)s, MPI_BYTE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void step(void)
{
    for (int i = 1; i <= n; i++)
        for (int j = 0; j < m; j++)
            v[i * m + j] = u[(i - 1) * m + j] + u[(i + 1) * m + j];
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    u = calloc((n + 2) * m, sizeof(*u));
    v = calloc((n + 2) * m, sizeof(*v));
    exchange();
    step();
    printf("%%g\\n", (double)v[9]);
    MPI_Finalize();
    return 0;
}
"""
ROWS = [
    ("double", "", "m * 8"),
    ("double", "", "m * sizeof(double)"),
    ("double", "", "(int)(sizeof(*u) * m)"),
    ("double", "size_t bytes = m * sizeof(double);", "bytes"),
    ("double", "size_t bytes = m * sizeof(double);", "(int)bytes"),
    ("float", "", "4 * m"),
    ("long", "", "m * sizeof(long)"),
]
OTHERS = [
    ("double", "", "m * sizeof(float) - 4"),
    ("double", "", "8 * m * m"),
    ("double", "int k = rand();", "k"),
    ("double", "", "m * sizeof(double) * n"),
    ("long double", "", "m * sizeof(double) + 1"),
]


@pytest.mark.parametrize(("kind", "count", "number"), ROWS)
def test_whole_rows(tmp_path: Path, kind: str, count: str, number: str) -> None:
    assert divided(tmp_path, kind, count, number)


@pytest.mark.parametrize(("kind", "count", "number"), OTHERS)
def test_what_is_no_row(tmp_path: Path, kind: str, count: str, number: str) -> None:
    assert not divided(tmp_path, kind, count, number)


def divided(folder: Path, kind: str, count: str, number: str) -> bool:
    file = folder / "halo.c"
    file.write_text(PROGRAM % {"type": kind, "count": count, "bytes": number})
    after = transform([file], Options()).after
    return any(b"step_interior(" in text for text in after.values())
