"""Exchanges that take the bounds from the array that they are given: what may pass, what not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """
module halo_mod
  use mpi_f08
  implicit none
  %(access)s
  type :: grid_t
    integer :: nx, ny
    real(8), allocatable :: u(:, :), v(:, :)
  end type grid_t
contains
  subroutine halo(a)
    real(8), %(attribute)sintent(inout) :: a(%(shape)s)
    integer :: nx, ny
    %(sizes)s
    call MPI_Recv(%(first)s, nx, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Recv(%(last)s, nx, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine halo
  subroutine step(g, u, v, w, nx, ny)
    type(grid_t), intent(inout) :: g
    real(8), intent(inout) :: u(0:, 0:), v(0:, 0:), w(:, :)
    integer, intent(in) :: nx, ny
    integer :: i, j, k
    call halo(u)
    do j = 1, ny
      do i = 1, nx
        v(i, j) = u(i, j - 1) + u(i, j + 1)
      end do
    end do
  end subroutine step
%(routines)s
end module halo_mod

program main
  use halo_mod%(only)s
  implicit none
  type(grid_t) :: g
  real(8), %(declared)s, dimension(:, :) :: u, v, w
  integer :: nx, ny, i, j, k
  call MPI_Init()
  nx = 40
  ny = 30
  allocate (u(0:nx + 1, 0:ny + 1), v(0:nx + 1, 0:ny + 1), w(nx + 2, ny + 2))
  allocate (g%%u(0:nx + 1, 0:ny + 1), g%%v(0:nx + 1, 0:ny + 1))
  g%%nx = nx
  g%%ny = ny
%(code)s
%(step)s
  print *, v(1, 1), u(1, 1), w(1, 1)
  call MPI_Finalize()
end program main
"""
SIZES = "nx = ubound(a, 1) - 1\n    ny = ubound(a, 2) - 1"
PLAIN = {
    "access": "",
    "attribute": "",
    "shape": "0:, 0:",
    "sizes": SIZES,
    "first": "a(1, 0)",
    "last": "a(1, ny + 1)",
    "routines": "",
    "only": "",
    "declared": "allocatable",
    "code": "",
    "step": "  call step(g, u, v, w, nx, ny)",
}
FROM_ONE = {
    "shape": ":, :",
    "sizes": "nx = size(a, 1) - 2\n    ny = size(a, 2) - 2",
    "first": "a(2, 1)",
    "last": "a(2, ny + 2)",
}


def nest(
    body: str, header: str = "do j = 1, ny\n  do i = 1, nx", call: str = "call halo(u)"
) -> str:
    """A call of the wrapper with a nest behind it."""
    return f"{call}\n{header}\n{body}\n  end do\nend do\n"


BODY = "v(i, j) = u(i, j - 1) + u(i, j + 1)"


def split(folder: Path, **parts: str) -> str:
    """The main program and the wrapper's module, after the rewrite."""
    path = folder / "case.f90"
    path.write_text(PROGRAM % {**PLAIN, **parts})
    outcome = transform([path], Options())
    assert not outcome.skipped
    return outcome.after[str(path)].decode()


# name: what differs from the plain program, and what the divided nest begins with
MOVED = {
    "dummy arrays of the caller": ({}, "do j = 2, ny - 1"),
    "allocated arrays": ({"code": nest(BODY)}, "do j = 2, ny - 1"),
    "bounds from one": (FROM_ONE | {"code": nest(BODY)}, "do j = 2, ny - 1"),
    "a contiguous dummy": ({"attribute": "contiguous, "}, "do j = 2, ny - 1"),
    "components": (
        {
            "code": nest(
                "g%v(i, j) = g%u(i, j - 1) + g%u(i, j + 1)",
                "do j = 1, g%ny\n  do i = 1, g%nx",
                "call halo(g%u)",
            ),
            "step": "",
        },
        "do j = 2, g%ny - 1",
    ),
    "lists of names": (
        {
            "access": "private\n  public :: grid_t, &\n    halo, step",
            "only": ", only: halo, step, grid_t",
        },
        "do j = 2, ny - 1",
    ),
    "a whole array that takes another's shape afterwards": (
        {"code": nest(BODY) + "u = v\n"},
        "do j = 2, ny - 1",
    ),
}
# name: what differs from a program that is divided at both places
STAYS = {
    "an access under a condition": nest("if (i > 3) v(i, j) = u(i, j - 1) + u(i, j + 1)"),
    "an access behind a cycle": nest("if (i > 3) cycle\n" + BODY),
    "an operand that need not be evaluated": nest(
        "if (i > 3) exit\nv(i, j) = merge(1, 0, w(i, j) > 0 .and. u(i, j + 1) > u(i, j - 1))"
    ),
    "a loop inside that may be empty": nest(
        "w(i, j) = 0\ndo k = 1, nx\n  w(i, j) = w(i, j) + u(k, j + 1) + u(k, j - 1)\nend do"
    ),
    "a triangle": nest(BODY, "do i = 1, nx\n  do j = i, ny"),
    "a step of two": nest(BODY, "do j = 1, ny, 2\n  do i = 1, nx"),
    "a subscript that says nothing": nest("v(i, j) = u(i, mod(j, 3)) + u(i, j + 1)"),
    "a section": nest(BODY, call="call halo(u(:, ::2))"),
    "a part of the array": nest(BODY, call="call halo(u(:, 1:ny))"),
    "an expression": nest(BODY, call="call halo((u))"),
    "another shape in between": nest(BODY, call="call halo(u)\nu = w"),
    "allocated anew in between": nest(
        BODY, call="call halo(u)\ndeallocate (u)\nallocate (u(0:nx + 1, 0:ny + 1))"
    ),
    "output in between": nest(BODY, call="call halo(u)\nprint *, nx"),
}
NOT_DIVIDED = {
    "a size set twice": {"sizes": SIZES + "\n    if (nx > 9) ny = ny - 1"},
    "a size set under a condition": {
        "sizes": "nx = ubound(a, 1) - 1\n    ny = 1\n    if (nx > 0) ny = ubound(a, 2) - 1",
        "first": "a(1, ny + 1)",
    },
    "a size that is read": {"sizes": SIZES + "\n    read (*, *) ny"},
    "a size that a call may set": {"sizes": SIZES + "\n    call unseen(ny)"},
    "a size of other arrays": {"sizes": "nx = 1\n    ny = 1\n    nx = nx + ny"},
    "pointers": {"declared": "pointer", "code": "  w => u\n" + nest(BODY), "shape": "0:, 0:"},
    "targets": {
        "declared": "allocatable, target",
        "routines": "  subroutine point(x)\n    real(8), target :: x(:)\n"
        "    real(8), pointer, save :: p(:)\n    p => x\n  end subroutine point\n",
        "code": nest(BODY),
    },
    "another name in a list": {"only": ", only: exchange => halo, step, grid_t"},
    "a column in the middle": {"last": "a(1, ny / 2)"},
}


@pytest.mark.parametrize("name", MOVED)
def test_moved(name: str, tmp_path: Path) -> None:
    parts, divided = MOVED[name]
    text = split(tmp_path, **parts)
    assert "call halo_start(" in text
    begun = text[text.rindex("call halo_start(") :]
    assert divided in begun[: begun.index("call halo_finish(")]
    assert ", halo\n" not in text and ": halo," not in text


@pytest.mark.parametrize("name", STAYS)
def test_nest_stays_behind(name: str, tmp_path: Path) -> None:
    text = split(tmp_path, code=STAYS[name], step="")
    main = text[text.index("program main") :]
    # For the sake of `step` the call may be two, with nothing in between.
    main = re.sub(r"call halo_start\((.*), halo_requests\)\ncall halo_finish\(\1", "", main)
    assert "call halo_start(" not in main


@pytest.mark.parametrize("name", NOT_DIVIDED)
def test_not_divided(name: str, tmp_path: Path) -> None:
    text = split(tmp_path, **NOT_DIVIDED[name])
    place = "program main" if "code" in NOT_DIVIDED[name] else "module halo_mod"
    text = text[text.index(place) :]
    if "call halo_start(" in text:
        begun = text[text.index("call halo_start(") :]
        assert "u(i" not in begun[: begun.index("call halo_finish(")]


def test_a_section_elsewhere_counts_everywhere(tmp_path: Path) -> None:
    """Where one call passes a section, a message from `a(1, 0)` may touch what lies between."""
    text = split(
        tmp_path,
        routines="""  subroutine other(u)
    real(8), intent(inout) :: u(0:, 0:)
    call halo(u(::2, :))
  end subroutine other""",
    )
    assert "call halo_start(" not in text


def test_a_hidden_call_counts_too(tmp_path: Path) -> None:
    text = split(
        tmp_path,
        routines="""  subroutine other(u)
    real(8), intent(inout) :: u(0:, 0:)
    associate (w => u)
      call halo(w(::2, :))
    end associate
  end subroutine other""",
    )
    assert "call halo_start(" not in text
