"""Pointers that nothing but ALLOCATE gives memory are arrays of their own; others may be any.

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
  type :: grid_t
    integer :: n, peer
    double precision, pointer :: u(:) => null(), v(:) => null()
  end type grid_t
  double precision, pointer :: x(:), y(:)
  type(grid_t) :: g
  integer :: ierr
contains
  subroutine work(a, n)
    integer, intent(in) :: n
    double precision, intent(inout) :: a(n)
    integer :: i
    do i = 1, n
      a(i) = 0.5d0 * a(i)
    end do
  end subroutine work
  subroutine smooth(h)
    type(grid_t), intent(inout) :: h
    integer :: i
    do i = 1, h%n
      h%v(i) = 0.5d0 * h%v(i)
    end do
  end subroutine smooth
end module m
program main
  use m
  implicit none
  type(grid_t) :: other
  call MPI_Init(ierr)
  g%n = 100
  g%peer = 0
  allocate(g%u(100), g%v(100), x(100), y(100))
  g%u = 1
  g%v = 2
  x = 3
  y = 4
  other%n = 0
  call MPI_Send(x, 100, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, ierr)
  call work(y, 100)
  print *, x(1), y(1), g%u(1), g%v(1)
  call MPI_Finalize(ierr)
end program main
"""
SEND = "  call MPI_Send(x, 100,"
WORK = "  call work(y, 100)\n"
HELD = {SEND: "  call MPI_Send(g%u, 100,"}  # what is sent is held by an object
FIRST = "  g%u = 1\n"
ROUTINE = "  subroutine smooth(h)\n"
NAMES = "  double precision, pointer :: x(:), y(:)\n"
MAIN = "  type(grid_t) :: other\n"

MOVED: dict[str, dict[str, str]] = {
    "another pointer": {},
    "a component": HELD,
    "two components": HELD | {WORK: "  call work(g%v, 100)\n"},
    "the object is passed": HELD | {WORK: "  call smooth(g)\n"},
    "an object that is allocated": HELD
    | {
        "  type(grid_t) :: g\n": "  type(grid_t), pointer :: g\n",
        "  g%n = 100": "  allocate(g)\n  g%n = 100",
    },
    "a target that is not pointed at": {
        NAMES: "  double precision, target :: x(100), y(100)\n",
        ", x(100), y(100))\n  g%u": ")\n  g%u",
    },
    "it is freed": {
        "  print *": "  deallocate(g%u)\n  nullify(g%u)\n  allocate(g%u(1))\n  g%u = 0\n  print *"
    },
    "the object is asked for": HELD
    | {
        FIRST: "  if (norm(g) > 0) x(1) = 0\n" + FIRST,
        ROUTINE: "  integer function norm(h)\n    type(grid_t), intent(in) :: h\n    norm = h%n\n"
        "  end function norm\n" + ROUTINE,
    },
}
REFUSED: dict[str, dict[str, str]] = {
    "what is sent is set": {WORK: "  call work(x, 100)\n"},
    "it points to the other": {FIRST: "  deallocate(y)\n  y => x\n" + FIRST},
    "another one points to it": {
        MAIN: MAIN + "  double precision, pointer :: z(:)\n",
        FIRST: "  z => x\n" + FIRST,
        WORK: "  call work(z, 100)\n",
    },
    "components that point to it": HELD
    | {FIRST: "  g%v => g%u\n" + FIRST, WORK: "  call smooth(g)\n"},
    "a copied object": HELD | {FIRST: "  other = g\n" + FIRST, WORK: "  call smooth(other)\n"},
    "an object made of a copy": HELD
    | {FIRST: "  call smooth(merge(g, other, g%n > 0))\n" + FIRST, WORK: "  call smooth(g)\n"},
    "an object in parentheses": HELD
    | {FIRST: "  call smooth((g))\n" + FIRST, WORK: "  call smooth(g)\n"},
    "an object made by its type": HELD
    | {FIRST: "  call smooth(grid_t(1, 1, x, y))\n" + FIRST, WORK: "  call smooth(g)\n"},
    "allocated as a copy": HELD
    | {
        MAIN: "  type(grid_t), pointer :: other\n",
        FIRST: "  allocate(other, source=g)\n" + FIRST,
        "  other%n = 0\n": "",
        WORK: "  call smooth(other)\n",
    },
    "a procedure that takes the pointer": {
        ROUTINE: "  subroutine take(p, q)\n    double precision, pointer :: p(:), q(:)\n"
        "    p => q\n"
        "  end subroutine take\n" + ROUTINE,
        FIRST: "  call take(y, x)\n" + FIRST,
    },
    "a procedure that takes a target": {
        ROUTINE: "  subroutine take(t)\n    double precision, target :: t(:)\n    y => t\n"
        "  end subroutine take\n" + ROUTINE,
        FIRST: "  call take(x)\n" + FIRST,
    },
    "a function that gives the pointer": {
        ROUTINE: "  function give() result(y2)\n    double precision, pointer :: y2(:)\n"
        "    y2 => x\n"
        "  end function give\n" + ROUTINE,
        FIRST: "  y => give()\n" + FIRST,
    },
    "an interface of a procedure elsewhere": {
        ROUTINE: ROUTINE,
        NAMES: NAMES
        + "  interface\n    subroutine far(p, q)\n      double precision, pointer :: p(:), q(:)\n"
        "    end subroutine far\n  end interface\n",
        FIRST: "  call far(x, y)\n" + FIRST,
    },
    "an address of C": {
        "  use mpi\n": "  use mpi\n  use iso_c_binding\n",
        MAIN: MAIN + "  double precision, target :: t(100)\n",
        FIRST: "  call c_f_pointer(c_loc(x), y, [100])\n" + FIRST,
    },
    "a name that a rename may give": {
        MAIN: "  double precision, pointer :: w(:)\n" + MAIN,
        "program main\n  use m\n": "program main\n  use m, z => x\n",
        SEND: "  call MPI_Send(z, 100,",
        FIRST: "  w => z\n" + FIRST.replace("g%u", "g%u"),
        "  x = 3\n": "  z = 3\n",
        "allocate(g%u(100), g%v(100), x(100)": "allocate(g%u(100), g%v(100), z(100)",
        "print *, x(1)": "print *, z(1)",
        WORK: "  call work(w, 100)\n",
    },
    "no main program": {
        "program main\n": "subroutine main\n",
    },
}


