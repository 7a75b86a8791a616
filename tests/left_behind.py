"""Ends what a test left running: a launcher that is killed may leave its ranks, which spin."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import uuid
from pathlib import Path

SESSION = "IMBREX_TEST_SESSION"
"""The variable by which what this process of pytest starts is known as its own."""
os.environ[SESSION] = uuid.uuid4().hex

TIME_TO_END_S = 5.0


def end(node_id: str) -> list[int]:
    """End all processes that this test started while it ran; their ids.

    pytest names the test in PYTEST_CURRENT_TEST. What a fixture began carries its setup's name, and
    is left alone: others may need it.
    """
    words = {"PYTEST_CURRENT_TEST": f"{node_id} (call)", SESSION: os.environ[SESSION]}
    wanted = {f"{name}={value}".encode() for name, value in words.items()}
    found = _with_environment(wanted)
    for sent in (signal.SIGTERM, signal.SIGKILL):
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, sent)
        until = time.monotonic() + TIME_TO_END_S
        while _with_environment(wanted) and time.monotonic() < until:
            time.sleep(0.05)
    return found


def _with_environment(wanted: set[bytes]) -> list[int]:
    """The processes that run and were started with all of these variables, but for this one."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with contextlib.suppress(OSError):
                # Of a process that has ended and was not waited for it is empty.
                if wanted <= set((folder / "environ").read_bytes().split(b"\0")):
                    found.append(int(folder.name))
    return found
