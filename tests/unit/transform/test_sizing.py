"""Bounds of loops that are arguments, and size arrays too: no part may be called with others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

FORTRAN = """\
program main
  use mpi
  implicit none
  double precision :: a(66, 66), b(66, 66)
  integer :: s, e, it, ierr
  call MPI_INIT(ierr)
  s = 1
  e = 20
  a = 1
  b = 0
  do it = 1, 100
    call exchange(a, 60, s, e)
    call sweep(a, 60, s, e, b)
    call exchange(b, 60, s, e)
    call sweep(b, 60, s, e, a)
  end do
  print *, a(3, 3)
  call MPI_FINALIZE(ierr)
end program
subroutine exchange(a, nx, s, e)
  use mpi
  implicit none
  integer nx, s, e
  double precision a(0:nx+1, s-1:e+1)
  integer ierr
  call MPI_SENDRECV(a(1,e), nx, MPI_DOUBLE_PRECISION, 0, 0, a(1,s-1), nx, MPI_DOUBLE_PRECISION, &
    0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_SENDRECV(a(1,s), nx, MPI_DOUBLE_PRECISION, 0, 1, a(1,e+1), nx, MPI_DOUBLE_PRECISION, &
    0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
end subroutine
subroutine sweep(a, nx, s, e, b)
  implicit none
  integer nx, s, e
  double precision a(0:nx+1, s-1:e+1), b(0:nx+1, s-1:e+1)
  integer i, j
  do j = s, e
    do i = 1, nx
      b(i,j) = 0.25d0 * (a(i-1,j) + a(i,j+1) + a(i,j-1) + a(i+1,j))
    end do
  end do
end subroutine
"""
C = """\
#include <mpi.h>
#include <stdio.h>
static double a[22][62], b[22][62];
static void sweep(int s, int e, double u[22][62], double v[22][62])
{
    for (int j = s; j <= e; j++)
        for (int i = 1; i <= 60; i++)
            v[j][i] = 0.25 * (u[j][i - 1] + u[j][i + 1] + u[j - 1][i] + u[j + 1][i]);
}
static void exchange(int s, int e, double u[22][62])
{
    MPI_Sendrecv(&u[e][1], 60, MPI_DOUBLE, 0, 0, &u[s - 1][1], 60, MPI_DOUBLE, 0, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[s][1], 60, MPI_DOUBLE, 0, 1, &u[e + 1][1], 60, MPI_DOUBLE, 0, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int t = 0; t < 20; t++) {
        exchange(1, 20, a);
        sweep(1, 20, a, b);
        exchange(1, 20, b);
        sweep(1, 20, b, a);
    }
    printf("%g\\n", a[3][3]);
    MPI_Finalize();
    return 0;
}
"""
SHAPES = "a(0:nx+1, s-1:e+1), b(0:nx+1, s-1:e+1)"
# name: (the program, replacements, whether calls have other arguments)
CASES: dict[str, tuple[str, dict[str, str], bool]] = {
    "sizes are other arguments": (FORTRAN, {SHAPES: "a(0:nx+1, 0:*), b(0:nx+1, 0:*)"}, True),
    "bounds of the loop are those of the arrays": (FORTRAN, {}, False),
    "by an attribute": (
        FORTRAN,
        {
            f"  double precision {SHAPES}\n": "  double precision, dimension(0:nx+1, s-1:e+1) "
            ":: a\n  double precision :: b(0:nx+1, 0:*)\n"
        },
        False,
    ),
    "by a statement": (
        FORTRAN,
        {
            f"  double precision {SHAPES}\n": "  double precision a, b\n"
            "  dimension a(0:nx+1, s-1:*), b(0:nx+1, 0:*)\n"
        },
        False,
    ),
    "C": (C, {}, True),
    "C with lengths of lines that are arguments": (
        C,
        {"double u[22][62], double v[22][62])": "double u[][3 * e + 2], double v[][62])"},
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_calls_of_parts(name: str, tmp_path: Path) -> None:
    program, replacements, given = CASES[name]
    path = tmp_path / ("case.c" if program is C else "case.f90")
    path.write_text(changed(program, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    assert ("60, s + 1, e - 1" in text or "sweep(2, 19" in text) is given, text
    assert given or program is C or "sweep_interior(a, 60, s, e, b)" in text
