"""Procedures of Fortran that share a name: a call is that of the one which its scope knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program
from imbrex.transform.text.name_lists import renamed

from .replacing import changed, rewritten

CASE = (Path(__file__).parent / "cases/coupled.f90").read_text()
ONE, TWO, USER, MAIN, END = (
    "  subroutine act(k)\n    integer :: k\n    k = 1\n  end subroutine act\nend module one\n",
    "  subroutine act(k)\n    integer :: k\n    k = 2\n  end subroutine act\nend module two\n",
    "  use one\n",
    "program p\n",
    "end program p\n",
)
BASE = f"""module one
  implicit none
  integer :: seen
contains
  subroutine first(k)
    integer :: k
    call act(k)
  end subroutine first
{ONE}module two
  implicit none
contains
  subroutine second(k)
    integer :: k
    if (k > 0) call act(k)
  end subroutine second
{TWO}module three
  implicit none
  private
  public :: third
contains
  subroutine third(k)
    integer :: k
    k = k + take(k)
  end subroutine third
  integer function take(k)
    integer :: k
    take = k
  end function take
end module three
module four
  implicit none
contains
  subroutine user(k)
{USER}    integer :: k
    call act(k)
  end subroutine user
end module four
{MAIN}  use four
  use three
  integer :: k
  k = 0
  call user(k)
  call third(k)
  print *, k, taken(k)
