"""The mapped part file: what a killed process leaves, and a file system without room."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from imbrex.profile.part import read_part
from imbrex.profile.standing import State

PATIENCE_S = 3600

SCRIPT = [
    "table imbrex-table 1;path intra-node;point 1000 800 1000 300 100;end",
    "init",
    "0 section solve",
    "0 enter 3 4242",
    "0 advance 100",
    "0 begin 7 1000 2 0 0 0 0 0",
    "0 leave",
    "0 advance 900",
    "0 enter 5 4343",
    "0 advance 50",
    "0 finish 7 -1 -1",
    "0 leave",
    "0 enter 5 4343",
    "0 advance 77",
]


@pytest.fixture(scope="module")
def binary(build_core: Callable[..., Path]) -> Path:
    return build_core("core_driver.c", "-O2", "-g")


def run(binary: Path, part: Path, *more: str, limit: int | None = None) -> tuple[int, str]:
    """The driver with a script, its exit code and output."""

    def restrict() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    script = "\n".join([f"part {part}", *SCRIPT, *more, ""])
    result = subprocess.run(
        [str(binary)],
        input=script,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=restrict,
    )
    return result.returncode, result.stdout


def test_a_killed_process_leaves_what_it_had_measured(binary: Path, tmp_path: Path) -> None:
    part_file = tmp_path / "rank-0.part"
    process = subprocess.Popen(
        [str(binary)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    process.stdin.write("\n".join([f"part {part_file}", *SCRIPT, "dump", ""]))
    process.stdin.flush()
    while not process.stdout.readline().startswith("rank"):
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL

    part = read_part(part_file)
    assert part.rank["ended"] == 3
    assert part.rank["wall_ns"] == 1050  # up to the last call that ended
    (isend,) = [r for r in part.measures if r["transfers"]]
    assert (isend["overlap_min_ns"], isend["overlap_max_ns"]) == (650, 900)
    assert (isend["exposed_min_ns"], isend["exposed_max_ns"]) == (0, 150)
    (wait,) = [r for r in part.measures if r["operation"] == 5]
    assert (wait["count"], wait["call_ns"]) == (1, 50)
    assert "solve" in part.sections
    (stand,) = part.standing  # in the second call of operation 5, entered 1050 ns after the start
    assert (stand.thread, stand.state, stand.since_ns) == (0, State.IN_CALL, 1050)
    assert stand.operation == part.operations[5]
    assert part.sections[stand.section] == "solve"
    assert abs(stand.since_unix_ns / 1e9 - time.time()) < PATIENCE_S


def test_an_abort_leaves_it_too(binary: Path, tmp_path: Path) -> None:
    code, _ = run(binary, tmp_path / "rank-0.part", "0 kill")
    assert code == -signal.SIGABRT
    assert read_part(tmp_path / "rank-0.part").rank["ended"] == 3


def test_a_limit_on_file_sizes_falls_back_to_memory(binary: Path, tmp_path: Path) -> None:
    code, output = run(binary, tmp_path / "rank-0.part", "stop", "dump", limit=65536)
    assert code == 0
    assert "started 2" in output
    assert "rank 1127 " in output
    assert not (tmp_path / "rank-0.part").exists()


def test_a_folder_that_does_not_exist_falls_back_to_memory(binary: Path, tmp_path: Path) -> None:
    code, output = run(binary, tmp_path / "no" / "rank-0.part", "stop", "dump")
    assert (code, "started 2" in output) == (0, True)


@pytest.fixture
def small_file_system(tmp_path: Path) -> Iterator[Path]:
    """A mounted file system of 256 KiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "imbrex-test", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"mount: {mounted.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_full_file_system_falls_back_to_memory(binary: Path, small_file_system: Path) -> None:
    code, output = run(binary, small_file_system / "rank-0.part", "stop", "dump")
    assert code == 0
    assert "started 2" in output
    assert "rank 1127 " in output
    assert not list(small_file_system.iterdir())


def test_memory_is_within_the_promise(build_core: Callable[..., Path], tmp_path: Path) -> None:
    binary = build_core("memory.c", "-O2", "-g")
    for threading in ("0", "1", "2"):
        printed = subprocess.run(
            [str(binary), threading], capture_output=True, text=True, check=True
        ).stdout.split()
        total, site_bytes = map(int, printed)
        assert total - site_bytes <= 8 << 20
