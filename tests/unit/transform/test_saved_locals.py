"""Local variables of Fortran that keep their values: two routines would have one each."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """module halo
  use mpi
  implicit none
  integer :: up, down
  integer, parameter :: nx = 50, ny = 40
contains
  subroutine exchange(a)
    real(8), intent(inout) :: a(0:nx+1, 0:ny+1)
    integer :: ierr, i
    real(8) :: s(nx), r(nx)
    do i = 1, nx
      s(i) = a(i, ny)
    end do
    call MPI_Sendrecv(s, nx, MPI_DOUBLE_PRECISION, down, 0, r, nx, MPI_DOUBLE_PRECISION, up, 0, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    if (up /= MPI_PROC_NULL) then
      do i = 1, nx
        a(i, 0) = r(i)
      end do
    end if
  end subroutine
  subroutine smooth(a, b)
    real(8) :: a(0:nx+1, 0:ny+1), b(0:nx+1, 0:ny+1)
    real(8) :: old(0:nx+1, 0:ny+1)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        b(i, j) = 0.5d0*(a(i, j-1) + a(i, j))
      end do
    end do
  end subroutine
end module
program main
  use mpi
  use halo
  implicit none
  real(8), allocatable :: u(:, :), v(:, :)
  integer :: ierr, it, rank, n
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  up = merge(rank-1, MPI_PROC_NULL, rank > 0)
  down = merge(rank+1, MPI_PROC_NULL, rank < n-1)
  allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1))
  u = rank
  do it = 1, 10
    call exchange(u)
    call smooth(u, v)
    u(1:nx, 1:ny) = v(1:nx, 1:ny)
  end do
  print *, sum(u)
  call MPI_Finalize(ierr)
end program
"""
LOCAL = "    integer :: ierr, i\n    real(8) :: s(nx), r(nx)\n"
COUNTER = f"{LOCAL}    integer, save :: calls = 0\n    calls = calls + 1\n"
OLD = "    real(8) :: old("
PLUS_OLD = {"+ a(i, j))\n": "+ a(i, j)) + old(i, j)\n"}
END = "  end subroutine\nend module"
KEEP_OLD = {f"    end do\n{END}": f"    end do\n    old = a\n{END}"}

HALVES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "both buffers": ({LOCAL: LOCAL.replace("real(8)", "real(8), save")}, False),
    "a statement for one": ({LOCAL: f"{LOCAL}    save r\n"}, False),
    "a statement for all": ({LOCAL: f"{LOCAL}    save\n"}, False),
    "values of a data statement": ({LOCAL: f"{LOCAL}    data r /nx*0d0/\n"}, False),
    "a value where it is declared": (
        {LOCAL: LOCAL.replace(", r(nx)", "\n    real(8) :: r(nx) = 0")},
        False,
    ),
    "what is sent alone": ({LOCAL: f"{LOCAL}    save s\n"}, True),
    "an index alone": ({LOCAL: f"{LOCAL}    save i\n"}, True),
    "a count of the calls": ({LOCAL: COUNTER, "= r(i)": "= r(i) + calls"}, False),
    "a count that the start has": ({LOCAL: COUNTER, "= a(i, ny)": "= a(i, ny) + calls"}, True),
}
PARTS: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "an array": (
        {OLD: OLD.replace("real(8)", "real(8), save"), **PLUS_OLD, **KEEP_OLD},
        False,
    ),
    "an array that nothing uses": ({OLD: OLD.replace("real(8)", "real(8), save")}, True),
    "all": ({OLD: f"    save\n{OLD}"}, False),
}


@pytest.mark.parametrize("name", HALVES)
def test_halves(name: str, tmp_path: Path) -> None:
    replaced, divided = HALVES[name]
    text = rewritten(tmp_path / "case.f90", changed(PROGRAM, replaced))
    assert ("call exchange_start(" in text) is divided


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_a_nest(name: str, tmp_path: Path) -> None:
    replaced, divided = PARTS[name]
    text = rewritten(tmp_path / "case.f90", changed(PROGRAM, replaced))
    assert ("call smooth_interior(" in text) is divided