contains
  integer function taken(n)
    integer :: n
    taken = n + take(n)
  end function taken
  integer function take(n)
    integer :: n
    take = 2*n
  end function take
{END}"""
ONLY, USED = (USER, "  use one, only: first\n  use two, only: act\n"), (USER, "  use two\n")
OUTSIDE = f"{END}subroutine act(k)\n  integer :: k\n  k = 3\nend subroutine act\n"
HERE = "end module three\n"
FIVE = "module five\n  use two, only: act\n  implicit none\nend module five\n"
CLOSED = FIVE.replace("implicit none\n", "implicit none\n  private\n")
Changes = tuple[tuple[str, str], ...]


def read(changes: Changes, folder: Path) -> Program:
    path = folder / "p.f90"
    path.write_text(changed(BASE, dict(changes)))
    return read_program([path], Options())


def called(program: Program, routine: str) -> list[str]:
    return [c.name for s in program.routines[routine].statements() for c in s.calls]


def as_twice(program: Program, name: str) -> bool:
    """Whether nothing is known of a routine, since others have its name."""
    if name not in program.routines:
        return False
    return any(
        s.stop in (ReasonKind.NAME_TWICE(routine=name), ReasonKind.NAME_CHANGES(routine=name))
        for s in program.routines[name].statements()
    )


def test_each_scope_knows_its_own(tmp_path: Path) -> None:
    program = read((), tmp_path)
    assert called(program, "first") == ["one::act"]
    assert called(program, "second") == ["two::act"]
    assert called(program, "user") == ["one::act"]
    assert called(program, "third") == ["three::take"]
    assert called(program, "taken") == ["p::take"]
    assert "act" not in program.routines
    found = program.routines["one::act"]
    assert (found.plain_name, found.stem, found.shares_name) == ("act", "one_act", True)
    assert not program.routines["first"].shares_name


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ((ONLY,), "two::act"),
        ((USED,), "two::act"),
        (((USER, "  use two, only: other => act\n"), ("act(k)\n  end subroutine user",
          "other(k)\n  end subroutine user")), "two::act"),
        (((USER, "  use one, only: second => act\n"), ("act(k)\n  end subroutine user",
          "second(k)\n  end subroutine user")), "one::act"),
        (((USER, "  use one\n  use two, other => act\n"),), "one::act"),
        (((USER, "  use one\n  use three\n"),), "one::act"),
        (((USER, "  use one\n  use two, only: second\n"),), "one::act"),
        (((USER, "  use five\n"), (HERE, HERE + FIVE)), "two::act"),
        (((USER, "  use one\n  use five\n"), (HERE, HERE + CLOSED)), "one::act"),
        (((USER, "  use one\n  use two\n"), ("module two\n  implicit none\n",
          "module two\n  implicit none\n  private :: act\n")), "one::act"),
        (((USER, "  use one\n  use two\n"), ("module two\n  implicit none\n",
          "module two\n  implicit none\n  private\n  public second\n")), "one::act"),
        (((USER, ""), (END, OUTSIDE)), "act"),
        (((END, OUTSIDE),), "one::act"),
        (((USER, ""), ("  end subroutine user\n", "  contains\n  subroutine act(n)\n"
          "    integer :: n\n    n = 4\n  end subroutine act\n  end subroutine user\n")),
         "four::user::act"),
        (((USER, "  use one\n  use iso_fortran_env\n"),), "one::act"),
        ((("    call act(k)\n  end subroutine user",
           "    block\n      call act(k)\n    end block\n  end subroutine user"),), "one::act"),
        ((("    call act(k)\n  end subroutine user",
           "    where ([.true.]) k = k\n    here: do\n      call act(k)\n      exit here\n"
           "    end do here\n  end subroutine user"),
          ("integer :: k\n    where", "integer :: k(1)\n    where")), "one::act"),
    ],
)  # fmt: skip
def test_the_scope_says_which(changes: Changes, expected: str, tmp_path: Path) -> None:
    program = read(changes, tmp_path)
    assert called(program, "user") == [expected]
    assert not any(as_twice(program, name) for name in program.routines)


@pytest.mark.parametrize(
    "changes",
    [
        ((USER, "  use one\n  use two\n"),),  # the compiler refuses it: either
        ((USER, ""),),
        ((USER, "  use elsewhere\n  use one\n"),),
        ((USER, "  use elsewhere, only: act\n"),),
        ((USER, "  use one\n  use five\n"), (HERE, HERE + FIVE)),
        ((ONE, f"{ONE}module one\nend module one\n"),),
        ((TWO, TWO.replace("end module two\n", "  subroutine act(k)\n    integer :: k\n"
          "    k = 2\n  end subroutine act\nend module two\n")),),
        ((END, OUTSIDE + OUTSIDE.removeprefix(END)),),
        (("act(k)\n  end subroutine user", "second(act)\n  end subroutine user"),),
        ((f"{USER}    integer :: k\n", f"{USER}    integer :: k\n"
          "    procedure(act), pointer :: p\n    p => act\n"),),
        ((f"{USER}    integer :: k\n", f"{USER}    integer :: k\n"
          "    procedure(), pointer :: p\n    p => act\n"),),
        ((f"{USER}    integer :: k\n", "    integer :: k\n    external :: act\n"),),
        ((f"{USER}    integer :: k\n", "    integer :: k\n    interface\n      subroutine act(n)\n"
          "        integer :: n\n      end subroutine act\n    end interface\n"),),
        ((f"{USER}    integer :: k\n", f"{USER}    integer :: k\n    interface act\n"
          "      procedure :: user\n    end interface act\n"),),
        ((f"{USER}    integer :: k\n", f"{USER}    integer :: k\n    type :: act\n"
          "      integer :: n\n    end type act\n"),),
        ((f"{USER}    integer :: k\n", f"{USER}    include 'more.inc'\n    integer :: k\n"),),
        ((f"{USER}    integer :: k\n", f"{USER}    integer :: k\n    k = act(k)\n"),),
        (("    call act(k)\n  end subroutine user",
          "    block\n      integer :: act\n      act = 1\n    end block\n    call act(k)\n"
          "  end subroutine user"),),
        (("    call act(k)\n  end subroutine user", "    !$omp task private(act)\n    call act(k)\n"
          "    !$omp end task\n  end subroutine user"),),
        ((ONE, ONE.replace("act(k)\n    int", "act(k) bind(c)\n    int")),),
        ((USER, "  use one\n#define two three\n  use two\n"),),
    ],
)  # fmt: skip
def test_what_is_not_certain_stays(changes: Changes, tmp_path: Path) -> None:
    program = read(changes, tmp_path)
    assert as_twice(program, "act")
    assert "one::act" not in program.routines
    assert called(program, "third") in (["three::take"], ["take"])


def test_a_name_that_stands_for_another_and_is_not_told(tmp_path: Path) -> None:
    """`user` calls `take` by a name that a routine of the program has."""
    changes = (
        (USER, "  use one, only: second => first\n"),
        ("call act(k)\n  end subroutine user", "call second(k)\n  end subroutine user"),
        ("  end subroutine third\n", "    call user2(second)\n  end subroutine third\n"),
    )
    program = read(changes, tmp_path)
    assert as_twice(program, "second")
    assert as_twice(program, "first")


def test_a_function_says_what_an_object_holds(tmp_path: Path) -> None:
    """Its value is that of the function which the scope knows."""
    path = tmp_path / "p.f90"
    functions = "".join(
        f"module {name}\n  type :: {name}_t\n    integer :: a = 0, b = 0\n"
        "  contains\n    procedure :: rows\n  end type\ncontains\n"
        f"  integer function rows(self)\n    class({name}_t), intent(in) :: self\n"
        f"    rows = self%{part}\n  end function rows\nend module {name}\n"
        for name, part in (("one", "a"), ("two", "b"))
    )
    path.write_text(
        f"{functions}program p\n  use one\n  use two\n  type(one_t) :: x\n  type(two_t) :: y\n"
        "  integer :: n, m\n  n = x%rows()\n  m = y%rows()\n  print *, n, m\nend program p\n"
    )
    program = read_program([path], Options())
    assert called(program, "main") == ["one::rows", "two::rows"]
    assert program.routines["one::rows"].bound
    sets = [s.sets for s in program.routines["main"].statements() if s.sets]
    assert [str(value) for _, value in sets] and "_t).a" in str(sets[0]) and "_t).b" in str(sets[1])


def test_the_case_is_divided_in_two(tmp_path: Path) -> None:
    """Callers know both models' halves by names of their own."""
    text = rewritten(tmp_path / "p.f90", CASE)
    assert "call air_exchange_start(" in text
    assert "call sea_exchange_start(" in text
    assert "use sea, only: sea_exchange_start, sea_exchange_finish, smooth" in text
    assert "call air_smooth_interior()" in text


