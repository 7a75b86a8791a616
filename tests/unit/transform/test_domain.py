"""Sizes that an object holds: where it is the only one of its type, and has them for good."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

CASE = (Path(__file__).parent / "cases" / "domain.f90").read_text()
OBJECT = "    type(domain_t) :: d\n"
TYPE = "  type domain_t\n"
SIZES = "    integer :: nx, ny, left, right, comm\n"
END = "module driver\n"
MADE = "    call domain_init(d, 64, 48)\n"
GIVEN = "    call field_init(f, d)\n"
BEGUN = MADE + GIVEN
OTHER = MADE.replace("(d, 64", "(c, 32")
USED = ("call exchange(d,", "call sweep(d,", "call update(d,", "1:d%nx, 1:d%ny", "MPI_SUM, d%comm")
CALL = "  call advance(rank)\n"
UPDATE = "      call update(d, f)\n"

Changes = dict[str, str]


def behind(text: str) -> Changes:
    """What stands behind the calls that make the two objects."""
    return {BEGUN: BEGUN + text}


def procedure(text: str) -> Changes:
    return {"end module\nmodule driver": f"{text}end module\nmodule driver"}


def of(name: str) -> Changes:
    """The object by another name wherever it is used."""
    return {each: each.replace("(d,", f"({name},").replace("d%", f"{name}%") for each in USED}


TWO = {OBJECT: "    type(domain_t) :: d, c\n"}
IN_TYPE = {
    "  type field_t\n": "  type held_t\n    type(domain_t) :: d\n  end type\n  type field_t\n"
}
MAKER = """  function half(d) result(h)
    type(domain_t), intent(in) :: d
    type(domain_t) :: h
    h%nx = d%nx / 2
    h%ny = d%ny
  end function
"""
RENEW = """  subroutine renew(d)
    type(domain_t), intent(out) :: d
    d%ny = 8
    d%left = MPI_PROC_NULL
    d%right = MPI_PROC_NULL
    d%comm = MPI_COMM_WORLD
  end subroutine
"""
DEFAULT = {SIZES: "    integer :: nx = 8, ny = 8, left, right, comm\n"}
FIRST = {"    type(domain_t), intent(out) :: d": "    type(domain_t), intent(inout) :: d"}
IN_MODULE = {
    "  implicit none\ncontains\n  subroutine advance": "  implicit none\n"
    "  type(domain_t) :: d\ncontains\n  subroutine advance",
    OBJECT: "",
}
HALVE = """  subroutine halve(n)
    integer, intent(inout) :: n
    n = n / 2
  end subroutine
"""
AGAIN = """  recursive subroutine again(d, n)
    type(domain_t), intent(inout) :: d
    integer, intent(in) :: n
    d%nx = d%nx / 2
    if (n > 1) call again(d, n - 1)
  end subroutine
"""
LATE = """  subroutine late(f, d)
    type(field_t), intent(inout) :: f
    type(domain_t), intent(in) :: d
    call field_init(f, d)
  end subroutine
"""
FUNCTIONS = """  integer function given(f, d)
    type(field_t), intent(inout) :: f
    type(domain_t), intent(in) :: d
    given = 0
    given = 1
    call field_init(f, d)
  end function
  integer function made(d)
    type(domain_t), intent(inout) :: d
    made = 0
    call domain_init(d, 64, 48)
  end function
"""
MARK = """  subroutine mark(m, n)
    type(mark_t), intent(out) :: m
    integer, intent(in) :: n
    m%k = n
    d%nx = d%nx / n
  end subroutine
"""
SETUP = """  subroutine setup(d, f)
    type(domain_t), intent(inout) :: d
    type(field_t), intent(inout) :: f
    call domain_init(d, 64, 48)
    call field_init(f, d)
  end subroutine
