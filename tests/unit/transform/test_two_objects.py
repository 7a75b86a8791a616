"""Fields in objects of one derived type: an exchange of one while the other is computed.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.statements import Kind
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

pytestmark = pytest.mark.slow

PROGRAM = """module heat
  use mpi_f08
  implicit none
  type :: field
    integer :: nx, ny
    double precision, allocatable :: data(:,:)
  end type field
  type :: parallel_data
    integer :: rank, size, left, right
  end type parallel_data
contains
  subroutine initialize(f, nx, ny, rank)
    type(field), intent(inout) :: f
    integer, intent(in) :: nx, ny, rank
    f%nx = nx
    f%ny = ny
    allocate(f%data(0:nx+1, 0:ny+1))
    f%data = rank
  end subroutine initialize
  subroutine exchange(f, parallel)
    type(field), intent(inout) :: f
    type(parallel_data), intent(in) :: parallel
    call MPI_Sendrecv(f%data(:, 1), f%nx + 2, MPI_DOUBLE_PRECISION, parallel%left, 1, &
        f%data(:, f%ny + 1), f%nx + 2, MPI_DOUBLE_PRECISION, parallel%right, 1, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(f%data(:, f%ny), f%nx + 2, MPI_DOUBLE_PRECISION, parallel%right, 2, &
        f%data(:, 0), f%nx + 2, MPI_DOUBLE_PRECISION, parallel%left, 2, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine exchange
  subroutine evolve(curr, prev)
    type(field), intent(inout) :: curr, prev
    integer :: i, j
    do j = 1, prev%ny
      do i = 1, prev%nx
        curr%data(i, j) = prev%data(i, j) + 0.1d0 * (prev%data(i, j-1) + prev%data(i, j+1))
      end do
    end do
  end subroutine evolve
  subroutine swap(curr, prev)
    type(field), intent(inout) :: curr, prev
    double precision, allocatable :: tmp(:,:)
    call move_alloc(curr%data, tmp)
    call move_alloc(prev%data, curr%data)
    call move_alloc(tmp, prev%data)
  end subroutine swap
end module heat

program main
  use heat
  implicit none
  type(field) :: current, previous
  type(parallel_data) :: parallel
  integer :: iter
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, parallel%rank)
  call MPI_Comm_size(MPI_COMM_WORLD, parallel%size)
  parallel%left = modulo(parallel%rank - 1, parallel%size)
  parallel%right = modulo(parallel%rank + 1, parallel%size)
  call initialize(current, 40, 40, parallel%rank)
  call initialize(previous, 40, 40, parallel%rank)
  do iter = 1, 20
    call exchange(previous, parallel)
    call evolve(current, previous)
    call swap(current, previous)
  end do
  print *, parallel%rank, sum(previous%data)
  call MPI_Finalize()
end program main
"""
EXCHANGE = "    call exchange(previous, parallel)\n"
EVOLVE = "    call evolve(current, previous)\n"
SWAP = "    call swap(current, previous)\n"
OBJECTS = "type(field) :: current, previous"
COMPONENT = "double precision, allocatable :: data(:,:)"
BODY = PROGRAM[PROGRAM.index("    do j = 1, prev") : PROGRAM.index("  end subroutine evolve")]
EVOLVING = "    type(field), intent(inout) :: curr, prev\n    integer :: i, j\n"
IN_ARRAY = {
    OBJECTS: "type(field) :: fields(2)",
    "call exchange(previous": "call exchange(fields(1)",
    "(current, previous)": "(fields(2), fields(1))",
    "(current, 40": "(fields(2), 40",
    "(previous, 40": "(fields(1), 40",
    "sum(previous%": "sum(fields(1)%",
}
TMP, END = "    double precision, allocatable :: tmp", "  end subroutine swap"
SWAPPING = PROGRAM[PROGRAM.index(TMP) : PROGRAM.index(END)]
CONTAINS = "contains\n  subroutine initialize"
BEHIND = "  subroutine swap"

DIVIDED: dict[str, dict[str, str]] = {
    "an extended type": {
        "  type :: parallel_data": "  type, extends(field) :: more\n"
        "    integer :: z\n  end type more\n"
        "  type :: parallel_data",
    },
    "an associate name": {
        BODY: "    associate (from => prev%data)\n"
        + BODY.replace("prev%data", "from")
        + "    end associate\n",
    },
    "into what is exchanged": {EVOLVE: "    call evolve(previous, current)\n"},
    "memory that changes hands": {},
    "components that are pointers": {
        COMPONENT: "double precision, pointer :: data(:,:)",
        SWAP: "    tmp => current%data\n    current%data => previous%data\n"
        "    previous%data => tmp\n",
        SWAPPING: "",
        "integer :: iter": "integer :: iter\n  double precision, pointer :: tmp(:,:)",
    },
    "copied element by element": {
        SWAPPING: "    integer :: i, j\n    do j = 1, curr%ny\n      do i = 1, curr%nx\n"
        "        prev%data(i, j) = curr%data(i, j)\n      end do\n    end do\n",
    },
    "copied as a whole": {SWAP: "    previous = current\n"},
    "the components copied": {SWAP: "    previous%data = current%data\n"},
    "objects that change places": {
        EXCHANGE + EVOLVE + SWAP: (
            "    call exchange(previous, parallel)\n    call evolve(current, previous)\n"
            "    call exchange(current, parallel)\n    call evolve(previous, current)\n"
        ),
    },
    "objects of a module": {
        CONTAINS: f"  {OBJECTS}\n{CONTAINS}",
        f"  {OBJECTS}\n  type(par": "  type(par",
    },
    "the loop in the caller": {
        EVOLVE: BODY.replace("curr%", "current%").replace("prev%", "previous%"),
        "integer :: iter": "integer :: iter, i, j",
    },
    "through another routine": {
        BEHIND: "  subroutine step(to, from, parallel)\n"
        "    type(field), intent(inout) :: to, from\n"
        "    type(parallel_data), intent(in) :: parallel\n"
        "    call exchange(from, parallel)\n    call evolve(to, from)\n"
        "  end subroutine step\n" + BEHIND,
        EXCHANGE + EVOLVE: "    call step(current, previous, parallel)\n",
    },
    "of one length": {"prev%ny": "prev%nx", "f%ny": "f%nx"},
}

ASKED: dict[str, dict[str, str]] = {
    "the sizes of the object that is computed": {"1, prev%ny": "1, curr%ny", "prev%nx": "curr%nx"},
    "by local names": {
        EVOLVING: EVOLVING + "    integer :: nx, ny\n    nx = curr%nx\n    ny = curr%ny\n",
        "1, prev%ny": "1, ny",
        "1, prev%nx": "1, nx",
    },
}
NOT_ASKED: dict[str, dict[str, str]] = {
    "another component": {"1, prev%ny": "1, curr%nx"},
    "components that callers cannot name": {
        "1, prev%ny": "1, curr%ny",
        "integer :: nx, ny\n    double": "integer, private :: nx, ny\n    double",
    },
    "a size that the step sets": {
        "1, prev%ny": "1, curr%ny",
        "  end subroutine evolve": "    curr%ny = curr%nx\n  end subroutine evolve",
    },
    "a size that is set in between": {
        "1, prev%ny": "1, curr%ny",
        EVOLVE: "    current%ny = iter\n" + EVOLVE,
    },
    "one column less": {"1, prev%ny": "1, curr%ny", "j = 1, curr%ny": "j = 1, 2 * curr%ny"},
}


def _between(text: str) -> dict[str, str]:
    return {EXCHANGE + EVOLVE: EXCHANGE + text + EVOLVE}


STAYS: dict[str, dict[str, str]] = {
    "one object": {EVOLVE: "    call evolve(previous, previous)\n"},
    "one object for both dummies, further in": {
        BEHIND: "  subroutine step(to, from)\n"
        "    type(field), intent(inout) :: to, from\n"
        "    call evolve(to, from)\n  end subroutine step\n" + BEHIND,
        EVOLVE: "    call step(previous, previous)\n",
    },
    "swapped in between": _between(SWAP),
    "copied in between": _between("    previous = current\n"),
    "its component copied in between": _between("    previous%data = current%data\n"),
    "given memory in between": _between(
        "    deallocate(previous%data)\n    call initialize(previous, 40, 40, iter)\n"
    ),
    "moved in between": _between(
        "    call move_alloc(previous%data, kept)\n    call move_alloc(kept, previous%data)\n"
    )
    | {"integer :: iter": "integer :: iter\n  double precision, allocatable :: kept(:,:)"},
    "another size in between": _between("    previous%ny = previous%ny + iter - 2\n"),
    "objects in an array": IN_ARRAY,
    "objects in an array, by indices": IN_ARRAY
    | {"(current, previous)": "(fields(1 + mod(iter, 2)), fields(1))"},
    "objects in an object": {
        CONTAINS: "  type :: both\n    type(field) :: a, b\n  end type both\n" + CONTAINS,
        OBJECTS: "type(both) :: two",
        "(current, 40": "(two%a, 40",
        "(current, previous)": "(two%a, two%b)",
        "(previous": "(two%b",
    },
    "pointers to objects": {
        OBJECTS: "type(field), target :: one, two\n  type(field), pointer :: current, previous",
        "  call MPI_Init()": "  current => one\n  previous => two\n  call MPI_Init()",
    },
    "targets": {
        OBJECTS: "type(field), target :: current, previous\n  double precision, pointer :: p(:,:)",
        EVOLVE: "    p => previous%data\n" + EVOLVE,
    },
    "components that are pointers to one array": {
        COMPONENT: "double precision, pointer :: data(:,:)",
        SWAP: "    current%data => previous%data\n",
        SWAPPING: "",
    },
    "an object freed on entry": {EVOLVING: EVOLVING.replace("(inout) :: curr", "(out) :: curr")},
    "the result of a function": {
        EVOLVE: "    current = evolved(previous)\n",
        "  subroutine evolve(curr, prev)": "  function evolved(prev) result(curr)",
        "  end subroutine evolve": "  end function evolved",
        EVOLVING: "    type(field), intent(in) :: prev\n    type(field) :: curr\n"
        "    integer :: i, j\n"
        "    call initialize(curr, prev%nx, prev%ny, 0)\n",
    },
    "an associate name of a section": {
        BODY: "    associate (from => prev%data(:, :))\n"
        + BODY.replace("prev%data", "from")
        + "    end associate\n",
    },
    "a dynamic type": {
        EVOLVING: EVOLVING.replace("type(field)", "class(field)"),
        BODY: "    select type (prev)\n    type is (field)\n" + BODY + "    end select\n",
    },
    "a column from beyond": {"prev%data(i, j-1)": "prev%data(i, 0)"},
    "in its own place": {"curr%data(i, j) =": "prev%data(i, j) ="},
    "all of it": {"0.1d0 * (prev": "sum(prev%data) * (prev"},
    "code that is not there, in between": _between("    call unknown(current, previous)\n")
    | {
        "program main\n  use heat\n  implicit none\n": "program main\n  use heat\n  implicit none\n"
        "  external :: unknown\n"
    },
    "as a value": {
        EVOLVING: "    type(field), intent(inout) :: curr\n    type(field), value :: prev\n"
        "    integer :: i, j\n",
    },
    "in a sequence type": {"  type :: field\n": "  type :: field\n    sequence\n"},
    "in a coarray": {OBJECTS: "type(field), save :: current[*], previous[*]"},
    "allocatable objects that change hands": {
        OBJECTS: "type(field), allocatable :: current, previous, kept",
        "  call MPI_Init()": "  allocate(current, previous)\n  call MPI_Init()",
        EXCHANGE + EVOLVE: EXCHANGE
        + "    call move_alloc(previous, kept)\n    call move_alloc(current, previous)\n"
        "    call move_alloc(kept, current)\n" + EVOLVE,
    },
}


def divided(folder: Path, replacements: dict[str, str]) -> bool:
    """Whether something is computed while the exchange is under way."""
    source = folder / "program.f90"
    source.write_text(changed(PROGRAM, replacements))
    outcome = transform([source], Options())
    after = outcome.after[str(source)].decode()
    return "exchange_start(" in after or "imbrex_requests" in after.partition("program main")[2]


@pytest.mark.parametrize("name", DIVIDED)
def test_the_exchange_passes_the_interior(name: str, tmp_path: Path) -> None:
    assert divided(tmp_path, DIVIDED[name])


@pytest.mark.parametrize("name", STAYS)
def test_the_exchange_stays_in_front(name: str, tmp_path: Path) -> None:
    assert not divided(tmp_path, STAYS[name])


def test_what_a_type_binds_keeps_its_name(tmp_path: Path) -> None:
    bound = {
        f"    {COMPONENT}\n": f"    {COMPONENT}\n  contains\n    procedure :: exchange\n",
        "type(field), intent(inout) :: f\n    type(par": (
            "class(field), intent(inout) :: f\n    type(par"
        ),
    }
    source = tmp_path / "program.f90"
    source.write_text(changed(PROGRAM, bound))
    assert b"subroutine exchange(f, parallel)" in transform([source], Options()).after[str(source)]


@pytest.mark.parametrize("name", ASKED)
def test_sizes_are_asked_of_both_objects(name: str, tmp_path: Path) -> None:
    source = tmp_path / "program.f90"
    source.write_text(changed(PROGRAM, ASKED[name]))
    after = transform([source], Options()).after[str(source)].decode()
    main = after[after.index("program main") :]
    asked = main.index("if (current%ny <= previous%ny) then")
    interior, finish = main.index("call evolve_interior("), main.index("call exchange_finish(")
    again = main.index("if (current%ny <= previous%ny) then", finish)
    boundary, whole = main.index("call evolve_boundary("), main.index("call evolve(")
    assert main.index("call exchange_start(") < asked < interior < finish < again < boundary < whole
    source.write_text(after)
    assert transform([source], Options()).after[str(source)].decode() == after


@pytest.mark.parametrize("name", NOT_ASKED)
def test_sizes_cannot_be_asked(name: str, tmp_path: Path) -> None:
    assert not divided(tmp_path, NOT_ASKED[name])


@pytest.mark.parametrize(
    ("condition", "known"),
    [
        ("a <= b", ["b - a"]),
        ("a .lt. b", ["b - a - 1"]),
        ("a > 2", ["a - 3"]),
        ("a == b", ["a - b", "b - a"]),
        ("a >= b .and. b >= 1", ["a - b", "b - 1"]),
        ("a >= b .and. l", ["a - b"]),
        ("a >= b .or. l", []),
        ("a >= b .and. b >= 1 .or. l", []),
        (".not. a >= b", []),
        (".not. (a >= b)", []),
        ("a /= b", []),
        ("x >= 1", []),
        ("a >= x", []),
        ("(a >= b)", []),
        ("(a >= b .or. l) .and. b >= 1", []),
        ("a >= b .eqv. l", []),
    ],
)
def test_what_a_condition_says(condition: str, known: list[str], tmp_path: Path) -> None:
    source = tmp_path / "program.f90"
    source.write_text(
        "program main\n  integer :: a, b, c\n  real :: x\n  logical :: l\n"
        f"  if ({condition}) then\n    c = a\n  end if\nend program main\n"
    )
    (statement,) = [
        each
        for each in read_program([source], Options()).routines["main"].statements()
        if each.kind is Kind.IF
    ]
    a, b = (Affine.variable(f"{name}@{source}:main:1") for name in "ab")
    values = {"a": a, "b": b}
    expected = set()
    for text in known:
        form, sign = Affine(0), 1
        for part in text.split():
            if part in "+-":
                sign = -1 if part == "-" else 1
            else:
                form = form.plus(values.get(part) or Affine(int(part)), sign)
        expected.add(form)
    assert set(statement.holding) == expected


UNDER_WAY = """module m
  use mpi_f08
  implicit none
  integer, parameter :: n = 100000
  type :: field
    double precision, allocatable :: u(:)
  end type field
contains
  subroutine swap(a, b)
    type(field), intent(inout) :: a, b
    double precision, allocatable :: t(:)
    call move_alloc(a%u, t)
    call move_alloc(b%u, a%u)
    call move_alloc(t, b%u)
  end subroutine swap
  subroutine post(a, b, r)
    type(field), intent(inout) :: a, b
    type(MPI_Request), intent(inout) :: r(2)
    call MPI_Irecv(a%u, n, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF, r(1))
    call MPI_Isend(b%u, n, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF, r(2))
  end subroutine post
end module m
program main
  use m
  implicit none
  type(field) :: f, g, h
  double precision, allocatable :: t(:)
  type(MPI_Request) :: r(2)
  integer :: i, it
  call MPI_Init()
  allocate(f%u(n), g%u(n), h%u(n))
  f%u = 0
  g%u = 1
  h%u = 2
  do it = 1, 10
    call post(f, g, r)
    CHANGE
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    do i = 1, n
      WORK%u(i) = 0.5d0 * WORK%u(i) + 1
    end do
  end do
  print *, sum(f%u), sum(g%u)
  call MPI_Finalize()
end program main
"""
HANDED_ON = (
    "call swap(f, g)",
    "call move_alloc(f%u, t); call move_alloc(g%u, f%u); call move_alloc(t, g%u)",
    "if (it > 5) call swap(f, g)",
    "call unknown(f, g)",
)
POST = "call post(f, g, r)"
POSTED = """call MPI_Irecv(f%u, n, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF, r(1))
    call MPI_Isend(g%u, n, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_SELF, r(2))"""


def _waits_later(folder: Path, replacements: dict[str, str]) -> bool:
    """Whether the wait is moved behind the work that follows it."""
    source = folder / "program.f90"
    text = changed(UNDER_WAY, replacements)
    source.write_text(text)
    after = transform([source], Options()).after[str(source)].decode()
    return after.rindex("call MPI_Wait") > after.index("0.5d0 *")


@pytest.mark.parametrize("work", ["f", "g"])
@pytest.mark.parametrize("change", HANDED_ON)
@pytest.mark.parametrize("posted", [POST, POSTED])
def test_memory_that_changes_hands_under_way(
    posted: str, change: str, work: str, tmp_path: Path
) -> None:
    parts = {POST: posted, "CHANGE": change, "WORK": work}
    assert not _waits_later(tmp_path, parts)


def test_a_third_object_under_way(tmp_path: Path) -> None:
    assert _waits_later(tmp_path, {POST: POSTED, "CHANGE": "", "WORK": "h"})


@pytest.mark.parametrize("work", ["f", "g"])
def test_plain_arrays_whose_memory_changes_hands(work: str, tmp_path: Path) -> None:
    parts = {POST: POSTED, "CHANGE": HANDED_ON[1], "WORK": work}
    text = {old: new.replace("%u", "") for old, new in parts.items()}
    declared = {"type(field) :: f, g, h": "double precision, allocatable :: f(:), g(:), h(:)"}
    main = UNDER_WAY.partition("program main")[2].replace("%u", "")
    whole = {UNDER_WAY.partition("program main")[2]: main} | declared | text
    assert not _waits_later(tmp_path, whole)


OWN = """\
module m
  use mpi
  implicit none
  type :: field
    double precision, allocatable :: u(:)
  end type field
contains
  subroutine go(a, peer)
    double precision, intent(inout) :: a(1000)
    integer, intent(in) :: peer
    type(field) :: own
    integer :: i, ierr
    allocate(own%u(1000))
    do i = 1, 1000
      own%u(i) = a(i)
    end do
    call MPI_Send(own%u, 1000, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, ierr)
    do i = 1, 1000
      a(i) = 0.5d0 * a(i)
    end do
  end subroutine go
end module m
program p
  use m
  implicit none
  double precision :: a(1000)
  integer :: ierr
  call MPI_Init(ierr)
  a = 1
  call go(a, MPI_PROC_NULL)
  print *, a(3)
  call MPI_Finalize(ierr)
end program
"""


def test_an_object_that_ends_with_its_routine(tmp_path: Path) -> None:
    """The last place where its message may be waited for is behind all that the routine says."""
    source = tmp_path / "program.f90"
    source.write_text(OWN)
    after = transform([source], Options()).after[str(source)].decode()
    places = [after.index(part) for part in ("0.5d0 * a(i)", "call MPI_Wait(", "end subroutine go")]
    assert places == sorted(places)
