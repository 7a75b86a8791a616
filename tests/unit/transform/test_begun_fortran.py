"""Calls of Fortran that end what other calls have begun, told by the requests that both are given.

The routine that calls both is split where it is seen what the messages are, and where a compiler
must expect the second call to change their memory.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """module halo
  use mpi
  implicit none
  integer :: up, down, rank, nproc
  integer, parameter :: nx = 50, ny = 40
contains
  subroutine begin(a, r)
    real(8), intent(inout) :: a(0:nx+1, 0:ny+1)
    integer :: r(4), ierr
    call MPI_Irecv(a(0,0), nx+2, MPI_DOUBLE_PRECISION, up, 0, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Irecv(a(0,ny+1), nx+2, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, r(2), ierr)
    call MPI_Isend(a(0,1), nx+2, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, r(3), ierr)
    call MPI_Isend(a(0,ny), nx+2, MPI_DOUBLE_PRECISION, down, 0, MPI_COMM_WORLD, r(4), ierr)
  end subroutine
  subroutine finish(a, r)
    real(8), intent(inout) :: a(0:nx+1, 0:ny+1)
    integer :: r(4), ierr
    integer(kind=MPI_ADDRESS_KIND) :: where
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, ierr)
    call MPI_Get_address(a, where, ierr)
  end subroutine
  subroutine exchange_all(u, p)
    real(8), intent(inout) :: u(0:nx+1, 0:ny+1), p(0:nx+1, 0:ny+1)
    integer :: r(8)
    call begin(u, r(1))
    call begin(p, r(5))
    call finish(u, r(1))
    call finish(p, r(5))
  end subroutine
end module
program main
  use mpi
  use halo
  implicit none
  real(8), allocatable :: u(:,:), p(:,:), v(:,:), q(:,:)
  integer :: ierr, i, j, it
  real(8) :: s, t
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  up = merge(rank-1, MPI_PROC_NULL, rank > 0)
  down = merge(rank+1, MPI_PROC_NULL, rank < nproc-1)
  allocate(u(0:nx+1,0:ny+1), p(0:nx+1,0:ny+1))
  allocate(v(0:nx+1,0:ny+1), q(0:nx+1,0:ny+1))
  do j = 0, ny+1
    do i = 0, nx+1
      u(i,j) = sin(0.1d0*i + j + rank)
      p(i,j) = cos(0.2d0*i + j + rank)
    end do
  end do
  do it = 1, 10
    call exchange_all(u, p)
    do j = 1, ny
      do i = 1, nx
        v(i,j) = 0.25d0*(u(i,j-1) + u(i,j+1) + p(i,j))
        q(i,j) = 0.25d0*(p(i,j-1) + p(i,j+1) + u(i,j))
      end do
    end do
    do j = 1, ny
      do i = 1, nx
        u(i,j) = v(i,j)
        p(i,j) = q(i,j)
      end do
    end do
  end do
  s = sum(u) + sum(p)
  call MPI_Allreduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(es23.15)', t
  call MPI_Finalize(ierr)
