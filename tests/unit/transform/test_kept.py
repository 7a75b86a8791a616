"""What a divided routine of Fortran hands from its start to its finish: arrays and scalars.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

CASES_FOLDER = Path(__file__).parent / "cases"
ARRAYS = "    real(8), dimension(nghost*2*(ubj-lbj+1)) :: arecvw, arecve, asendw, asende\n"
CALL = "    call mp_exchange2d(1, west, east, -1, im + 2, 1, jm, 2, zeta, ubar)\n"
# name: (replacements in cases/automatic.f90, whether the exchange is divided)
AUTOMATIC: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "each with its own extents": (
        {
            ARRAYS: "    real(8) :: arecvw(N), arecve(N), asendw(N), asende(N)\n".replace(
                "N", "nghost*2*(ubj-lbj+1)"
            )
        },
        True,
    ),
    "of a kind that its callers know": (
        {
            "  implicit none\n  include 'mpif.h'\ncontains\n": (
                "  implicit none\n  include 'mpif.h'\n"
                "  integer, parameter :: wp = selected_real_kind(12)\ncontains\n"
            ),
            ARRAYS: ARRAYS.replace("real(8)", "real(wp)"),
        },
        True,
    ),
    "of a kind that its callers do not know": (
        {
            "  implicit none\n  include 'mpif.h'\ncontains\n": (
                "  implicit none\n  include 'mpif.h'\n"
                "  integer, parameter, private :: wp = max(4, 8)\ncontains\n"
            ),
            ARRAYS: ARRAYS.replace("real(8)", "real(wp)"),
        },
        False,
    ),
    "of a size that the routine changes": (
        {
            "    ewsize = 2 * nghost * jlen\n": (
                "    ewsize = 2 * nghost * jlen\n    if (jlen < 0) ubj = lbj\n"
            ),
            "    integer, intent(in) :: ng, west": "    integer :: ng, west",
        },
        False,
    ),
    "of a size that a function gives": (
        {ARRAYS: ARRAYS.replace("nghost*2*(ubj-lbj+1)", "2*max(nghost, 1)*(ubj-lbj+1)")},
        False,
    ),
    "of a size that is set behind the call": (
        {
            CALL: CALL.replace("jm, 2", "jn, 2") + "    jn = jm\n",
            "ierr, im, jm": "ierr, im, jm, jn",
            "  jm = 30\n": "  jm = 30\n  jn = 30\n",
        },
        True,  # the finish stays ahead of that
    ),
}


@pytest.mark.parametrize("name", AUTOMATIC)
def test_automatic_arrays(name: str, tmp_path: Path) -> None:
    replacements, divided = AUTOMATIC[name]
    outcome = transformed(tmp_path, "automatic.f90", replacements)
    assert (b"mp_exchange2d_finish(" in outcome) is divided, outcome.decode()


EXCHANGE = "call tea_exchange(chunk%field%u, chunk%x_cells, chunk%y_cells)\n"
CHUNK: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "of other sizes": ({EXCHANGE: EXCHANGE.replace("%y_cells", "%y_cells - 1")}, True),
    "of longer lines": ({EXCHANGE: EXCHANGE.replace("%x_cells", "%x_cells + 1")}, False),
    "the count is kept from call to call": (
        {
            "integer :: request(4), message_count,": "integer, save :: message_count\n"
            "    integer :: request(4),"
        },
        False,
    ),
    "the object is a pointer's target": (
        {
            "  type(chunk_type) :: chunk\n": "  type(chunk_type), target :: chunk\n"
            "  type(chunk_type), pointer :: other => chunk\n"
        },
        False,
    ),
}


@pytest.mark.parametrize("name", CHUNK)
def test_counts_of_messages(name: str, tmp_path: Path) -> None:
    replacements, divided = CHUNK[name]
    outcome = transformed(tmp_path, "chunk.f90", replacements)
    assert (b"jacobi_boundary(" in outcome) is divided, outcome.decode()


def transformed(folder: Path, case: str, replacements: dict[str, str]) -> bytes:
    path = folder / case
    path.write_text(changed((CASES_FOLDER / case).read_text(), replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)]
