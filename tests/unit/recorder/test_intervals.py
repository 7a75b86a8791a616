"""The lengths that recorded intervals take from plain ones: one after the other, not their median,
as each step has its own difference between the ranks."""

from __future__ import annotations

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[2] / "runtime"


def test_lengths_come_back_in_their_order(tmp_path: Path) -> None:
    program = tmp_path / "intervals"
    sources = [str(HERE / "intervals.c"), str(RUNTIME / "access" / "intervals.c")]
    flags = ["-std=c11", "-D_GNU_SOURCE", f"-I{RUNTIME}"]
    subprocess.run(["gcc", *flags, *sources, "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    none, again, last = (line.split() for line in done.stdout.splitlines())
    assert none == ["-1", "-1"]
    assert again == ["5", "6", "7", "5", "6"]
    # Of twenty the last fifteen are there, the oldest first.
    assert last == [str(k) for k in (*range(5, 20), 5, 6)]
