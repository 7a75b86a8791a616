"""Numbers that MPI tells a wrapper, whose finish asks for them: `MPI_Comm_rank(comm, &rank)`."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
static double u[102], v[102];
static int up, down, *kept;
static double total;
static void exchange(void)
{
    int rank%(begin)s;
    %(ask)s
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, up, 0, &u[101], 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank %% 2 == 0)
        total += u[101];
}
static void step(void)
{
    for (int i = 1; i <= 100; i++)
        v[i] = u[i - 1] + u[i + 1];
}
int main(int argc, char **argv)
{
    int me, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = me > 0 ? me - 1 : MPI_PROC_NULL;
    down = me < size - 1 ? me + 1 : MPI_PROC_NULL;
    for (int t = 0; t < 3; t++) {
        exchange();
        step();
    }
    printf("%%g\\n", v[5]);
    MPI_Finalize();
    return 0;
}
"""
TOLD = [
    ("", "MPI_Comm_rank(MPI_COMM_WORLD, &rank);"),
    (" = 0", "MPI_Comm_rank(MPI_COMM_WORLD, &rank);"),
    ("", "MPI_Comm_size(MPI_COMM_WORLD, &rank);\n    rank = up + 1;"),
]
NOT_TOLD = [
    (", *p = &rank", "MPI_Comm_rank(MPI_COMM_WORLD, p);"),
    ("", "MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    kept = &rank;"),
    ("", "if (up >= 0)\n        MPI_Comm_rank(MPI_COMM_WORLD, &rank);"),
    ("", "if (scanf(\"%d\", &rank) != 1)\n        rank = 1;"),
]  # fmt: skip


def split(folder: Path, begin: str, ask: str) -> bool:
    file = folder / "halo.c"
    file.write_text(PROGRAM % {"begin": begin, "ask": ask})
    after = transform([file], Options()).after
    return any(b"exchange_start(" in text for text in after.values())


@pytest.mark.parametrize(("begin", "ask"), TOLD)
def test_the_start_hands_it_on(tmp_path: Path, begin: str, ask: str) -> None:
    assert split(tmp_path, begin, ask)


@pytest.mark.parametrize(("begin", "ask"), NOT_TOLD)
def test_what_may_be_set_otherwise(tmp_path: Path, begin: str, ask: str) -> None:
    assert not split(tmp_path, begin, ask)
