"""An ASSOCIATE of Fortran whose names are elements of an array of objects, as levels of a grid."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """module levels
  use mpi
  implicit none
  type level
    integer :: n, m
    real(8), allocatable :: u(:, :), r(:, :)
  end type level
  type(level) :: lev(3)
  integer :: up, down, shared = 1
contains
  subroutine make(g, n, m)
    type(level), intent(inout) :: g
    integer, intent(in) :: n, m
    g%n = n
    g%m = m
    allocate (g%u(0:g%n + 1, 0:g%m + 1), g%r(0:g%n + 1, 0:g%m + 1))
    g%u = 1
    g%r = 0
  end subroutine make
  subroutine halo(g)
    type(level), intent(inout) :: g
    integer :: e
    call MPI_Sendrecv(g%u(1, g%m), g%n, MPI_DOUBLE_PRECISION, up, 1, g%u(1, 0), g%n, &
      MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
  end subroutine halo
  subroutine smooth(g)
    type(level), intent(inout) :: g
    integer :: i, j
    call halo(g)
    do j = 1, g%m
      do i = 1, g%n
        g%r(i, j) = g%u(i, j) - g%u(i, j - 1)
      end do
    end do
  end subroutine smooth
  subroutine restrict(l)
    integer, intent(in) :: l
    integer :: i, j, k
    k = l
    associate (fine => lev(l), coarse => lev(l + 1))
      do j = 1, coarse%m
        do i = 1, coarse%n
          coarse%u(i, j) = 0.5d0 * (fine%r(2 * i, 2 * j) + fine%r(2 * i - 1, 2 * j))
        end do
      end do
    end associate
  end subroutine restrict
end module levels
program p
  use mpi
  use levels
  implicit none
  integer :: e, me, np, l
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
  call MPI_Comm_size(MPI_COMM_WORLD, np, e)
  up = merge(me + 1, MPI_PROC_NULL, me + 1 < np)
  down = merge(me - 1, MPI_PROC_NULL, me > 0)
  do l = 1, 3
    call make(lev(l), 32 / 2**(l - 1), 16 / 2**(l - 1))
  end do
  do l = 1, 2
    call smooth(lev(l))
    call restrict(l)
  end do
  print *, sum(lev(3)%u)
  call MPI_Finalize(e)
end program p
"""
LOOP = "      do j = 1, coarse%m\n"
NEXT = "  subroutine next(k)\n    integer :: k\n    k = 1\n  end subroutine\nend module"
BOTH = "(fine => lev(l), coarse => lev(l + 1))"
# What a name would be read as another element by, were it written out.
SETS = {
    "an assignment": {BOTH: "(fine => lev(k), coarse => lev(k + 1))", LOOP: f"      k = 1\n{LOOP}"},
    "a loop": {
        BOTH: "(fine => lev(k), coarse => lev(k + 1))",
        "do j = 1, coarse%m": "do k = 1, coarse%m",
        "(i, j)": "(i, k)",
        "2 * j": "2 * k",
    },
    "a call": {
        BOTH: "(fine => lev(k), coarse => lev(k + 1))",
        LOOP: f"      call next(k)\n{LOOP}",
        "end module": NEXT,
    },
    "a call of MPI": {
        BOTH: "(fine => lev(k), coarse => lev(k + 1))",
        LOOP: f"      call MPI_Comm_rank(MPI_COMM_WORLD, k, i)\n{LOOP}",
    },
    "input": {
        BOTH: "(fine => lev(k), coarse => lev(k + 1))",
        LOOP: f"      read *, k\n{LOOP}",
    },
    "a call that sets a variable of the module": {
        BOTH: "(fine => lev(shared), coarse => lev(shared + 1))",
        LOOP: f"      call next\n{LOOP}",
        "end module": "  subroutine next\n    shared = 2\n  end subroutine next\nend module",
    },
    "another array": {"fine => lev(l)": "fine => lev(lev(l)%n)"},
    "several": {"fine%r(": "fine(1)%r(", "fine => lev(l)": "fine => lev(l:l + 1)"},
    "a pointer": {
        "type(level) :: lev(3)": "type(level), pointer :: lev(:)",
        "  do l = 1, 3\n": "  allocate (lev(3))\n  spare => lev\n  do l = 1, 3\n",
        "  integer :: up, down": "  type(level), pointer :: spare(:)\n  integer :: up, down",
    },
}
GOES = {
    "as it is": {},
    "a local variable": {BOTH: "(fine => lev(k), coarse => lev(k + 1))"},
    "a variable of the module": {BOTH: "(fine => lev(shared), coarse => lev(shared + 1))"},
    "a number": {BOTH: "(fine => lev(1), coarse => lev(2))"},
    "allocated": {
        "type(level) :: lev(3)": "type(level), allocatable :: lev(:)",
        "  do l = 1, 3\n": "  allocate (lev(3))\n  do l = 1, 3\n",
    },
    "its components": {
        BOTH: "(r => lev(l)%r, v => lev(l + 1)%u, n => lev(l + 1)%n, m => lev(l + 1)%m)",
        "coarse%u": "v",
        "coarse%n": "n",
        "coarse%m": "m",
        "fine%r": "r",
    },
    "with a call": {
        LOOP: f"      call next(i)\n{LOOP}",
        "end module": NEXT,
    },
}


@pytest.mark.parametrize("name", GOES)
def test_names_of_elements_are_written_out(name: str, tmp_path: Path) -> None:
    assert "call halo_start" in rewritten(tmp_path / "p.f90", changed(PROGRAM, GOES[name]))


@pytest.mark.parametrize("name", SETS)
def test_what_chooses_the_element_may_change(name: str, tmp_path: Path) -> None:
    assert "call halo_start" not in rewritten(tmp_path / "p.f90", changed(PROGRAM, SETS[name]))
