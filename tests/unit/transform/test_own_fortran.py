"""Operators, assignments and functions that a Fortran program defines itself are calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """module fld
  double precision :: a(100), b(100), c(100), d(100)
contains
  subroutine work(x)
    double precision, intent(inout) :: x(100)
    integer :: i
    do i = 1, 100
      x(i) = 0.5d0 * x(i) + 1.d0
    end do
  end subroutine
end module
module own
  use fld
  %s
end module
program p
  use mpi
  use own
  implicit none
  integer :: ierr, rank, peer, i
  %s
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  call mpi_send(a, 100, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, ierr)
  call work(c)
  i = 77
  %s
  call work(d)
  call mpi_finalize(ierr)
end program
"""
SETS = "\n    a(3) = 7\n  end "
PAIR = (
    """type vec
    double precision :: x, y
  end type
  type pair
    type(vec) :: p, q
  end type
  interface operator(+)
    module procedure add
  end interface
contains
  function add(u, v) result(w)
    type(vec), intent(in) :: u, v
    type(vec) :: w
    w%x = u%x"""
    + SETS
    + """function
  function make(x) result(w)
    double precision, intent(in) :: x
    type(vec) :: w
    w%x = x
  end function
  double precision function norm(u)
    type(vec), intent(in) :: u
    norm = u%x
  end function"""
)
ASSIGN = (
    """interface assignment(=)
    module procedure set
  end interface
contains
  subroutine set(k, l)
    integer, intent(out) :: k
    %s, intent(in) :: l
    k = 1"""
    + SETS
    + "subroutine"
)
# name: (what the module defines, a declaration, a use of it)
OWN = {
    "assignment of a logical": (ASSIGN % "logical", "integer :: k", "k = (rank == 0)"),
    "assignment of characters": (ASSIGN % "character(len=*)", "integer :: k", "k = 'abc'"),
    "operator on components": (PAIR, "type(pair) :: z", "c(4) = norm(z%p + z%q)"),
    "operator on results": (PAIR, "", "c(4) = norm(make(1.d0) + make(2.d0))"),
    "operator on ranks": (
        """interface operator(*)
    module procedure times
  end interface
contains
  function times(m, v) result(w)
    double precision, intent(in) :: m(:, :), v(:)
    double precision :: w(size(m, 1))
    w = v"""
        + SETS
        + "function",
        "double precision :: m(3, 3), x(3), y(3)",
        "y = m * x",
    ),
    "operator on logicals": (
        """interface operator(==)
    module procedure same
  end interface
contains
  logical function same(u, v)
    logical, intent(in) :: u, v
    same = u .eqv. v"""
        + SETS
        + "function",
        "logical :: x, y",
        "if (x .eq. y) c(4) = 3",
    ),
    "a bound function": (
        """type vec
    double precision :: x
  contains
    procedure :: norm => length
  end type
contains
  double precision function length(this, k)
    class(vec), intent(in) :: this
    integer, intent(in) :: k
    length = k"""
        + SETS
        + "function",
        "type(vec) :: z",
        "c(4) = z%norm(3)",
    ),
    "a function with an intrinsic name": (
        "contains\n  double precision function scale(k)\n    integer, intent(in) :: k\n"
        "    scale = k" + SETS + "function",
        "",
        "c(4) = scale(3)",
    ),
    "a generic name that is intrinsic": (
        "interface abs\n    module procedure absl\n  end interface\ncontains\n"
        "  double precision function absl(k)\n    logical, intent(in) :: k\n    absl = 1"
        + SETS
        + "function",
        "",
        "c(4) = abs(rank == 0)",
    ),
    "a generic name that is also a specific one": (
        "interface put\n    module procedure put, putr\n  end interface\ncontains\n"
        "  subroutine put(k)\n    integer, intent(in) :: k\n  end subroutine\n"
        "  subroutine putr(k)\n    double precision, intent(in) :: k" + SETS + "subroutine",
        "",
        "call put(3.d0)",
    ),
    "a finalizer": (
        "type vec\n    double precision :: x = 1\n  contains\n    final :: done\n  end type\n"
        "contains\n  subroutine done(v)\n    type(vec), intent(inout) :: v" + SETS + "subroutine\n"
        "  subroutine touch(k)\n    integer, intent(in) :: k\n    type(vec) :: z\n"
        "    z%x = k\n  end subroutine",
        "",
        "call touch(3)",
    ),
}


def waits_before(tmp_path: Path, text: str, place: str) -> bool:
    """Whether the send is complete where `place` stands."""
    path = tmp_path / "case.f90"
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(path)].decode()
    return after.index("call mpi_wait(") < after.index(place)


@pytest.mark.parametrize("name", OWN)
def test_own(name: str, tmp_path: Path) -> None:
    module, declared, place = OWN[name]
    assert waits_before(tmp_path, PROGRAM % (module, declared, place), place)


def test_dummy_procedure(tmp_path: Path) -> None:
    """A routine may have a dummy procedure, declared `external`, beside its arrays."""
    module = """contains
  subroutine put()
    a(3) = 7
  end subroutine
  subroutine apply(f)
    external f
    call f()
  end subroutine"""
    place = "call apply(put)"
    assert waits_before(tmp_path, PROGRAM % (module, "", place), place)


def test_cray_pointer(tmp_path: Path) -> None:
    text = PROGRAM % ("", "double precision :: x(100)\n  pointer (at, x)", "x(3) = 7")
    path = tmp_path / "case.f90"
    path.write_text(text)
    decision = transform([path], Options()).decisions[0]
    assert decision.decision == "refused"


@pytest.mark.parametrize("module", [PAIR, ASSIGN % "logical"])
def test_numbers(module: str, tmp_path: Path) -> None:
    """What the language itself defines stays what it is."""
    place = "c(5) = 2 * c(5) + sqrt(d(5)) * (i + 1)"
    assert not waits_before(tmp_path, PROGRAM % (module, "", place), place)
