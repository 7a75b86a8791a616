"""The call log without MPI: what is written, kept, given up and found again (call_log*.c)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.driver import ADDRESS

pytestmark = pytest.mark.slow


SOURCES = {
    **dict.fromkeys(("polls", "turns"), "call_log_polls.c"),
    **dict.fromkeys(
        ("handles", "unlogged-end", "place-taken", "turns-of-threads"), "call_log_outlived.c"
    ),
    **dict.fromkeys(("damaged", "limited", "threads", "crowd", "killed"), "call_log_room.c"),
}
"""By check, where not in call_log.c."""


def _check(binary: Path, name: str, *part: str) -> None:
    command = [str(binary), name, *part]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("where", ["file", "anonymous"])
@pytest.mark.parametrize(
    "name",
    [
        *("exact", "requests", "by-counter", "pause", "windows", "many", "blocks", "communicators"),
        "overhead",
        *("polls", "turns"),
        *("handles", "unlogged-end", "place-taken", "turns-of-threads"),
        *("damaged", "threads"),
    ],
)
def test_log(build_core: Callable[..., Path], tmp_path: Path, name: str, where: str) -> None:
    binary = build_core(SOURCES.get(name, "call_log.c"), *ADDRESS)
    _check(binary, name, *([str(tmp_path / "rank-0.part")] if where == "file" else []))


@pytest.mark.parametrize("name", ["limited", "killed", "crowd"])
def test_log_in_a_file(build_core: Callable[..., Path], tmp_path: Path, name: str) -> None:
    binary = build_core(SOURCES.get(name, "call_log.c"), *ADDRESS)
    _check(binary, name, str(tmp_path / "rank-0.part"))


def test_no_page_fault_once_the_budget_is_full(
    build_core: Callable[..., Path], tmp_path: Path
) -> None:
    binary = build_core("call_log_room.c", "-O2", "-g")
    _check(binary, "faults", str(tmp_path / "rank-0.part"))
