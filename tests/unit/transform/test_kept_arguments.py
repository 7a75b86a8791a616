"""Sizes that an object keeps of what it is given: `call h%init(nx, ny)`, and loops up to `nx`.

Each program that must stay differs from one that is rewritten in what may make the sizes others.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """\
module halos
  use mpi
  implicit none
  type :: halo_t
    integer :: left, right
    integer :: nx, ny
  contains
    procedure :: init => halo_init
    procedure :: exchange => halo_exchange
  end type halo_t
contains
  subroutine halo_init(self, nx, ny)
    class(halo_t), intent(inout) :: self
    integer, intent(in) :: nx, ny
    integer :: rank, np, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    self%left = mod(rank + np - 1, np)
    self%right = mod(rank + 1, np)
    self%nx = nx
    self%ny = ny
  end subroutine halo_init
  subroutine halo_exchange(self, u)
    class(halo_t), intent(in) :: self
    real(8), intent(inout) :: u(0:, 0:)
    integer :: ierr
    call MPI_Sendrecv(u(1, self%ny), self%nx, MPI_REAL8, self%right, 1, u(1, 0), self%nx, &
      MPI_REAL8, self%left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(1, 1), self%nx, MPI_REAL8, self%left, 2, u(1, self%ny + 1), self%nx, &
      MPI_REAL8, self%right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine halo_exchange
end module halos
program heat
  use mpi
  use halos
  implicit none
  type(halo_t) :: h
  real(8), allocatable :: u(:, :), v(:, :)
  integer :: i, j, k, nx, ny, np, ierr
  call MPI_Init(ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  nx = 64
  ny = 96 / np
  call h%init(nx, ny)
  allocate (u(0:nx + 1, 0:ny + 1), v(0:nx + 1, 0:ny + 1))
  u = 1
  v = 0
  do k = 1, 20
    call h%exchange(u)
    do j = 1, ny
      do i = 1, nx
        v(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
      end do
    end do
    u(1:nx, 1:ny) = v(1:nx, 1:ny)
  end do
  print *, sum(u)
  call MPI_Finalize(ierr)
end program heat
"""
CALL = "  call h%init(nx, ny)\n"
SIZES = "  nx = 64\n  ny = 96 / np\n"
DUMMY = "    real(8), intent(inout) :: u(0:, 0:)\n"
ALLOCATED = "  allocate (u(0:nx + 1, 0:ny + 1), v(0:nx + 1, 0:ny + 1))\n"
EXPLICIT = {DUMMY: DUMMY.replace("0:, 0:", "0:self%nx + 1, 0:self%ny + 1")}
FIXED = {
    DUMMY: DUMMY.replace("0:, 0:", "0:65, 0:97"),
    "self%nx,": "64,",
    ALLOCATED: "  allocate (u(0:65, 0:97), v(0:65, 0:97))\n",
}
FROM_ONE = {
    DUMMY: DUMMY.replace("0:, 0:", ":, :"),
    "u(1, self%ny)": "u(2, self%ny + 1)",
    "u(1, 0)": "u(2, 1)",
    "u(1, 1)": "u(2, 2)",
    "u(1, self%ny + 1)": "u(2, self%ny + 2)",
}
AGAIN = "    u(1:nx, 1:ny) = v(1:nx, 1:ny)\n"
NX = "    self%nx = nx\n"
NY = "    self%ny = ny\n"
GIVEN = "    integer, intent(in) :: nx, ny\n"
MODULE_END = "end module halos\n"
MAIN_END = "end program heat\n"
CONSTANTS = {
    SIZES: "",
    "k, nx, ny, np, ierr\n": "k, np, ierr\n  integer, parameter :: nx = 64, ny = 96\n",
}
PLAIN = {
    CALL: "  call halo_init(h, nx, ny)\n",
    "    call h%exchange(u)\n": "    call halo_exchange(h, u)\n",
}
FIRST = {"    integer :: nx, ny\n  contains\n": "    integer :: nx = 64, ny = 24\n  contains\n"}
BEHIND = "  u = 1\n"
COUNTED = {
    "  type :: halo_t\n": "  integer :: width, height\n  type :: halo_t\n",
    NX: "    width = nx\n",
    NY: "    height = ny\n",
    "self%nx,": "width,",
    "u(1, self%ny)": "u(1, height)",
    "self%ny + 1": "height + 1",
}

TYPE_END = "  end type halo_t\ncontains\n"
MADE = """  subroutine made(o, n, m)
    type(halo_t), intent(inout) :: o
    integer :: n, m
    call o%init(n, m)
    allocate (u(0:n + 1, 0:m + 1), v(0:n + 1, 0:m + 1))
  end subroutine made
"""
PASSED_ON = {
    "  real(8), allocatable :: u(:, :), v(:, :)\n": "",
    TYPE_END: "  end type halo_t\n  real(8), allocatable :: u(:, :), v(:, :)\ncontains\n" + MADE,
    CALL: "  call made(h, nx, ny)\n",
    ALLOCATED: "",
}


def changed_in(old: str, new: str) -> dict[str, str]:
    """What passes the sizes on, with a part of it as another one."""
    return PASSED_ON | {TYPE_END: changed(PASSED_ON[TYPE_END], {old: new})}


MOVED: dict[str, dict[str, str]] = {
    "components that have values": FIRST,
    "assumed shape": {},
    "from one": FROM_ONE,
    "fixed shape": FIXED,
    "explicit shape": EXPLICIT,
    "called by name": PLAIN,
    "set to numbers": {SIZES: "  nx = 64\n  ny = 96\n"},
    "constants": CONSTANTS,
    "read": {SIZES: "  read (*, *) nx, ny\n"},
    "received": {SIZES: SIZES + "  call MPI_Bcast(nx, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\n"},
    "variables of a module": COUNTED,
    "passed on": PASSED_ON,
    "a component before": {ALLOCATED: ALLOCATED.replace("nx", "h%nx").replace("ny", "h%ny")},
    "an array of the module": {
        "  real(8), allocatable :: u(:, :), v(:, :)\n": "",
        "  type :: halo_t\n": "  real(8), allocatable :: u(:, :), v(:, :)\n  type :: halo_t\n",
    },
}
STAYS: dict[str, dict[str, str]] = {
    "another size behind": {BEHIND: "  ny = ny - 1\n" + BEHIND},
    "another size in the loop": {AGAIN: AGAIN + "    ny = ny - 1\n"},
    "another size, as a routine has it": {
        AGAIN: AGAIN + "    call less(ny)\n",
        MODULE_END: "  subroutine less(n)\n    integer, intent(inout) :: n\n    n = n - 1\n"
        "  end subroutine\n" + MODULE_END,
    },
    "another size, as a procedure inside has it": {
        AGAIN: AGAIN + "    call less()\n",
        MAIN_END: "contains\n  subroutine less()\n    ny = ny - 1\n  end subroutine\n" + MAIN_END,
    },
    "read behind": {BEHIND: "  read (*, *) ny\n" + BEHIND},
    "received behind": {
        BEHIND: "  call MPI_Bcast(ny, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\n" + BEHIND
    },
    "another component": {BEHIND: "  h%ny = h%ny - 1\n" + BEHIND},
    "another component, as a routine has it": {
        AGAIN: AGAIN + "    call less(h)\n",
        MODULE_END: "  subroutine less(o)\n    type(halo_t), intent(inout) :: o\n"
        "    o%ny = o%ny - 1\n  end subroutine\n" + MODULE_END,
    },
    "given again": {AGAIN: AGAIN + "    call h%init(nx, ny - 1)\n"},
    "given in the loop": {
        "    call h%exchange(u)\n": "    call h%init(nx, k)\n    call h%exchange(u)\n",
        CALL: "",
    },
    "another argument": {CALL: "  call h%init(ny, nx)\n"},
    "one less": {NY: "    self%ny = ny - 1\n"},
    "a dummy argument that is set": {
        GIVEN: "    integer :: nx, ny\n",
        NY: "    ny = ny - 1\n" + NY,
        CALL: "  call h%init(64, (ny))\n",
    },
    "a dummy argument that a routine sets": {
        GIVEN: "    integer :: nx, ny\n",
        NY: "    call less(ny)\n" + NY,
        MODULE_END: "  subroutine less(n)\n    integer, intent(inout) :: n\n    n = n - 1\n"
        "  end subroutine\n" + MODULE_END,
    },
    "a value that is set": CONSTANTS
    | {
        GIVEN: "    integer, value :: nx, ny\n",
        NY: "    ny = ny - 1\n" + NY,
    },
    "a value that a pointer sets": CONSTANTS
    | {
        GIVEN: "    integer, value, target :: nx, ny\n    integer, pointer :: p\n",
        NY: "    p => ny\n    p = p - 1\n" + NY,
    },
    "a value that is received": CONSTANTS
    | {
        GIVEN: "    integer, value, asynchronous :: nx, ny\n    integer :: wanted\n",
        "    self%left =": "    call MPI_Irecv(ny, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, wanted, "
        "ierr)\n    call MPI_Wait(wanted, MPI_STATUS_IGNORE, ierr)\n    self%left =",
    },
    "a variable of a module that a pointer sets": COUNTED
    | {
        "  integer :: width, height\n": "  integer :: width\n  integer, target :: height\n"
        "  integer, pointer :: p\n",
        BEHIND: "  p => height\n  p = p - 1\n" + BEHIND,
    },
    "a component that has a value, behind a return": FIRST
    | {NX: "    if (rank > 5) return\n" + NX},
    "a component that has a value, where it is not always given": FIRST
    | {CALL: "  if (np < 5) then\n  " + CALL + "  end if\n"},
    "a component that has a value, through routines that do not always give it": FIRST
    | {
        NY: "    call keep(self, ny)\n",
        MODULE_END: "  subroutine keep(self, n)\n    class(halo_t), intent(inout) :: self\n"
        "    integer, intent(in) :: n\n    if (n < 0) self%ny = n\n  end subroutine\n" + MODULE_END,
    },
    "a number, where a component had another value": CONSTANTS
    | EXPLICIT
    | {
        "    integer :: nx, ny\n  contains\n": "    integer :: nx = 80, ny = 96\n  contains\n",
        ALLOCATED: "",
        CALL: ALLOCATED.replace("nx", "h%nx").replace("ny", "h%ny") + CALL,
    },
    "a component that gets its value again": FIRST
    | {
        AGAIN: AGAIN + "    call again(h)\n",
        MODULE_END: "  subroutine again(h)\n    class(halo_t), intent(out) :: h\n"
        "    h%left = 0\n    h%right = 0\n  end subroutine\n" + MODULE_END,
    },
    "a component that has a value": {
        **FIRST,
        NY: "    if (rank < 0) self%ny = ny\n",
    },
    "two objects": {
        "  type(halo_t) :: h\n": "  type(halo_t) :: h, g\n",
        BEHIND: "  call g%init(nx, ny - 2)\n" + BEHIND,
        AGAIN: AGAIN + "    call g%exchange(u)\n",
    },
    "an operator": {
        "    procedure :: exchange => halo_exchange\n": "    procedure :: exchange => "
        "halo_exchange\n    procedure :: added\n    generic :: operator(+) => added\n",
        MODULE_END: "  function added(a, b) result(c)\n    class(halo_t), intent(in) :: a\n"
        "    integer, intent(in) :: b\n    integer :: c\n    c = a%nx + b\n"
        "  end function\n" + MODULE_END,
        AGAIN: AGAIN + "    k = h + k\n",
    },
    "a variable of a module that has a value": COUNTED
    | {
        "  integer :: width, height\n": "  integer :: width = 64, height = 24\n",
        "    height = ny\n": "    if (rank < 0) height = ny\n",
    },
    "numbers": {CALL: "  call h%init(64, 96)\n", SIZES: "  nx = 64\n  ny = 96\n"},
    "arguments by name": {CALL: "  call h%init(nx=ny, ny=nx)\n"},
    "a whole object": {BEHIND: "  h = halo_t(h%left, h%right, nx, ny - 1)\n" + BEHIND},
    "a component that is read": {BEHIND: "  read (*, *) h%ny\n" + BEHIND},
    "a component that is read, on two lines": {
        BEHIND: "  read (*, *) h% & ! the height\n    ny\n" + BEHIND
    },
    "an object that is read": {BEHIND: "  open (10, form='unformatted')\n  read (10) h\n" + BEHIND},
    "a component that is read by another name": {
        BEHIND: "  associate (height => h%ny)\n    read (*, *) height\n  end associate\n" + BEHIND
    },
    "received in the routine": {
        GIVEN: "    integer, asynchronous :: nx, ny\n    integer :: wanted\n",
        NY: "    call MPI_Irecv(ny, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, wanted, ierr)\n"
        "    call MPI_Wait(wanted, MPI_STATUS_IGNORE, ierr)\n" + NY,
    },
    "passed on, and one less": changed_in("    allocate (", "    m = m - 1\n    allocate ("),
    "passed on, one less": changed_in("o%init(n, m)", "o%init(n, m - 1)"),
    "passed on by what another may call": changed_in(
        "    allocate (", "    if (m > 99) call made(o, n, m - 1)\n    allocate ("
    ),
    "a namelist": {
        "  call MPI_Init(ierr)\n": "  namelist /sizes/ ny\n  call MPI_Init(ierr)\n",
        BEHIND: "  read (*, nml=sizes)\n" + BEHIND,
    },
    "equivalent": {
        "  type(halo_t) :: h\n": "  type(halo_t) :: h\n  integer :: other\n",
        "np, ierr\n  call MPI_Init": "np, ierr\n  equivalence (ny, other)\n  call MPI_Init",
        BEHIND: "  other = 3\n" + BEHIND,
    },
    "a pointer": {
        "k, nx, ny, np, ierr\n": "k, nx, np, ierr\n  integer, target :: ny\n"
        "  integer, pointer :: p\n",
        BEHIND: "  p => ny\n  p = p - 1\n" + BEHIND,
    },
    "volatile": {"k, nx, ny, np, ierr\n": "k, nx, np, ierr\n  integer, volatile :: ny\n"},
}


@pytest.mark.parametrize("change", MOVED)
def test_around_the_interior(tmp_path: Path, change: str) -> None:
    text = rewritten(tmp_path / "heat.f90", changed(PROGRAM, MOVED[change]))
    assert "halo_exchange_start(" in text.partition("program heat")[2], text


@pytest.mark.parametrize("change", STAYS)
def test_stays(tmp_path: Path, change: str) -> None:
    text = rewritten(tmp_path / "heat.f90", changed(PROGRAM, STAYS[change]))
    assert "exchange_start" not in text, text


@pytest.mark.parametrize("change", STAYS)
@pytest.mark.parametrize("shape", [EXPLICIT, FIXED], ids=["explicit", "fixed"])
def test_stays_with_other_arrays(tmp_path: Path, shape: dict[str, str], change: str) -> None:
    parts = {new: old for new, old in STAYS[change].items() if new not in shape}
    given = changed(changed(PROGRAM, shape), parts)
    text = rewritten(tmp_path / "heat.f90", given)
    assert "exchange_start" not in text, text
