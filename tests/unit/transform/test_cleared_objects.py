"""Objects of C that are filled with zeros before they are set up: a type of MPI keeps its layout.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = (Path(__file__).parent / "cases" / "swap_function.c").read_text()
FILLED = "    memset(d, 0, sizeof *d);\n"
DECLARED = "    domain d;\n"
MADE = "    MPI_Type_commit(&d->column);\n"
SETUP = "    setup(&d, 32, 32);\n"
# name: (replacements, whether the sweep is divided)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "by its type": ({"sizeof *d)": "sizeof(domain))"}, True),
    "where it is declared": ({FILLED: "", DECLARED: "    domain d = {0};\n"}, True),
    "by the caller": ({FILLED: "", SETUP: f"    memset(&d, 0, sizeof d);\n{SETUP}"}, True),
    "not at all": ({FILLED: ""}, True),
    "in part": ({"sizeof *d)": "sizeof d)"}, False),
    "in part, from its beginning": ({"sizeof *d)": "sizeof(MPI_Comm))"}, False),
    "with other bytes": (
        {
            "memset(d, 0,": "memset(d, argument,",
            "static void setup": "static int argument;\n\nstatic void setup",
        },
        False,
    ),
    "one of its sizes behind": ({SETUP: f"{SETUP}    memset(&d.ny, 0, sizeof d.ny);\n"}, False),
    "with a value": (
        {FILLED: "", DECLARED: "    domain d = {.nx = 4, .column = MPI_INT};\n"},
        False,
    ),
    "a size that is set behind": ({MADE: f"{MADE}    d->ny = d->ny - 1;\n"}, False),
    "a size that the caller sets": ({SETUP: f"{SETUP}    d.ny = 7;\n"}, False),
    "made anew": (
        {
            MADE: f"{MADE}    if (d->rank)\n"
            "        MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &d->column);\n"
        },
        False,
    ),
    "copied": ({SETUP: f"{SETUP}    domain other = {{0}};\n    d = other;\n"}, False),
}


@pytest.mark.parametrize("name", CASES)
def test_divided(name: str, tmp_path: Path) -> None:
    replacements, divided = CASES[name]
    text = rewritten(tmp_path / "case.c", changed(PROGRAM, replacements))
    assert ("sweep_interior(" in text) is divided, text
