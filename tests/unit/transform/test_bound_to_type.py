"""Routines that a type of Fortran is bound to: `call g%exchange()`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.command import explain
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program
from imbrex.transform.text.edits import apply_edits
from imbrex.transform.text.name_lists import folded, renamed

PLAIN = (Path(__file__).parent / "cases" / "handles.f90").read_text()
DATA = "     real(wp), allocatable :: u(:,:), unew(:,:)\n"
CALL = "     call grid_exchange(g)\n"
SWEEP = "     call grid_sweep(g)\n"
BINDING = "     procedure :: exchange => grid_exchange\n"
HEADER = "  subroutine grid_exchange(self)\n    class(grid_t), intent(inout) :: self\n"
SAID = "grid_exchange is bound to a type, and calls by that (`call g%…`) are not followed"
SPLIT = "grid_exchange is split into a start and a finish"
BY_TYPE = "grid_exchange is called where the type that an object has at run time says so"
HIDDEN = "procedures beside grid_exchange cannot be made known where another name calls it"

OTHER = """end module grid_mod

module box_mod
  use grid_mod
  implicit none
  type :: box_t
     integer :: n = 0
   contains
     procedure :: exchange => box_exchange
  end type box_t
contains
  subroutine box_exchange(self)
    class(box_t), intent(inout) :: self
    self%n = self%n + 1
  end subroutine box_exchange
end module box_mod
"""
TWO = """  subroutine grid_exchange_some(self, n)
    class(grid_t), intent(inout) :: self
    integer, intent(in) :: n
    if (n > 0) self%u = 0.0_wp
  end subroutine grid_exchange_some

  subroutine grid_sweep(self)
