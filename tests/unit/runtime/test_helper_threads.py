"""The progress thread beside threads of the program, under the thread and the address sanitizer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.driver import ADDRESS, RUNTIME, THREAD

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SOURCES = [
    HERE / "helper_threads.c",
    RUNTIME / "progress" / "helper.c",
    RUNTIME / "progress" / "pace.c",
]


@pytest.mark.parametrize("flags", [THREAD, ADDRESS], ids=["thread", "address"])
def test_looks_and_calls_exclude_each_other_and_no_wake_is_lost(
    link_engine: Callable[..., None], tmp_path: Path, flags: tuple[str, ...]
) -> None:
    binary = tmp_path / "helper_threads"
    # The sanitizer does not know fences: the test's own question is a stronger one.
    link_engine(binary, SOURCES, flags, own=["-Wno-tsan"])
    # without randomized addresses: old sanitizers cannot place their shadow on some kernels
    command = ["setarch", "-R", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "personality" in done.stderr:
        done = subprocess.run(command[2:], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    looks, completed, needing = map(int, done.stdout.split())
    assert looks > completed > 0
    assert needing == 0
