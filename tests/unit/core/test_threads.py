"""The tables that threads share, under the thread and the address sanitizer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.driver import ADDRESS, THREAD

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("flags", [THREAD, ADDRESS], ids=["thread", "address"])
def test_every_transfer_ends_once(build_core: Callable[..., Path], flags: tuple[str, ...]) -> None:
    binary = build_core("stress.c", *flags)
    # without randomized addresses: old sanitizers cannot place their shadow on some kernels
    command = ["setarch", "-R", str(binary)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "personality" in result.stderr:
        result = subprocess.run(command[2:], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-4000:]
    transfers, calls, wrong, wait_wrong = map(int, result.stdout.split())
    assert transfers == 4 * 3000 * 2
    assert calls <= 4 * 3000 * 4
    assert (wrong, wait_wrong) == (0, 0)


def test_compiles_with_clang(build_core: Callable[..., Path]) -> None:
    build_core("stress.c", "-O2", compiler="clang")