SEA = "use sea, only: sea_exchange => exchange, smooth,"
HALVES = re.compile(r"call sea_exchange_start")


@pytest.mark.parametrize(
    "replacements",
    [
        {"here(3), all(3)": "here(3), all(3), sea_exchange_start = 0"},
        {SEA: "use sea, sea_exchange => exchange,"},
        {
            "end module sea\n": "end module sea\nmodule all_of_it\n  use air, only: air_step, "
            f"air_init => init, air_total => total\n  {SEA} sea_init => init, sea_total => total\n"
            "  implicit none\n  private\n  public :: air_step, air_init, air_total, sea_exchange\n"
            "  public :: smooth, sea_init, sea_total\nend module all_of_it\n",
            "  use air, only: air_step, init_air => init, air_total => total\n": "",
            f"  {SEA} init_sea => init, sea_total => total\n  implicit none\n  integer :: rank":
            "  use all_of_it\n  implicit none\n  integer :: rank",
            "call init_air(": "call air_init(",
            "call init_sea(": "call sea_init(",
        },
    ],
)  # fmt: skip
def test_halves_that_cannot_be_known(replacements: dict[str, str], tmp_path: Path) -> None:
    """Taken names, and lists that would give the routine out by another name still."""
    text = CASE
    for old, new in reversed(replacements.items()):
        assert old in text
        text = text.replace(old, new)
    text = rewritten(tmp_path / "p.f90", text)
    assert not HALVES.search(text)
    assert "call air_exchange_start(" in text


def test_parts_of_a_routine_with_another_name(tmp_path: Path) -> None:
    """The call of `smooth` by another name is not taken for one by its own."""
    text = changed(
        CASE,
        {
            "smooth, init_sea => init": "even => smooth, init_sea => init",
            "    do j = 1, m\n      do i = 1, m\n        own(i, j) = 0.5d0*own(i, j) + step*i + j\n"
            "      end do\n    end do\n    call smooth()": "    call even()",
            "    w(1:n, 1:n) = z(1:n, 1:n)\n  end subroutine smooth": "  end subroutine smooth",
        },
    )
    found = rewritten(tmp_path / "p.f90", text)
    assert "call even()" in found
    assert "sea_smooth_interior" not in found


