"""Routines around a message that return at once where there is no neighbour.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "returning.f90").read_text()
RETURN = "    if (proc < 0) return\n    dlen = d1 * d2\n    call mpi_send("
CALLS = "      call sweep_send_bdry(k)\n      call fluxes(k)\n"
START = "    call mpi_send(value,"
# name: (replacements, whether the send is divided)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "two of them": ({RETURN: f"    if (d1 == 0) return\n{RETURN}"}, True),
    "behind a statement that computes what it asks": (
        {
            RETURN: RETURN.replace("    if (proc < 0) return\n", "").replace(
                "d2\n", "d2\n    if (dlen == 0) return\n"
            )
        },
        True,
    ),
    "it asks a function": (
        {
            RETURN: RETURN.replace("proc < 0", "asked(proc)"),
            "end module\nmodule sn": (
                "  logical function asked(i)\n    integer, intent(in) :: i\n    calls = calls + 1\n"
                "    asked = i < 0\n  end function\nend module\nmodule sn"
            ),
            "  integer :: comm_snap,": "  integer :: calls = 0\n  integer :: comm_snap,",
        },
        False,
    ),
    "it stops instead": ({RETURN: RETURN.replace("return", "stop")}, False),
    "the routine sets what it asks": (
        {
            RETURN: RETURN.replace("    dlen", "    nproc = 0\n    dlen").replace(
                "proc < 0", "nproc < 1"
            )
        },
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_divided(name: str, tmp_path: Path) -> None:
    replacements, divided = CASES[name]
    text = transformed(tmp_path, replacements)
    assert ("call sweep_send_bdry_finish(" in text) is divided, text
    if divided:
        finish = text[text.index("subroutine psend_d_2d_finish") :]
        asked = finish.index("call mpi_wait(")
        assert "return" in finish[:asked]
        # What the extents of its arguments are made of is given to it, too, and what it asks.
        if "proc < 0" in finish[:asked]:
            assert "psend_d_2d_finish(proc, value, d1, d2, " in finish
        else:
            assert finish.index("dlen = d1 * d2") < finish.index("if (dlen == 0) return") < asked


def test_what_it_asks_changes(tmp_path: Path) -> None:
    """The finish stays ahead of what changes the answer."""
    behind = f"{CALLS}      if (k == nz) yhip = -1\n"
    text = transformed(tmp_path, {CALLS: behind})
    assert text.rindex("yhip = -1\n") > text.index("call sweep_send_bdry_finish(")
    between = CALLS.replace("(k)\n      call f", "(k)\n      if (k == nz) yhip = -1\n      call f")
    assert "call sweep_send_bdry_finish(" not in transformed(tmp_path, {CALLS: between})


def transformed(folder: Path, replacements: dict[str, str]) -> str:
    path = folder / "case.f90"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode()
