"""Types that extend others: `type, extends(domain_t) :: field_t`.

An object has what it gets from the type that its own extends, under two names (`h%nx` and
`h%domain_t%nx`). Each program that must stay differs from one that is rewritten in what may change
a part of an object by another type of its family, or by another name.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """\
module domains
  use mpi
  implicit none
  type, abstract :: domain_t
    integer :: nx, ny
    integer :: left, right
  contains
    procedure :: place
  end type domain_t
  type, extends(domain_t) :: field_t
    real(8), allocatable :: u(:, :), v(:, :)
  contains
    procedure :: exchange => field_exchange
    procedure :: sweep => field_sweep
    procedure :: advance
  end type field_t
  type, extends(field_t) :: heat_t
    real(8) :: weight
  end type heat_t
  type, extends(domain_t) :: mask_t
    real(8) :: u(4)
  end type mask_t
contains
  subroutine place(self, nx, ny)
    class(domain_t), intent(inout) :: self
    integer, intent(in) :: nx, ny
    integer :: rank, np, ierr
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    self%left = mod(rank + np - 1, np)
    self%right = mod(rank + 1, np)
    self%nx = nx
    self%ny = ny
  end subroutine place
  subroutine field_exchange(self)
    class(field_t), intent(inout) :: self
    integer :: ierr
    call MPI_Sendrecv(self%u(1, self%ny), self%nx, MPI_REAL8, self%right, 1, self%u(1, 0), &
      self%nx, MPI_REAL8, self%left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(self%u(1, 1), self%nx, MPI_REAL8, self%left, 2, self%u(1, self%ny + 1), &
      self%nx, MPI_REAL8, self%right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine field_exchange
  subroutine field_sweep(self)
    class(field_t), intent(inout) :: self
    integer :: i, j
    do j = 1, self%ny
      do i = 1, self%nx
        self%v(i, j) = 0.5d0 * self%u(i, j) + 0.25d0 * (self%u(i, j - 1) + self%u(i, j + 1))
      end do
    end do
  end subroutine field_sweep
  subroutine advance(self)
    class(field_t), intent(inout) :: self
    call self%exchange()
    call self%sweep()
    self%u(1:self%nx, 1:self%ny) = self%v(1:self%nx, 1:self%ny)
  end subroutine advance
end module domains
program heat
  use mpi
  use domains
  implicit none
  type(heat_t) :: h
  integer :: i, j, k, nx, ny, np, ierr
  call MPI_Init(ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  nx = 64
  ny = 96 / np
  call h%place(nx, ny)
  allocate (h%u(0:nx + 1, 0:ny + 1), h%v(0:nx + 1, 0:ny + 1))
  do j = 0, ny + 1
    do i = 0, nx + 1
      h%u(i, j) = 0.01d0 * i * h%left + 0.1d0 * j
    end do
  end do
  h%v = 0
  do k = 1, 20
    call h%advance()
  end do
  print *, sum(h%u)
  call MPI_Finalize(ierr)
end program heat
"""
EXCHANGE = "    call self%exchange()\n"
SWEEP = "    call self%sweep()\n"
STEP = "    call h%advance()\n"
MODULE_END = "end module domains\n"
OBJECT = "  type(heat_t) :: h\n"
MADE = "  allocate (h%u(0"
COPY = "    self%u(1:self%nx, 1:self%ny) = self%v(1:self%nx, 1:self%ny)\n"
SIZES = "    integer :: nx, ny\n    integer :: left, right\n"
PLACED = "    class(domain_t), intent(inout) :: self\n    integer, intent(in) :: nx, ny\n"
PLAIN = {"  type, abstract :: domain_t\n": "  type :: domain_t\n"}
FIRST = "call MPI_Sendrecv(self%u(1, self%ny), self%nx,"
SECOND_END = "self%nx, MPI_REAL8, self%right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)\n"


def procedure(name: str, kind: str, body: str, attributes: str = "intent(inout)") -> dict[str, str]:
    """A further procedure of the module, of one object of a type."""
    text = f"  subroutine {name}(self)\n    {kind}, {attributes} :: self\n{body}  end subroutine\n"
    return {MODULE_END: text + MODULE_END}


def overriding(name: str, body: str) -> dict[str, str]:
    """A procedure of the object's type that stands for one of the type that it extends."""
    bound = f"    real(8) :: weight\n  contains\n    procedure :: {name} => heat_{name}\n"
    return {
        "    real(8) :: weight\n": bound,
        **procedure(f"heat_{name}", "class(heat_t)", body),
    }


GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "not abstract": PLAIN,
    "public": {"extends(field_t) ::": "extends(field_t), public ::"},
    "a part by its name": {
        "0.5d0 * self%u": "self%domain_t%nx * self%u",
        FIRST: FIRST.replace("self%n", "self%domain_t%n"),
        "  h%v = 0\n": "  h%field_t%v = h%field_t%domain_t%nx\n",
    },
    "names for parts": {
        f"    {FIRST}": f"    associate (d => self%domain_t, n => self%nx)\n    {FIRST}".replace(
            "self%ny), self%nx", "d%ny), n"
        ),
        SECOND_END: f"{SECOND_END}    end associate\n",
    },
    "components with values at first": {
        SIZES: SIZES.replace("nx, ny", "nx = 0, ny = 0").replace("left", "left = -1")
    },
    "an object that is only set": {PLACED: PLACED.replace("inout", "out")},
    "a copy of another component": {COPY: "    self%u = self%v\n"},
    "an expression of another component": {COPY: "    self%u = 0.5d0 * self%v\n"},
    "an expression of itself": {COPY: "    self%u = 0.5d0 * (self%u + self%v) * self%nx\n"},
    "a procedure of the type that it extends": overriding(
        "advance", "    call self%field_t%advance()\n    self%u = self%u * self%weight\n"
    ),
    "a procedure of the further type": overriding("advance", EXCHANGE + SWEEP),
}
MIXED = {
    OBJECT: f"{OBJECT}  type(field_t) :: d\n",
    "    self%nx = nx\n    self%ny = ny\n": "",
    f"{MADE}:nx + 1, 0:ny + 1), h%v(0:nx + 1, 0:ny + 1))\n": "  call d%place(4, 4)\n"
    "  call made(h, nx, ny)\n  call made(d, 4, 4)\n",
    STEP: f"{STEP}    if (k == 30) call mixed(h, d)\n",
}


def mixed(statement: str) -> dict[str, str]:
    """A procedure of two objects."""
    made = "  subroutine made(self, n, m)\n    class(field_t), intent(inout) :: self\n"
    made += "    integer, intent(in) :: n, m\n    self%nx = n\n    self%ny = m\n"
    made += "    allocate (self%u(0:self%nx + 1, 0:self%ny + 1))\n"
    made += "    allocate (self%v(0:self%nx + 1, 0:self%ny + 1))\n  end subroutine\n"
    text = "  subroutine mixed(self, other)\n    class(field_t), intent(inout) :: self, other\n"
    return {MODULE_END: f"{made}{text}    {statement}\n  end subroutine\n{MODULE_END}"}


GO["elements of two objects"] = MIXED | mixed("self%u(1, 1) = 2 * other%u(1, 1)")
GO["a copy in one of two objects"] = MIXED | mixed("self%u = self%v")
SHRINK = "    self%nx = self%nx - 1\n"
STAY: dict[str, dict[str, str]] = {
    "a size by the name of the part": {STEP: f"{STEP}    h%domain_t%nx = 8\n"},
    "a size by a type that it extends": {STEP: f"{STEP}    call shrink(h)\n"}
    | procedure("shrink", "class(domain_t)", SHRINK),
    "the part given away": {STEP: f"{STEP}    call shrink(h%domain_t)\n"}
    | procedure("shrink", "type(domain_t)", SHRINK)
    | PLAIN,
    "the part assigned": {
        STEP: f"{STEP}    h%domain_t = d\n",
        OBJECT: f"{OBJECT}  type(domain_t) :: d\n",
        MADE: f"  d = h%domain_t\n  d%nx = 8\n{MADE}",
    }
    | PLAIN,
    "the object assigned": {
        STEP: f"{STEP}    h = d\n",
        OBJECT: f"{OBJECT}  type(heat_t) :: d\n",
        MADE: f"  d = h\n  d%nx = 8\n{MADE}",
    },
    "all rows by the name of the part": {EXCHANGE + SWEEP: SWEEP}
    | overriding("advance", f"{EXCHANGE}    self%field_t%u(:, 0:self%ny) = 3\n{SWEEP}"),
    "the halo where the type is asked for": {EXCHANGE: f"{EXCHANGE}    call poke(self)\n"}
    | procedure(
        "poke",
        "class(domain_t)",
        "    select type (self)\n    class is (field_t)\n      self%u(:, 0) = 3\n    end select\n",
    ),
    "another exchange": overriding("exchange", "    self%v = 1\n"),
    "another sweep": overriding("sweep", "    self%v = self%u(1, 0)\n"),
    "another exchange of a polymorphic one": {
        OBJECT: "  class(field_t), allocatable :: h\n",
        "  call h%place": "  allocate (heat_t :: h)\n  call h%place",
    }
    | overriding("exchange", "    self%v = 1\n"),
    "made by the name of its type": {STEP: f"{STEP}    h = heat_t(8, 8, 0, 0, h%u, h%v, 1d0)\n"},
    "made anew": {
        OBJECT: "  class(field_t), allocatable :: h, d\n",
        "  call h%place": "  allocate (heat_t :: h, d)\n  call h%place",
        MADE: f"  call d%place(8, 8)\n{MADE}",
        STEP: f"{STEP}    h%domain_t = d%domain_t\n",
    }
    | PLAIN,
    "sizes at first again": {
        SIZES: SIZES.replace("nx, ny", "nx = 8, ny = 8"),
        STEP: f"{STEP}    call renew(h)\n",
        "allocate (h%u(0:nx + 1, 0:ny + 1), h%v(0:nx + 1, 0:ny + 1))": "allocate (u(0:nx + 1, 0:"
        "ny + 1), v(0:nx + 1, 0:ny + 1))",
    }
    | procedure("renew", "class(domain_t)", "    self%left = 0\n", "intent(out)"),
    "an expression that begins elsewhere": MIXED | mixed("self%u = 2 * self%v"),
    "a copy of another object's": MIXED | mixed("self%u = other%v"),
    "an expression of another object's": MIXED | mixed("self%u = 2 * other%u"),
    "a section of a component": {COPY: "    self%u = self%v(0:self%nx, :)\n"},
    "laid out for C": {"  type, abstract :: domain_t\n": "  type, bind(c) :: domain_t\n"},
    "a type that is not there": {"extends(domain_t)": "extends(place_t)"},
    "a pointer in the family": {
        "    real(8) :: weight\n": "    real(8) :: weight\n    class(field_t), pointer :: other\n",
        OBJECT: "  type(heat_t), target :: h\n",
        "  h%v = 0\n": "  h%v = 0\n  h%other => h\n",
    },
    "one that others point to": {OBJECT: "  type(heat_t), target :: h\n"}
    | {
        "  h%v = 0\n": "  h%v = 0\n  d => h\n",
        "  integer :: i, j, k": "  class(domain_t), pointer :: d\n  integer :: i, j, k",
    },
}


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_the_exchange_is_taken_apart(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "heat.f90", changed(PROGRAM, replaced))
    assert "call field_exchange_start(self" in text
    assert "call field_exchange_finish(self" in text


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_the_exchange_stays(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "heat.f90", changed(PROGRAM, replaced))
    assert "_start(" not in text
