"""Components of Fortran's derived types: what is told apart, and what must not be."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.in_place import IN_PLACE

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """
module m
  use mpi_f08
  implicit none
  type :: grid_t%(header)s
    integer :: nx, peer
    double precision, allocatable :: u(:), v(:)
    type(MPI_Request) :: req
%(components)s
  end type grid_t
  type :: pair_t
    type(grid_t) :: one, two
  end type pair_t
%(types)s
contains
  subroutine work(x)
    double precision, intent(inout) :: x(:)
    integer :: i
    do i = 1, size(x)
      x(i) = 0.5d0 * x(i)
    end do
  end subroutine work
%(routines)s
end module m

program main
  use m
  implicit none
  type(grid_t)%(attribute)s :: g, h
  type(pair_t) :: pair
  double precision :: c(100)
  integer :: i, k
%(declarations)s
  call MPI_Init()
  c = 1
  allocate(g%%u(100), g%%v(100), h%%u(100), h%%v(100))
  g%%nx = 100
  g%%peer = 0
%(code)s
  call MPI_Finalize()
end program main
"""
PLACES = ("header", "components", "types", "routines", "attribute", "declarations", "code")
SEND = "call MPI_Send(g%u, g%nx, MPI_DOUBLE_PRECISION, g%peer, 0, MPI_COMM_WORLD)\n"
WORK = "call work(c)\n"
HALO = """subroutine halo(g, a)
  type(grid_t), intent(inout) :: g
  double precision, intent(inout) :: a(:)
  integer :: i
  call MPI_Send(a, g%nx, MPI_DOUBLE_PRECISION, g%peer, 0, MPI_COMM_WORLD)
  do i = 1, 100
    g%u(i) = 2
  end do
