"""However a run ends: what was measured is there, the exit code is the program's, none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from imbrex.launch.orphans import end_orphans
from imbrex.profile.format import Ended
from imbrex.profile.run import load_run
from imbrex.profile.summary import rows

pytestmark = pytest.mark.untimed

PATIENCE_S = 60


@pytest.mark.parametrize(
    ("how", "ended"),
    [
        ("abort", {0: Ended.ABORTED, 1: Ended.DIED}),
        ("segv", {1: Ended.DIED}),
        ("kill", {0: Ended.DIED, 1: Ended.DIED}),
        ("exit", {1: Ended.EXITED}),
        ("_exit", {1: Ended.DIED}),
    ],
)
def test_what_was_measured_survives(mpi, program, imbrex, tmp_path, how, ended):
    bare = subprocess.run(
        [mpi.mpirun, "-n", "2", str(program), how],
        capture_output=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "2", str(program), how)
    if mpi.name == "mpich":
        # A rank that leaves is a lost connection to the other, which then ends too: Hydra gives
        # the code of either (1, 5 or 9 in bare runs of one program).
        assert done.returncode != 0 and bare.returncode != 0
    else:
        assert done.returncode == bare.returncode
    run = load_run(tmp_path / "run")
    found = dict(zip(run.ranks["rank"].tolist(), run.ranks["ended"].tolist(), strict=True))
    assert len(found) == 2
    for rank, state in ended.items():
        assert found[rank] == state
    calls = {row.operation: row.sums for row in rows(run, "operation")}
    assert calls["MPI_Send"].count == 50
    assert calls["MPI_Recv"].bytes == 5_000_000
    assert (run.ranks["overhead_ns"] > 0).all()
    text = imbrex("show", "run").stdout
    assert "What weakens these numbers" in text
    assert np.load(tmp_path / "run" / "measures.npy").dtype.names[0] == "rank"


def _terminate(command: list[str], folder: Path) -> int:
    """Send SIGTERM once the program sleeps; the exit code as a shell gives it."""
    child = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "out of rank 0\n"
    started = time.monotonic()
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)
    assert time.monotonic() - started < 40, "the program slept to its end"
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def test_termination_is_forwarded(mpi, program, tmp_path):
    line = [mpi.mpirun, "-n", "2", str(program), "sleep"]
    bare = _terminate(line, tmp_path)
    command = [sys.executable, "-m", "imbrex.cli", "run", "-o", "run", "--", *line]
    # Hydra ends with 0 or with 15 after a SIGTERM, from one bare run to the next.
    possible = {0, 15, 143} if mpi.name == "mpich" else {bare}
    assert _terminate(command, tmp_path) in possible
    assert bare in possible
    assert {row.operation for row in rows(load_run(tmp_path / "run"), "operation")} >= {"MPI_Send"}


def _start(folder: Path, line: list[str], **streams) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "imbrex.cli", "run", "-o", "run", "--", *line]
    return subprocess.Popen(command, cwd=folder, text=True, start_new_session=True, **streams)


def _nobody_is_left(folder: Path) -> bool:
    return end_orphans({"IMBREX_DIR": str(folder / "run")}, patience_s=0) == 0


def test_a_reader_that_leaves(mpi, program, tmp_path):
    """As `imbrex run -- mpirun ... | head -c 1`."""
    line = [mpi.mpirun, "-n", "2", str(program), "chatty"]
    child = _start(tmp_path, line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout is not None
    assert child.stdout.read(1)
    child.stdout.close()
    assert child.wait(timeout=PATIENCE_S) != 0  # of a broken pipe, as without Imbrex
    assert _nobody_is_left(tmp_path)
    assert {row.operation for row in rows(load_run(tmp_path / "run"), "operation")} >= {"MPI_Send"}


def test_a_launcher_that_is_killed(mpi, program, tmp_path):
    line = [mpi.mpirun, "-n", "2", str(program), "sleep"]
    child = _start(tmp_path, line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == "out of rank 0\n"
    launchers = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
    assert len(launchers) == 1
    started = time.monotonic()
    os.kill(int(launchers[0]), signal.SIGKILL)
    _, complaints = child.communicate(timeout=PATIENCE_S)
    assert time.monotonic() - started < 40, "the program slept to its end"
    assert child.returncode == 128 + signal.SIGKILL
    assert _nobody_is_left(tmp_path)
    assert "What weakens these numbers" in complaints
    assert {row.operation for row in rows(load_run(tmp_path / "run"), "operation")} >= {"MPI_Send"}


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_stream_that_nobody_reads(mpi, program, imbrex, tmp_path, stream):
    """The verdict has nowhere to go; the program's exit code is what it was."""
    reading, writing = os.pipe()
    os.close(reading)
    line = [mpi.mpirun, "-n", "2", "sh", "-c", f"exec {program} code >/dev/null 2>&1"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writing}
    bare = subprocess.run(line, cwd=tmp_path, timeout=PATIENCE_S, check=False, **streams)
    done = imbrex("run", "--json", "-o", "run", "--", *line, **streams)
    os.close(writing)
    assert done.returncode == bare.returncode != 0
    assert len(load_run(tmp_path / "run").ranks) == 2
