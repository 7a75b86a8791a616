"""Handles of mpi_f08 that are assigned, as a communicator to an object's component."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.readers.fortran_defined import Own
from imbrex.transform.readers.fortran_handles import copies_parts
from imbrex.transform.readers.fortran_scopes import Scope

PROGRAM = (Path(__file__).parent / "cases" / "handles.f90").read_text()
SETS = "    self%comm = comm\n"
LOOP = "     call grid_exchange(g)\n"
OWN = """  interface assignment(=)
     module procedure kept
  end interface
contains
  subroutine kept(into, from)
    type(MPI_Comm), intent(out) :: into
    type(MPI_Group), intent(in) :: from
    into = MPI_COMM_WORLD
  end subroutine kept
"""
TYPE = "  type :: grid_t\n"
WHOLE = "    self%u(1:self%nx, 1:self%ny) = self%unew(1:self%nx, 1:self%ny)\n"
EACH = """    do j = 1, self%ny
       do i = 1, self%nx
          self%u(i, j) = self%unew(i, j)
       end do
    end do
"""
FIELD = "     type(MPI_Comm) :: comm\n"

# name: what is replaced, by what
GOES: dict[str, dict[str, str]] = {
    "as usual": {},
    "one of two": {SETS: "    self%comm = MPI_COMM_SELF\n    if (nx > 0) self%comm = comm\n"},
    "compared": {LOOP: f"     if (g%comm == MPI_COMM_NULL) stop 1\n{LOOP}"},
    "assigned between": {
        "     call grid_sweep(g)\n": "     g%comm = g%comm\n     call grid_sweep(g)\n"
    },
    "copied one by one": {WHOLE: EACH},
    "a group as well": {
        FIELD: f"{FIELD}     type(MPI_Group) :: group\n",
        SETS: f"{SETS}    self%group = MPI_GROUP_EMPTY\n",
    },
    "no request": {
        FIELD: f"{FIELD}     type(MPI_Request) :: last, more(3)\n",
        SETS: f"{SETS}    self%last = MPI_REQUEST_NULL\n    self%more = MPI_REQUEST_NULL\n",
    },
}
STAYS: dict[str, dict[str, str]] = {
    "a request": {
        FIELD: f"{FIELD}     type(MPI_Request) :: first, last\n",
        SETS: f"{SETS}    self%last = self%first\n",
    },
    "another object": {
        FIELD: f"{FIELD}     type(other_t) :: other\n",
        TYPE: f"  type :: other_t\n     integer, pointer :: n(:)\n  end type other_t\n{TYPE}",
        SETS: f"{SETS}    self%other = other_t([1])\n",
    },
    "assignments of the program": {"contains\n": OWN, WHOLE: EACH},
    "a type of the program by such a name": {
        TYPE: f"  type :: mpi_box\n     integer, pointer :: n(:)\n  end type mpi_box\n{TYPE}",
        FIELD: f"{FIELD}     type(mpi_box) :: box, first\n",
        SETS: f"{SETS}    self%box = self%first\n",
    },
}


def is_divided(changes: dict[str, str], folder: Path) -> bool:
    return "grid_sweep_interior" in rewritten(folder / "program.f90", changed(PROGRAM, changes))


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    assert is_divided(GOES[name], tmp_path)


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    assert not is_divided(STAYS[name], tmp_path)


def test_what_sets_one_integer() -> None:
    inner = Scope("sub", "subroutine", "a.f90", 1, Scope("m", "module", "a.f90", 1))
    assert not copies_parts(Own(), "mpi_f08", inner, "integer")
    assert not copies_parts(Own(), "mpi_f08", inner, "type(mpi_comm)")
    assert copies_parts(Own(), "mpi", inner, "type(mpi_comm)")
    assert copies_parts(Own(types={"mpi_comm"}), "mpi_f08", inner, "type(mpi_comm)")
    assert copies_parts(Own(assignment=True), "mpi_f08", inner, "type(mpi_comm)")
    assert copies_parts(Own(), "mpi_f08", inner, "type(mpi_request)")
    assert copies_parts(Own(), "mpi_f08", inner, "class(mpi_comm)")
    assert inner.parent is not None
    inner.parent.mpi_types.add("mpi_comm")
    assert not copies_parts(Own(), "", inner, "type(mpi_comm)")