end subroutine halo
"""


def answers(folder: Path, **parts: str) -> tuple[list[str], str]:
    """What is decided of the sends, and the text afterwards."""
    source = folder / "program.f90"
    source.write_text(PROGRAM % {**dict.fromkeys(PLACES, ""), **parts})
    outcome = transform([source], Options(rewrites=IN_PLACE))
    sends = [d.decision for d in outcome.decisions if d.site.call.name == "MPI_Send"]
    assert sends
    return sends, outcome.after[str(source)].decode()


MORE = "type, extends(grid_t) :: more_t\n  integer :: z\nend type more_t\n"
MOVED = {
    "work on another array": {"code": SEND + WORK},
    "another component": {"code": SEND + "call work(g%v)\n"},
    "another component of an extended type": {
        "types": MORE,
        "declarations": "type(more_t) :: m",
        "code": SEND.replace("g%u,", "m%u,") + "call work(m%grid_t%v)\n",
    },
    "a loop over another component": {
        "code": SEND + "do i = 1, g%nx\n  g%v(i) = g%v(i) + 1\nend do\n"
    },
    "another element": {
        "code": SEND.replace("g%u,", "g%u(1:50),").replace("g%nx", "50")
        + "do i = 51, 100\n  g%u(i) = 1\nend do\n"
    },
    "a component of a component": {
        "code": SEND.replace("g%u,", "pair%one%u,") + "call work(pair%two%v)\n"
    },
}


SET = "do i = 1, 100\n  %s(i) = 2\nend do\n"
MOVED["another object of the type"] = {"code": SEND + SET % "h%u"}
MOVED["a part of the only object of its type"] = {"code": SEND + SET % "pair%two%u"}


@pytest.mark.parametrize("name", MOVED)
def test_other_memory_is_passed(name: str, tmp_path: Path) -> None:
    decisions, after = answers(tmp_path, **MOVED[name])
    assert decisions == ["rewritten"]
    assert "MPI_Isend(" in after


POINTED = "double precision, pointer :: p(:)"
REFUSED: dict[str, dict[str, str]] = {
    "the component is set": {"code": SEND + SET % "g%u"},
    "the same component within objects": {
        "declarations": "type(pair_t) :: other",
        "code": SEND.replace("g%u", "other%two%u") + SET % "pair%two%u",
    },
    "an element of an array of objects": {
        "declarations": "type(grid_t) :: many(3)",
        "code": SEND.replace("g%u,", "many(1)%u,") + "k = 2\n" + SET % "many(k)%u",
    },
    "by a routine that is given the object": {
        "routines": "subroutine clear(g)\n  type(grid_t), intent(inout) :: g\n  integer :: i\n"
        + SET % "g%u"
        + "end subroutine clear\n",
        "code": SEND + "call clear(g)\n",
    },
    "a target": {
        "attribute": ", target",
        "declarations": POINTED,
        "code": "p => g%u\n" + SEND + SET % "p",
    },
    "a target elsewhere": {
        "types": "type(grid_t), target :: other\ndouble precision, pointer :: q(:)",
        "code": "q => other%u\n" + SEND + WORK,
    },
    "a pointer in the type": {
        "components": "double precision, pointer :: w(:)",
        "code": "g%w => c\n" + SEND.replace("g%u,", "g%w,") + WORK,
    },
    "an object that is a pointer": {
        "declarations": "type(grid_t), pointer :: q",
        "code": "q => h\n" + SEND + WORK,
    },
    "a pointer in a type that extends it": {
        "types": MORE.replace("integer :: z", "double precision, pointer :: z(:)")
        + "type(more_t), target :: other",
        "declarations": "type(more_t) :: m",
        "code": "m%z => other%u\n" + SEND + WORK,
    },
    "the part of an extended type": {
        "types": MORE,
        "declarations": "type(more_t) :: m",
        "code": SEND.replace("g%u,", "m%u,") + SET % "m%grid_t%u" + WORK,
    },
    "the part of an extended type as a whole": {
        "types": MORE,
        "declarations": "type(more_t) :: m",
        "code": SEND.replace("g%u,", "m%u,") + "m%grid_t = h\n" + WORK,
    },
    "an extended type that is not there": {
        "types": MORE.replace("(grid_t)", "(base_t)"),
        "declarations": "type(more_t) :: m",
        "code": SEND.replace("g%u,", "m%u,") + WORK,
    },
    "a type for C": {
        "types": "type, bind(c) :: small_t\n  double precision :: u(100)\n"
        "end type small_t\ntype(small_t) :: s",
        "code": SEND.replace("g%u,", "s%u,") + WORK,
    },
    "SEQUENCE and EQUIVALENCE": {
        "types": "type :: small_t\n  sequence\n  double precision :: u(100)\nend type small_t\n"
        "type(small_t) :: s\ndouble precision :: e(100)\nequivalence (s, e)",
        "code": SEND.replace("g%u,", "s%u,") + SET % "e",
    },
    "polymorphic and allocatable": {
        "types": MORE,
        "declarations": "class(grid_t), allocatable :: any_grid",
        "code": "allocate(more_t :: any_grid)\n"
        + SEND.replace("g%u,", "any_grid%u,")
        + "deallocate(any_grid)\n"
        + WORK,
    },
    "select type": {
        "declarations": "class(*), allocatable :: thing",
        "code": "allocate(thing, source=1)\n"
        + SEND
        + "select type (thing)\ntype is (integer)\n  call work(c)\nend select\n",
    },
    "associate": {
        "code": SEND + "associate (x => g%u)\n  x = 2\n  call work(c)\nend associate\n",
    },
    "move_alloc": {"code": SEND + "call move_alloc(g%u, h%u)\n" + WORK},
    "freed": {"code": SEND + "deallocate(g%u)\n" + WORK},
    "allocated anew by an assignment": {
        "code": SEND + "g%u = [1d0, 2d0]\n" + WORK.replace("(c)", "(g%u)") + SET % "g%u"
    },
    "assigned as a whole": {"code": SEND + "g = h\n" + WORK},
    "a component assigned as a whole": {
        "code": SEND.replace("g%u,", "pair%one%u,") + "pair%one = h\n" + WORK,
    },
    "a finalizer": {
        "types": "type :: ends_t\n  integer :: a\ncontains\n  final :: ends\nend type ends_t\n",
        "routines": "subroutine ends(x)\n  type(ends_t), intent(inout) :: x\n  x%a = 0\n"
        "end subroutine ends\n",
        "declarations": "type(ends_t) :: e",
        "code": SEND + "e = ends_t(1)\n" + WORK,
    },
    "output": {"code": SEND + "print *, g%nx\n" + WORK},
    "unknown code": {
        "declarations": "external :: unknown",
        "code": SEND + "call unknown(g)\n" + WORK,
    },
    "the whole object in a message": {
        "declarations": "type(MPI_Datatype) :: kind",
        "code": "call MPI_Send(g, 1, kind, 0, 0, MPI_COMM_WORLD)\n" + WORK,
    },
    "a dummy argument beside its object": {
        "routines": HALO,
        "code": "call halo(g, g%u)\n",
    },
    "intent(out)": {
        "routines": "subroutine fresh(g)\n  type(grid_t), intent(out) :: g\n  g%nx = 100\n"
        "end subroutine fresh\n",
        "code": SEND + "call fresh(g)\n" + WORK,
    },
    "the count is set, in another object of the type": {
        "code": SEND + "h%nx = 50\n",
    },
    "a section that is copied": {
        "code": SEND.replace("g%u,", "g%u(1:100:2),") + WORK,
    },
    "a section of objects": {
        "types": "type :: point_t\n  double precision :: x(3)\nend type point_t\n"
        "type(point_t) :: points(100)",
        "code": SEND.replace("g%u,", "points%x(1),") + WORK,
    },
    "another type's name": {
        "types": "end module m\nmodule m2\nuse m, only: other_t => grid_t\nimplicit none\n",
        "code": SEND + WORK,
    },
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str, tmp_path: Path) -> None:
    parts = dict(REFUSED[name])
    if name == "another type's name":
        parts["types"] = ""
        source = "module m2\nuse m, only: other_t => grid_t\nend module m2\n"
        (tmp_path / "other.f90").write_text(source)
        program = tmp_path / "program.f90"
        program.write_text(PROGRAM % {**dict.fromkeys(PLACES, ""), **parts})
        outcome = transform([program, tmp_path / "other.f90"], Options())
        assert not any(d.decision == "rewritten" for d in outcome.decisions)
        return
    decisions, after = answers(tmp_path, **parts)
    assert "rewritten" not in decisions
    assert "MPI_Isend(" not in after
