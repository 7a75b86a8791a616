"""Arrays of C that each iteration fills anew, and fields in one array: the nest is divided.

Each program that must stay differs from one that is divided in what one iteration may leave to
another, or to the code around the nest, or in what a cell of a field may be.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "slice.c").read_text()
LOCALS = "double stencil[STEN], third[NVARS], value[NVARS], speed;"
GATHERED = (
    "                    stencil[s] =\n"
    "                        state[l * (nz + 2 * HS) * (nx + 2 * HS) + (k + HS) * (nx + 2 * HS)"
    " + i + s];\n"
)
FILLED = f"                for (s = 0; s < STEN; s++)\n{GATHERED}"
NUMBERS = range(4)
VALUE = "value[l] = (7 * (stencil[1]"
SPEED = "            speed = value[1] / (2.0 + value[0]);\n"
BEHIND = "    for (l = 0; l < NVARS; l++)\n        for (k = 0; k < nz; k++)\n            for (i"
NEST = "    for (k = 0; k < nz; k++)\n        for (i = 0; i < nx + 1; i++) {\n"
WHOLE = "(nz + 2 * HS) * (nx + 2 * HS) + (k + HS) * (nx + 2 * HS) + i + s]"
# name: (replacements, whether the nest is divided)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "declared with values": ({LOCALS: LOCALS.replace("third[NVARS]", "third[NVARS] = {0}")}, True),
    "as long as a parameter says": (
        {LOCALS: LOCALS.replace("[STEN]", "[lines]"), "scale)\n{": "scale, int lines)\n{"}
        | {"state, 0.01)": "state, 0.01, STEN)"},
        True,
    ),
    "element by element": (
        {
            FILLED: "".join(
                GATHERED.replace("[s]", f"[{s}]").replace("+ s", f"+ {s}") for s in NUMBERS
            )
        },
        True,
    ),
    "of two dimensions": (
        {
            LOCALS: LOCALS.replace("stencil[STEN]", "stencil[NVARS][STEN]"),
            "stencil[s]": "stencil[l][s]",
            "stencil[0]": "stencil[l][0]",
            "stencil[1]": "stencil[l][1]",
            "stencil[2]": "stencil[l][2]",
            "stencil[3]": "stencil[l][3]",
        },
        True,
    ),
    "chosen by a condition": ({"third[l] = ": "third[l] = value[l] > 0 ? 0.5 : "}, True),
    "the fastest index in the middle": (
        {WHOLE: "(nx + 2 * HS) * (nz + 2 * HS) + i + s + (k + HS) * (nx + 4)]"},
        True,
    ),
    "static": ({LOCALS: f"static {LOCALS}"}, False),
    "of the file": (
        {
            LOCALS: LOCALS.replace("stencil[STEN], ", ""),
            "static void tend": "static double stencil[STEN];\n\nstatic void tend",
        },
        False,
    ),
    "one is left out": ({FILLED: FILLED.replace("s = 0; s < S", "s = 1; s < S")}, False),
    "every second": ({FILLED: FILLED.replace("s++", "s += 2")}, False),
    "on a condition": ({GATHERED: f"                    if (s < k)\n{GATHERED}"}, False),
    "on a condition inside": (
        {"stencil[s] =\n": "s < k ? 0 : (stencil[s] =\n", "i + s];": "i + s]);"},
        False,
    ),
    "behind a sign of both": (
        {"stencil[s] =\n": "k && (stencil[s] =\n", "i + s];": "i + s]);"},
        False,
    ),
    "added to": ({"stencil[s] =": "stencil[s] +="}, False),
    "a loop that is left": (
        {
            FILLED: FILLED.replace(
                "s++)\n",
                "s++) {\n                    if (state[s] > 3.0)\n                        break;\n",
            )
            + "                }\n"
        },
        False,
    ),
    "an iteration that is left": (
        {
            FILLED: FILLED.replace(
                "s++)\n",
                "s++) {\n                    if (s == k)\n                        continue;\n",
            )
            + "                }\n"
        },
        False,
    ),
    "read first": ({FILLED: f"                speed = stencil[1];\n{FILLED}", SPEED: ""}, False),
    "kept from one to the next": (
        {VALUE: VALUE.replace("= (", "= third[l] + (")},
        False,
    ),
    "read behind the nest": ({BEHIND: f"    tend[0] = stencil[0];\n{BEHIND}"}, False),
    "read behind it by a macro": (
        {
            "#define HS 2": "#define HS 2\n#define LAST stencil[0]",
            BEHIND: f"    flux[0] = LAST;\n{BEHIND}",
        },
        False,
    ),
    "printed behind it": ({BEHIND: f'    printf("%g", stencil[0]);\n{BEHIND}'}, False),
    "named by a pointer": (
        {
            LOCALS: f"{LOCALS}\n    double *last = stencil;",
            VALUE: f"third[l] = last[3];\n                {VALUE}",
        },
        False,
    ),
    "named by a pointer inside": (
        {FILLED: f"                double *last = stencil;\n{FILLED}"},
        False,
    ),
    "read by a pointer first": (
        {FILLED: f"                double *p = stencil;\n                speed = p[2];\n{FILLED}"}
        | {SPEED: ""},
        False,
    ),
    "set by a function": (
        {
            "static void tend": "static void gather(double *s, double v)\n{\n    if (v > 0)\n"
            "        s[0] = v;\n}\n\nstatic void tend",
            FILLED: "                gather(stencil, scale);\n"
            + FILLED.replace("s = 0; s < S", "s = 1; s < S"),
        },
        False,
    ),
    "cells that reach into the next line": ({WHOLE: WHOLE.replace("i + s", "i + 2 * s")}, False),
    "lines that are shorter": (
        {WHOLE: WHOLE.replace("(k + HS) * (nx + 2 * HS)", "(k + HS) * (nx + HS)")},
        False,
    ),
    "lines that overlap": (
        {WHOLE: WHOLE.replace("(k + HS) * (nx + 2 * HS)", "(k + HS) * nx")},
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_divided(name: str, tmp_path: Path) -> None:
    replacements, divided = CASES[name]
    path = tmp_path / "case.c"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(path)].decode()
    assert ("    tendencies_interior(" in after) is divided, after
    again = transform([path], Options(contents={path: outcome.after[str(path)]}))
    assert again.after[str(path)] == outcome.after[str(path)]