"""


def outcome(bindings: str, call: str, folder: Path, *changes: tuple[str, str]) -> Outcome:
    text = PLAIN.replace("type(grid_t), intent", "class(grid_t), intent")
    text = text.replace(DATA, f"{DATA}   contains\n{bindings}").replace(CALL, f"     {call}\n")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "program.f90"
    path.write_text(text)
    return transform([path], Options())


def said(bindings: str, call: str, folder: Path, *changes: tuple[str, str]) -> str:
    return explain(outcome(bindings, call, folder, *changes))


def after(bindings: str, call: str, folder: Path, *changes: tuple[str, str]) -> str:
    (text,) = outcome(bindings, call, folder, *changes).after.values()
    return text.decode()


@pytest.mark.parametrize(
    ("bindings", "call"),
    [
        (BINDING, "call g%exchange()"),
        (BINDING, "call g % exchange"),
        (BINDING, "if (it >= 0) call g%exchange()"),
        ("     procedure, public :: sweep => grid_sweep, exchange => grid_exchange\n", ""),
        ("     procedure, non_overridable :: grid_exchange\n", "call g%grid_exchange()"),
        ("     procedure grid_exchange\n", "call g%grid_exchange()"),
        ("     procedure, pass(self) :: exchange => grid_exchange\n", ""),
        ("     procedure, nopass :: exchange => grid_exchange\n", "call g%exchange(g)"),
        (f"{BINDING}     generic :: update => exchange\n", "call g%update()"),
    ],
)
def test_a_call_is_followed(bindings: str, call: str, tmp_path: Path) -> None:
    text = said(bindings, call or "call g%exchange()", tmp_path)
    assert SPLIT in text
    assert SAID not in text


def test_the_routine_stays_for_its_type(tmp_path: Path) -> None:
    text = after(BINDING, "call g%exchange()", tmp_path)
    assert "  subroutine grid_exchange(self)\n" in text
    assert text.count("call MPI_Sendrecv(") == 2
    assert "     call grid_exchange_start(g, grid_exchange_requests)\n" in text
    assert "     call grid_sweep_interior(g)\n" in text
    assert "call g%exchange" not in text


def test_an_object_that_is_not_the_first_argument(tmp_path: Path) -> None:
    text = after(
        "     procedure, pass(self) :: exchange => grid_exchange\n",
        "call g%exchange(it)",
        tmp_path,
        ("grid_exchange(self)\n", "grid_exchange(k, self)\n    integer, intent(in) :: k\n"),
        ("self%right, 1,", "self%right, k,"),
        ("self%left, 1,", "self%left, k,"),
    )
    assert "call grid_exchange_start(it, g, grid_exchange_requests)" in text
    assert "call grid_exchange_finish(g, grid_exchange_requests)" in text


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ("", ""),
        ("  private\n  public :: grid_t, grid_init, grid_sweep, grid_norm\n", "  public :: {}\n"),
        ("  private\n  public :: grid_t, grid_init, grid_sweep, grid_norm, grid_exchange\n", ""),
    ],
)
def test_halves_are_given_out_and_brought_in(private: str, public: str, tmp_path: Path) -> None:
    used = "use grid_mod, only: grid_t, grid_init, grid_sweep, grid_norm\n"
    text = after(
        BINDING,
        "call g%exchange()",
        tmp_path,
        ("use grid_mod\n", used),
        ("  integer, parameter :: wp", f"{private}  integer, parameter :: wp"),
    )
    names = "grid_exchange_start, grid_exchange_finish"
    assert text.count(public.format(names)) == 1 or not public
    assert text.count(f"  use grid_mod, only: {names}\n") == 1
    text = re.sub(r"&\n *", "", text)
    assert text.count(f"grid_exchange, {names}\n") == (private.endswith("grid_exchange\n"))
    assert text.count("public :: grid_exchange_start") == bool(public)


def test_a_module_that_is_used_as_a_whole_needs_no_list(tmp_path: Path) -> None:
    assert "only: grid_exchange" not in after(BINDING, "call g%exchange()", tmp_path)


LISTED = ("  integer, parameter :: wp", "  private :: grid_exchange\n  integer, parameter :: wp")


def test_what_cannot_be_given_out(tmp_path: Path) -> None:
    assert HIDDEN in said(BINDING, "call g%exchange()", tmp_path, LISTED)


def test_a_call_in_a_construct_that_is_not_read(tmp_path: Path) -> None:
    call = "here: associate (h => g)\n     call h%exchange()\n     end associate here"
    assert SAID in said(BINDING, call, tmp_path)


def test_a_call_on_the_name_that_an_associate_gives(tmp_path: Path) -> None:
    begin = "associate (held => g)\n     call held%exchange()"
    text = after(BINDING, begin, tmp_path, (SWEEP, f"{SWEEP}     end associate\n"))
    assert "     call grid_exchange_start(g, grid_exchange_requests)\n" in text
    assert "     call grid_sweep_interior(g)\n" in text


@pytest.mark.parametrize(
    ("block", "followed"),
    [
        ("block\n     integer :: k\n     k = it\n", True),
        ("block\n     type(box_t) :: g\n", False),
        ("block\n     type(box_t) g\n", False),
    ],
)
def test_a_call_in_a_block(block: str, followed: bool, tmp_path: Path) -> None:
    """Another object of this name is none of the type."""
    changes = [
        ("  use grid_mod\n", "  use grid_mod\n  use box_mod\n"),
        ("end module grid_mod\n", OTHER),
        (SWEEP, f"     end block\n{SWEEP}"),
    ]
    text = said(BINDING, f"{block}     call g%exchange()", tmp_path, *changes)
    assert (SAID in text) is not followed


KEYWORD = [
    ("grid_exchange(self)\n", "grid_exchange(self, k)\n    integer, intent(in) :: k\n"),
    ("self%right, 1,", "self%right, k,"),
    ("self%left, 1,", "self%left, k,"),
]


@pytest.mark.parametrize("call", ["call g%exchange(k=it)", "call grid_exchange(g, k=it)"])
def test_arguments_that_are_given_by_name(call: str, tmp_path: Path) -> None:
    """What follows them in a list has a name too."""
    assert SPLIT in said(BINDING, call, tmp_path, *KEYWORD)


CLASS = ("  type(grid_t) :: g\n", "  class(grid_t), allocatable :: g\n")
MADE = ("  call grid_init(g, 3", "  allocate(grid_t :: g)\n  call grid_init(g, 3")
EXTENDED = """end module grid_mod

module box_mod
  use grid_mod
  implicit none
  type, extends(grid_t) :: box_t
   contains
     procedure :: exchange => box_exchange
  end type box_t
contains
  subroutine box_exchange(self)
    class(box_t), intent(inout) :: self
    self%u(1, 1) = 2.0_wp
  end subroutine box_exchange
