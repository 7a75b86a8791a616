"""What a permission would bring is told also of calls that something else is done with."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.summary import summary

PROGRAM = """module exchanges
  use mpi
  implicit none
  integer, parameter :: n = 40
  integer :: left, right, ierr
  double precision :: sl(n), sr(n), rl(n), rr(n)
contains
  subroutine halo(a)
    double precision, intent(inout) :: a(0:n+1, 0:n+1)
    integer :: i, req(4)
    call MPI_Irecv(rl, n, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(rr, n, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, req(2), ierr)
    do i = 1, n
      sl(i) = a(i, 1)
      sr(i) = a(i, n)
    end do
    call MPI_Isend(sr, n, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(sl, n, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, req(4), ierr)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
    if (left >= 0) a(1:n, 0) = rl
    if (right >= 0) a(1:n, n + 1) = rr
  end subroutine halo
end module exchanges
program jacobi
  use mpi
  use exchanges
  implicit none
  double precision :: u(0:n+1, 0:n+1), v(0:n+1, 0:n+1), res
  integer :: rank, ranks, it, i, j
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  u = rank
  v = 0
  do it = 1, 10
    call halo(u)
    res = 0
    do j = 1, n
      do i = 1, n
        v(i, j) = 0.25d0*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
        res = max(res, abs(v(i, j) - u(i, j)))
      end do
    end do
    u(1:n, 1:n) = v(1:n, 1:n)
  end do
  print *, rank, sum(u), res
  call MPI_Finalize(ierr)
end program jacobi
"""
REDUCED = "res = max(res, abs(v(i, j) - u(i, j)))"


def told(path: Path, text: str, options: Options) -> str:
    path.write_text(text)
    found = transform([path], options)
    return summary(found.decisions, applied=False, further="", explain="")


@pytest.mark.parametrize("reduced", [REDUCED, REDUCED.replace("max(res, abs", "res + (abs")])
def test_the_flag_is_named(reduced: str, tmp_path: Path) -> None:
    text = told(tmp_path / "p.f90", PROGRAM.replace(REDUCED, reduced), Options())
    assert "One of these could hide behind more work:" in text
    assert "what to do: `--allow-reassociation`" in text


def test_nothing_is_told_once_it_is_permitted(tmp_path: Path) -> None:
    text = told(tmp_path / "p.f90", PROGRAM, Options(reassociation=True))
    assert "5 of 5 calls" in text and "could hide" not in text


def test_nothing_is_told_where_it_would_not_help(tmp_path: Path) -> None:
    """What is set anew from what came in has no interior."""
    text = told(tmp_path / "p.f90", PROGRAM.replace(REDUCED, f"u(i, j) = 0; {REDUCED}"), Options())
    assert "could hide" not in text