end program
"""
REQUESTS = "    integer :: r(8)\n"
ENDS = "    call finish(u, r(1))\n    call finish(p, r(5))\n"
BEGINS = ENDS.replace("finish", "begin")
FENCE = "    call MPI_Get_address(a, where, ierr)\n"
OF_END = "    integer(kind=MPI_ADDRESS_KIND) :: where\n"
DECLARED = "    real(8), intent(inout) :: a(0:nx+1, 0:ny+1)\n    integer :: r(4), ierr\n"
SECOND = {"(p, r(5))": "(p, s)", REQUESTS: "    integer :: r(4), s(4)\n"}

GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "in another order": {ENDS: "".join(reversed(ENDS.splitlines(keepends=True)))},
    "a section of the requests": {"r(5))": "r(5:8))"},
    "an array for each": SECOND,
    "requests of the module": {
        REQUESTS: "",
        "  integer :: up,": "  integer :: r(8)\n  integer :: up,",
    },
    "begun on a condition": {BEGINS: f"    if (nproc == 1) return\n{BEGINS}"},
    "ended by what unpacks": {
        DECLARED + OF_END: DECLARED + OF_END + "    integer :: i\n",
        FENCE: "    do i = 0, nx+1\n      a(i,0) = 0.5d0*a(i,0)\n    end do\n",
    },
}
WAIT = "    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, ierr)\n"
OUTER = "  subroutine exchange_all(u, p)\n"
STAY: dict[str, dict[str, str]] = {
    "two columns": {
        REQUESTS: "    integer :: r(4,2)\n",
        "r(1))\n    call begin": "r(:,1))\n    call begin",
        "r(1))\n    call finish": "r(:,1))\n    call finish",
        "r(5))": "r(:,2))",
    },
    "without the memory": {FENCE: ""},
    "with memory that is only read": {
        DECLARED + OF_END: DECLARED.replace("inout", "in") + OF_END,
    },
    "with memory that is only read further down": {
        WAIT + FENCE: "    call last(a, r)\n",
        OUTER: "  subroutine last(a, r)\n"
        + DECLARED.replace("inout", "in")
        + OF_END
        + WAIT
        + FENCE
        + f"  end subroutine\n{OUTER}",
    },
    "with the memory of the other": {
        ENDS: "    call finish(p, r(1))\n    call finish(u, r(5))\n",
    },
    "with another request": {"call finish(p, r(5))": "call finish(p, r(4))"},
    "requests that lie apart": {
        "(u, r(1))": "(u, r(1:8:2))",
        "(p, r(5))": "(p, r(2:8:2))",
    },
    "an element that is not known": {
        "(p, r(5))": "(p, r(k))",
        REQUESTS: f"{REQUESTS}    integer :: k\n    k = 5\n    if (nproc > 99) k = 4\n",
    },
    "ended on a condition": {
        "    call finish(p, r(5))\n": "    if (nproc > 0) call finish(p, r(5))\n"
    },
    "begun in a loop": {
        BEGINS: "    do i = 1, 2\n      if (i == 1) call begin(u, r(1))\n"
        "      if (i == 2) call begin(p, r(5))\n    end do\n",
        REQUESTS: f"{REQUESTS}    integer :: i\n",
    },
    "ended by a wait": {
        ENDS: "    call MPI_Waitall(8, r, MPI_STATUSES_IGNORE, ierr)\n",
        REQUESTS: f"{REQUESTS}    integer :: ierr\n",
    },
    "requests that are saved": {REQUESTS: "    integer, save :: r(8)\n"},
    "requests that have a value": {REQUESTS: "    integer :: r(8) = MPI_REQUEST_NULL\n"},
    "requests of the module, begun on a condition": {
        REQUESTS: "    if (nproc == 1) return\n    if (nproc > 1) then\n",
        BEGINS: f"{BEGINS}    end if\n",
        "  integer :: up,": "  integer :: r(8)\n  integer :: up,",
    },
    "requests that are a pointer's target": {
        REQUESTS: "    integer, target :: r(8)\n    integer, pointer :: q(:)\n    q => r(1:4)\n",
    },
    "requests that are copied": {
        BEGINS: f"{BEGINS}    s = r\n    r = s\n",
        REQUESTS: "    integer :: r(8), s(8)\n",
    },
}


def found(replaced: dict[str, str], folder: Path) -> bool:
    text = rewritten(folder / "halves.f90", changed(PROGRAM, replaced))
    split = "call exchange_all_start(u, p" in text
    assert split == ("call exchange_all_finish(u, p" in text)
    return split


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_split(replaced: dict[str, str], tmp_path: Path) -> None:
    assert found(replaced, tmp_path)


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_they_stay(replaced: dict[str, str], tmp_path: Path) -> None:
    assert not found(replaced, tmp_path)


@pytest.mark.parametrize("where", ["module", "main program"])
def test_memory_that_all_routines_know(where: str, tmp_path: Path) -> None:
    """The second call need not be given it where it is a module's."""
    arrays = "  real(8), allocatable :: u(:,:), p(:,:), v(:,:), q(:,:)\n"
    parts = {
        "subroutine finish(a, r)": "subroutine finish(r)",
        DECLARED + OF_END: "    integer :: r(4), ierr\n",
        FENCE: "",
        "finish(u, ": "finish(",
        "finish(p, ": "finish(",
    }
    if where == "module":
        outer = OUTER.replace("(u, p)", "")
        parts |= {
            arrays: "",
            f"{OUTER}    real(8), intent(inout) :: u(0:nx+1, 0:ny+1), p(0:nx+1, 0:ny+1)\n": outer,
            "call exchange_all(u, p)": "call exchange_all",
            "  integer :: up,": f"{arrays}  integer :: up,",
        }
    text = rewritten(tmp_path / "halves.f90", changed(PROGRAM, parts))
    assert ("call exchange_all_start" in text) is (where == "module")