def test_names_stay_while_others_go(tmp_path: Path) -> None:
    """A further run reads what one half of the rewrites has left: keys must not change."""
    path = tmp_path / "p.f90"
    path.write_text(CASE.replace("sea_exchange => exchange", "exchange").replace("l sea_", "l "))
    found = transform([path], Options())
    names = {d.site.routine.name for d in found.decisions}
    assert names == {"air::exchange", "sea::exchange", "coupled"}
    assert transform([path], Options(contents={path: found.after[str(path)]})).after == found.after


USER_CALL, NO_CALL = "    call act(k)\n  end subroutine user", "    k = 2\n  end subroutine user"
WITHOUT = (USER_CALL, NO_CALL)
IN_USER = f"{USER}    integer :: k\n"
IN_FIRST = "  subroutine first(k)\n    integer :: k\n"
IN_THIRD = "    k = k + take(k)\n  end subroutine third\n"
GIVEN = ("public :: third\n", "public :: third, take\n")
HIDDEN = (HERE, f"{HERE}module five\n  integer, private :: take(3)\nend module five\n")
SHOWN = (HERE, f"{HERE}module five\n  integer :: take(3)\nend module five\n")
ACT = "  subroutine act(k)\n    integer :: k\n    k = 5\n  end subroutine act\n"
AGAIN = (HERE, f"{HERE}module one\ncontains\n{ACT}end module one\n")
TWICE = (HERE, f"{HERE}module five\ncontains\n{ACT}{ACT}end module five\n")
BODY = "    interface\n      subroutine act(n)\n        integer :: n\n      end subroutine act\n"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ((AGAIN,), "act"),
        ((TWICE,), "act"),
        ((ONE, ONE.replace("    k = 1\n", "    k = 1\n    entry other(k)\n")), "act"),
        (((HERE, f"{HERE}subroutine held(k)\n  integer :: k\n  k = 1\n  entry act(k)\n"
           "end subroutine held\n"),), "act"),
        (((USER, ""), WITHOUT, ("module four\n  implicit none\n", "module four\n  implicit none\n"
           "  interface gen\n    module procedure act\n  end interface gen\n")), "act"),
        (((USER, ""), WITHOUT, ("module four\n  implicit none\n", "module four\n  implicit none\n"
           "  type :: held\n  contains\n    procedure, nopass :: act\n  end type held\n")), "act"),
        (((IN_FIRST, f"{IN_FIRST}{BODY}    end interface\n"),), "act"),
        (((IN_USER, f"{IN_USER}    procedure(act), pointer :: p\n"), WITHOUT), "act"),
        (((IN_USER, f"{IN_USER}    procedure(first), pointer :: p => act\n"), WITHOUT), "act"),
        (((IN_USER, "    integer :: k\n    external :: act\n"),
          (USER_CALL, "    call second(act)\n  end subroutine user")), "act"),
        (((IN_THIRD, "    integer :: list(2)\n    list = 1\n    associate (take => list)\n"
           "      k = take(1)\n    end associate\n  end subroutine third\n"),), "take"),
        (((IN_THIRD, "    block\n      integer :: take(2)\n      take = 1\n      k = take(1)\n"
           "    end block\n  end subroutine third\n"),), "take"),
        (((IN_THIRD, "    block\n      integer :: take(2)\n      k = 1\n"
           "    end block\n  end subroutine third\n"),), "take"),
        ((GIVEN, HIDDEN, (USER, "  use three\n  use five\n"),
          (USER_CALL, "    k = take(k)\n  end subroutine user")), "take"),
        ((("  call third(k)\n", "  call take(k)\n"),), "take"),
        (((IN_THIRD, "    call other(take)\n  end subroutine third\n"),), "take"),
        (((IN_USER, f"{IN_USER}    integer :: take\n    k = take(k)\n"),), "take"),
        (((USER, "  use one\n  use two\n  use two, other => act\n  use two, only: second\n"),),
         "act"),
        (((USER, "  use elsewhere, only: act\n"), WITHOUT), "act"),
        (((USER_CALL, "    block\n      use two\n      call act(k)\n    end block\n"
           "  end subroutine user"),), "act"),
        (((HERE, f"{HERE}submodule (one) five\ncontains\n  subroutine fifth(k)\n"
           "    integer :: k\n    k = 1\n  end subroutine fifth\nend submodule five\n"),), "act"),
        (((USER, "  use one\n  use elsewhere, only: second => thing\n"),), "second"),
    ],
)  # fmt: skip
def test_each_place_counts(changes: Changes, name: str, tmp_path: Path) -> None:
    program = read(changes if isinstance(changes[0], tuple) else (changes,), tmp_path)
    assert as_twice(program, name)
    assert not [key for key in program.routines if key.endswith(f"::{name}")]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (((USER_CALL, "    call second(act=k)\n  end subroutine user"),), ["second"]),
        (((USER, ""), ("user(k)\n    integer :: k\n", "user(k, act)\n    integer :: k\n"
           "    external :: act\n")), ["act"]),
        ((SHOWN, (USER, "  use five\n"),
          (USER_CALL, "    k = take(1)\n  end subroutine user")), []),
        (((IN_USER, f"{IN_USER}    integer :: take(2)\n    take = 1\n"),), ["one::act"]),
        (((USER, "  use one\n  use elsewhere, only: other => thing\n"),), ["one::act"]),
    ],
)  # fmt: skip
def test_the_name_of_something_else(changes: Changes, expected: list[str], tmp_path: Path) -> None:
    program = read(changes, tmp_path)
    assert called(program, "user") == expected
    assert all(c.unknown for c in program.calls() if c.name == "act")
    assert {"one::act", "two::act", "three::take"} <= program.routines.keys()


