"""Exchanges that send both sides through one buffer: apart, both are under way around the work.

Each program that must stay differs from the case in what makes the second side wait for the first.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "sides.f").read_text()
BUFFERS = "      DOUBLE PRECISION SB(NMAX), RB(NMAX)\n"
SECOND = "        SB(J) = A(1,J)\n"
# name: (replacements, messages that are under way around the step)
CASES: dict[str, tuple[dict[str, str], int]] = {
    "both sides": ({}, 2),
    "the second needs the first": ({SECOND: SECOND.replace("A(1,J)", "A(1,J) + A(0,J)")}, 1),
    "only some are filled": ({SECOND: f"        IF (J .GT. 2) {SECOND.strip()}\n"}, 1),
    "the buffer is kept": ({BUFFERS: f"{BUFFERS}      SAVE SB\n"}, 0),
    "the buffer is shared": ({BUFFERS: f"{BUFFERS}      COMMON /BUF/ SB\n", "      STOP\n": ""}, 2),
    "the buffers are one": ({BUFFERS: f"{BUFFERS}      EQUIVALENCE (SB(1), RB(1))\n"}, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_under_way(name: str, tmp_path: Path) -> None:
    replacements, messages = CASES[name]
    path = tmp_path / "case.f"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode().lower()
    start = text.partition("subroutine swapx_start")[2].partition("\n      end\n")[0]
    assert start.count("call mpi_isend") == messages, text
    again = transform([path], Options(contents={path: outcome.after[str(path)]}))
    assert again.after[str(path)] == outcome.after[str(path)]
