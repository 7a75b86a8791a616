"""Ranks that a crashed launcher left behind on this host."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

_PATIENCE_S = 5.0
_LAST_SIGNAL = 64


def launcher_crashed(exit_code: int) -> bool:
    """Whether an exit code (as a shell gives it) says that a signal ended the launcher."""
    return 128 < exit_code <= 128 + _LAST_SIGNAL


def end_orphans(mark: Mapping[str, str], patience_s: float = _PATIENCE_S) -> int:
    """End the processes of this user whose environment holds `mark`; how many were asked to.

    They get `patience_s` to end by themselves (MPI ranks notice that their launcher has gone), as
    much again after SIGTERM, and then SIGKILL.
    """
    asked = 0
    for how in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + patience_s
        while (left := _with(mark)) and time.monotonic() < end:
            time.sleep(0.1)
        asked = max(asked, len(left))
        for process in left:
            with contextlib.suppress(OSError):
                os.kill(process, how)
    return asked


def _with(mark: Mapping[str, str]) -> list[int]:
    wanted = {f"{name}={value}".encode() for name, value in mark.items()}
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):  # ended meanwhile, or another user's
            if folder.stat().st_uid != os.getuid():
                continue
            if wanted <= set((folder / "environ").read_bytes().split(b"\0")):
                found.append(int(folder.name))
    return found