def test_a_file_that_is_not_read(tmp_path: Path) -> None:
    """It may have another one of the name."""
    (tmp_path / "p.f90").write_text(BASE)
    (tmp_path / "q.f90").write_text("subroutine q\n  x = (1\nend subroutine q\n")
    program = read_program([tmp_path / "p.f90", tmp_path / "q.f90"], Options())
    assert program.skipped
    assert as_twice(program, "act")


def test_what_stands_in_such_a_procedure_is_its_own(tmp_path: Path) -> None:
    changes = ((ONE, ONE.replace("    k = 1\n", "    k = 1\n    call inner()\n  contains\n"
               "  subroutine inner()\n    k = 3\n  end subroutine inner\n")),)  # fmt: skip
    program = read(changes, tmp_path)
    outer, inner = program.routines["one::act"], program.routines["inner"]
    assert inner.host == f"{outer.name}@{outer.file}"
    assert f":{outer.name}:{outer.line}" in outer.parameters[0]


def test_names_that_another_file_has(tmp_path: Path) -> None:
    """Halves must be known where the module is used, whatever file that is in."""
    end = "end module sea\n"
    at = CASE.index(end) + len(end)
    parts = CASE[:at], CASE[at:].replace("all(3)", "all(3), sea_exchange_finish = 0")
    paths = [tmp_path / "models.f90", tmp_path / "main.f90"]
    for path, text in zip(paths, parts, strict=True):
        path.write_text(text)
    found = transform(paths, Options()).after
    assert not HALVES.search(found[str(paths[1])].decode())
    paths[1].write_text(CASE[at:])
    found = transform(paths, Options()).after
    assert HALVES.search(found[str(paths[1])].decode())
    assert "use sea, only: sea_exchange_start, sea_exchange_finish, smooth" in str(found)


def test_a_module_with_the_name_of_a_procedure() -> None:
    data = b"  use act, only: k\n  use, intrinsic :: act\n  use one, only: act, second\n"
    (edit,) = renamed(data, "act", ("act_start", "act_finish"), {}, fixed=False) or []
    assert data[edit.start :].startswith(b"act, second")
