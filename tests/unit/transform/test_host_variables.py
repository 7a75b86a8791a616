"""Sizes that internal procedures of Fortran know from the program or routine around them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

pytestmark = pytest.mark.slow

PROGRAM = """
program heat
  use mpi
  implicit none
  integer :: nx, ny, ierr, t
  real(8), allocatable :: u(:, :), v(:, :)
  call MPI_Init(ierr)
  nx = 60
  ny = 40
  allocate (u(0:nx + 1, 0:ny + 1), v(0:nx + 1, 0:ny + 1))
  u = 1
  v = 0
  do t = 1, 10
    call exchange(u)
    call relax(u, v)
    u = v
  end do
  print *, sum(u)
  call MPI_Finalize(ierr)
contains
  subroutine exchange(a)
    real(8), intent(inout) :: a(0:, 0:)
    integer :: req(4)
    call MPI_Irecv(a(1, 0), nx, MPI_REAL8, 0, 1, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(a(1, ny + 1), nx, MPI_REAL8, 0, 2, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Isend(a(1, 1), nx, MPI_REAL8, 0, 2, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(a(1, ny), nx, MPI_REAL8, 0, 1, MPI_COMM_WORLD, req(4), ierr)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
  end subroutine exchange
  subroutine relax(a, b)
    real(8), intent(in) :: a(0:, 0:)
    real(8), intent(inout) :: b(0:, 0:)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        b(i, j) = a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1)
      end do
    end do
  end subroutine relax
end program heat
"""
SIZES = "  nx = 60\n  ny = 40\n"
EXCHANGE = "    call exchange(u)\n"
WAIT = "    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)\n"
LOOP = "    do j = 1, ny\n"
OWN = "    integer :: i, j\n"
LOCAL = "integer :: nx, ny, ierr, t"
# A routine around the procedures in the place of the program, which gives it the sizes.
ROUTINE = {
    "\nprogram heat\n": "\nsubroutine heat(nx, ny)\n",
    LOCAL: "integer, intent(in) :: nx, ny\n  integer :: ierr, t",
    SIZES: "",
    "real(8), allocatable :: u(:, :), v(:, :)": "real(8), dimension(0:nx + 1, 0:ny + 1) :: u, v",
    "  allocate (u(0:nx + 1, 0:ny + 1), v(0:nx + 1, 0:ny + 1))\n": "",
    "(0:, 0:)": "(0:nx + 1, 0:ny + 1)",
    "  call MPI_Init(ierr)\n": "",
    "  call MPI_Finalize(ierr)\n": "",
    "end program heat\n": """end subroutine heat
program main
  use mpi
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
  call heat(60, 40)
  call heat(20, 30)
  call MPI_Finalize(ierr)
end program main
""",
}
DIVIDED: dict[str, dict[str, str]] = {
    "sizes of the program": {},
    "sizes that are read": {SIZES: "  read *, nx, ny\n"},
    "bounds that are declared": {"(0:, 0:)": "(0:nx + 1, 0:ny + 1)"},
    "the program's arrays": {
        "(u, v)\n    u": "()\n    u",
        "relax(a, b)": "relax()",
        "    real(8), intent(in) :: a(0:, 0:)\n": "",
        "    real(8), intent(inout) :: b(0:, 0:)\n    integer :: i, j": OWN.rstrip(),
        "b(i, j) =": "v(i, j) =",
        "a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1)": "u(i, j - 1) + u(i, j + 1)",
    },
    "sizes of a routine": ROUTINE,
    "another number is set between": {
        LOCAL: LOCAL + ", nz",
        EXCHANGE: EXCHANGE + "    nz = ny + 1\n",
    },
    "a number of its own that has the same name": {
        OWN: OWN + "    integer :: ny\n    ny = ubound(b, 2) - 1\n"
    },
}
REFUSED: dict[str, dict[str, str]] = {
    "a size is set between": {EXCHANGE: EXCHANGE + "    ny = ny + 1\n"},
    "the exchange sets a size": {WAIT: WAIT + "    ny = ny + 1\n"},
    "what sweeps sets a size": {LOOP: "    ny = ny + 1\n" + LOOP},
    "a call that is made between sets it": {
        EXCHANGE: EXCHANGE + "    call grow()\n",
        "  subroutine relax": (
            "  subroutine grow()\n    ny = ny + 1\n  end subroutine grow\n  subroutine relax"
        ),
    },
    "another number of its own that has the same name": {
        SIZES: "  nx = 30\n  ny = 40\n",
        OWN: OWN + "    integer :: ny\n    ny = ubound(b, 1) - 1\n",
    },
    "another size": {
        LOCAL: LOCAL + ", nz",
        SIZES: SIZES + "  read *, nz\n",
        LOOP: LOOP.replace("ny", "nz"),
    },
}


@pytest.mark.parametrize("name", DIVIDED)
def test_sizes_of_what_is_around_tell_the_interior(tmp_path: Path, name: str) -> None:
    text = rewritten(tmp_path / "heat.f90", changed(PROGRAM, DIVIDED[name]))
    assert "call exchange_start(" in text
    assert "do j = 2, ny - 1\n" in text


@pytest.mark.parametrize("name", REFUSED)
def test_sizes_that_change_tell_nothing(tmp_path: Path, name: str) -> None:
    text = changed(PROGRAM, REFUSED[name])
    assert rewritten(tmp_path / "heat.f90", text) == text
