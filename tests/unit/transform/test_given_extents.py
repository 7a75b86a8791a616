"""Messages from dummies of assumed shape that count by a size which all callers allocate with.

Each program that must stay differs from one that is rewritten in what may make the size another.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """\
module halo
  use mpi
  implicit none
  integer :: n, nl, up, dn
contains
  subroutine exchange(x)
    real(8), intent(inout) :: x(:, 0:)
    integer :: ierr
    call MPI_Sendrecv(x(1, 1), n, MPI_REAL8, up, 0, x(1, nl + 1), n, MPI_REAL8, &
      dn, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(x(1, nl), n, MPI_REAL8, dn, 1, x(1, 0), n, MPI_REAL8, &
      up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange
  subroutine smooth(x, y)
    real(8), intent(in) :: x(:, 0:)
    real(8), intent(inout) :: y(:, 0:)
    integer :: i, j
    do j = 1, nl
      do i = 2, n - 1
        y(i, j) = 0.25d0 * (x(i - 1, j) + x(i + 1, j) + x(i, j - 1) + x(i, j + 1))
      end do
    end do
  end subroutine smooth
end module halo
program jacobi
  use mpi
  use halo
  implicit none
  integer :: ierr, rank, np, k
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  n = 60
  nl = n / np
  if (mod(n, np) /= 0) stop 'n must be a multiple'
  up = mod(rank + 1, np)
  dn = mod(rank + np - 1, np)
  allocate (a(n, 0:nl + 1), b(n, 0:nl + 1))
  allocate (c(n + 2, 0:nl + 1))
  a = 1
  b = 0
  c = 0
  do k = 1, 100
    call exchange(a)
    call smooth(a, b)
    a(:, 1:nl) = b(:, 1:nl)
  end do
  print *, rank, sum(a), c(1, 1)
  call MPI_Finalize(ierr)
end program jacobi
"""
CALL = "    call exchange(a)\n"
AGAIN = "    a(:, 1:nl) = b(:, 1:nl)\n"
DUMMY = "    real(8), intent(inout) :: x(:, 0:)\n    integer :: ierr\n"
SIZES = "  integer :: n, nl, up, dn\n"
MADE = "  allocate (a(n, 0:nl + 1), b(n, 0:nl + 1))\n"
FIRST = "    call MPI_Sendrecv(x(1, 1), n,"
EXCHANGE = "  subroutine exchange(x)\n"
DECLARED = "  real(8), allocatable :: a(:, :), b(:, :), c(:, :)\n"
POINTERS = "  real(8), pointer :: a(:, :), b(:, :)\n  real(8), allocatable, target :: c(:, :)\n"
BY_ARGUMENT = {
    SIZES: "  integer :: up, dn\n",
    EXCHANGE: "  subroutine exchange(x, n, nl)\n    integer, intent(in) :: n, nl\n",
    "  subroutine smooth(x, y)\n": "  subroutine smooth(x, y, n, nl)\n"
    "    integer, intent(in) :: n, nl\n",
    "  integer :: ierr, rank, np, k\n": "  integer :: ierr, rank, np, k, n, nl\n",
    CALL: "    call exchange(a, n, nl)\n",
    "    call smooth(a, b)\n": "    call smooth(a, b, n, nl)\n",
}
GIVEN = "    call exchange(a, n, nl)\n"
PASSED_ON = {
    CALL: "    call sweep(a, b)\n",
    "    call smooth(a, b)\n": "",
    "end module halo\n": "  subroutine sweep(p, q)\n"
    "    real(8), intent(inout) :: p(:, 0:), q(:, 0:)\n"
    "    call exchange(p)\n    call smooth(p, q)\n  end subroutine\nend module halo\n",
}
AUTOMATIC = {
    "end program jacobi\n": "end subroutine\n",
    "program jacobi\n": "program jacobi\n  call work(60, 15)\nend program\n"
    "subroutine work(n, nl)\n",
    "  use halo\n": "  use halo, only: exchange, smooth, up, dn\n",
    DECLARED: "  integer, intent(in) :: n, nl\n"
    "  real(8) :: a(n, 0:nl + 1), b(n, 0:nl + 1), c(n + 2, 0:nl + 1)\n",
    "  n = 60\n  nl = n / np\n": "",
    MADE: "",
    "  allocate (c(n + 2, 0:nl + 1))\n": "",
} | {k: v for k, v in BY_ARGUMENT.items() if "np, k" not in k}
PADDED = {
    MADE: "  allocate (a(0:n + 1, 0:nl + 1), b(0:n + 1, 0:nl + 1))\n",
    "x(:, 0:)": "x(0:, 0:)",
    "y(:, 0:)": "y(0:, 0:)",
}
SET = {
    "  n = 60\n  nl = n / np\n": "  call sizes(np)\n",
    "end module halo\n": "  subroutine sizes(np)\n    integer, intent(in) :: np\n    n = 60\n"
    "    nl = n / np\n    print *, 'a line of', n\n    if (np > n) stop\n  end subroutine\n"
    "end module halo\n",
}
RENAMED = {
    "  use halo\n": "  use halo, m => n\n",
    "  n = 60\n  nl = n / np\n  if (mod(n, np)": "  m = 60\n  nl = m / np\n  if (mod(m, np)",
    MADE: MADE.replace("(n,", "(m,"),
    "c(n + 2": "c(m + 2",
}
LAST = "end module halo\n"
MAKING = {
    SIZES: SIZES + "  real(8), allocatable :: a(:, :), b(:, :)\n",
    DECLARED: "  real(8), allocatable :: c(:, :)\n",
    MADE: "  call make()\n",
    LAST: "  subroutine make()\n  " + MADE + "  end subroutine\n" + LAST,
}
EACH = MAKING | {
    MADE: "",
    "  a = 1\n  b = 0\n": "",
    "  do k = 1, 100\n": "  do k = 1, 100\n    n = 60 + k\n    call make()\n",
}
COMPONENT = BY_ARGUMENT | {
    SIZES: "  integer :: up, dn\n  type :: grid\n    integer :: n, nl\n"
    "    real(8), allocatable :: a(:, :), b(:, :)\n  end type\n",
    "  integer :: ierr, rank, np, k\n": "  integer :: ierr, rank, np, k\n  type(grid) :: g\n",
    DECLARED: "  real(8), allocatable :: c(:, :)\n",
    "  n = 60\n  nl = n / np\n  if (mod(n, np)": "  g%n = 60\n  g%nl = g%n / np\n"
    "  if (mod(g%n, np)",
    MADE: "  allocate (g%a(g%n, 0:g%nl + 1), g%b(g%n, 0:g%nl + 1))\n",
    "  allocate (c(n + 2, 0:nl + 1))\n": "  allocate (c(7, 7))\n",
    "  a = 1\n  b = 0\n": "  g%a = 1\n  g%b = 0\n",
    CALL: "    call exchange(g%a, g%n, g%nl)\n",
    "    call smooth(a, b)\n": "    call smooth(g%a, g%b, g%n, g%nl)\n",
    AGAIN: "    g%a(:, 1:g%nl) = g%b(:, 1:g%nl)\n",
    "sum(a)": "sum(g%a)",
}
OBJECT = COMPONENT | {
    EXCHANGE: "  subroutine exchange(g, x)\n    type(grid), intent(in) :: g\n",
    "nl + 1), n,": "g%nl + 1), g%n,",
    "x(1, nl), n,": "x(1, g%nl), g%n,",
    "x(1, 0), n,": "x(1, 0), g%n,",
    FIRST: FIRST.replace(" n,", " g%n,"),
    CALL: "    call exchange(g, g%a)\n",
}

MOVED: dict[str, dict[str, str]] = {
    "a variable of a module": {},
    "an argument": BY_ARGUMENT,
    "passed on": PASSED_ON,
    "automatic arrays": AUTOMATIC,
    "rows with a halo": PADDED,
    "set by a routine in front": SET,
    "set by another name in front": RENAMED,
    "pointers of their own": {DECLARED: POINTERS},
    "targets": {DECLARED: DECLARED.replace("allocatable", "allocatable, target")},
    "a component": COMPONENT,
    "an object": OBJECT,
    "allocated in a routine": MAKING,
    "both in routines": MAKING | SET | {LAST: SET[LAST].replace(LAST, MAKING[LAST])},
}
STAYS: dict[str, dict[str, str]] = {
    "another caller's array is longer": {AGAIN: AGAIN + "    call exchange(c)\n"},
    "longer lines": {CALL: "    call exchange(c)\n    a = c(1:n, :)\n"},
    "another way round": {MADE: "  allocate (a(nl, 0:n + 1), b(n, 0:nl + 1))\n"},
    "a part of the lines": {CALL: "    call exchange(a(2:n, :))\n"},
    "a part of the lines beside": {AGAIN: AGAIN + "    call exchange(a(2:, :))\n"},
    "an expression": {
        AGAIN: AGAIN + "    call look(2 * a(:, 1:))\n",
        "end module halo\n": "  subroutine look(p)\n    real(8), intent(in) :: p(:, 0:)\n"
        "    real(8), allocatable :: q(:, :)\n    q = p\n    call exchange(q)\n"
        "  end subroutine\nend module halo\n",
    },
    "set behind the allocation": {"  a = 1\n": "  a = 1\n  n = n + 1\n"},
    "set in the loop": {AGAIN: AGAIN + "    if (k == 50) n = n + 1\n"},
    "set by a routine": {
        AGAIN: AGAIN + "    call other(n)\n",
        "end module halo\n": "  subroutine other(m)\n    integer, intent(inout) :: m\n"
        "    m = m + 1\n  end subroutine\nend module halo\n",
    },
    "read behind the allocation": {"  a = 1\n": "  a = 1\n  read (*, *) n\n"},
    "received behind the allocation": {
        "  a = 1\n": "  a = 1\n  call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\n"
    },
    "received later": {
        "  a = 1\n": "  a = 1\n"
        "  call MPI_Irecv(n, 1, MPI_INTEGER, up, 9, MPI_COMM_WORLD, k, ierr)\n"
    },
    "set in the routine": {FIRST: "    n = n + 1\n" + FIRST},
    "set by a procedure inside": {
        FIRST: "    call more()\n" + FIRST,
        "  end subroutine exchange\n": "  contains\n    subroutine more()\n      n = n + 1\n"
        "    end subroutine\n  end subroutine exchange\n",
    },
    "through a pointer": {
        SIZES: "  integer, target :: n\n  integer :: nl, up, dn\n  integer, pointer :: other\n",
        "  a = 1\n": "  a = 1\n  other => n\n  other = other + 1\n",
    },
    "volatile": {SIZES: "  integer, volatile :: n\n  integer :: nl, up, dn\n"},
    "in a common block": {SIZES: SIZES + "  common /sizes/ n, nl\n"},
    "equivalent": {SIZES: SIZES + "  integer :: m\n  equivalence (n, m)\n"},
    "in a namelist": {
        SIZES: SIZES + "  namelist /sizes/ n\n",
        "  a = 1\n": "  a = 1\n  read (*, nml=sizes)\n",
    },
    "another variable of that name": {
        "  use halo\n": "  use halo, only: exchange, smooth, nl, up, dn\n",
        "  integer :: ierr, rank, np, k\n": "  integer :: ierr, rank, np, k, n\n",
    },
    "set by another name": RENAMED | {"  a = 1\n": "  a = 1\n  m = m + 1\n"},
    "read by another name": RENAMED | {"  a = 1\n": "  a = 1\n  read (*, *) m\n"},
    "a status by another name": RENAMED
    | {"  a = 1\n": "  a = 1\n  open (10, file='sizes', iostat=m)\n"},
    "a pointer to another array": {
        DECLARED: POINTERS,
        AGAIN: AGAIN + "    if (k == 9) a => c\n",
    },
    "a pointer beside": {
        DECLARED: POINTERS + "  real(8), pointer :: p(:, :)\n",
        AGAIN: AGAIN + "    p => c\n    call exchange(p)\n",
    },
    "a pointer dummy": {
        DECLARED: POINTERS,
        DUMMY: "    real(8), pointer :: x(:, :)\n    integer :: ierr\n",
    },
    "optional": {DUMMY: DUMMY.replace("intent", "optional, intent")},
    "an optional size": BY_ARGUMENT
    | {
        EXCHANGE: "  subroutine exchange(x, nl, n)\n    integer, intent(in) :: nl\n"
        "    integer, intent(in), optional :: n\n",
        CALL: "    call exchange(a, nl, n)\n",
        AGAIN: AGAIN + "    if (k < 0) call exchange(a, nl)\n",
    },
    "passed as an argument": {
        CALL: "    call apply(exchange, a)\n",
        "end module halo\n": "  subroutine apply(f, p)\n    external :: f\n"
        "    real(8), intent(inout) :: p(:, 0:)\n    interface\n      subroutine f(x)\n"
        "        real(8), intent(inout) :: x(:, 0:)\n      end subroutine\n    end interface\n"
        "    call f(p)\n  end subroutine\nend module halo\n",
    },
    "passed as an argument, too": {
        AGAIN: AGAIN + "    call apply(exchange, c)\n",
        "end module halo\n": "  subroutine apply(f, p)\n    real(8), intent(inout) :: p(:, 0:)\n"
        "    interface\n      subroutine f(x)\n        real(8), intent(inout) :: x(:, 0:)\n"
        "      end subroutine\n    end interface\n    call f(p)\n  end subroutine\n"
        "end module halo\n",
    },
    "bound to a name of C": {EXCHANGE: "  subroutine exchange(x) bind(c)\n"},
    "recursive": {
        EXCHANGE: "  recursive subroutine exchange(x)\n",
        FIRST: "    if (size(x, 1) < n) call exchange(x(2:, :))\n" + FIRST,
    },
    "an entry": {FIRST: "    entry other(x)\n" + FIRST},
    "from zero": {DUMMY: DUMMY.replace("x(:, 0:)", "x(0:, 0:)")},
    "from a bound that is given": {
        DUMMY: DUMMY.replace("x(:, 0:)", "x(lo:, 0:)"),
        SIZES: "  integer :: n, nl, up, dn, lo = -3\n",
    },
    "more than a line": {"x(1, 0), n,": "x(1, 0), n + 1,"},
    "more than a line by an argument": BY_ARGUMENT | {CALL: "    call exchange(a, n + 1, nl)\n"},
    "another size in one of two calls": BY_ARGUMENT
    | {CALL: GIVEN, AGAIN: AGAIN + "    call exchange(a, nl + 7, nl)\n"},
    "an argument by its name": BY_ARGUMENT | {CALL: "    call exchange(a, n=nl, nl=n)\n"},
    "an argument that is set": BY_ARGUMENT
    | {
        EXCHANGE: "  subroutine exchange(x, n, nl)\n    integer :: n\n"
        "    integer, intent(in) :: nl\n",
        FIRST: "    n = n + 1\n" + FIRST,
    },
    "another shape by assignment": {AGAIN: "    a = c\n"},
    "a shape by reshape": {AGAIN: "    a = reshape(b, [n / 2, 2 * nl + 4])\n"},
    "allocated again": {
        AGAIN: AGAIN + "    if (k == 9) then\n      deallocate (a)\n"
        "      allocate (a(n + 1, 0:nl + 1))\n    end if\n"
    },
    "allocated like another": {MADE: "  allocate (b(n, 0:nl + 1))\n  allocate (a, source=c)\n"},
    "moved": {AGAIN: AGAIN + "    if (k == 9) call move_alloc(c, a)\n"},
    "allocated elsewhere": {
        AGAIN: AGAIN + "    if (k == 9) call grow(a)\n",
        "end module halo\n": "  subroutine grow(p)\n    real(8), allocatable :: p(:, :)\n"
        "    deallocate (p)\n    allocate (p(n + 1, 0:nl + 1))\n  end subroutine\n"
        "end module halo\n",
    },
    "set by a routine in front, and again": SET
    | {AGAIN: AGAIN + "    if (k == 50) call sizes(2 * np)\n"},
    "set by a routine that another calls again": SET
    | {
        AGAIN: AGAIN + "    if (k == 50) call later()\n",
        "end program jacobi\n": "contains\n  subroutine later()\n    call sizes(7)\n"
        "  end subroutine\nend program jacobi\n",
    },
    "set by a routine that the nest calls": SET
    | {"    do j = 1, nl\n": "    call sizes(3)\n    do j = 1, nl\n"},
    "set by a routine behind": SET
    | {"  call sizes(np)\n": "", "  c = 0\n": "  c = 0\n  call sizes(np)\n"},
    "set by a routine that is passed on": SET
    | {
        AGAIN: AGAIN + "    if (k == 50) call apply(sizes)\n",
        "  subroutine sizes": "  subroutine apply(f)\n    external :: f\n    call f(5)\n"
        "  end subroutine\n  subroutine sizes",
    },
    "allocated in a routine, and set behind": MAKING | {"  a = 1\n": "  a = 1\n  n = n + 1\n"},
    "allocated in a routine that is called again": MAKING
    | {AGAIN: AGAIN + "    if (k == 50) then\n      n = 30\n      call make()\n    end if\n"},
    "allocated in a routine the first time": EACH
    | {LAST: MAKING[LAST].replace("  allocate", "  if (allocated(a)) return\n    allocate")},
    "allocated in a routine if it is not": EACH
    | {LAST: MAKING[LAST].replace("  allocate", "  if (.not. allocated(a)) allocate")},
    "allocated in a routine that sets the size behind": MAKING
    | {LAST: MAKING[LAST].replace("  end subroutine", "    n = n + 1\n  end subroutine")},
    "another object": OBJECT
    | {
        "  type(grid) :: g\n": "  type(grid) :: g, h\n",
        CALL: "    h%n = g%n + 1\n    h%nl = g%nl\n    call exchange(h, g%a)\n",
    },
    "an object that is set": OBJECT
    | {
        EXCHANGE: "  subroutine exchange(g, x)\n    type(grid), intent(inout) :: g\n",
        FIRST: "    g%n = g%n + 1\n" + OBJECT[FIRST],
    },
    "an optional object": OBJECT
    | {EXCHANGE: OBJECT[EXCHANGE].replace("intent(in) ::", "intent(in), optional ::")},
    "an object of an array": OBJECT
    | {
        "  type(grid) :: g\n": "  type(grid) :: g, h(2)\n",
        CALL: "    h(1)%n = g%n + k\n    h(1)%nl = 3\n    call exchange(h(1), g%a)\n",
    },
    "passed on by an optional": PASSED_ON
    | {"p(:, 0:), q(:, 0:)\n": "q(:, 0:)\n    real(8), intent(inout), optional :: p(:, 0:)\n"},
    "passed on in part": PASSED_ON | {"    call exchange(p)\n": "    call exchange(p(2:, :))\n"},
    "an automatic array of a size that is set": AUTOMATIC
    | {"  a = 1\n": "  a = 1\n  call twice(n)\n"}
    | {
        "  integer, intent(in) :: n, nl\n  real(8) :: a(": "  integer :: n\n"
        "  integer, intent(in) :: nl\n  real(8) :: a("
    }
    | {
        "end module halo\n": "  subroutine twice(m)\n    integer, intent(inout) :: m\n"
        "    m = 2 * m\n  end subroutine\nend module halo\n"
    },
    "rows beyond the halo": PADDED | {"x(1, 0), n,": "x(1, 0), n + 2,"},
    "no main program": {
        "end program jacobi\n": "end subroutine\n",
        "program jacobi\n": "subroutine jacobi\n",
    },
    "compiled otherwise": {
        MADE: "#ifdef WIDE\n  allocate (a(n + 1, 0:nl + 1), b(n, 0:nl + 1))\n#else\n"
        + MADE
        + "#endif\n"
    },
}


def text_of(tmp_path: Path, replacements: dict[str, str]) -> str:
    path = tmp_path / "jacobi.F90"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode()


@pytest.mark.parametrize("name", MOVED)
def test_moved(name: str, tmp_path: Path) -> None:
    """Both exchanges are under way beside the interior of the nest."""
    text = text_of(tmp_path, MOVED[name])
    assert "subroutine exchange_start(" in text
    assert "call smooth_interior(" in text
    assert "do j = 2, nl - 1" in text


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    """The second message is started behind the first, and the nest waits for both."""
    text = text_of(tmp_path, STAYS[name])
    assert "requests(3)" not in text
    assert "smooth_interior" not in text