def answer(folder: Path, replacements: dict[str, str]) -> str:
    source = folder / "program.f90"
    source.write_text(changed(PROGRAM, replacements))
    outcome = transform([source], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(source)].decode()


def waits_behind_the_work(text: str) -> bool:
    main = text.rpartition("call MPI_Init(")[2]
    work = max(main.rfind("  call work("), main.rfind("  call smooth("))
    return main.find("call MPI_Wait(") > work > 0


@pytest.mark.parametrize("name", MOVED)
def test_memory_of_its_own_is_passed(name: str, tmp_path: Path) -> None:
    assert waits_behind_the_work(answer(tmp_path, MOVED[name]))


@pytest.mark.parametrize("name", REFUSED)
def test_memory_that_may_be_shared_is_not(name: str, tmp_path: Path) -> None:
    assert not waits_behind_the_work(answer(tmp_path, REFUSED[name]))


MADE = """\
program made
  use mpi_f08
  implicit none
  type :: view_t
    integer :: n
    double precision, pointer :: q(:)
  end type view_t
  double precision, target :: a(1000)
  type(view_t) :: view
  integer :: i, ierr
  call MPI_Init(ierr)
  a = 1
  view = view_t(1000, a)
  call MPI_Send(a, 1000, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, ierr)
  do i = 1, 1000
    view%q(i) = 5
  end do
  print *, a(1)
  call MPI_Finalize(ierr)
end program made
"""


@pytest.mark.parametrize(
    "replacements",
    [
        {},
        {"target ::": "pointer ::", "a(1000)\n": "a(:)\n", "  a = 1\n": "  allocate(a(1000))\n"},
    ],
    ids=["a target", "a pointer"],
)
def test_an_object_that_is_made_points_to_what_it_is_made_of(
    replacements: dict[str, str], tmp_path: Path
) -> None:
    source = tmp_path / "made.f90"
    source.write_text(changed(MADE, replacements))
    text = transform([source], Options()).after[str(source)].decode()
    assert "MPI_Isend" not in text or text.index("MPI_Wait") < text.index("view%q(i)")
