"""Programs whose routines call one another often: the analysis must not follow every path."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

_DEPTH = 40  # with two calls of the next routine in each: 2**40 paths
_SHARED = "\n".join(f"double g{number};" for number in range(60))
_ROUTINE = """\
static void routine_{number}(double *a)
{{
    a[{number}] = g{number} + 1.0;
    routine_{next}(a);
    g{number} = a[{number}];
    routine_{next}(a + 1);
}}
"""
_LAST = "static void routine_%d(double *a)\n{\n    for (int i = 0; i < 50; i++) {\n%s\n    }\n}\n"
_TOUCHED = "\n".join(f"        g{number} += a[i];" for number in range(60))
_MAIN = """\
int main(int argc, char **argv)
{
    static double u[200], w[200];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Send(u, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(u, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    routine_0(%s);
    for (int i = 0; i < 100; i++)
        w[i] += u[i];
    MPI_Finalize();
    return 0;
}
"""


def _receive(folder: Path, argument: str) -> str:
    """What is decided about the receive, where `argument` is passed down all paths."""
    chain = [_ROUTINE.format(number=n, next=n + 1) for n in reversed(range(_DEPTH))]
    path = folder / "deep.c"
    path.write_text(
        "\n".join(
            ["#include <mpi.h>", _SHARED, _LAST % (_DEPTH, _TOUCHED), *chain, _MAIN % argument]
        )
    )
    return transform([path], Options()).decisions[1].decision


def test_a_routine_reached_on_many_paths_counts_once(tmp_path: Path) -> None:
    assert _receive(tmp_path, "w") == "rewritten"


def test_what_it_does_at_the_end_of_all_paths_is_still_seen(tmp_path: Path) -> None:
    assert _receive(tmp_path, "u") != "rewritten"
