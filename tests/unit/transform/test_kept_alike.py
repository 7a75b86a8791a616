"""Sizes that objects of Fortran are given alike: `self%n = n; call self%halo%init(comm, n)`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = (Path(__file__).parent / "cases" / "jacobi_types.f90").read_text()
SET = "    self%n = n\n    call self%halo%init(comm, n)\n"
CALL = "    call self%halo%init(comm, n)\n"
GIVEN = "    integer, intent(in) :: n\n    integer :: i, j\n"
STEP = "    call solver%step(change)\n"

GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "the other first": {SET: "    call self%halo%init(comm, n)\n    self%n = n\n"},
    "by an ordinary call": {CALL: "    call halo_init(self%halo, comm, n)\n"},
    "behind something else": {CALL: f"    if (n < 1) stop 1\n{CALL}"},
}
STAY: dict[str, dict[str, str]] = {
    "another size": {CALL: "    call self%halo%init(comm, n - 1)\n"},
    "sometimes another": {CALL: f"    if (n > 10) then\n  {CALL}    end if\n"},
    "the number is changed": {
        SET: f"    self%n = n\n    n = n - 1\n{CALL}",
        GIVEN: GIVEN.replace(", intent(in)", ""),
        "call solver%init(MPI_COMM_WORLD, 20)": "k = 20\n  call solver%init(MPI_COMM_WORLD, k)",
    },
    "set again": {STEP: f"{STEP}    if (k == 5) solver%n = solver%n - 1\n"},
    "the other set again": {STEP: f"{STEP}    if (k == 5) solver%halo%n = solver%halo%n - 1\n"},
    "two of a kind": {
        "  type(solver_t) :: solver\n": "  type(solver_t) :: solver, second\n",
        "  do k = 1, 10\n": "  call second%halo%init(MPI_COMM_WORLD, 7)\n  do k = 1, 10\n",
    },
    "a value from the beginning": {"    integer :: n\n    integer :: left": "    integer :: n = 3\n"
    "    integer :: left"},
}  # fmt: skip


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_they_are_one(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "_start(" in rewritten(tmp_path / "p.f90", changed(PROGRAM, replaced))


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_they_may_differ(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "_start(" not in rewritten(tmp_path / "p.f90", changed(PROGRAM, replaced))
