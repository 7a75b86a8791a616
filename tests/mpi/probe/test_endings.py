"""Probes that do not come to their end: interrupted, out of memory, with a launcher that fails."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.complaints import complaints

COMMAND = (sys.executable, "-c", "from imbrex.cli import main; main()", "probe")
MPICH = ("mpirun.mpich", "-n", "2")


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment by which every process that was started in it is found again; none is left."""
    mark = uuid.uuid4().hex
    yield {**os.environ, "IMBREX_CACHE": str(tmp_path / "cache"), "IMBREX_TEST_MARK": mark}
    for _ in range(50):
        left = [p for p in Path("/proc").glob("[0-9]*/environ") if mark.encode() in _content(p)]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(f"left running: {[(p.parent / 'comm').read_text() for p in left]}")


def _content(file: Path) -> bytes:
    with contextlib.suppress(OSError):
        return file.read_bytes()
    return b""


def started(environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def launcher(folder: Path, text: str) -> str:
    """A launcher of our own making, by its name a Hydra one."""
    file = folder / "mpiexec.hydra"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def until_measured(file: Path, stage: str, process: subprocess.Popen[str]) -> None:
    """Wait until the ranks have printed a row of `what`."""
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        if file.exists() and f"# progress {stage}" in file.read_text():
            return
        time.sleep(0.05)
    raise AssertionError(f"no row of {stage}: {file.read_text() if file.exists() else ''}")


@pytest.mark.untimed
def test_interrupt_keeps_what_was_measured(environment: dict[str, str], tmp_path: Path) -> None:
    file, machine, rows = tmp_path / "answer.json", tmp_path / "machine.json", tmp_path / "rows"
    # Ranks that are stopped after a few sizes, however fast or slow the machine is.
    command = launcher(tmp_path, f'mpirun.mpich "$@" | tee {rows}')
    process = started(
        environment,
        *("--time-limit", "100", "--mpicc", "/usr/bin/mpicc.mpich"),
        *("-o", str(file), "--machine", str(machine), "--", command, "-n", "2"),
    )
    until_measured(rows, "delay 0.2", process)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    answer = json.loads(file.read_text())
    assert answer["interrupted"] is True
    assert set(answer["missing"]) >= {"delay", "moved", "persistent"}
    # The last rows of those that stand in the file may be on their way still.
    assert 0.1 <= answer["missing_measured"]["delay"] < 1
    assert "missing, because it was interrupted" in output
    sizes = [r["last_measured_bytes"] for o in answer["operations"] for r in o["ranges"]]
    # What was not measured is not claimed: the last range is closed.
    assert all(o["ranges"][-1]["to_bytes"] is not None for o in answer["operations"][:3])
    assert len(sizes) == len([s for s in sizes if s is not None])
    # Half a calibration is no profile to run with.
    assert not list((tmp_path / "cache").rglob("machines/*.json"))


@pytest.mark.untimed
def test_launcher_that_fails(environment: dict[str, str], tmp_path: Path) -> None:
    words = (launcher(tmp_path, "echo 'no such queue' >&2; exit 3"), "-n", "2")
    process = started(environment, "--quick", "--mpicc", "/usr/bin/mpicc.mpich", "--", *words)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert output == "" and len(complaints(errors)) == 1
    assert "ended with code 3" in errors and "no such queue" in errors


HANGING = {
    "launcher": "trap '' TERM; sleep 300 & sleep 300; wait",
    # A rank that is stopped before MPI_Init, for which the other waits there.
    "rank": 'shift 2; exec mpirun.mpich -n 1 "$@" : -n 1 sh -c "kill -STOP \\$\\$"',
}


@pytest.mark.untimed
@pytest.mark.parametrize("launcher_fault", HANGING)
def test_launcher_that_hangs(
    environment: dict[str, str], tmp_path: Path, launcher_fault: str
) -> None:
    words = (launcher(tmp_path, HANGING[launcher_fault]), "-n", "2")
    options = ("--quick", "--time-limit", "2", "--mpicc", "/usr/bin/mpicc.mpich")
    process = started(environment, *options, "--", *words)
    begin = time.monotonic()
    output, errors = process.communicate(timeout=90)
    assert process.returncode == 2
    assert output == "" and len(complaints(errors)) == 1
    assert "gave no result within 2 s" in errors
    assert time.monotonic() - begin < 60


def test_sizes_beyond_memory(environment: dict[str, str], tmp_path: Path) -> None:
    """Every rank has 3 GiB; several messages of 1 GiB do not fit in there."""
    file = tmp_path / "answer.json"
    options = ("--quick", "--max-bytes", "1G", "--time-limit", "8", "-o", str(file))
    done = subprocess.run(
        [*COMMAND, *options, "--", *MPICH],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)),
    )
    assert "no memory" not in done.stderr and "Traceback" not in done.stderr
    if done.returncode == 2 and "nothing was calibrated" in done.stderr:
        pytest.skip("the machine was so busy that nothing was measured within 8 s")
    assert done.returncode == 0, done.stderr
    (note,) = [n for n in json.loads(file.read_text())["notes"] if "instead of" in n]
    assert "instead of 1,073,741,824" in note
    assert note in done.stdout


@pytest.mark.untimed
@pytest.mark.parametrize("size", ["0", "12x", "-1", "100"])
def test_no_such_size(environment: dict[str, str], size: str) -> None:
    process = started(environment, f"--max-bytes={size}", "--", *MPICH)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "write a size of 1K or more" in errors
