"""Looks at the stack without MPI: whose turn it is, what is kept, what is left out."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.unit.driver import ADDRESS

from imbrex.profile.part import _CALL_PATHS_AT, read_part

NO_FRAME_POINTERS = ("-O2", "-fomit-frame-pointer")


def _check(binary: Path, *words: str) -> str:
    run = subprocess.run(
        [str(binary), *words], capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize("flags", [ADDRESS, NO_FRAME_POINTERS], ids=["sanitized", "optimized"])
@pytest.mark.parametrize("name", ["callers", "many", "cut", "forgotten", "threads", "off"])
def test_looks(build_core: Callable[..., Path], name: str, flags: tuple[str, ...]) -> None:
    _check(build_core("call_paths.c", *flags), name)


@pytest.mark.parametrize("name", ["places", "coroutine"])
def test_looks_without_sanitizers(build_core: Callable[..., Path], name: str) -> None:
    _check(build_core("call_paths.c", *NO_FRAME_POINTERS), name)


def test_a_process_that_is_gone_leaves_what_it_saw(
    build_core: Callable[..., Path], tmp_path: Path
) -> None:
    file = tmp_path / "rank-0.part"
    binary = build_core("call_paths.c", *NO_FRAME_POINTERS)
    assert _check(binary, "killed", str(file)) == "2\n"
    first, second = read_part(file).call_paths
    assert (first.site, first.samples, second.samples) == (1, 1, 1)
    assert first.callers[0][0] == str(binary)
    assert first.callers[0] != second.callers[0]
    assert first.callers[2] == second.callers[2]
    damaged = bytearray(file.read_bytes())
    at = int(np.frombuffer(damaged, "<u8", 1, _CALL_PATHS_AT)[0])
    for garbage in (b"\xff" * 208, b"\x01" * 208):
        damaged[at : at + 208] = garbage
        file.write_bytes(damaged)
        assert second in read_part(file).call_paths