"""

BOUND = {
    f"{SIZES}  end type": f"{SIZES}  contains\n    procedure :: begin => domain_init\n"
    "    procedure :: exchange\n  end type",
    "w(:,:)\n  end type": "w(:,:)\n  contains\n    procedure :: begin => field_init\n"
    "    procedure :: sweep\n    procedure :: update\n  end type",
    "    type(domain_t), intent(out)": "    class(domain_t), intent(inout)",
    "    type(domain_t), intent(in)": "    class(domain_t), intent(in)",
    "    type(field_t), intent(out)": "    class(field_t), intent(inout)",
    "    type(field_t), intent(inout)": "    class(field_t), intent(inout)",
    "subroutine sweep(d, f)": "subroutine sweep(f, d)",
    "subroutine update(d, f)": "subroutine update(f, d)",
    BEGUN: "    call d%begin(64, 48)\n    call f%begin(d)\n",
    "call exchange(d, f)": "call d%exchange(f)",
    "call sweep(d, f)": "call f%sweep(d)",
    "call update(d, f)": "call f%update(d)",
}

GOES: dict[str, Changes] = {
    "bound to types": BOUND,
    "of a procedure": {},
    "of a module": IN_MODULE,
    "in an object": {
        OBJECT: "    type(held_t) :: h\n",
        **IN_TYPE,
        BEGUN: BEGUN.replace("d,", "h%d,").replace("d)", "h%d)"),
        **of("h%d"),
    },
    "for two others": {
        "    type(field_t) :: f\n    integer :: it": "    type(field_t) :: f, g\n    integer :: it",
        **behind(GIVEN.replace("f,", "g,")),
    },
    "both made by a procedure": {BEGUN: "    call setup(d, f)\n", **procedure(SETUP)},
    "values at first": {**DEFAULT, **FIRST},
    "printed": {BEGUN: MADE + "    if (rank == 0) print *, d%nx\n" + GIVEN},
}
STAYS: dict[str, Changes] = {
    "two objects": {**TWO, BEGUN: MADE + OTHER + GIVEN.replace("d)", "c)")},
    "one of an array": {
        OBJECT: "    type(domain_t) :: d(2)\n",
        BEGUN: BEGUN.replace("d,", "d(1),").replace("d)", "d(2))")
        + MADE.replace("d, 64", "d(2), 32"),
        **of("d(1)"),
    },
    "allocated": {
        OBJECT: "    type(domain_t), allocatable :: d\n",
        BEGUN: f"    allocate(d)\n{BEGUN}",
    },
    "of a recursive procedure": {"  subroutine advance": "  recursive subroutine advance"},
    "another in a block": {
        GIVEN: "    block\n      type(domain_t) :: c\n"
        f"  {OTHER}  {GIVEN.replace('d)', 'c)')}    end block\n"
    },
    "another in a procedure": {
        "    integer :: i, j\n    allocate(f%u": "    type(domain_t) :: c\n"
        f"    integer :: i, j\n{OTHER}    allocate(f%u"
    },
    "the result of a function": {GIVEN: "    call field_init(f, half(d))\n", **procedure(MAKER)},
    "made by its type's name": {GIVEN: "    call field_init(f, domain_t(32, d%ny, 0, 0, 0))\n"},
    "copied": {**TWO, BEGUN: f"{OTHER}    d = c\n{GIVEN}    d%nx = 64\n"},
    "sent as a whole": behind("    call MPI_Bcast(d, 5, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\n"),
    "read as a whole": behind("    read(10) d\n"),
    "in one of two": {
        OBJECT: "    type(held_t) :: h, k\n",
        **IN_TYPE,
        BEGUN: BEGUN.replace("d,", "h%d,").replace("d)", "k%d)") + MADE.replace("d, 64", "k%d, 32"),
        **of("h%d"),
    },
    "values at first again": {**DEFAULT, **behind("    call renew(d)\n"), **procedure(RENEW)},
    "set behind": behind("    d%nx = d%nx / 2\n"),
    "set in front and behind": {BEGUN: "    d%nx = 16\n    d%ny = 16\n" + GIVEN + MADE},
    "set in the loop": {UPDATE: UPDATE + "      if (it == 5) d%nx = d%nx / 2\n"},
    "sent to": behind("    call MPI_Bcast(d%nx, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\n"),
    "received": {
        BEGUN: f"{MADE}    call MPI_Ibcast(d%nx, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, it, ierr)\n"
        f"{GIVEN}    call MPI_Wait(it, MPI_STATUS_IGNORE, ierr)\n"
    },
    "read": behind("    read(10) d%nx\n"),
    "set by a procedure": {
        **behind("    call halve(d%nx)\n"),
        **procedure(HALVE),
    },
    "set again for another": {
        "    type(field_t) :: f\n    integer :: it": "    type(field_t) :: f, g\n    integer :: it",
        **behind(MADE.replace("64", "32") + GIVEN.replace("f,", "g,")),
    },
    "both twice in a loop": {
        BEGUN: f"    do it = 64, 32, -32\n  {MADE.replace('64', 'it')}"
        f"      if (it == 64) {GIVEN.strip()}\n    end do\n"
    },
    "again by a jump": {
        BEGUN: f"    it = 0\n10  {MADE.strip().replace('64', '64 - it')}\n"
        f"    if (it == 0) {GIVEN.strip()}\n    if (it == 0) then\n      it = 32\n"
        "      goto 10\n    end if\n"
    },
    "by a procedure that calls itself": {
        **behind("    call again(d, 2)\n"),
        **procedure(AGAIN),
    },
    "made before and behind": {
        "    type(field_t) :: f\n    integer :: it": "    type(field_t) :: f, g\n    integer :: it",
        BEGUN: f"    d%nx = 16\n    d%ny = 16\n{GIVEN.replace('f,', 'g,')}{MADE}"
        "    call late(f, d)\n",
        **procedure(LATE),
    },
    "both in an expression": {
        BEGUN: "    it = made(d) + given(f, d)\n",
        **procedure(FUNCTIONS),
    },
    "by a procedure in a loop": {
        BEGUN: "    do it = 64, 32, -32\n      call setup(d, f, it)\n    end do\n",
        **procedure(SETUP.replace("(d, f)", "(d, f, n)").replace("64", "n")),
        "    call field_init(f, d)\n  end": "    if (.not. allocated(f%u)) call field_init(f, d)\n"
        "  end",
        "setup(d, f, n)\n    type": "setup(d, f, n)\n    integer, intent(in) :: n\n    type",
        "type(field_t), intent(out)": "type(field_t), intent(inout)",
    },
    "again where a file ends": {
        BEGUN: f"    it = 0\n10  {MADE.strip().replace('64', '64 - it')}\n"
        f"    if (it == 0) {GIVEN.strip()}\n    it = it + 32\n"
        "    read(11, *, end=10) ierr\n"
    },
    "by an assignment of its own": {
        "  integer :: it, ierr\n": "  integer :: it, ierr\n    type(mark_t) :: m\n",
        **behind("    m = 2\n"),
        "  type field_t\n": "  type mark_t\n    integer :: k\n  end type\n  type(domain_t) :: d\n"
        "  interface assignment(=)\n    module procedure mark\n  end interface\n  type field_t\n",
        OBJECT: "",
        **procedure(MARK),
    },
    "once more": {
        CALL: CALL + CALL,
        "    allocate(f%u": "    if (allocated(f%u)) deallocate(f%u, f%w)\n    allocate(f%u",
    },
}


@pytest.mark.parametrize("replaced", GOES.values(), ids=GOES)
def test_exchange_is_divided(replaced: Changes, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "domain.f90", changed(CASE, replaced))
    assert "call exchange_start(" in text and "call sweep_interior(" in text


@pytest.mark.parametrize("replaced", STAYS.values(), ids=STAYS)
def test_exchange_stays(replaced: Changes, tmp_path: Path) -> None:
    text = changed(CASE, replaced)
    assert rewritten(tmp_path / "domain.f90", text) == text


def single(path: Path, replaced: Changes) -> set[str]:
    """The types that have one object in a program that differs so from the case."""
    path.write_text(changed(CASE, replaced))
    return set(read_program([path], Options()).single)


MORE = "  type, extends(domain_t) :: more_t\n    integer :: k\n  end type\n  type field_t\n"
POINTER = "    procedure(keep), pointer, nopass :: op\n"
KEEP = """  subroutine keep(d)
    type(domain_t), intent(inout) :: d
    d%nx = d%nx
  end subroutine
