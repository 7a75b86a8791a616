"""Allocatable arrays given to routines that declare the bounds of what they get.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "change.f90").read_text()
HALO = "  subroutine halo(a)\n    double precision, intent(inout) :: a(0:nx+1,0:ny+1)\n"
STEP = "    double precision, intent(in) :: a(0:nx+1,0:ny+1)\n"
GIVEN = "  subroutine halo(a, nx, ny)\n    integer, intent(in) :: nx, ny\n"
ALLOCATED = "allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1))"
# name: (replacements, whether the step is divided around the exchange)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "sizes are given": (
        {
            "  subroutine halo(a)\n": GIVEN,
            "    call halo(u)\n": "    call halo(u, nx, ny)\n",
        },
        True,
    ),
    "other sizes are given": (
        {
            "  subroutine halo(a)\n": GIVEN,
            "    call halo(u)\n": "    call halo(u, nx - 1, ny)\n",
        },
        False,
    ),
    "with lines that are longer": (
        {ALLOCATED: ALLOCATED.replace("u(0:nx+1", "u(0:nx+2")},
        True,  # the exchange and the step see lines of the same length in it
    ),
    "with other first indices": (
        {ALLOCATED: ALLOCATED.replace("u(0:nx+1", "u(1:nx+2")},
        True,
    ),
    "declared with longer lines in the exchange": (
        {HALO: HALO.replace("nx+1", "nx+2")},
        False,
    ),
    "with more lines": (
        {ALLOCATED: ALLOCATED.replace("u(0:nx+1, 0:ny+1", "u(0:nx+1, 0:ny+5")},
        True,
    ),
    "from its second element": ({"    call halo(u)\n": "    call halo(u(1,0))\n"}, False),
    "allocated again": (
        {"  s = 0\n": "  deallocate(u)\n  allocate(u(0:nx, 0:ny))\n  s = 0\n"},
        True,
    ),
    "a size changes behind both": (
        {"    if (r < 1d-8) exit\n": "    if (r < 1d-8) nx = nx - 1\n"},
        True,
    ),
    "a size changes in between": (
        {"    call halo(u)\n": "    call halo(u)\n    if (r < 1d-8) nx = nx - 1\n"},
        False,
    ),
    "declared with longer lines in the step": (
        {STEP: STEP.replace("nx+1,0:ny+1", "nx+2,0:ny-2"), "do j = 1, ny\n": "do j = 1, ny - 3\n"},
        False,
    ),
    "declared with fewer lines in the step": (
        {STEP: STEP.replace("ny+1", "ny"), "do j = 1, ny\n": "do j = 1, ny - 1\n"},
        True,
    ),
    "of other numbers in the step": (
        {STEP: STEP.replace("double precision", "complex(kind(0d0))")},
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_dummy_arrays(name: str, tmp_path: Path) -> None:
    replacements, divided = CASES[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(path)]
    assert (b"step_boundary" in after) is divided, [d.details for d in outcome.decisions]
    assert transform([path], Options(contents={path: after})).after[str(path)] == after


COPIED = """\
module m
  use mpi
  implicit none
  double precision :: total, w(20000)
contains
  subroutine add(x, n, k)
    integer, intent(in) :: n, k
    double precision, intent(in) :: x(n, k)
    integer :: i, j
    do j = 2, 10
      do i = 2, n
        total = total + x(i, j)
      end do
    end do
  end subroutine
  subroutine talk(peer, u)
    integer, intent(in) :: peer
    double precision, intent(inout) :: u(10, 10)
    double precision :: buf(10, 10), got(10)
    integer :: i, j, ierr
    do j = 1, 10
      do i = 1, 10
        buf(i, j) = u(i, j)
      end do
    end do
    call mpi_send(buf(1, 1), 5, MPI_DOUBLE_PRECISION, peer, 1, MPI_COMM_WORLD, ierr)
    do j = 1, 10
      do i = 1, 5
        buf(i, j) = 2 * u(i, j)
      end do
    end do
    call mpi_send(buf(1, 1), 5, MPI_DOUBLE_PRECISION, peer, 2, MPI_COMM_WORLD, ierr)
    call add(buf, 5, 20)
    call mpi_recv(got, 5, MPI_DOUBLE_PRECISION, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call mpi_recv(got(6), 5, MPI_DOUBLE_PRECISION, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do i = 1, 20000
      w(i) = w(i) + i * got(3)
    end do
  end subroutine
end module
program p
  use m
  integer :: rank, ierr, i, j
  double precision :: u(10, 10)
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  total = 0
  w = 0
  do j = 1, 10
    do i = 1, 10
      u(i, j) = i + 10 * j + rank
    end do
  end do
  do i = 1, 3
    call talk(1 - rank, u)
  end do
  print *, rank, total, sum(w)
  call mpi_finalize(ierr)
end program
"""


@pytest.mark.parametrize(
    ("given", "copied"),
    [("buf, 10, 10", True), ("buf, 5, 20", False)],
)
def test_other_lines_of_a_copy(given: str, copied: bool, tmp_path: Path) -> None:
    """Half of each line is set anew: what reads it in other lines reads older values, too."""
    filled = {"do i = 1, 5\n": "do i = 1, 10\n"} if copied else {}
    path = tmp_path / "case.f90"
    path.write_text(changed(COPIED, {"buf, 5, 20": given, **filled}))
    after = transform([path], Options()).after[str(path)]
    assert (b"buf2" in after) is copied, after.decode()
