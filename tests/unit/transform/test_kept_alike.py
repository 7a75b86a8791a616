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
OWN = "    integer :: n\n    integer :: left"
HALO_BEGUN = "    integer :: n = 3\n    integer :: left"
INIT = "  call solver%init(MPI_COMM_WORLD, 20)\n"
RENEW = """  subroutine renew(h)
    type(halo_t), intent(out) :: h
    h%left = MPI_PROC_NULL
  end subroutine renew
end module halo_mod
"""

GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "the other first": {SET: "    call self%halo%init(comm, n)\n    self%n = n\n"},
    "by an ordinary call": {CALL: "    call halo_init(self%halo, comm, n)\n"},
    "behind something else": {CALL: f"    if (n < 1) stop 1\n{CALL}"},
    "a value from the beginning": {OWN: HALO_BEGUN},
    "a value of both from the beginning": {
        OWN: HALO_BEGUN,
        "    integer :: n\n    type(halo_t)": "    integer :: n = 0\n    type(halo_t)",
    },
    "made of what has another's name": {
        OWN: HALO_BEGUN,
        CALL: f"    allocate (self%v(n, 0:n + 1), source=0d0)\n{CALL}",
        ", self%v(n, 0:n + 1)": "",
        "    self%v = 0\n": "",
    },
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
    "a value from the beginning that is used": {
        OWN: HALO_BEGUN,
        INIT: "  allocate (solver%u(1, 0:4))\n  solver%u = 1\n"
        "  call solver%halo%exchange(solver%u)\n"
        f"  deallocate (solver%u)\n{INIT}",
    },
    "a value from the beginning that is written": {
        OWN: HALO_BEGUN, INIT: f"  write(*, *) solver%halo%n\n{INIT}"
    },
    "a value from the beginning that comes again": {
        OWN: HALO_BEGUN,
        "end module halo_mod\n": RENEW,
        STEP: f"{STEP}    if (k == 5) call renew(solver%halo)\n",
    },
    "a value from the beginning, set only if": {
        OWN: HALO_BEGUN, "    self%n = n\n    self%comm": "    if (n > 2) self%n = n\n    self%comm"
    },
}  # fmt: skip


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_they_are_one(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "_start(" in rewritten(tmp_path / "p.f90", changed(PROGRAM, replaced))


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_they_may_differ(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "_start(" not in rewritten(tmp_path / "p.f90", changed(PROGRAM, replaced))
