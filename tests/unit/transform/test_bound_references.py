"""Which procedures a reference by the type of an object may be, as Fortran's reader sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.model.program import Program
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

BASE = """module base
  implicit none
  type :: grid_t
     integer :: n = 0
     real :: put(3)
     type(part_t) :: part, parts(2)
   contains
     procedure :: exchange => grid_exchange
     procedure, pass(self) :: scale => grid_scale
     procedure, nopass :: hello => grid_hello
     procedure :: norm => grid_norm
     procedure :: some => grid_some
     generic :: any => exchange, some
  end type grid_t
  type :: part_t
     integer :: m = 0
   contains
     procedure :: exchange => part_exchange
  end type part_t
contains
  subroutine grid_exchange(self)
    class(grid_t), intent(inout) :: self
    self%n = self%n + 1
  end subroutine grid_exchange
  subroutine grid_scale(factor, self)
    real, intent(in) :: factor
    class(grid_t), intent(inout) :: self
    self%n = int(factor)
  end subroutine grid_scale
  subroutine grid_hello(k)
    integer, intent(in) :: k
    print *, k
  end subroutine grid_hello
  integer function grid_norm(self)
    class(grid_t), intent(in) :: self
    grid_norm = self%n
  end function grid_norm
  subroutine grid_some(self, k)
    class(grid_t), intent(inout) :: self
    integer, intent(in) :: k
    self%n = k
  end subroutine grid_some
  subroutine part_exchange(self)
    class(part_t), intent(inout) :: self
    self%m = self%m + 1
  end subroutine part_exchange
end module base

module more
  use base
  implicit none
contains
  subroutine user(g, c, many, k)
    type(grid_t), intent(inout) :: g, many(4)
    class(grid_t), intent(inout) :: c
    integer, intent(in) :: k
    integer :: x, list(2)
    list = 1
    STATEMENT
  end subroutine user
end module more

program main
  use more
  type(grid_t) :: g, many(4)
  call user(g, g, many, 1)
end program main
"""
BOX = """module boxes
  use base
  implicit none
  type, extends(grid_t) :: box_t
   contains
     procedure :: exchange => box_exchange
  end type box_t
contains
  subroutine box_exchange(self)
    class(box_t), intent(inout) :: self
    call self%grid_t%exchange()
  end subroutine box_exchange
end module boxes

module more
"""
DEFERRED = """module boxes
  use base
  implicit none
  type, abstract :: shape_t
   contains
     procedure(act), deferred :: act
  end type shape_t
  abstract interface
    subroutine act(self)
      import :: shape_t
      class(shape_t), intent(inout) :: self
    end subroutine act
  end interface
  type, extends(shape_t) :: box_t
   contains
     procedure :: act => box_act
  end type box_t
contains
  subroutine box_act(self)
    class(box_t), intent(inout) :: self
    print *, 'box'
  end subroutine box_act
end module boxes

