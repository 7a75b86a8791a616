"""Match the calls of ranks that did not come to MPI_Finalize together, after the job."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.launch.machine import TABLE
from imbrex.profile.matched_parts import MATCHED
from imbrex.profile.part import read_part
from imbrex.profile.run import PARTS

_LIMIT_S = 120
_MOST_RANKS = 4096
"""Each rank is a process of this machine meanwhile."""
# The runtime is for processes of the MPI library; this one has none, and a part may be damaged.
_PROGRAM = (
    "import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); "
    "sys.exit(library.ix_match_left_parts(*(a.encode() for a in sys.argv[2:4]), "
    "*map(int, sys.argv[4:6])))"
)


def match_parts(folder: Path, runtime: Path, *, is_helped: bool) -> list[str]:
    """Leave rows of what the parts' call logs tell together beside them; warnings.

    `is_helped`: the ranks had a progress thread.
    """
    ranks = _ranks(folder / PARTS)
    if not 0 < ranks <= _MOST_RANKS:
        return []
    output = folder / MATCHED
    output.mkdir(exist_ok=True)
    words = [str(runtime), str(folder / PARTS), str(output), str(ranks), str(int(is_helped))]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("IMBREX_")}
    if (folder / TABLE).exists():
        environment["IMBREX_TABLE"] = str(folder / TABLE)
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
        )
        failed = done.returncode != 0
    except (OSError, subprocess.TimeoutExpired):
        failed = True
    if not failed:
        return []
    shutil.rmtree(output, ignore_errors=True)
    return ["the calls that the ranks left could not be matched: causes are not known"]


def _ranks(parts: Path) -> int:
    """The size of the job that the first readable part is of."""
    for file in sorted(parts.glob("rank-*.part")):
        try:
            return read_part(file).ranks
        except ImbrexError:
            continue
    return 0
