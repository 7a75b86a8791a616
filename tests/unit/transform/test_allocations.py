"""ALLOCATE and DEALLOCATE: a message passes those of other arrays, and of nothing but arrays.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """\
module m
  use mpi
  implicit none
  type :: box_t
    double precision, allocatable :: f(:)
  end type box_t
  double precision, allocatable :: u(:), w(:)
  integer :: ierr, n, state
contains
  subroutine exchange
    call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, 0, 1, u(0), 1, MPI_DOUBLE_PRECISION, 0, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange
  subroutine work(a)
    double precision, intent(inout) :: a(n)
    integer :: i
    do i = 1, n
      a(i) = 0.5d0 * a(i) + i
    end do
  end subroutine work
end module m
program main
  use m
  implicit none
  double precision, allocatable :: x(:), y(:)
  type(box_t) :: box
  type(box_t), allocatable :: boxes(:)
  call MPI_Init(ierr)
  n = 100
  state = 0
  allocate(u(0:n+1))
  u = 1
  box%f = [1, 2, 3]
  call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, 0, 1, u(0), 1, MPI_DOUBLE_PRECISION, 0, 1, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  allocate(x(n))
  x = 2
  call work(x)
  print *, u(0), x(1), state
  call MPI_Finalize(ierr)
end program main
"""
ALLOCATE = "  allocate(x(n))\n"
# name: (what stands in the place of the allocation, whether the message passes it and the work)
CASES: dict[str, tuple[str, bool]] = {
    "another array": (ALLOCATE, True),
    "with a status": ("  allocate(x(n), stat=state)\n", True),
    "several arrays": ("  allocate(x(n), y(2*n:3*n))\n  deallocate(y)\n", True),
    "a component": (ALLOCATE + "  deallocate(box%f)\n  allocate(box%f(n))\n", True),
    "of a size that is received": ("  allocate(x(int(u(0)) + n))\n", False),
    "what is received is freed": (ALLOCATE + "  deallocate(u)\n  allocate(u(0:n+1))\n", False),
    "a copy of what is received": ("  allocate(x, source=u)\n", False),
    "a copy of something": ("  allocate(x(n), source=3d0)\n", False),
    "a message of errors": ("  allocate(x(n), stat=state, errmsg=text)\n", False),
    "objects": (ALLOCATE + "  allocate(boxes(3))\n", False),
    "its bounds are asked for": ("  allocate(x(ubound(u, 1)))\n", True),
}


@pytest.mark.parametrize("name", CASES)
def test_passed(name: str, tmp_path: Path) -> None:
    code, passes = CASES[name]
    path = tmp_path / "case.f90"
    text = changed(PROGRAM, {ALLOCATE: code})
    if "errmsg" in code:
        text = changed(
            text, {"  type(box_t) :: box\n": "  type(box_t) :: box\n  character(80) :: text\n"}
        )
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(path)].decode().partition("program main\n")[2]
    assert (after.find("call MPI_Wait") > after.index("  call work(x)")) is passes, after


ROUTINE = """\
module halo
  use mpi
  implicit none
  integer :: nx, ny, left, right, ierr
contains
  subroutine exchange(a)
    double precision, intent(inout) :: a(0:nx+1, ny)
    double precision, allocatable :: sl(:), rl(:), sr(:), rr(:)
    integer, allocatable :: req(:)
    integer :: j
    allocate(sl(ny), rl(ny), sr(ny), rr(ny), req(4))
    do j = 1, ny
      sl(j) = a(1, j)
      sr(j) = a(nx, j)
    end do
    call MPI_Irecv(rl, ny, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(rr, ny, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Isend(sr, ny, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(sl, ny, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, req(4), ierr)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
    do j = 1, ny
      a(0, j) = rl(j)
      a(nx + 1, j) = rr(j)
    end do
    deallocate(sl, rl, sr, rr, req)
  end subroutine exchange
  subroutine step(a, b)
    double precision, intent(in) :: a(0:nx+1, ny)
    double precision, intent(inout) :: b(0:nx+1, ny)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        b(i, j) = 0.5d0 * (a(i - 1, j) + a(i + 1, j))
      end do
    end do
  end subroutine step
end module halo
program main
  use halo
  implicit none
  double precision, allocatable :: u(:, :), v(:, :)
  integer :: it
  call MPI_Init(ierr)
  nx = 20
  ny = 20
  call MPI_Comm_rank(MPI_COMM_WORLD, left, ierr)
  right = left
  allocate(u(0:nx+1, ny), v(0:nx+1, ny))
  u = 1
  v = 1
  do it = 1, 5
    call exchange(u)
    call step(u, v)
    call exchange(v)
    call step(v, u)
  end do
  print *, u(1, 1)
  call MPI_Finalize(ierr)
end program main
"""
DECLARED = "    double precision, allocatable :: sl(:), rl(:), sr(:), rr(:)\n"
HALVES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "freed where it ends": ({"    deallocate(sl, rl, sr, rr, req)\n": ""}, True),
    "kept from call to call": (
        {
            DECLARED: DECLARED.replace("allocatable", "allocatable, save"),
            "    allocate(sl": "    if (.not. allocated(sl)) allocate(sl",
            "    deallocate(sl, rl, sr, rr, req)\n": "    deallocate(req)\n",
            ", rr(ny), req(4))": ", rr(ny))\n    allocate(req(4))",
        },
        False,
    ),
    "pointers": (
        {
            DECLARED: DECLARED.replace("allocatable", "pointer"),
        },
        False,
    ),
    "on two lines": (
        {DECLARED: "    double precision, allocatable :: sl(:), rl(:), &\n      sr(:), rr(:)\n"},
        False,
    ),
}


@pytest.mark.parametrize("name", HALVES)
def test_halves(name: str, tmp_path: Path) -> None:
    replacements, divided = HALVES[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(ROUTINE, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(path)].decode()
    assert ("exchange_start(" in after) is divided, after
    if divided:
        assert "allocatable, intent(inout) :: sl(:)" in after
        assert "if (allocated(rl)) deallocate(rl)" in after
