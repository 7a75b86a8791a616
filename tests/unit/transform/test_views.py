"""Local pointers to components that a routine sets at its top: names of the arrays."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """module grids
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type grid
    integer :: nx, ny
    real(dp), allocatable :: u(:,:), v(:,:), w(:,:)
  end type grid
  real(dp), pointer :: kept(:,:)
contains
  subroutine create(g, nx, ny)
    type(grid), intent(inout) :: g
    integer, intent(in) :: nx, ny
    g%nx = nx
    g%ny = ny
    allocate(g%u(0:nx+1, 0:ny+1), g%v(0:nx+1, 0:ny+1), g%w(0:nx+1, 0:ny+1))
    g%u = 0.0d0
    g%v = 0.0d0
    g%w = 0.0d0
  end subroutine create
  subroutine exchange(g, left, right)
    type(grid), intent(inout), target :: g
    integer, intent(in) :: left, right
    integer :: ierr
    call MPI_Sendrecv(g%u(1,1), g%nx, MPI_DOUBLE_PRECISION, left, 1, g%u(1,g%ny+1), g%nx, &
      MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange
  subroutine step(g)
    type(grid), intent(inout), target :: g
    real(dp), pointer :: u(:,:), v(:,:)
    integer :: i, j
    u => g%u
    v => g%v
    do j = 1, g%ny
      do i = 1, g%nx
        v(i,j) = 0.25d0 * (u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1)) + 1.0d0
      end do
    end do
  end subroutine step
  subroutine back(g)
    type(grid), intent(inout) :: g
    g%u(1:g%nx, 1:g%ny) = g%v(1:g%nx, 1:g%ny)
  end subroutine back
  subroutine other(g)
    type(grid), intent(inout), target :: g
    g%w = 1.0d0
  end subroutine other
  subroutine smooth(a)
    real(dp), intent(inout) :: a(:,:)
    a = 0.5d0 * a
  end subroutine smooth
end module grids
program main
  use mpi
  use grids
  implicit none
  type(grid), target :: g
  integer :: it, ierr, rank, nprocs, left, right
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < nprocs - 1)
  call create(g, 12, 24)
  call other(g)
  do it = 1, 10
    call exchange(g, left, right)
    call step(g)
    call back(g)
  end do
  print *, sum(g%u(1:12, 1:24))
  call MPI_Finalize(ierr)
end program main
"""
SET = "    u => g%u\n    v => g%v\n"
SIZES = "    integer :: i, j\n" + SET
OTHER = "    g%w = 1.0d0\n"
MORE = "    end do\n  end subroutine step\n"
POINTERS = {"allocatable :: u(:,:), v(:,:), w": "pointer :: u(:,:), v(:,:), w"}


@pytest.mark.parametrize(
    ("changes", "passed"),
    [
        ({}, True),
        ({SET: "    v => g%v\n    u => g%u\n"}, True),
        ({"pointer :: u(:,:), v": "pointer, contiguous :: u(:,:), v"}, True),
        ({SIZES: "    integer :: i, j, n\n    n = g%nx\n" + SET,
          "i = 1, g%nx\n": "i = 1, n\n"}, True),
        ({SIZES: "    integer :: i, j, n\n    n = f(g%nx)\n" + SET}, False),
        # Other bounds than those of the array, or a part of it.
        ({"    u => g%u\n": "    u(0:,0:) => g%u\n"}, False),
        ({"    u => g%u\n": "    u => g%u(:,:)\n"}, False),
        ({"    u => g%u\n": "    u => g%u(:, 1:)\n"}, False),
        # Set twice, where a condition says, or asked for what it points to.
        ({MORE: "    end do\n    u => g%v\n  end subroutine step\n"}, False),
        ({SET: SET + "    u => g%v\n"}, False),
        ({"    u => g%u\n": "    if (g%nx > 0) u => g%u\n"}, False),
        ({MORE: "    end do\n    nullify(u)\n  end subroutine step\n"}, False),
        ({MORE: "    end do\n    if (associated(u)) i = 0\n  end subroutine step\n"}, False),
        ({MORE: "    end do\n    if (size(u) == 1) i = 0\n  end subroutine step\n"}, True),
        ({MORE: "    end do\n    kept => u\n  end subroutine step\n"}, False),
        ({MORE: "    end do\n  contains\n    subroutine inner\n    end subroutine inner\n"
          "  end subroutine step\n"}, False),
        # Something else keeps a name of the array.
        ({OTHER: "    kept => g%u\n"}, False),
        ({OTHER: "    kept => g%w\n"}, False),
        ({OTHER: "    call smooth(g%w)\n"}, True),
        # The array gets other memory while the pointer names it.
        ({MORE: "    end do\n    call move_alloc(g%v, g%w)\n  end subroutine step\n"}, False),
        ({MORE: "    end do\n    deallocate(g%v)\n    allocate(g%v(0:5, 0:5))\n"
          "  end subroutine step\n"}, False),
        # A procedure may set the pointer that it is given.
        ({"real(dp), intent(inout) :: a(:,:)": "real(dp), pointer, intent(inout) :: a(:,:)",
          MORE: "    end do\n    call smooth(v)\n  end subroutine step\n"}, False),
        ({MORE: "    end do\n    call smooth(v(1:2,1:2))\n  end subroutine step\n"}, True),
        # Pointers that own what they point to, and such as another one may be a name of.
        (POINTERS, True),
        (POINTERS | {OTHER: "    g%w => g%u\n"}, False),
        (POINTERS | {OTHER: "    deallocate(g%w)\n"}, True),
    ],
)  # fmt: skip
def test_views_are_names_of_arrays(changes: dict[str, str], passed: bool, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "grids.f90", changed(PROGRAM, changes))
    assert ("call step_interior(" in text) is passed
