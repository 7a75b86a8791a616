"""Sizes that functions of an object say: `self%ny = self%mesh%rows()`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

CASE = (Path(__file__).parent / "cases" / "mesh.f90").read_text()
ROWS = "    rows = self%ny\n"
COLS = "    cols = self%nx\n"
ASKED = "    self%ny = self%mesh%rows()\n"
LOOPS = "    do j = 1, self%ny\n      do i = 1, self%nx\n"
BY_CALLS = "    do j = 1, self%mesh%rows()\n      do i = 1, self%mesh%cols()\n"
COPIES = "    self%u(1:self%nx,1:self%ny) = self%v"
HEAD = "  pure integer function rows(self)\n    class(mesh_t), intent(in) :: self\n"

Changes = dict[str, str]
GOES: dict[str, Changes] = {
    "as it is": {},
    "in loops": {LOOPS: BY_CALLS},
    "plainly called": {
        "public :: mesh_t": "public :: mesh_t, rows",
        ASKED: "    self%ny = rows(self%mesh)\n",
    },
    "with a name for the result": {
        HEAD: HEAD.replace("rows(self)", "rows(self) result(n)").replace(
            "in) :: self", "in) :: self"
        ),
        ROWS: "    n = self%ny\n",
    },
    "less and more": {ROWS: "    rows = (self%ny - 1) + 1\n"},
}
STAYS: dict[str, Changes] = {
    "another component": {ROWS: "    rows = self%nx\n"},
    "half of it": {ROWS: "    rows = self%ny / 2\n"},
    "two statements": {ROWS: ROWS + "    rows = rows - 1\n"},
    "a condition": {ROWS: "    if (self%ny > 30) rows = self%ny\n"},
    "not an integer": {HEAD: HEAD.replace("integer", "real")},
    "something else too": {
        HEAD: HEAD.replace("pure ", "")
        .replace("self)\n", "self, n)\n")
        .replace(" :: self\n", " :: self\n    integer, intent(in) :: n\n"),
        ROWS: "    rows = self%ny - n\n",
        ASKED: "    self%ny = self%mesh%rows(2)\n",
    },
    "a variable of its module": {
        "contains\n  subroutine init": "  integer, save :: less = 2\ncontains\n  subroutine init",
        HEAD: HEAD.replace("pure ", ""),
        ROWS: "    rows = self%ny - less\n",
    },
    "of an array": {
        "    type(mesh_t) :: mesh\n": "    type(mesh_t) :: mesh, other(2)\n",
        ASKED: "    call self%other(2)%init(nx, ny / 2, MPI_COMM_WORLD)\n"
        "    self%ny = self%other(2)%rows()\n",
    },
    "of another object": {
        "    type(mesh_t) :: mesh\n": "    type(mesh_t) :: mesh, other\n",
        ASKED: "    call self%other%init(nx, ny / 2, MPI_COMM_WORLD)\n"
        "    self%ny = self%other%rows()\n",
    },
    "changed behind": {
        COPIES: "    call self%mesh%init(64, 36, MPI_COMM_WORLD)\n" + COPIES,
        "  subroutine step(self)\n": "  subroutine step(self)\n"
        "    use mpi_f08, only: MPI_COMM_WORLD\n",
    },
}


@pytest.mark.parametrize("replaced", GOES.values(), ids=GOES)
def test_interior_runs_beside_the_exchange(replaced: Changes, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "mesh.f90", changed(CASE, replaced))
    start, finish = (text.index(f"call exchange_{half}(") for half in ("start", "finish"))
    assert text.count("do j = 2", start, finish) == 1


@pytest.mark.parametrize("replaced", STAYS.values(), ids=STAYS)
def test_nothing_runs_beside_the_exchange(replaced: Changes, tmp_path: Path) -> None:
    text = changed(CASE, replaced)
    assert rewritten(tmp_path / "mesh.f90", text) == text


def test_requests_are_known_where_they_are_kept(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "mesh.f90", CASE)
    step = text[text.index("subroutine step(") :]
    assert step.index("use mpi_f08, only: MPI_Request\n") < step.index("class(heat_t)")
    one_line = {"  subroutine step(self)\n": "  subroutine step(self); integer :: n\n"}
    assert "_start(" not in rewritten(tmp_path / "mesh.f90", changed(CASE, one_line))
