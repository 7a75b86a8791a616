"""The progress thread beside threads of the program, under the thread and the address sanitizer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.unit.driver import RUNTIME

HERE = Path(__file__).parent
SOURCES = [
    *sorted((RUNTIME / "core").glob("*.c")),
    RUNTIME / "base" / "clock.c",
    RUNTIME / "progress" / "helper.c",
    RUNTIME / "progress" / "pace.c",
]


@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_looks_and_calls_exclude_each_other_and_no_wake_is_lost(
    tmp_path: Path, sanitizer: str
) -> None:
    binary = tmp_path / "helper_threads"
    words = ["gcc", "-std=c11", "-D_GNU_SOURCE=", "-Wall", "-Wextra", "-Werror", "-O1", "-g"]
    # The sanitizer does not know fences: the test's own question is a stronger one.
    words += ["-Wno-tsan", f"-fsanitize={sanitizer}", f"-I{RUNTIME}", "-o", str(binary)]
    words += [str(HERE / "helper_threads.c"), *map(str, SOURCES), "-pthread"]
    built = subprocess.run(words, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    # without randomized addresses: old sanitizers cannot place their shadow on some kernels
    command = ["setarch", "-R", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "personality" in done.stderr:
        done = subprocess.run(command[2:], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    looks, completed, needing = map(int, done.stdout.split())
    assert looks > completed > 0
    assert needing == 0
