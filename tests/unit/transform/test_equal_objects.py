"""Objects whose sizes one routine sets alike, and which exchange the arrays that they hold.

Each program that must stay differs from the case that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "heat.c").read_text()
FIRST = "    set_field_dimensions(&current, rows, cols, &parallelization);\n"
SECOND = FIRST.replace("current", "previous")
HEAD = "static void set_field_dimensions("
LOCAL = "    int nx_local = nx / parallel->size;\n"
WIDTH = "    temperature->ny = ny;\n"
DECLARED = "    field current, previous;\n"
MADE = "    generate_field(&previous, &parallelization);\n"
MOVED = "    temperature2->data = tmp;\n"
SWAP = "        swap_fields(&current, &previous);\n"
# name: (replacements, whether the exchange is split)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "other columns": ({SECOND: SECOND.replace("cols", "cols + 1")}, False),
    "other columns by then": ({SECOND: f"    cols += 2;\n{SECOND}"}, False),
    "what it does not read changes": ({SECOND: f"    a = 0.7;\n{SECOND}"}, True),
    "another number of ranks by then": (
        {SECOND: f"    parallelization.size = 1;\n{SECOND}"},
        False,
    ),
    "another rank by then": ({SECOND: f"    parallelization.rank = 0;\n{SECOND}"}, True),
    "it counts its calls": (
        {HEAD: f"static int calls;\n{HEAD}", WIDTH: "    temperature->ny = ny + calls++;\n"},
        False,
    ),
    "it has counted its calls": (
        {HEAD: f"static int calls = 1;\n{HEAD}", WIDTH: "    temperature->ny = ny + calls;\n"},
        True,
    ),
    "it asks for more": ({WIDTH: "    temperature->ny = ny + rand() % 2;\n"}, False),
    "it reads": ({WIDTH: '    if (scanf("%d", &temperature->ny) < 1)\n        exit(1);\n'}, False),
    "it knows one of them": (
        {
            HEAD: f"static field *first;\n{HEAD}",
            WIDTH: "    temperature->ny = temperature == first ? ny : ny - 2;\n",
            FIRST: f"    first = &current;\n{FIRST}",
        },
        False,
    ),
    "what each had before": ({WIDTH: "    temperature->ny = ny + temperature->nx;\n"}, True),
    "what it has not set yet": (
        {
            LOCAL: f"{LOCAL}    temperature->ny += 2;\n",
            WIDTH: "",
            FIRST: f"    current.ny = 30;\n    previous.ny = 20;\n{FIRST}",
        },
        False,
    ),
    "set by others": ({SECOND: f"{SECOND}    current.ny = 30;\n"}, False),
    "copied to each other": ({SECOND: f"{SECOND}    current.ny = previous.ny;\n"}, True),
    "only if": ({SECOND: f"    if (cols > 3)\n    {SECOND}"}, False),
    "each time": (
        {
            FIRST: f"    for (int k = 0; k < 2; k++, cols++) {{\n{FIRST}",
            SECOND: f"{SECOND}    }}\n",
        },
        False,
    ),
    "a third one": (
        {
            DECLARED: f"{DECLARED}    field other = {{3, 4, 0.1, 0.1, NULL}};\n",
            MADE: f"{MADE}    copy_field(&other, &other);\n",
        },
        False,
    ),
    "one in an array": (
        {DECLARED: f"{DECLARED}    field more[2];\n", MADE: f"{MADE}    more[1].nx = 3;\n"},
        False,
    ),
    "set in another file's way": (
        {DECLARED: f"{DECLARED}    int *width = &current.ny;\n", MADE: f"{MADE}    *width = 9;\n"},
        False,
    ),
    "one keeps the array": ({MOVED: ""}, False),
    "both get one": ({MOVED: "    temperature2->data = temperature1->data;\n"}, False),
    "rows of others": ({MADE: f"{MADE}    previous.data = malloc_2d(9, 9);\n"}, False),
    "in front of the work": ({SWAP: "", "        evolve(": f"{SWAP}        evolve("}, False),
}


@pytest.mark.parametrize("name", CASES)
def test_split(name: str, tmp_path: Path) -> None:
    replacements, split = CASES[name]
    text = rewritten(tmp_path / "case.c", changed(PROGRAM, replacements))
    assert ("exchange_start(" in text) is split, text
