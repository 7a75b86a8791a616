"""Programs that ask for MPI_THREAD_MULTIPLE, and whether one thread calls MPI in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
static double a[1000], b[1000];
%s
int main(int argc, char **argv)
{
    int me, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Recv(a, 9, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 1000; i++)
        b[i] = 2.0 * i;
    b[1] = a[2];
    %s
    MPI_Finalize();
    return b[2] > 1.0;
}
"""
OMP = "static void f(void)\n{\n#pragma omp parallel\n    b[0] = 1.0;\n}"
CREATE = "int pthread_create(int *);"


@pytest.mark.parametrize(
    ("declared", "later", "proven", "said"),
    [
        ("", "", True, True),
        (OMP, "", False, True),
        ("void unseen(void);", "unseen();", False, True),
        (CREATE, "pthread_create(&me);", False, False),
    ],
)
def test_one_thread(declared: str, later: str, proven: bool, said: bool, tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text(PROGRAM % (declared, later))
    for single_thread, moves in ((False, proven), (True, said)):
        outcome = transform([path], Options(single_thread=single_thread))
        assert (outcome.before != outcome.after) is moves, [
            str(d.reason) for d in outcome.decisions
        ]
