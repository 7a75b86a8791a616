"""Error codes in C that a variable takes and that nothing reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Options, transform

PROGRAM = """#include <mpi.h>
static double a[1000], b[1000];
static int kept;
void work(int *code);
int main(int argc, char **argv)
{
    int n = 0, me, ierr;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    %s
    for (int i = 0; i < 1000; i++)
        b[i] = 2.0 * i;
    for (int i = 0; i < 1000; i++)
        b[i] += a[i] + n;
    %s
    MPI_Finalize();
    return b[2] > 1.0;
}
"""
RECV = "MPI_Recv(a, 9, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
BCAST = "MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);"


def after(call: str, later: str, tmp_path: Path) -> str:
    path = tmp_path / "p.c"
    path.write_text(PROGRAM % (call, later))
    outcome = transform([path], Options())
    text = outcome.after[str(path)]
    return "" if text == outcome.before[str(path)] else text.decode()


def test_the_start_sets_the_variable(tmp_path: Path) -> None:
    text = after(f"ierr = {RECV}", "", tmp_path)
    assert "    ierr = MPI_Irecv(a, 9," in text
    assert "    MPI_Wait(&imbrex_request, MPI_STATUS_IGNORE);" in text


def test_collectives_too(tmp_path: Path) -> None:
    assert "ierr = MPI_Ibcast(&n, 1," in after(f"ierr = {BCAST}", "", tmp_path)


@pytest.mark.parametrize(
    ("call", "later"),
    [
        (f"ierr = {RECV}", "if (ierr) return 1;"),
        (f"ierr = {RECV}", "kept = ierr;"),
        (f"ierr = {RECV}", "work(&ierr);"),
        (f"kept = {RECV}", ""),
        (f"int more = me + {RECV}", ""),
        (f"ierr |= {RECV}", ""),
        (f"n = ierr = {RECV}", ""),
        (f"b[0] = {RECV}", ""),
        (f"if ((ierr = {RECV[:-1]}) != 0) return 1;", ""),
    ],
)
def test_one_that_may_be_read_stays(call: str, later: str, tmp_path: Path) -> None:
    assert after(call, later, tmp_path) == ""
