"""Allocatable arrays that are assigned as a whole keep their bounds where these are the same.

Each program that must stay differs from one that is rewritten in what may give the array others.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """\
module halo
  use mpi
  implicit none
contains
  subroutine update(a, nx, ny, up, down)
    integer, intent(in) :: nx, ny, up, down
    real(8), intent(inout) :: a(0:nx+1, 0:ny+1)
    integer :: ierr
    call mpi_sendrecv(a(1, ny), nx, MPI_REAL8, up, 3, a(1, 0), nx, MPI_REAL8, down, 3, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call mpi_sendrecv(a(1, 1), nx, MPI_REAL8, down, 4, a(1, ny+1), nx, MPI_REAL8, up, 4, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine
end module
program wave
  use mpi
  use halo
  implicit none
  integer :: ierr, rank, np, nx, ny, it, i, j, up, down
  real(8), allocatable :: u(:,:), v(:,:), w(:,:)
  call mpi_init(ierr)
  call mpi_comm_size(MPI_COMM_WORLD, np, ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  up = mod(rank + 1, np)
  down = mod(rank + np - 1, np)
  nx = 64
  ny = 48
  allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1), w(0:nx+1, 0:ny+1))
  u = 0
  v = rank
  w = 0
  do it = 1, 50
    call update(u, nx, ny, up, down)
    do j = 1, ny
      do i = 1, nx
        w(i, j) = 2 * u(i, j) - v(i, j) + 0.2d0 * (u(i-1, j) + u(i, j-1) + u(i, j+1))
      end do
    end do
    v = u
    u = w
  end do
  print *, rank, sum(u)
  call mpi_finalize(ierr)
end program
"""
MADE = "  allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1), w(0:nx+1, 0:ny+1))\n"
APART = "  allocate(u(0:nx+1, 0:ny+1))\n  allocate(v(0:nx+1, 0:ny+1), w(0:nx+1, 0:ny+1))\n"
FROM_ONE = "  allocate(u(0:nx+1, 0:ny+1), w(0:nx+1, 0:ny+1))\n  allocate(v(nx+2, ny+2))\n"
COPY = "    u = w\n"
END = "  call mpi_finalize(ierr)\n"

KEPT: dict[str, dict[str, str]] = {
    "copies": {},
    "allocated apart": {MADE: APART},
    "freed in the end": {END: "  deallocate(u)\n  deallocate(v, w)\n" + END},
    "with itself": {COPY: "    u = u + 0.5d0 * w\n"},
    "an expression": {COPY: "    u = 0.5d0 * (w + v)\n"},
    "a function of each element": {COPY: "    u = sqrt(abs(w))\n"},
    "a number": {COPY: "    u = 1.5d0\n"},
}
NY = "  ny = 48\n"
KEPT |= {
    "behind a stop": {
        NY: NY + "  if (mod(nx, np) /= 0) then\n    print *, 'odd'\n    call mpi_finalize(ierr)\n"
        "    stop\n  end if\n  ny = 48 / np\n"
    },
    "behind an abort": {NY: NY + "  if (np > ny) call mpi_abort(MPI_COMM_WORLD, 1, ierr)\n"},
    "set in front of a stop": {NY: NY + "  if (np > ny) then\n    nx = 3\n    stop\n  end if\n"},
    "behind an error": {NY: NY + "  if (np > ny) error stop 'too many'\n"},
}
CHANGED: dict[str, dict[str, str]] = {
    "an expression, allocated apart": {MADE: APART, COPY: "    u = 0.5d0 * w\n"},
    "an expression, freed": {
        COPY: "    u = 0.5d0 * w\n    if (it == 7) deallocate(u)\n",
    },
    "another lower bound": {MADE: FROM_ONE, COPY: "    u = w\n    if (it == 7) u = v\n"},
    "a section": {COPY: "    u = w(0:nx, :)\n"},
    "an array constructor": {COPY: "    u = reshape([w, v], [nx + 2, ny + 2])\n"},
    "an array that is not allocated like it": {
        MADE: "  allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1), w(0:nx+1, 0:ny+2))\n"
    },
    "allocated again": {
        COPY: "    u = w\n    if (it == 7) then\n      deallocate(w)\n"
        "      allocate(w(0:nx+2, 0:ny+1))\n    end if\n"
    },
    "allocated like another": {
        COPY: "    u = w\n    if (it == 7) then\n      deallocate(w)\n"
        "      allocate(w, source=v(1:, :))\n    end if\n"
    },
    "allocated with a type": {
        COPY: "    u = w\n    if (it == 7) then\n      deallocate(w)\n"
        "      allocate(real(8) :: w(nx, ny))\n    end if\n"
    },
    "given away": {
        COPY: "    u = w\n    if (it == 7) call shrink(w)\n",
        "contains\n": "contains\n  subroutine shrink(x)\n    real(8), allocatable :: x(:,:)\n"
        "    deallocate(x)\n    allocate(x(5, 5))\n  end subroutine\n",
    },
    "set between": {MADE: APART.replace("\n", "\n  nx = 32\n", 1)},
    "an operator of its own": {
        COPY: "    u = w .cut. v\n",
        "  implicit none\ncontains\n": "  implicit none\n  interface operator(.cut.)\n"
        "    procedure cut\n  end interface\ncontains\n  function cut(a, b) result(c)\n"
        "    real(8), intent(in) :: a(:,:), b(:,:)\n    real(8) :: c(3, 3)\n"
        "    c = a(1:3, 1:3) + b(1:3, 1:3)\n  end function\n",
    },
}


def text_of(tmp_path: Path, replacements: dict[str, str]) -> str:
    return rewritten(tmp_path / "wave.f90", changed(PROGRAM, replacements))


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str, tmp_path: Path) -> None:
    """The nest of the main program is divided around the messages."""
    assert "call update_start(u" in text_of(tmp_path, KEPT[name])


@pytest.mark.parametrize("name", CHANGED)
def test_may_have_others(name: str, tmp_path: Path) -> None:
    assert "update_start" not in text_of(tmp_path, CHANGED[name])


def test_shape_of_another_without_copies(tmp_path: Path) -> None:
    """What is received is allocated a second time, by `source=`, with other lower bounds."""
    again = "    if (it == 7) then\n      deallocate(u)\n      allocate(u, source=w(:, :))\n"
    replacements = {COPY: again + "    end if\n", "    v = u\n": ""}
    assert "update_start" not in text_of(tmp_path, replacements)
    assert "update_start" in text_of(tmp_path, {COPY: "", "    v = u\n": ""})