module more
"""
WITH_BOXES = (("module more\n  use base\n", f"{BOX}  use boxes\n"),)
OTHERS = BOX.replace("module boxes", "module others").replace("module more\n", BOX)
TWO_BOXES = (("module more\n  use base\n", f"{OTHERS}  use base\n"),)
WITH_SHAPES = (
    ("module more\n  use base\n", f"{DEFERRED}  use boxes\n"),
    ("    class(grid_t), intent(inout) :: c\n", "    class(shape_t), intent(inout) :: c\n"),
    ("  call user(g, g,", "  type(box_t) :: b\n  call user(g, b,"),
)
SAME_TYPE = (
    (
        "    integer :: x, list(2)\n",
        "    type :: grid_t\n      integer :: other\n    end type grid_t\n"
        "    integer :: x, list(2)\n",
    ),
)
SAME_PROCEDURE = (
    (
        "end module more\n",
        "  subroutine grid_exchange(k)\n    integer :: k\n    k = 1\n  end subroutine\n"
        "end module more\n",
    ),
)
POINTED_AT = (
    (
        SAME_PROCEDURE[0][0],
        SAME_PROCEDURE[0][1].replace(
            "    k = 1\n", "    procedure(grid_exchange), pointer :: held\n    k = 1\n"
        ),
    ),
)
RENAMED = (
    ("module more\n  use base\n", "module more\n  use base, grid_t => part_t, part_t => grid_t\n"),
)
MACRO = (("     procedure :: some", "#ifdef MORE\n#endif\n     procedure :: some"),)
NO_MAIN = (("program main\n  use more\n", "subroutine main\n  use more\n"), ("end program", "end"))
OPTIONAL = (("integer, intent(in) :: k\n    self%n = k", "integer, optional :: k\n    self%n = 2"),)
VARIABLE = (("    integer :: x, list(2)\n", "    integer :: x, list(2), grid_exchange\n"),)
MPI_NAMED = (("grid_exchange", "mpi_exchange"),)
NONE: tuple[tuple[str, str], ...] = ()

# The statement, what is changed of the rest, the procedures that are called, with their arguments.
FOLLOWED = [
    ("call g%exchange()", NONE, ["grid_exchange(g)"]),
    ("call g % exchange", NONE, ["grid_exchange(g)"]),
    ("if (k > 0) call g%exchange()", NONE, ["grid_exchange(g)"]),
    ("if (g%norm() > 0) call g%exchange", NONE, ["grid_exchange(g)", "grid_norm(g)"]),
    ("call c%exchange()", NONE, ["grid_exchange(c)"]),
    ("call many(k)%exchange()", NONE, ["grid_exchange(many(k))"]),
    ("call g%part%exchange()", NONE, ["part_exchange(g%part)"]),
    ("call many(k)%parts(2)%exchange()", NONE, ["part_exchange(many(k)%parts(2))"]),
    ("call g%scale(2.0)", NONE, ["grid_scale(2.0,g)"]),
    ("call g%hello(k)", NONE, ["grid_hello(k)"]),
    ("x = g%norm() + c%norm()", NONE, ["grid_norm(g)", "grid_norm(c)"]),
    ("call g%some(g%norm())", NONE, ["grid_norm(g)", "grid_some(g,grid_norm(g))"]),
    ("call g%any(k)", NONE, ["grid_some(g,k)"]),
    ("call g%any()", NONE, ["grid_exchange(g)"]),
    ("call g%exchange()", WITH_BOXES, ["grid_exchange(g)"]),
    ("call g%exchange()", NO_MAIN, ["grid_exchange(g)"]),
    ("call g%exchange()", SAME_PROCEDURE, ["base::grid_exchange(g)"]),
]
# Those that may be several.
PICKED = [
    ("call c%exchange()", WITH_BOXES, ["box_exchange(c)", "grid_exchange(c)"]),
    ("call g%any()", OPTIONAL, ["grid_exchange(g)", "grid_some(g)"]),
    ("call c%act()", WITH_SHAPES, ["box_act(c)"]),
]
UNKNOWN = [
    ("call g%exchange()", SAME_TYPE),
    ("call g%exchange()", RENAMED),
    ("call g%exchange()", POINTED_AT),
    ("call g%exchange()", MACRO),
    ("call g%exchange()", VARIABLE),
    ("call g%exchange()", MPI_NAMED),
    ("call c%exchange()", NO_MAIN),
    ("call c%exchange()", TWO_BOXES),
    ("call g%scale(factor=2.0)", NONE),
    ("call many(k)%hello(k)", NONE),
    ("call many%exchange()", NONE),
    ("call many(1:2)%exchange()", NONE),
    ("call many(list)%exchange()", NONE),
    ("call g%some()", NONE),
    ("select type (c)\n    class default\n      call c%exchange()\n    end select", NONE),
    ("select type (g => many(k))\n    class default\n      x = g%norm()\n    end select", NONE),
    ("here: associate (g => many)\n      call g(1)%exchange\n    end associate here", NONE),
    ("block\n      type(part_t) g\n      call g%exchange()\n    end block", NONE),
    ("print *, many%norm()", NONE),
]


def read(statement: str, changes: tuple[tuple[str, str], ...], folder: Path) -> Program:
    text = BASE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "main.F90"
    path.write_text(text.replace("STATEMENT", statement))
    return read_program([path], Options())


def calls(program: Program) -> dict[str, bool]:
    """The calls that are read in the routine, and whether the type says which one is made."""
    found = [c for s in program.routines["user"].statements() for c in s.calls if not c.unknown]
    return {f"{c.name}({','.join(a.text for a in c.arguments)})": c.picked for c in found}


def any_called(program: Program) -> set[str]:
    facts = program.pointer_facts
    return {s.removeprefix("function:") for t, _, s in facts if t == "address"}


@pytest.mark.parametrize(("statement", "changes", "expected"), FOLLOWED)
def test_followed(
    statement: str, changes: tuple[tuple[str, str], ...], expected: list[str], tmp_path: Path
) -> None:
    program = read(statement, changes, tmp_path)
    assert list(calls(program).values()) == [False] * len(expected)
    written = [e.replace("grid_norm(g))", "g%norm())") for e in expected]
    assert sorted(calls(program)) in (sorted(expected), sorted(written))
    assert not any_called(program)
    assert not program.called_cells


@pytest.mark.parametrize(("statement", "changes", "expected"), PICKED)
def test_one_of_several(
    statement: str, changes: tuple[tuple[str, str], ...], expected: list[str], tmp_path: Path
) -> None:
    program = read(statement, changes, tmp_path)
    assert calls(program) == dict.fromkeys(expected, True)
    assert not any_called(program)


@pytest.mark.parametrize(("statement", "changes"), UNKNOWN)
def test_not_known(statement: str, changes: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    program = read(statement, changes, tmp_path)
    assert not {name for name in calls(program) if "(" in name and "_" in name.partition("(")[0]}
    assert program.called_cells
    routines = program.routines["user"].statements()
    assert any(s.stop is not None for s in routines)


def test_what_may_be_called_is_known_by_the_name(tmp_path: Path) -> None:
    program = read("call many%exchange()", NONE, tmp_path)
    assert any_called(program) == {"grid_exchange", "part_exchange"}


def test_an_array_is_none(tmp_path: Path) -> None:
    program = read("x = int(g%put(2))", NONE, tmp_path)
    assert not program.called_cells


def test_a_reference_in_a_declaration(tmp_path: Path) -> None:
    changes = (("    list = 1\n", "    real :: room(g%norm())\n    list = 1\n"),)
    program = read("x = 1", changes, tmp_path)
    assert any_called(program) == {"grid_norm"}


@pytest.mark.parametrize(("changes", "known"), [(NONE, True), (NO_MAIN, False)])
def test_an_object_of_a_class_that_other_files_may_extend(
    changes: tuple[tuple[str, str], ...], known: bool, tmp_path: Path
) -> None:
    held = (
        "module more\n  use base\n",
        "module more\n  use base\n  class(part_t), allocatable :: p\n",
    )
    moved = (("  implicit none\ncontains\n  subroutine user", "contains\n  subroutine user"), held)
    program = read("x = p%m", (*moved, *changes), tmp_path)
    assert bool(program.variables["module:more.p"].record) is known
