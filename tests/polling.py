"""Ranks that sleep while they wait, in tests that run beside others (see programs/yields.c), and
that start at once.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "tests" / "mpi" / "programs" / "yields.c"
VARIABLES = {
    "TESTS_RUN_BESIDE": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # Looking for the networks of this component, which are not here, is half of what a start takes.
    "OMPI_MCA_pml": "^cm",
}
_PRELOADED = os.environ.get("LD_PRELOAD", "")


def give(item: pytest.Item) -> None:
    """From here on the ranks that a test starts sleep while they wait, if it asks for no times."""
    for name in (*VARIABLES, "LD_PRELOAD"):
        os.environ.pop(name, None)
    if item.get_closest_marker("untimed") is not None:
        os.environ.update(VARIABLES)
        os.environ["LD_PRELOAD"] = " ".join(filter(None, (str(library()), _PRELOADED)))
    elif _PRELOADED:
        os.environ["LD_PRELOAD"] = _PRELOADED


@cache
def library() -> Path:
    """What is preloaded; without the variables, for ranks of MPICH that are more than the cores."""
    file = ROOT / "build" / "tests" / "yields.so"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists() or file.stat().st_mtime < SOURCE.stat().st_mtime:
            scratch = file.with_suffix(".new")
            words = ["cc", "-O2", "-shared", "-fPIC", str(SOURCE), "-o", str(scratch)]
            subprocess.run(words, check=True)
            scratch.replace(file)
    return file