"""

NOT_SINGLE: dict[str, Changes] = {
    "one that is extended": {
        "  type field_t\n": MORE,
        OBJECT: f"{OBJECT}    type(more_t) :: m\n",
    },
    "given through a pointer": {
        "w(:,:)\n  end type": f"w(:,:)\n{POINTER}  end type",
        BEGUN: f"{BEGUN}    f%op => keep\n    call f%op(d)\n",
        **procedure(KEEP),
    },
    "not the whole program": {"program heat\n": "subroutine heat\n"} | IN_MODULE,
    "an array": {OBJECT: "    type(domain_t) :: d(1)\n"},
    "in a block": {CALL: f"  block\n{OBJECT}  end block\n{CALL}"},
    "a result": {OBJECT: "", **procedure(MAKER)},
    "of a recursive procedure": {"  subroutine advance": "  recursive subroutine advance"},
    "a constructor": {BEGUN: BEGUN + "    call sweep(domain_t(1, 1, 0, 0, 0), f)\n"},
    "one that is extended, in a block": {
        "  type field_t\n": MORE,
        CALL: f"  block\n    type(more_t) :: m\n    m%nx = 1\n  end block\n{CALL}",
    },
    "in one that there is twice": {**IN_TYPE, OBJECT: "    type(held_t) :: d, c\n"},
}
SINGLE: dict[str, Changes] = {
    "as it is": {},
    "an argument alone": procedure(RENEW),
    "an argument that begins again": {**DEFAULT, **procedure(RENEW)},
    "one that nothing extends in fact": {"  type field_t\n": MORE},
    "of no recursive procedure": {"  subroutine advance": "  non_recursive subroutine advance"},
    "in another one": {OBJECT: "    type(held_t) :: d\n", **IN_TYPE},
    "in one that extends another": {
        OBJECT: "    type(held_t) :: d\n",
        "  type field_t\n": "  type :: base_t\n    integer :: k\n  end type\n"
        + IN_TYPE["  type field_t\n"].replace("type held_t", "type, extends(base_t) :: held_t", 1),
    },
}


@pytest.mark.parametrize("replaced", NOT_SINGLE.values(), ids=NOT_SINGLE)
def test_there_are_others(replaced: Changes, tmp_path: Path) -> None:
    assert "type(domain_t)" not in single(tmp_path / "domain.f90", replaced)


@pytest.mark.parametrize("replaced", SINGLE.values(), ids=SINGLE)
def test_there_is_one(replaced: Changes, tmp_path: Path) -> None:
    assert "type(domain_t)" in single(tmp_path / "domain.f90", replaced)
