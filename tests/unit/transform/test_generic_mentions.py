"""Arrays that generic names of Fortran are given: no sections, where each reference says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

pytestmark = pytest.mark.slow

PROGRAM = """
module comms
  use mpi
  implicit none
  integer :: north, south, comm
  interface exchange
    module procedure exchange2, exchange3
  end interface exchange
contains
  subroutine exchange2(a)
    real(8), intent(inout) :: a(:, 0:)
    integer :: n, m, ierr
    n = size(a, 1)
    m = ubound(a, 2) - 1
    call MPI_Sendrecv(a(:, m), n, MPI_REAL8, north, 1, a(:, 0), n, MPI_REAL8, south, 1, &
                      comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(a(:, 1), n, MPI_REAL8, south, 2, a(:, m + 1), n, MPI_REAL8, north, 2, &
                      comm, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange2
  subroutine exchange3(a)
    real(8), intent(inout) :: a(:, :, 0:)
    call exchange2(a(:, 1, :))
  end subroutine exchange3
end module comms
program main
  use comms
  implicit none
  integer, parameter :: nx = 50, ny = 40
  real(8) :: u(nx, 0:ny + 1), v(nx, 0:ny + 1), w(2 * nx, 0:ny + 1)
  integer :: t, i, j, ierr, np, me
  call MPI_Init(ierr)
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, me, ierr)
  call MPI_Comm_size(comm, np, ierr)
  north = mod(me + 1, np)
  south = mod(me - 1 + np, np)
  u = me
  w = me
  do t = 1, 20
    call exchange(u)
    do j = 1, ny
      do i = 1, nx
        v(i, j) = 0.5d0 * (u(i, j - 1) + u(i, j + 1))
      end do
    end do
    u(:, 1:ny) = v(:, 1:ny)
  end do
  print *, sum(u), sum(w)
  call MPI_Finalize(ierr)
end program main
"""
THIRD = (
    "  subroutine exchange3(a)\n    real(8), intent(inout) :: a(:, :, 0:)\n"
    "    call exchange2(a(:, 1, :))\n  end subroutine exchange3\n"
)
ALONE = {
    THIRD: "",
    "module procedure exchange2, exchange3": "module procedure exchange2",
}
GIVES = "    module procedure exchange2\n"
CALL = "    call exchange(u)\n"
USE = "  use comms\n"
WHOLE = "    u(:, 1:ny) = v(:, 1:ny)\n  end do\n"
SECTION = WHOLE + "  call exchange(w(::2, :))\n"
DIVIDED: dict[str, dict[str, str]] = {
    "as it is": {},
    "in two lines": {GIVES: "    module procedure &\n      exchange2\n"},
    "of all procedures": {GIVES: "    procedure :: exchange2\n"},
    "given out by name": {
        "  integer :: north": "  private\n  public :: exchange, comm, north, south\n"
        "  integer :: north",
        USE: "  use mpi\n  use comms, only: exchange, comm, &\n    north, south\n",
    },
    "named in a comment": {GIVES: GIVES + "    ! call exchange(a(::2)) of others\n"},
    "called by its own name too": {WHOLE: WHOLE + "  call exchange2(v)\n"},
}
REFUSED: dict[str, dict[str, str]] = {
    "a section": {WHOLE: SECTION},
    "a section by its own name": {WHOLE: SECTION.replace("exchange(", "exchange2(")},
    "a section by another name": {
        USE: "  use comms, swap => exchange\n",
        CALL: CALL.replace("exchange", "swap"),
        WHOLE: SECTION.replace("exchange", "swap"),
    },
    "a section where it is not read": {
        WHOLE: WHOLE + "  critical\n    call exchange(w(::2, :))\n  end critical\n"
    },
    "a section in a statement with others": {
        WHOLE: WHOLE + "  if (t > 1) call exchange(w(::2, :))\n"
    },
    "a section by another name where it is not read": {
        USE: "  use comms, swap => exchange\n",
        CALL: CALL.replace("exchange", "swap"),
        WHOLE: WHOLE + "  critical\n    call swap(w(::2, :))\n  end critical\n",
    },
    "a section by an object where it is not read": {
        "  end interface exchange\n": "  end interface exchange\n  type tools\n  contains\n"
        "    procedure, nopass :: exchange2\n  end type tools\n",
        "  integer :: t,": "  type(tools) :: o\n  integer :: t,",
        WHOLE: WHOLE + "  critical\n    call o%exchange2(w(::2, :))\n  end critical\n",
    },
    "a section as an operation": {
        "  interface exchange\n": "  interface assignment(=)\n"
        + GIVES
        + "  end interface\n  interface exchange\n",
        "exchange2(a)\n    real(8), intent(inout) :: a(:, 0:)\n": "exchange2(a, b)\n"
        "    real(8), intent(inout) :: a(:, 0:)\n    logical, intent(in) :: b\n",
        CALL: "    call exchange(u, .true.)\n",
        WHOLE: WHOLE + "  w(::2, :) = t > 1\n",
    },
}


@pytest.mark.parametrize("name", DIVIDED)
def test_a_generic_name_gives_whole_arrays(tmp_path: Path, name: str) -> None:
    text = rewritten(tmp_path / "p.f90", changed(changed(PROGRAM, ALONE), DIVIDED[name]))
    assert "do j = 2, ny - 1\n" in text


@pytest.mark.parametrize("name", REFUSED)
def test_a_generic_name_may_give_a_section(tmp_path: Path, name: str) -> None:
    text = rewritten(tmp_path / "p.f90", changed(changed(PROGRAM, ALONE), REFUSED[name]))
    assert "do j = 2, ny - 1\n" not in text


def test_another_procedure_of_the_name_gives_a_section(tmp_path: Path) -> None:
    assert "do j = 2, ny - 1\n" not in rewritten(tmp_path / "p.f90", PROGRAM)
