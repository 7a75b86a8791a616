"""Whether this machine has nothing else to do, so that a calibration would be undisturbed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

_LOOKS = 5
_PAUSE_S = 0.01
_STATISTICS = Path("/proc/stat")


def is_idle(
    file: Path = _STATISTICS, pause: Callable[[float], None] = time.sleep, looks: int = _LOOKS
) -> bool:
    """Whether no thread but this one is ready to run, in most of some looks (proc(5) of Linux).

    False where the system does not tell.
    """
    try:
        found = []
        for _ in range(looks):
            found.append(_running(file.read_text(encoding="ascii")))
            pause(_PAUSE_S)
    except (OSError, ValueError):
        return False
    return statistics.median(found) <= 1


def _running(text: str) -> int:
    """Threads that run or are ready to; ValueError where the text has no such line."""
    for line in text.splitlines():
        if line.startswith("procs_running "):
            return int(line.split()[1])
    raise ValueError("no procs_running")
