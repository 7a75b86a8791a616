"""How much of a program's processor time is spent inside the runtime: samples that `perf` takes.

Unlike the difference of two run times, this is not touched by what else the machine does: a sample
falls into the runtime or it does not. It does not see what the runtime costs elsewhere (caches, a
partner that waits, the few MPI calls that the runtime makes).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SAMPLES_PER_S = 10_000
_TABLE = ["--stdio", "-q", "--sort", "comm,dso", "-F", "sample,comm,dso", "-t", "|"]


def inside(words: Sequence[str], program: str, runtime: str) -> tuple[int, int]:
    """Samples inside the object `runtime`, and all of the processes called `program`."""
    with tempfile.TemporaryDirectory(prefix="imbrex-samples-") as scratch:
        data = str(Path(scratch) / "perf.data")
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_PER_S), "-o", data]
        done = subprocess.run([*record, "--", *words], capture_output=True, text=True, check=False)
        if done.returncode != 0 or "verification: PASSED" not in done.stdout:
            sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        table = subprocess.run(
            ["perf", "report", "-i", data, *_TABLE], capture_output=True, text=True, check=True
        ).stdout
    part = whole = 0
    for line in table.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 3 and fields[1] == program[:15]:
            whole += int(fields[0])
            part += int(fields[0]) if fields[2] == runtime else 0
    if whole == 0:
        sys.exit(f"{' '.join(words)}: perf took no samples of {program}")
    return part, whole
