"""Receives of a block of columns, posted while the block before is computed.

Each program that must stay differs from the case that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = (Path(__file__).parent / "cases" / "blocks.c").read_text()
HEADER = "        for (int b = 0; b < NY; b += BLOCK) {\n"
OUTER = "    for (int step = 0; step < 4; step++)\n"
GUARD = "            if (rank > 0)\n"
WORK = "            for (int i = 1; i <= NX; i++)\n                for (int j = b"
SENT = "rank + 1, b, MPI_COMM_WORLD);\n"
BACK = HEADER.replace("b = 0; b < NY; b += BLOCK", "b = NY - BLOCK; b >= 0; b -= BLOCK")
# name: (replacements, the line that posts the next receive; None where it stays)
CASES: dict[str, tuple[dict[str, str], str | None]] = {
    "as it is": ({}, "if ((b + BLOCK < NY) && (rank > 0))"),
    "backwards": ({HEADER: BACK}, "if ((b - BLOCK >= 0) && (rank > 0))"),
    "a step that is computed": (
        {HEADER: HEADER.replace("+= BLOCK", "+= 2 * 10")},
        "if ((b + (2 * 10) < NY) && (rank > 0))",
    ),
    "a step that is read": ({HEADER: HEADER.replace("+= BLOCK", "+= argc * BLOCK")}, None),
    "blocks that leave their row": ({"#define NY 120": "#define NY 110"}, None),
    "blocks that begin elsewhere": ({HEADER: HEADER.replace("b = 0", "b = 10")}, None),
    "blocks that end in time": (
        {HEADER: HEADER.replace("b < NY", "b < NY - 1")},
        "b + BLOCK < NY - 1",
    ),
    "the index changes": (
        {WORK: f"            if (step == 3)\n                b += 0;\n{WORK}"},
        None,
    ),
    "the next block is read": ({SENT: f"{SENT}            sum += a[0][(b + 25) % NY];\n"}, None),
    "this block is read": ({SENT: f"{SENT}            sum += a[0][b + 5];\n"}, "b + BLOCK < NY"),
    "columns of the first block that comes": (
        {GUARD: "            if (b >= 60)\n", SENT: f"{SENT}            sum += a[0][70];\n"},
        None,
    ),
    "columns in front of all that come": (
        {GUARD: "            if (b >= 60)\n", SENT: f"{SENT}            sum += a[0][50];\n"},
        "((b + BLOCK) >= 60)",
    ),
    "a comment behind the header": ({OUTER: OUTER.replace("\n", " // again\n")}, None),
    "one line": ({f"{OUTER}        for": f"{OUTER.rstrip()} for"}, None),
}


@pytest.mark.parametrize("name", CASES)
def test_posted_ahead(name: str, tmp_path: Path) -> None:
    replacements, line = CASES[name]
    text = rewritten(tmp_path / "case.c", changed(PROGRAM, replacements))
    assert ("MPI_Irecv" in text) is (line is not None), text
    if line is not None:
        assert line in text
        lines = text.splitlines()
        head = next(n for n, each in enumerate(lines) if "step < 4" in each)
        assert lines[head].endswith(" {")
        assert "    }" in lines[head:]
