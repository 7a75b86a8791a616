"""Allocatable arrays given to routines that declare the bounds of what they get.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import Options, transform

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "change.f90").read_text()
HALO = "  subroutine halo(a)\n    double precision, intent(inout) :: a(0:nx+1,0:ny+1)\n"
STEP = "    double precision, intent(in) :: a(0:nx+1,0:ny+1)\n"
GIVEN = "  subroutine halo(a, nx, ny)\n    integer, intent(in) :: nx, ny\n"
ALLOCATED = "allocate(u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1))"
# name: (replacements, whether the step is divided around the exchange)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "sizes are given": (
        {
            "  subroutine halo(a)\n": GIVEN,
            "    call halo(u)\n": "    call halo(u, nx, ny)\n",
        },
        True,
    ),
    "other sizes are given": (
        {
            "  subroutine halo(a)\n": GIVEN,
            "    call halo(u)\n": "    call halo(u, nx - 1, ny)\n",
        },
        False,
    ),
    "with lines that are longer": (
        {ALLOCATED: ALLOCATED.replace("u(0:nx+1", "u(0:nx+2")},
        True,  # the exchange and the step see lines of the same length in it
    ),
    "with other first indices": (
        {ALLOCATED: ALLOCATED.replace("u(0:nx+1", "u(1:nx+2")},
        True,
    ),
    "declared with longer lines in the exchange": (
        {HALO: HALO.replace("nx+1", "nx+2")},
        False,
    ),
    "with more lines": (
        {ALLOCATED: ALLOCATED.replace("u(0:nx+1, 0:ny+1", "u(0:nx+1, 0:ny+5")},
        True,
    ),
    "from its second element": ({"    call halo(u)\n": "    call halo(u(1,0))\n"}, False),
    "allocated again": (
        {"  s = 0\n": "  deallocate(u)\n  allocate(u(0:nx, 0:ny))\n  s = 0\n"},
        True,
    ),
    "a size changes behind both": (
        {"    if (r < 1d-8) exit\n": "    if (r < 1d-8) nx = nx - 1\n"},
        True,
    ),
    "a size changes in between": (
        {"    call halo(u)\n": "    call halo(u)\n    if (r < 1d-8) nx = nx - 1\n"},
        False,
    ),
    "declared with longer lines in the step": (
        {STEP: STEP.replace("nx+1,0:ny+1", "nx+2,0:ny-2"), "do j = 1, ny\n": "do j = 1, ny - 3\n"},
        False,
    ),
    "declared with fewer lines in the step": (
        {STEP: STEP.replace("ny+1", "ny"), "do j = 1, ny\n": "do j = 1, ny - 1\n"},
        True,
    ),
    "of other numbers in the step": (
        {STEP: STEP.replace("double precision", "complex(kind(0d0))")},
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_dummy_arrays(name: str, tmp_path: Path) -> None:
    replacements, divided = CASES[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(path)]
    assert (b"step_boundary" in after) is divided, [d.details for d in outcome.decisions]
    assert transform([path], Options(contents={path: after})).after[str(path)] == after
