"""Arrays that are parts of objects of Fortran, with bounds that their type gives them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

pytestmark = pytest.mark.slow

PROGRAM = """
module fields
  use mpi
  implicit none
  integer, parameter :: nx = 50, ny = 40
  integer :: north, south, comm
  type state
    real(8) :: h(nx, 0:ny + 1), v(nx, 0:ny + 1)
  end type state
contains
  subroutine exchange(a)
    real(8), intent(inout) :: a(nx, 0:ny + 1)
    integer :: ierr
    call MPI_Sendrecv(a(1, ny), nx, MPI_REAL8, north, 1, a(1, 0), nx, MPI_REAL8, south, 1, &
                      comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(a(1, 1), nx, MPI_REAL8, south, 2, a(1, ny + 1), nx, MPI_REAL8, north, 2, &
                      comm, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange
  subroutine tendency(s, d)
    type(state), intent(inout) :: s, d
    integer :: i, j
    call exchange(s%h)
    do j = 1, ny
      do i = 1, nx
        d%h(i, j) = 0.5d0 * (s%h(i, j - 1) + s%h(i, j + 1))
      end do
    end do
  end subroutine tendency
end module fields
program main
  use fields
  implicit none
  type(state) :: s, d
  integer :: t, ierr, np, me
  call MPI_Init(ierr)
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, me, ierr)
  call MPI_Comm_size(comm, np, ierr)
  north = mod(me + 1, np)
  south = mod(me - 1 + np, np)
  s%h = me
  s%v = 1
  d = s
  do t = 1, 20
    call tendency(s, d)
    s%h(:, 1:ny) = d%h(:, 1:ny)
  end do
  print *, sum(s%h), sum(s%v)
  call MPI_Finalize(ierr)
end program main
"""
DUMMIES = "    type(state), intent(inout) :: s, d\n"
OBJECTS = "  type(state) :: s, d\n"
CALL = "    call tendency(s, d)\n"
ROUTINE = "  subroutine tendency(s, d)\n"
TYPE = "  type state\n"
SHARED = "  integer :: north, south, comm\n"
# The objects of the module, which the routine takes from there.
OF_MODULE = {
    "  end type state\n": "  end type state\n  type(state), save :: s, d\n",
    OBJECTS: "",
    CALL: "    call tendency()\n",
    ROUTINE: "  subroutine tendency()\n",
    DUMMIES: "",
}
LOOPS = PROGRAM.partition("    call exchange(s%h)\n")[2].partition("  end subroutine tendency")[0]
DIVIDED: dict[str, dict[str, str]] = {
    "of two that are given": {},
    "of one object": {"d%h(i, j) =": "s%v(i, j) ="},
    "of two of the module": OF_MODULE,
    "where the objects are": {
        CALL: "    call exchange(s%h)\n" + LOOPS,
        "  integer :: t,": "  integer :: i, j, t,",
    },
    "one of the routine's own": {
        DUMMIES: "    type(state), intent(inout) :: s\n    type(state) :: d\n",
        ROUTINE: "  subroutine tendency(s)\n",
        CALL: "    call tendency(s)\n",
        "    s%h(:, 1:ny) = d%h(:, 1:ny)\n": "",
    },
    "of two targets": {
        DUMMIES: DUMMIES.replace("(inout)", "(inout), target"),
        OBJECTS: OBJECTS.replace("(state)", "(state), target"),
    },
    "one is only read": {DUMMIES: DUMMIES.replace("s, d", "s") + DUMMIES.replace("s, d", "d")},
}
REFUSED: dict[str, dict[str, str]] = {
    "of the same object": {"d%h(i, j) =": "s%h(i, j) ="},
    "one is given and one known to all": {
        "  end type state\n": "  end type state\n  type(state) :: d\n",
        OBJECTS: "  type(state) :: s\n",
        CALL: "    call tendency(s)\n",
        ROUTINE: "  subroutine tendency(s)\n",
        DUMMIES: "    type(state), intent(inout) :: s\n",
    },
    "elements of an array of objects": {
        OBJECTS: "  type(state) :: s(2), d\n",
        "  s%h = me\n  s%v = 1\n  d = s\n": "  s(1)%h = me\n  s(1)%v = 1\n  s(2) = s(1)\n",
        CALL: "    call tendency(s, 1 + mod(t, 1))\n",
        ROUTINE: "  subroutine tendency(s, k)\n",
        DUMMIES: "    type(state), intent(inout) :: s(2)\n    integer, intent(in) :: k\n",
        "call exchange(s%h)": "call exchange(s(1)%h)",
        "d%h(i, j) = 0.5d0 * (s%h(i, j - 1) + s%h(i, j + 1))": (
            "s(k)%h(i, j) = 0.5d0 * (s(1)%h(i, j - 1) + s(1)%h(i, j + 1))"
        ),
        "    s%h(:, 1:ny) = d%h(:, 1:ny)\n": "",
        "print *, sum(s%h), sum(s%v)": "print *, sum(s(1)%h)",
    },
    "in the same memory by EQUIVALENCE": OF_MODULE
    | {
        TYPE: TYPE + "    sequence\n",
        "  end type state\n": (
            "  end type state\n  type(state), save :: s, d\n  equivalence (s, d)\n"
        ),
    },
    "in the same memory of a COMMON block": {
        TYPE: TYPE + "    sequence\n",
        OBJECTS: OBJECTS + "  common /shared/ s\n",
        ROUTINE: "  subroutine tendency(s)\n",
        DUMMIES: "    type(state), intent(inout) :: s\n    type(state) :: d\n"
        "    common /shared/ d\n",
        CALL: "    call tendency(s)\n",
    },
    "targets that are given twice": {
        DUMMIES: DUMMIES.replace("(inout)", "(inout), target"),
        OBJECTS: OBJECTS.replace("(state)", "(state), target"),
        CALL: "    call tendency(s, s)\n",
    },
    "targets that are given twice by their names": {
        DUMMIES: DUMMIES.replace("(inout)", "(inout), target"),
        OBJECTS: OBJECTS.replace("(state)", "(state), target"),
        CALL: "    call tendency(d=s, s=s)\n",
    },
    "elements that are given twice": {
        DUMMIES: DUMMIES.replace("(inout)", "(inout), target"),
        OBJECTS: OBJECTS.replace(":: s, d", ", target :: s(2), d"),
        CALL: "    call tendency(s(1), s(k))\n    d = s(1)\n",
        "  integer :: t,": "  integer :: k = 1, t,",
        "    s%h(:, 1:ny) = d%h(:, 1:ny)\n": "",
        "  s%h = me\n  s%v = 1\n  d = s\n": "  d%h = me\n  s(1) = d\n  s(2) = d\n",
        "sum(s%h), sum(s%v)": "sum(d%h)",
    },
    "parts that are given twice": {
        DUMMIES: DUMMIES.replace("(inout)", "(inout), target"),
        OBJECTS: "  type model\n    type(state) :: a, b\n  end type model\n"
        "  type(model), target :: g\n  type(state) :: s, d\n",
        CALL: "    call tendency(g%a, g%a)\n    s = g%a\n",
        "  d = s\n": "  d = s\n  g%a = s\n",
    },
    "pointers to one array": {
        "real(8) :: h(nx, 0:ny + 1), v(nx, 0:ny + 1)": "real(8), pointer :: h(:, :), v(:, :)",
        "  s%h = me\n  s%v = 1\n  d = s\n": (
            "  allocate (s%h(nx, 0:ny + 1), s%v(nx, 0:ny + 1))\n  d%h => s%h\n  s%h = me\n"
            "  s%v = 1\n"
        ),
    },
    "targets of one pointer": OF_MODULE
    | {
        "  end type state\n": (
            "  end type state\n  type(state), target :: s, room\n  type(state), pointer :: d\n"
        ),
        "  s%h = me\n": "  d => s\n  s%h = me\n",
    },
}


@pytest.mark.parametrize("name", DIVIDED)
def test_arrays_of_two_objects_are_two(tmp_path: Path, name: str) -> None:
    text = rewritten(tmp_path / "fields.f90", changed(PROGRAM, DIVIDED[name]))
    assert "do j = 2, ny - 1\n" in text


@pytest.mark.parametrize("name", REFUSED)
def test_arrays_that_may_be_one_are_one(tmp_path: Path, name: str) -> None:
    text = rewritten(tmp_path / "fields.f90", changed(PROGRAM, REFUSED[name]))
    assert "do j = 2, ny - 1\n" not in text
