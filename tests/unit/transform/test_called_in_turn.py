"""Loops of calls of a wrapper, each of which waits for its own messages: what is told of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.command import explain
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

FORTRAN = """\
module halo
  use mpi
  implicit none
  integer, parameter :: n = 16, planes = 8
  integer :: left, right
contains
  subroutine exchange(u)
    real(8), intent(inout) :: u(n, 0:1)
    integer :: ierr
    call MPI_Sendrecv(u(1, 1), n, MPI_DOUBLE_PRECISION, right, 1, u(1, 0), n, &
      MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine
end module
program main
  use halo
  implicit none
  real(8) :: u(n, 0:1, planes), w(n, planes)
  integer :: ierr, i, k
  call MPI_Init(ierr)
  u = 1
  w = 0
  do k = 1, planes
    call exchange(u(1, 0, k))
  end do
  do k = 1, planes
    do i = 1, n
      w(i, k) = w(i, k) + i * k
    end do
  end do
  print *, sum(w), sum(u)
  call MPI_Finalize(ierr)
end program
"""
C = """\
#include <mpi.h>
#include <stdio.h>
enum { N = 16, PLANES = 8 };
static int left, right;
static double u[PLANES][2][N], w[PLANES][N];
static void exchange(double p[2][N])
{
    MPI_Sendrecv(p[1], N, MPI_DOUBLE, right, 1, p[0], N, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int k = 0; k < PLANES; k++)
        exchange(u[k]);
    for (int k = 0; k < PLANES; k++)
        for (int i = 0; i < N; i++)
            w[k][i] += i * k;
    printf("%g %g\\n", w[1][1], u[1][0][1]);
    MPI_Finalize();
    return 0;
}
"""
TOLD = "main calls it in a loop: the messages of each call end before the next one begins"
WORK = FORTRAN[FORTRAN.index("  do k = 1, planes\n    do i") : FORTRAN.index("  print")]
INNER = "    call exchange(u(1, 0, k))\n"
IN_C = "        exchange(u[k]);\n"
# The same with each of these in the loop of C.
EACH = {
    "under a condition": "        if (k > 0) exchange(u[k]);\n",
    "by a pointer that is set": (
        "    {\n        double (*p)[N] = u[k];\n        exchange(p);\n    }\n"
    ),
}
# None of these loops gives it one part of an array after the other, beside work.
OTHER = {
    "the same each time": {INNER: INNER.replace("k))", "1))")},
    "work in the loop": {
        INNER: INNER + "    do i = 1, n\n      w(i, k) = w(i, k) + u(i, 0, k)\n    end do\n"
    },
    "no work": {WORK: "", "  u = 1\n  w = 0\n": ""},
    "steps": {
        "    integer :: ierr\n": "    integer :: ierr, i, j\n    real(8) :: v(n)\n",
        "  end subroutine\n": "    do j = 1, n\n      do i = 1, n\n"
        "        v(i) = i * j\n      end do\n    end do\n    print *, v(1)\n  end subroutine\n",
    },
}


def told(file: Path, text: str) -> str:
    file.write_text(text)
    return " ".join(explain(transform([file], Options())).split())


@pytest.mark.parametrize(("name", "text"), [("one.f90", FORTRAN), ("one.c", C)])
def test_each_call_waits(tmp_path: Path, name: str, text: str) -> None:
    found = told(tmp_path / name, text)
    assert f"in exchange: cannot be moved {TOLD}" in found
    assert "give it all of the array in one call, and let it have the loop" in found


@pytest.mark.parametrize("name", EACH)
def test_in_c(tmp_path: Path, name: str) -> None:
    assert f"cannot be moved {TOLD}" in told(tmp_path / "one.c", changed(C, {IN_C: EACH[name]}))


def test_the_same_field_in_c(tmp_path: Path) -> None:
    found = told(tmp_path / "one.c", changed(C, {IN_C: IN_C.replace("u[k]", "u[0]")}))
    assert "MPI_Sendrecv in exchange" in found and TOLD not in found


@pytest.mark.parametrize("name", OTHER)
def test_other_loops(tmp_path: Path, name: str) -> None:
    found = told(tmp_path / "one.f90", changed(FORTRAN, OTHER[name]))
    assert "MPI_Sendrecv in exchange" in found and TOLD not in found


def test_what_is_advised(tmp_path: Path) -> None:
    """A loop in the wrapper starts all of its messages, and ends them behind the work."""
    inside = {
        INNER: "",
        "  do k = 1, planes\n  end do\n": "  call exchange(u)\n",
        "u(n, 0:1)\n    integer :: ierr": "u(n, 0:1, planes)\n    integer :: ierr, k",
        "    call MPI_S": "    do k = 1, planes\n    call MPI_S",
        "u(1, 1), n": "u(1, 1, k), n",
        "u(1, 0), n": "u(1, 0, k), n",
        "  end subroutine\n": "    end do\n  end subroutine\n",
    }
    found = told(tmp_path / "one.f90", changed(FORTRAN, inside))
    assert "in exchange: rewrite (wrappers, message-loops" in found
