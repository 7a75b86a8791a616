"""What the declarations of a routine read: a half of it reads that where it is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """module sides
  use mpi
  implicit none
  integer :: width = 24
contains
  subroutine exchange(x, high, k, peer)
    integer, intent(in) :: high, k, peer
    real(8), intent(inout) :: x(0:high, 0:k+1)
    real(8) :: sent(20), got(20)
    integer :: j, ierr
    do j = 1, 18
      sent(j) = x(2, j)
    end do
    call MPI_Sendrecv(sent, 18, MPI_DOUBLE_PRECISION, peer, 4, got, 18, MPI_DOUBLE_PRECISION, &
      peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do j = 1, 18
      x(0, j) = got(j)
    end do
  end subroutine
  subroutine work(y, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: y(n)
    integer :: i
    do i = 1, n
      y(i) = 0.5d0 * y(i) + 0.25d0
    end do
  end subroutine
end module
program parts
  use sides
  implicit none
  real(8) :: u(0:24, 0:19), v(1000)
  integer :: nx, rank, it, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  u = rank
  v = 1
  nx = 24
  do it = 1, 3
    call exchange(u, nx, 18, mod(rank + 1, 2))
    call work(v, 500)
    call work(v, 1000)
  end do
  print *, sum(u), sum(v)
  call MPI_Finalize(ierr)
end program
"""
WORK = "    call work(v, 500)\n"
SHARED = {"x(0:high,": "x(0:width,"}


@pytest.mark.parametrize(
    ("changes", "passed"),
    [
        ({WORK: WORK + "    nx = nx - 1\n"}, False),
        ({WORK: WORK + "    ierr = nx - 1\n"}, True),
        ({WORK: WORK + "    width = width - 1\n"}, True),
        (SHARED | {WORK: WORK + "    width = width - 1\n"}, False),
        (SHARED | {WORK: WORK + "    ierr = nx - 1\n"}, True),
        ({"sent(20), got(20)": "sent(width), got(width)", WORK: f"{WORK}    width = 22\n"}, False),
        ({"x(0:high,": "x(0:max(high, 3),", WORK: WORK + "    nx = nx - 1\n"}, False),
    ],
)
def test_finish_stays_in_front_of_other_sizes(
    changes: dict[str, str], passed: bool, tmp_path: Path
) -> None:
    text = rewritten(tmp_path / "parts.f90", changed(PROGRAM, changes))
    finish = text.index("call exchange_finish(")
    last = text.index("call work(v, 1000)")
    assert (finish > last) is passed
    assert finish > text.index("call work(v, 500)")