end module box_mod
"""


def test_an_object_of_a_class_that_nothing_extends(tmp_path: Path) -> None:
    assert SPLIT in said(BINDING, "call g%exchange()", tmp_path, CLASS, MADE)


def test_an_object_of_a_class_that_another_extends(tmp_path: Path) -> None:
    changes = [CLASS, MADE, ("end module grid_mod\n", EXTENDED)]
    text = said(BINDING, "call g%exchange()", tmp_path, *changes)
    assert "is called where the type that an object has at run time says so" in text
    assert SPLIT not in text


def test_a_class_that_other_files_may_extend(tmp_path: Path) -> None:
    """Without the main program these are not all the files."""
    path = tmp_path / "module.f90"
    text = PLAIN[: PLAIN.index("program heat")].replace(
        "type(grid_t), intent", "class(grid_t), intent"
    )
    text = text.replace(DATA, f"{DATA}   contains\n{BINDING}")
    run = "  subroutine run(self)\n    class(grid_t), intent(inout) :: self\n"
    run += "    call self%exchange()\n    call grid_sweep(self)\n  end subroutine run\n"
    path.write_text(text.replace("end module grid_mod\n", f"{run}end module grid_mod\n"))
    program = read_program([path], Options())
    (call,) = [c for s in program.routines["run"].statements() for c in s.calls]
    assert call.name == "grid_sweep"


SOME = "     procedure :: some => grid_exchange_some\n     generic :: update => exchange, some\n"


@pytest.mark.parametrize(
    ("argument", "update", "known"),
    [
        ("n", "g%update()", True),
        ("n", "g%update(it)", False),
        ("n", "g%update(n=it)", False),
    ],
)
def test_a_generic_name_is_known_by_the_number_of_arguments(
    argument: str, update: str, known: bool, tmp_path: Path
) -> None:
    change = ("  subroutine grid_sweep(self)\n", TWO)
    text = said(BINDING + SOME, f"call {update}", tmp_path, change)
    assert (SPLIT in text) is known
    assert SAID not in text
    assert BY_TYPE not in text


def test_a_generic_name_may_stand_for_either(tmp_path: Path) -> None:
    changes = [
        ("  subroutine grid_sweep(self)\n", TWO.replace("intent(in) :: n", "optional :: n")),
        ("    if (n > 0) self%u", "    if (present(n)) self%u"),
    ]
    text = said(BINDING + SOME, "call g%update()", tmp_path, *changes)
    assert SPLIT not in text
    assert BY_TYPE in text


def test_another_type_has_a_procedure_of_that_name(tmp_path: Path) -> None:
    changes = [
        ("  use grid_mod\n", "  use grid_mod\n  use box_mod\n"),
        ("  type(grid_t) :: g\n", "  type(grid_t) :: g\n  type(box_t) :: b\n"),
        ("end module grid_mod\n", OTHER),
    ]
    text = after(BINDING, "call b%exchange()\n     call g%exchange()", tmp_path, *changes)
    assert "     call b%exchange()\n" in text
    assert "call grid_exchange_start(g," in text


def test_a_name_that_stands_for_something_else(tmp_path: Path) -> None:
    changed = ("  integer :: it\n", "  integer :: it\n  integer :: grid_exchange = 1\n")
    used = ("use grid_mod\n", "use grid_mod, only: grid_t, grid_init, grid_sweep, grid_norm\n")
    text = said(BINDING, "call g%exchange()", tmp_path, changed, used)
    assert SPLIT not in text
    assert SAID in text


def test_another_is_bound(tmp_path: Path) -> None:
    assert SAID not in said("     procedure :: sweep => grid_sweep\n", "continue", tmp_path)


def test_a_call_by_its_own_name_is_seen(tmp_path: Path) -> None:
    text = said(BINDING, CALL.strip(), tmp_path)
    assert SAID not in text
    assert SPLIT in text


def test_a_list_that_several_names_make_too_long_is_broken() -> None:
    data = b"  use fields, only: grid_t, exchange_of_all_the_sides, sweep_over_all_the_cells\n"
    names = ("exchange_of_all_the_sides", "sweep_over_all_the_cells")
    edits = [
        edit
        for name in names
        for edit in renamed(data, name, (name, f"{name}_start"), {}, fixed=False) or []
    ]
    assert len(edits) == 2
    text = apply_edits(data, folded(data, edits)).decode()
    assert max(len(line) for line in text.split("\n")) < 100
    assert "".join(text.replace("&\n", "").split()).endswith(
        "exchange_of_all_the_sides,exchange_of_all_the_sides_start,"
        "sweep_over_all_the_cells,sweep_over_all_the_cells_start"
    )
    assert folded(data, edits[:1]) == edits[:1]


def test_a_name_that_another_file_has(tmp_path: Path) -> None:
    """What uses both modules would know two things by it."""
    (tmp_path / "module.f90").write_text(
        PLAIN[: PLAIN.index("program heat")]
        .replace("type(grid_t), intent", "class(grid_t), intent")
        .replace(DATA, f"{DATA}   contains\n{BINDING}")
    )
    main = tmp_path / "main.f90"
    main.write_text(PLAIN[PLAIN.index("program heat") :].replace(CALL, "     call g%exchange()\n"))
    paths = [tmp_path / "module.f90", main]
    assert SPLIT in explain(transform(paths, Options()))
    other = tmp_path / "other.f90"
    other.write_text("module other\n  integer :: grid_exchange_start = 0\nend module other\n")
    assert HIDDEN in explain(transform([*paths, other], Options()))


def test_a_module_that_withholds_names_where_no_line_can_follow(tmp_path: Path) -> None:
    (tmp_path / "hidden.inc").write_text("private\npublic :: grid_t, grid_init\n")
    included = (
        "  integer, parameter :: wp",
        "  include 'hidden.inc'\n  public grid_sweep, grid_norm\n  integer, parameter :: wp",
    )
    assert HIDDEN in said(BINDING, "call g%exchange()", tmp_path, included)


def test_a_head_that_shares_its_line(tmp_path: Path) -> None:
    listed = "program heat; use grid_mod, only: grid_t, grid_init, grid_sweep, grid_norm\n"
    changes = [("program heat\n", listed), ("  use grid_mod\n", "")]
    assert HIDDEN in said(BINDING, "call g%exchange()", tmp_path, *changes)


def test_parts_that_cannot_be_given_out(tmp_path: Path) -> None:
    bindings = f"{BINDING}     procedure :: sweep => grid_sweep\n"
    listed = (LISTED[0], LISTED[1].replace("grid_exchange", "grid_sweep"))
    text = said(bindings, "call g%exchange()", tmp_path, (SWEEP, "     call g%sweep()\n"), listed)
    assert SPLIT not in text
    assert HIDDEN.replace("grid_exchange", "grid_sweep") in text


def test_a_further_call_that_is_not_followed(tmp_path: Path) -> None:
    last = "  here: associate (h => g)\n  call h%exchange()\n  end associate here\n"
    text = said(BINDING, "call g%exchange()", tmp_path, ("  n = grid", f"{last}  n = grid"))
    assert SPLIT not in text
    assert SAID in text


ROWS = """  subroutine grid_rows(self, first, last)
    class(grid_t), intent(inout) :: self
    integer, intent(in) :: first, last
    integer :: i, j
    do j = first, last
       do i = 1, self%nx
          self%unew(i, j) = 0.5_wp * (self%u(i, j-1) + self%u(i, j+1))
       end do
    end do
  end subroutine grid_rows

  function grid_norm"""


@pytest.mark.parametrize(
    ("bound", "head", "call"),
    [
        ("procedure :: rows", "grid_rows(self, first, last)", "g%rows(1, g%ny)"),
        ("procedure, pass(self) :: rows", "grid_rows(first, self, last)", "g%rows(1, g%ny)"),
        ("procedure, nopass :: rows", "grid_rows(self, first, last)", "g%rows(g, 1, g%ny)"),
    ],
)
def test_parts_that_are_calls_with_other_arguments(
    bound: str, head: str, call: str, tmp_path: Path
) -> None:
    """They are called by the type too, which may be the only way to name the procedure."""
    rows = ROWS.replace("grid_rows(self, first, last)", head)
    changes = [("  function grid_norm", rows), (SWEEP, f"     call {call}\n{SWEEP}")]
    text = after(f"{BINDING}     {bound} => grid_rows\n", "call g%exchange()", tmp_path, *changes)
    assert SPLIT in said(
        f"{BINDING}     {bound} => grid_rows\n", "call g%exchange()", tmp_path, *changes
    )
    inner = call.replace("1, g%ny", "2, g%ny - 1")
    first, last = (call.replace("1, g%ny", ends) for ends in ("1, 1", "g%ny, g%ny"))
    assert f"     call {inner}\n" in text
    assert f"     if (g%ny .ge. 1) call {first}\n" in text
    assert f"     if (g%ny .gt. 1) call {last}\n" in text


@pytest.mark.parametrize(
    "declared",
    ["type(grid_t) :: more(2), g", "type(grid_t), allocatable :: more\n  type(grid_t) :: g"],
)
def test_an_associate_that_names_no_one_object_for_good(declared: str, tmp_path: Path) -> None:
    """It stays a construct that is not read: the memory may be another one meanwhile."""
    begin = "associate (held => more)\n     call g%exchange()"
    changes = [(SWEEP, f"{SWEEP}     end associate\n"), ("type(grid_t) :: g\n", f"{declared}\n")]
    assert SPLIT not in said(BINDING, begin, tmp_path, *changes)
