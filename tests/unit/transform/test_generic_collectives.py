"""Routines of Fortran with a collective and a generic name, or bound to a type, are split.

The routine stays for its name, and nothing calls it. What must stay differs in one place.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.command import explain
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """\
module turning
  use mpi
  implicit none
  private
  public :: turn
  interface turn
    module procedure turn_real, turn_whole
  end interface turn
contains
  subroutine turn_real(u, v)
    double precision, intent(in) :: u(64)
    double precision, intent(out) :: v(64)
    integer :: ierr, size
    call mpi_comm_size(mpi_comm_world, size, ierr)
    call mpi_alltoall(u, 64 / size, mpi_double_precision, &
      v, 64 / size, mpi_double_precision, mpi_comm_world, ierr)
  end subroutine turn_real

  subroutine turn_whole(u, v)
    integer, intent(in) :: u(64)
    integer, intent(out) :: v(64)
    integer :: ierr, size
    call mpi_comm_size(mpi_comm_world, size, ierr)
    call mpi_alltoall(u, 64 / size, mpi_integer, v, 64 / size, mpi_integer, mpi_comm_world, ierr)
  end subroutine turn_whole
end module turning

program steps
  use mpi
  use turning
  implicit none
  double precision :: u(64), v(64), w(64), x(64)
  integer :: rank, ierr, i, step, k(64), l(64)
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  do i = 1, 64
    u(i) = i + rank
    w(i) = i - rank
    k(i) = i * rank
  end do
  do step = 1, 3
    call turn(u, v)
    do i = 2, 63
      x(i) = w(i - 1) + w(i + 1)
    end do
    do i = 2, 63
      w(i) = w(i) + 0.25d0 * x(i)
      u(i) = u(i) + 0.5d0 * v(i)
    end do
  end do
  call turn(k, l)
  print *, rank, sum(u), sum(w), sum(l)
  call mpi_finalize(ierr)
end program steps
"""
TURN = "    call turn(u, v)\n"
BOUND = {
    "  private\n  public :: turn\n": "",
    "  interface turn\n    module procedure turn_real, turn_whole\n  end interface turn\n": (
        "  type :: mesh\n    integer :: n\n  contains\n    procedure :: turn => turn_real\n"
        "    procedure :: turn_whole\n  end type mesh\n"
    ),
    "turn_real(u, v)": "turn_real(self, u, v)",
    "turn_whole(u, v)": "turn_whole(self, u, v)",
    "    double precision, intent(in)": "    class(mesh), intent(in) :: self\n"
    "    double precision, intent(in)",
    "    integer, intent(in)": "    class(mesh), intent(in) :: self\n    integer, intent(in)",
    "  integer :: rank": "  type(mesh) :: m\n  integer :: rank",
    "call turn(u": "call m%turn(u",
    "call turn(k": "call m%turn_whole(k",
}
# name: (replacements, whether the routine is split)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "by its generic name": ({}, True),
    "called by its own name, too": (
        {
            "public :: turn\n": "public :: turn, turn_real\n",
            TURN: f"    call turn_real(u, v)\n{TURN}",
        },
        True,
    ),
    "bound to a type": (BOUND, True),
    "what comes is used at once": ({TURN: f"{TURN}    w = w + v\n"}, False),
    "given to a routine": (
        {
            TURN: f"{TURN}    call apply(turn_real)\n",
            "public :: turn\n": "public :: turn, turn_real\n",
            "  call mpi_finalize(ierr)\n": "  call mpi_finalize(ierr)\ncontains\n"
            "  subroutine apply(f)\n    external :: f\n    call f(u, v)\n  end subroutine apply\n",
        },
        False,
    ),
    "called by a routine that is not among the files": (
        {TURN: f"{TURN}    call other(u)\n"},
        False,
    ),
    "in a module alone": ({PROGRAM[PROGRAM.index("program steps") :]: ""}, False),
}


@pytest.mark.parametrize("name", CASES)
def test_split(name: str, tmp_path: Path) -> None:
    replacements, split = CASES[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    assert ("call turn_real_start(" in text) is split, text
    again = transform([path], Options(contents={path: outcome.after[str(path)]}))
    assert again.after[str(path)] == outcome.after[str(path)]


def test_a_wait_that_is_written_is_no_site_of_the_program(tmp_path: Path) -> None:
    path = tmp_path / "case.f90"
    path.write_text(
        changed(PROGRAM, {TURN: f"{TURN}    call turn(x, w)\n", "  call turn(k, l)\n": ""})
    )
    said = explain(transform([path], Options()))
    assert "rewrite" in said, said
    assert "MPI_Wait" not in said, said
