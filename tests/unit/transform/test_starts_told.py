"""Of a start that stays while its wait moves just that is told, and no advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.command import explain
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

C = """#include <mpi.h>
void step(double *u, double *v, int n, int left, int right, int *more)
{
    MPI_Request reqs[2];
    int k = 0;
    MPI_Irecv(u, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &reqs[k++]);
    MPI_Isend(u + n, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &reqs[k++]);
    MPI_Waitall(k, reqs, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        v[i] = 2 * v[i];
    for (int i = 0; i < n; i++)
        v[i] += u[i] * *more;
}
int main(int argc, char **argv)
{
    static double u[20], v[10];
    int more = 1;
    MPI_Init(&argc, &argv);
    step(u, v, 10, 0, 0, &more);
    MPI_Finalize();
    return v[3] > 7;
}
"""
FORTRAN = """subroutine finish(requests)
  use mpi
  integer :: requests(2)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
end subroutine
program main
  use mpi
  double precision :: u(20), v(10)
  integer :: requests(2), ierr, i
  call MPI_Init(ierr)
  u = 1
  v = 0
  call MPI_Irecv(u(1), 10, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(u(11), 10, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, requests(2), ierr)
  call finish(requests)
  do i = 1, 10
    v(i) = 2 * v(i) + i
  end do
  do i = 1, 10
    v(i) = v(i) + u(i)
  end do
  print *, v
  call MPI_Finalize(ierr)
end program
"""


def outcome_of(tmp_path: Path, name: str, text: str) -> Outcome:
    file = tmp_path / name
    file.write_text(text)
    return transform([file], Options())


def told(outcome: Outcome, operation: str) -> list[tuple[str, str]]:
    """Decisions and reasons of the calls of an operation."""
    found = [d for d in outcome.decisions if d.site.call.name == operation]
    return [(d.decision, str(d.reason).rpartition("/")[2]) for d in found]


def test_starts_whose_wait_moves(tmp_path: Path) -> None:
    """Their requests are counted up in the argument, so that they cannot move themselves."""
    outcome = outcome_of(tmp_path, "s.c", C)
    assert told(outcome, "MPI_Irecv") == [("nothing-to-gain", "s.c:8)")]
    text = explain(outcome)
    assert f"MPI_Isend in step: stays, and its wait moves ({tmp_path}/s.c:8)\n" in text
    assert "side effects" not in text
    assert text.endswith(
        "1 of 3 call sites can be rewritten; 2 more start what is waited for later there.\n"
    )


def test_starts_that_another_routine_waits_for(tmp_path: Path) -> None:
    """The call of that routine moves, with the wait in it."""
    outcome = outcome_of(tmp_path, "s.f90", FORTRAN)
    assert told(outcome, "MPI_Waitall")[0][0] == "rewritten"
    assert [decision for decision, _ in told(outcome, "MPI_Irecv")] == ["nothing-to-gain"]
    assert explain(outcome).count("stays, and its wait moves") == 2


@pytest.mark.parametrize("only", [0, 6])
def test_starts_whose_wait_stays(tmp_path: Path, only: int) -> None:
    """Without work behind the wait, or where the wait was not chosen, the reason is told."""
    text = C if only else C.replace("v[i] = 2 * v[i];", "v[i] = 2 * u[i];")
    file = tmp_path / "s.c"
    file.write_text(text)
    outcome = transform([file], Options(only=frozenset({(str(file), only)} if only else ())))
    said = explain(outcome)
    assert "wait moves" not in said and "side effects" in said
    assert said.endswith(f"0 of {1 if only else 3} call sites can be rewritten.\n")


HALO = """#include <mpi.h>
void step(double *u, double *v, int n, int left, int right)
{
    MPI_Request reqs[4];
    int k = 0;
    if (left != MPI_PROC_NULL) {
        MPI_Irecv(&u[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &reqs[k++]);
        MPI_Isend(&u[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &reqs[k++]);
    }
    if (right != MPI_PROC_NULL) {
        MPI_Irecv(&u[n + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &reqs[k++]);
        MPI_Isend(&u[n], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &reqs[k++]);
    }
    MPI_Waitall(k, reqs, MPI_STATUSES_IGNORE);
    for (int i = 1; i <= n; i++)
        v[i] = u[i - 1] + u[i + 1];
}
int main(int argc, char **argv)
{
    static double u[22], v[22];
    MPI_Init(&argc, &argv);
    step(u, v, 20, argc, 0);
    MPI_Finalize();
    return v[3] > 7;
}
"""


def test_starts_whose_messages_travel_beside_the_interior(tmp_path: Path) -> None:
    """Nothing moves of them: the loop behind their wait is divided, which is told once."""
    outcome = outcome_of(tmp_path, "h.c", HALO)
    decisions = [d.decision for d in outcome.decisions]
    assert decisions == ["rewritten"] * 5
    text = explain(outcome)
    assert text.count("the loop is divided") == 5
    assert text.endswith("5 of 5 call sites can be rewritten.\n")
