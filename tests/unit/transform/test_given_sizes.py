"""Components that a routine allocates by sizes that it is given, and messages counted by others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """module fields
  use mpi
  implicit none
  type field
    real(8), allocatable :: a(:,:)
    integer :: row
  end type field
  integer :: width
contains
  subroutine init(f, n, m)
    type(field), intent(inout) :: f
    integer :: n, m
    width = 0
    allocate(f%a(0:n+1, 0:m+1))
    f%a = 0.0d0
  end subroutine init
  subroutine exchange(f, n, m, left, right)
    type(field), intent(inout) :: f
    integer, intent(in) :: n, m, left, right
    integer :: ierr
    call MPI_Sendrecv(f%a(1,1), n, MPI_DOUBLE_PRECISION, left, 1, f%a(1,m+1), n, &
      MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange
  subroutine sweep(f, g, n, m)
    type(field), intent(in) :: f
    type(field), intent(inout) :: g
    integer, intent(in) :: n, m
    integer :: i, j
    do j = 1, m
      do i = 1, n
        g%a(i,j) = 0.25d0 * (f%a(i-1,j) + f%a(i+1,j) + f%a(i,j-1) + f%a(i,j+1)) + 1.0d0
      end do
    end do
  end subroutine sweep
  subroutine renew(f, b)
    type(field), intent(inout) :: f
    real(8), allocatable, intent(in) :: b(:,:)
  end subroutine renew
end module fields
program main
  use mpi
  use fields
  implicit none
  type(field) :: u, v
  real(8), allocatable :: b(:,:)
  integer :: n, m, k, it, ierr, rank, nprocs, left, right
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  n = 24 / nprocs
  m = 10 * nprocs
  k = 7 * nprocs
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < nprocs - 1)
  call init(u, n, m)
  call init(v, n, m)
  k = k + 1
  do it = 1, 10
    call exchange(u, n, m, left, right)
    call sweep(u, v, n, m)
    call exchange(v, n, m, left, right)
    call sweep(v, u, n, m)
  end do
  print *, sum(u%a(1:n, 1:m))
  call MPI_Finalize(ierr)
end program main
"""
BEHIND = "  k = k + 1\n"
ALLOCATE = "    allocate(f%a(0:n+1, 0:m+1))\n"
RENEW = "  end subroutine renew\n"


@pytest.mark.parametrize(
    ("changes", "passed"),
    [
        ({}, True),
        ({BEHIND: "  n = n - 1\n"}, False),
        ({BEHIND: "  if (n > 3) m = m - 1\n"}, False),
        ({"call init(v, n, m)": "call init(v, m, n)"}, False),
        ({"call init(v, n, m)": "call init(v, n, k)"}, False),
        ({"call exchange(v, n, m": "call exchange(v, n + 9, m"}, False),
        ({"integer :: n, m\n": "integer, optional :: n, m\n"}, False),
        ({ALLOCATE: "    n = n - 4\n" + ALLOCATE}, False),
        ({ALLOCATE: "    width = n - 4\n" + ALLOCATE}, True),
        ({"a(0:n+1, 0:m+1)": "a(0:n-4, 0:m+1)"}, False),
        ({"a(0:n+1, 0:m+1)": "a(1:n, 0:m+1)"}, True),
        ({"a(0:n+1, 0:m+1)": "a(2:n, 0:m+1)"}, True),  # (1, 1) is no element of it
        ({"a(0:n+1, 0:m+1)": "a(0:2*n+1, 0:m+1)"}, False),
        ({RENEW: "    deallocate(f%a)\n    allocate(f%a(0:5, 0:9))\n" + RENEW}, False),
        ({RENEW: "    deallocate(f%a)\n" + RENEW}, True),
        ({RENEW: "    f%a = b\n" + RENEW}, False),
        ({RENEW: "    f%a(:, 1) = b(:, 1)\n" + RENEW}, True),
        ({"allocatable, intent(in) :: b": "allocatable, intent(inout) :: b",
          BEHIND: "  call renew(u, v%a)\n"}, False),
        ({BEHIND: "  call move_alloc(b, u%a)\n"}, False),
        ({BEHIND: "  call renew(u, b)\n"}, True),
    ],
)  # fmt: skip
def test_columns_are_told_by_sizes_that_stay(
    changes: dict[str, str], passed: bool, tmp_path: Path
) -> None:
    text = rewritten(tmp_path / "fields.f90", changed(PROGRAM, changes))
    assert ("call sweep_interior(" in text) is passed


@pytest.mark.parametrize(
    ("called", "end", "passed"), [("init_", ";", False), ("more_", "{ *n = *m; }", True)]
)
def test_calls_from_c_may_give_other_sizes(
    called: str, end: str, passed: bool, tmp_path: Path
) -> None:
    (tmp_path / "more.c").write_text(
        f"void {called}(void *f, int *n, int *m){end}\n"
        f"void more(void *f, int n, int m) {{ {called}(f, &m, &n); }}\n"
    )
    (tmp_path / "fields.f90").write_text(PROGRAM)
    paths = [tmp_path / "fields.f90", tmp_path / "more.c"]
    text = transform(paths, Options()).after[str(paths[0])].decode()
    assert ("call sweep_interior(" in text) is passed
