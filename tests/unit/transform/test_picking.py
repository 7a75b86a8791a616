"""Generic names of Fortran: a reference means the procedure that its arguments agree with."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

PROGRAM = """module kinds
  implicit none
  integer, parameter :: sp = kind(1.0), dp = kind(1.0d0)
  type :: grid
    integer :: n
    real(dp), allocatable :: u(:, :)
    real(dp) :: x(3)
  end type
  type, extends(grid) :: mesh
  end type
  type :: box
    type(grid) :: g(4)
    type(grid) :: one
  end type
end module
module steps
  use kinds
  implicit none
  interface g
    module procedure a, b
  end interface
  interface random_number
    module procedure a, b
  end interface
contains
  {prefix} subroutine a({first})
    {of_first}
  end subroutine
  subroutine b({second})
    {of_second}
  end subroutine
end module
program p
  use kinds
  use steps
  implicit none
  integer :: i, j, ints(5), table(5, 5)
  integer(8) :: long
  real(sp) :: s, sv(5)
  real(dp) :: d, v(5), m(5, 5)
  double precision :: old
  complex(dp) :: z
  logical :: yes
  character(8) :: word
  type(grid) :: gr
  type(box) :: bx
  class(grid), allocatable :: any
  real(dp), pointer :: pm(:, :)
  {call}
