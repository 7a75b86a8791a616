"""Pointers to rows at file scope: read as one array where what tells their length lasts as long.

Each program that must stay differs from the case that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "row_globals.c").read_text()
MADE = "    u = allocate(nx + 2, ny + 2);\n"
OTHER = "    unew = allocate(nx + 2, ny + 2);\n"
# name: (replacements, whether the exchange is split)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "a size that is set in front": ({MADE: f"    ny = 6 * nproc;\n{MADE}"}, True),
    "a size that is set in between": ({OTHER: f"    ny = 6;\n{OTHER}"}, False),
    "a size that is set behind": ({OTHER: f"{OTHER}    ny = 29;\n"}, False),
    "a size that a routine sets": ({"    int i, j;\n": "    int i, j;\n    ny = 9;\n"}, False),
    "the other size behind": ({OTHER: f"{OTHER}    nx = 19;\n"}, True),
    "longer rows": ({OTHER: OTHER.replace("ny + 2", "ny + 3")}, False),
    "the same rows": ({OTHER: "    unew = u;\n"}, False),
    "a row set anew": ({OTHER: f"{OTHER}    u[2] = u[1];\n"}, False),
    "its address": ({OTHER: f"{OTHER}    {{ double ***p = &u; *p = unew; }}\n"}, False),
    "static": ({"double **u, **unew;": "static double **u, **unew;"}, True),
    "longer rows of another one": (
        {
            "double **u, **unew;": "double **u, **unew, **more;",
            OTHER: f"{OTHER}    more = allocate(nx + 2, ny + 9);\n    more[1][1] = 3.0;\n",
        },
        True,
    ),
    "which are exchanged with it": (
        {
            "double **u, **unew;": "double **u, **unew, **more;",
            OTHER: f"{OTHER}    more = allocate(nx + 2, ny + 9);\n    more[1][1] = 3.0;\n",
            "        iter++;\n": "        iter++;\n        tmp = u; u = more; more = tmp;\n",
        },
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_split(name: str, tmp_path: Path) -> None:
    replacements, split = CASES[name]
    text = rewritten(tmp_path / "case.c", changed(PROGRAM, replacements))
    assert ("exchange_ghosts_start(" in text) is split, text
