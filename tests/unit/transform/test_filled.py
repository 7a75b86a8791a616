"""What fills a buffer anew: only what is surely all that is sent lets a message have its own copy.

Each program that must stay leaves an element of the buffer as the message before had it, or may.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

FORTRAN = """\
program p
  use mpi
  implicit none
  integer :: ierr, k
  double precision :: w(1000)
  call mpi_init(ierr)
  w = 0.0d0
  do k = 1, 3
    call two(k, w)
  end do
  print *, sum(w)
  call mpi_finalize(ierr)
end program p
subroutine two(k, w)
  use mpi
  implicit none
  integer :: k, ierr, i, j, n, st(MPI_STATUS_SIZE)
  double precision :: w(1000), buf(10, 10), r(10, 10), q(10, 10)
  do j = 1, 10
    do i = 1, 10
      buf(i, j) = i + k
    end do
  end do
  call mpi_sendrecv(buf, 100, MPI_DOUBLE_PRECISION, 0, 1, r, 100, MPI_DOUBLE_PRECISION, 0, 1, &
    MPI_COMM_WORLD, st, ierr)
%s
  call mpi_sendrecv(buf%s, MPI_DOUBLE_PRECISION, 0, 2, q, 100, MPI_DOUBLE_PRECISION, 0, 2, &
    MPI_COMM_WORLD, st, ierr)
  do j = 1, 1000
    w(j) = w(j) * 0.5d0 + j
  end do
  w(1) = w(1) + sum(r) + sum(q)
end subroutine two
"""
# name: (what fills the buffer, what is sent of it, whether the message has a copy of its own)
FILLS: dict[str, tuple[str, str, bool]] = {
    "all": ("do j = 1, 10\ndo i = 1, 10\nbuf(i, j) = 2*i + k\nend do\nend do", ", 100", True),
    "all, backward": (
        "do j = 10, 1, -1\ndo i = 1, 10\nbuf(i, j) = 2*i + k\nend do\nend do",
        ", 100",
        True,
    ),
    "every second": (
        "do j = 1, 10, 2\ndo i = 1, 10\nbuf(i, j) = k\nend do\nend do",
        ", 100",
        False,
    ),
    "every second, backward": (
        "do j = 10, 1, -2\ndo i = 1, 10\nbuf(i, j) = k\nend do\nend do",
        ", 100",
        False,
    ),
    "a triangle": ("do j = 1, 10\ndo i = 1, j\nbuf(i, j) = k\nend do\nend do", ", 100", False),
    "some are left out": (
        "do j = 1, 10\ndo i = 1, 10\nif (mod(i, 2) == 0) cycle\nbuf(i, j) = k\nend do\nend do",
        ", 100",
        False,
    ),
    "it may end early": (
        "do j = 1, 10\ndo i = 1, 10\nif (i > k) exit\nbuf(i, j) = k\nend do\nend do",
        ", 100",
        False,
    ),
    "another element": ("n = k\nbuf(n, 1) = 5.0d0\nn = n + 1", "(n, 1), 1", False),
    "the same element": ("n = k\nbuf(n, 1) = 5.0d0", "(n, 1), 1", True),
    "an element that is counted": (
        "n = 1\ndo i = 1, 5\nbuf(n, 1) = i\nn = n + 1\nend do",
        "(n, 1), 1",
        False,
    ),
    "in a loop that runs": ("do i = 1, 5\nbuf(3, 1) = i\nend do", "(3, 1), 1", True),
    "in a loop that may not run": ("do i = 1, k - 1\nbuf(3, 1) = i\nend do", "(3, 1), 1", False),
}


def has_copies(path: Path, text: str) -> bool:
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return any("private-buffers" in decision.rewrites for decision in outcome.decisions)


@pytest.mark.parametrize("name", FILLS)
def test_fortran(name: str, tmp_path: Path) -> None:
    fill, sent, done = FILLS[name]
    assert has_copies(tmp_path / "case.f90", FORTRAN % (fill, sent)) is done


C = """\
#include <mpi.h>
#include <stdio.h>
static double w[1000];
static void two(int k)
{
    double buf[10], r[10], q[10];
    for (int i = 0; i < 10; i++)
        buf[i] = i + k;
    MPI_Sendrecv(buf, 10, MPI_DOUBLE, 0, 1, r, 10, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    %s
    MPI_Sendrecv(buf, 10, MPI_DOUBLE, 0, 2, q, 10, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int j = 0; j < 1000; j++)
        w[j] = 0.5 * w[j] + j;
    w[0] += r[1] + q[1];
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int k = 1; k < 4; k++)
        two(k);
    printf("%%g\\n", w[0]);
    MPI_Finalize();
    return 0;
}
"""
FILLS_C = {
    "all": ("for (int i = 0; i < 10; i++) buf[i] = 2 * i + k;", True),
    "all, backward": ("for (int i = 9; i >= 0; i--) buf[i] = 2 * i + k;", True),
    "by one": ("for (int i = 0; i < 10; i += 1) buf[i] = 2 * i + k;", True),
    "every second": ("for (int i = 0; i < 10; i += 2) buf[i] = 2 * i + k;", False),
    "some are left out": (
        "for (int i = 0; i < 10; i++) { if (i == k) continue; buf[i] = 2 * i + k; }",
        False,
    ),
    "it may end early": (
        "for (int i = 0; i < 10; i++) { if (i == k) break; buf[i] = 2 * i + k; }",
        False,
    ),
}


@pytest.mark.parametrize("name", FILLS_C)
def test_c(name: str, tmp_path: Path) -> None:
    fill, done = FILLS_C[name]
    assert has_copies(tmp_path / "case.c", C % fill) is done