end program p
"""


def called(
    tmp_path: Path,
    call: str,
    first: str = "x",
    of_first: str = "real(dp) :: x",
    second: str = "x",
    of_second: str = "real(dp) :: x(:)",
    prefix: str = "",
) -> set[str]:
    path = tmp_path / "p.f90"
    text = PROGRAM.format(
        call=call,
        first=first,
        of_first=of_first,
        second=second,
        of_second=of_second,
        prefix=prefix,
    )
    path.write_text(text)
    program = read_program([path], Options())
    assert not program.skipped, program.skipped
    main = program.routines["main"]
    calls = [call for s in main.statements() for call in s.calls]
    assert all(call.is_statement is (len(calls) == 1) for call in calls)
    return {call.name for call in calls}


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("d", "a"),
        ("v", "b"),
        ("v(2)", "a"),
        ("v(i + 1)", "a"),
        ("v(2:4)", "b"),
        ("m(:, i)", "b"),
        ("m(1, i)", "a"),
        ("gr%x", "b"),
        ("gr%x(2)", "a"),
        ("gr%u(:, 1)", "b"),
        ("bx%g(2)%x", "b"),
        ("bx%g(2)%x(1)", "a"),
        ("bx%g%x(1)", "b"),
        ("bx%one%u(1, i)", "a"),
        ("pm(1, :)", "b"),
    ],
)
def test_the_rank_tells(argument: str, name: str, tmp_path: Path) -> None:
    assert called(tmp_path, f"call g({argument})") == {name}
    assert called(tmp_path, f"call g(x={argument})") == {name}


@pytest.mark.parametrize(
    "argument",
    ["v(ints)", "m(ints(1:2), 3)", "d + v", "(v)", "sqrt(d)", "v(next(i))", "v(ints + 1)", "'v'"],
)
def test_a_rank_that_is_not_known_leaves_all(argument: str, tmp_path: Path) -> None:
    assert called(tmp_path, f"call g({argument})") >= {"a", "b"}


@pytest.mark.parametrize(
    ("one", "other", "argument", "name"),
    [
        ("integer :: x", "real(dp) :: x", "i", "a"),
        ("integer :: x", "real(dp) :: x", "ints(3)", "a"),
        ("integer :: x", "real(dp) :: x", "d", "b"),
        ("integer :: x", "real(dp) :: x", "old", "b"),
        ("integer :: x", "real(dp) :: x", "3", "a"),
        ("integer :: x", "real(dp) :: x", "2 * i - 1", "a"),
        ("complex(dp) :: x", "real(dp) :: x", "z", "a"),
        ("logical :: x", "integer :: x", "yes", "a"),
        ("character(*) :: x", "integer :: x", "word", "a"),
        ("real(sp) :: x", "real(dp) :: x", "s", "a"),
        ("real(sp) :: x", "real(dp) :: x", "old", "b"),
        ("real(sp) :: x", "double precision :: x", "d", "b"),
        ("integer :: x", "integer(8) :: x", "long", "b"),
        ("type(grid) :: x", "real(dp) :: x", "gr", "a"),
        ("class(grid) :: x", "real(dp) :: x", "any", "a"),
        ("type(grid) :: x", "real(dp) :: x", "bx%g(1)", "a"),
        ("type(grid) :: x", "real(dp) :: x", "gr%x(1)", "b"),
    ],
)
def test_the_type_tells(one: str, other: str, argument: str, name: str, tmp_path: Path) -> None:
    found = called(tmp_path, f"call g({argument})", of_first=one, of_second=other)
    assert found == {name}


@pytest.mark.parametrize(
    ("one", "other", "argument"),
    [
        ("class(grid) :: x", "type(box) :: x", "gr"),  # which extends which is not asked
        ("class(*) :: x", "real(dp) :: x", "d"),
        ("type(*) :: x", "real(dp) :: x(:)", "v"),
        ("real(dp) :: x(..)", "real(dp) :: x(:)", "v"),
        ("integer :: x", "integer(8) :: x", "3"),  # of which kind a number is
        ("external :: x", "real(dp) :: x", "d"),
    ],
)
def test_a_type_that_may_agree_leaves_all(
    one: str, other: str, argument: str, tmp_path: Path
) -> None:
    found = called(tmp_path, f"call g({argument})", of_first=one, of_second=other)
    assert found == {"a", "b"}


@pytest.mark.parametrize(
    ("first", "of_first", "call", "names"),
    [
        ("x, n", "real(dp) :: x\n integer :: n", "call g(old)", "b"),
        ("x, n", "real(dp) :: x\n integer :: n", "call g(old, 3)", "a"),
        ("x, n", "real(dp) :: x\n integer, optional :: n", "call g(old)", "ab"),
        ("x, n", "real(dp) :: x\n integer, optional :: n", "call g(old, n=3)", "a"),
        ("x, n", "real(dp) :: x\n integer :: n", "call g(n=3, x=old)", "a"),
        ("n, x", "real(dp) :: x\n integer :: n", "call g(n=3, x=old)", "a"),
        ("y", "real(dp) :: y", "call g(y=old)", "a"),
        ("x, n", "real(dp) :: x, n\n optional :: n", "call g(old, yes)", "b"),
        ("x, *", "real(dp) :: x(:)", "call g(old)", "ab"),
    ],
)
def test_the_number_and_the_names_tell(
    first: str, of_first: str, call: str, names: str, tmp_path: Path
) -> None:
    found = called(
        tmp_path,
        call,
        first,
        of_first,
        "x, k",
        "real(dp) :: x\n logical, optional :: k",
    )
    assert found == set(names)


def test_an_elemental_procedure_takes_any_rank(tmp_path: Path) -> None:
    one, other = "real(dp), intent(inout) :: x", "real(dp) :: x(:, :)"
    found = called(tmp_path, "call g(m)", of_first=one, of_second=other, prefix="elemental")
    assert found == {"a", "b"}
    found = called(tmp_path, "call g(m)", of_first=one, of_second=other, prefix="recursive")
    assert found == {"b"}


def test_a_name_that_a_construct_hides(tmp_path: Path) -> None:
    call = "associate (d => v(1:i))\n goto 5\n call g(d)\n5 continue\n end associate"
    assert called(tmp_path, call) == {"a", "b"}
    call = "select type (any)\n type is (mesh)\n call g(any%x)\n end select"
    assert called(tmp_path, call) == {"a", "b"}


def test_an_intrinsic_procedure_may_be_meant(tmp_path: Path) -> None:
    assert called(tmp_path, "call random_number(v)") == {"a", "b"}


@pytest.mark.parametrize("directive", ["!dir$ ignore_tkr x", "!GCC$ ATTRIBUTES NO_ARG_CHECK :: x"])
def test_compilers_that_compare_no_types(directive: str, tmp_path: Path) -> None:
    assert called(tmp_path, "call g(d)", of_first=f"real(dp) :: x\n{directive}") == {"a", "b"}


EXTERNAL = """program p
  implicit none
  interface g
    subroutine a(x, wide)
      real :: x
      integer :: wide
    end subroutine
    subroutine b(x, wide)
      real :: x(:)
      integer :: wide
    end subroutine
  end interface
  real :: v(5)
  call g(v, wide=3)
end program p
subroutine a(x, n)
  real :: x
  integer :: n
end subroutine
subroutine b(x, n)
  real :: x(:)
  integer :: n
end subroutine
"""


def test_an_interface_block_tells_of_external_procedures(tmp_path: Path) -> None:
    """What it says counts for the reference, not what the procedures are."""
    path = tmp_path / "p.f90"
    path.write_text(EXTERNAL)
    program = read_program([path], Options())
    calls = [call for s in program.routines["main"].statements() for call in s.calls]
    assert {call.name for call in calls} == {"a", "b"}
    assert all(call.arguments[1].base is None for call in calls)
