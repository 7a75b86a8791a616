"""`imbrex run` on real ranks: what passes through untouched, and what is left when ranks die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from imbrex.profile.format import Ended
from imbrex.profile.run import load_run
from imbrex.profile.summary import rows, totals

SOURCE = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char buffer[100000];
int main(int argc, char **argv)
{
    int rank, size;
    const char *what = argc > 1 ? argv[1] : "end";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 50 && size > 1; i++) {
        if (rank == 0)
            MPI_Send(buffer, 100000, MPI_CHAR, 1, 0, MPI_COMM_WORLD); /* line 18 */
        else if (rank == 1)
            MPI_Recv(buffer, 100000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        char line[100] = "";
        if (!strcmp(what, "cat") && fgets(line, sizeof line, stdin))
            printf("read %s", line);
        printf("out of rank 0\n");
        fprintf(stderr, "err of rank 0\n");
        fflush(stdout);
    }
    if (!strcmp(what, "abort") && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (!strcmp(what, "segv") && rank == 1)
        raise(SIGSEGV);
    if (!strcmp(what, "kill") && rank == 1)
        raise(SIGKILL);
    if (!strcmp(what, "exit") && rank == 1)
        exit(5);
    if (!strcmp(what, "_exit") && rank == 1)
        _exit(6);
    if (!strcmp(what, "sleep"))
        sleep(60);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return !strcmp(what, "code") ? 9 : 0;
}
"""


@pytest.fixture(scope="session")
def program(mpi, tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"program-{mpi.name}")
    (folder / "app.c").write_text(SOURCE)
    command = [mpi.mpicc, "-g", "-O1", "app.c", "-o", "app"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "app"


@pytest.fixture
def imbrex(tmp_path):
    """Run the imbrex command in a folder of its own."""

    def run(*words: str, **keywords) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "imbrex.cli", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **keywords,
        )

    return run


def test_a_run_that_ends_well(mpi, program, imbrex, tmp_path):
    done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "2", str(program))
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    assert "err of rank 0" in done.stderr
    assert "hidden for certain" in done.stderr
    run = load_run(tmp_path / "run")
    assert run.merged
    assert not (tmp_path / "run" / "parts").exists()
    send = next(row for row in rows(run, "site") if row.operation == "MPI_Send")
    assert (Path(send.site.file).name, send.site.line, send.site.function) == ("app.c", 18, "main")
    assert (send.sums.count, send.sums.bytes, send.sizes) == (50, 5_000_000, (16, 16))
    assert run.ranks["ended"].tolist() == [Ended.FINALIZED] * 2
    job = json.loads((tmp_path / "run" / "run.json").read_text())
    assert job["command"][0] == mpi.mpirun
    assert job["exit_code"] == 0
    assert job["library"]["name"] == {"openmpi": "Open MPI", "mpich": "MPICH"}[mpi.name]
    assert job["machine"]["origin"] in ("quick", "cached")
    assert totals(run).uncalibrated == 0
    # A second look comes from the files alone.
    shown = imbrex("show", "run", "--json")
    content = json.loads(shown.stdout)
    assert content["totals"]["count"] == totals(run).count


def test_input_and_exit_code_pass_through(mpi, program, imbrex):
    line = ("run", "-q", "-o", "run", "--", mpi.mpirun, "-n", "2", str(program))
    done = imbrex(*line, "cat", input="a line\n")
    assert done.stdout == "read a line\nout of rank 0\n"
    done = imbrex("run", "-q", "--force", *line[2:], "code")
    assert done.returncode == 9


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


def test_several_programs_in_one_line(mpi, program, imbrex, tmp_path):
    line = f"{mpi.mpirun} -n 1 {program} : -n 1 {program} code".split()
    done = imbrex("run", "-o", "run", "--", *line)
    assert "out of rank 0" in done.stdout
    assert len(load_run(tmp_path / "run").ranks) == 2


def test_one_process_without_a_launcher(mpi, program, imbrex, tmp_path):
    done = imbrex("run", "-o", "run", "--", str(program))
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    assert len(load_run(tmp_path / "run").ranks) == 1


def test_the_prefix_in_the_line(mpi, program, imbrex, tmp_path):
    line = [mpi.mpirun, "-n", "2", "imbrex-exec", str(program)]
    assert imbrex("run", "-o", "run", "--", *line).returncode == 0
    assert totals(load_run(tmp_path / "run")).transfers >= 100


def test_not_an_mpi_program(mpi, imbrex, tmp_path):
    done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "1", "sh", "-c", "echo hi; exit 4")
    assert (done.returncode, done.stdout) == (4, "hi\n")
    assert "made no MPI_Init" in done.stderr
    shown = imbrex("show", "run")
    assert shown.returncode == 2
    assert shown.stderr.count("\n") == 1


def test_refusals_before_the_start(mpi, program, imbrex, tmp_path):
    other = {"openmpi": "mpich", "mpich": "openmpi"}[mpi.name]
    (tmp_path / "exists").mkdir()
    (tmp_path / "exists" / "precious").write_text("x")
    (tmp_path / "text").write_text("x")
    (tmp_path / "empty.json").write_text("")
    app = str(program)
    for words, message in [
        (["--", mpi.mpirun, "-n", "2", "./nope"], "program not found"),
        (["--", mpi.mpirun, "-n", "2", "./text"], "not executable"),
        (["--", f"mpirun.{other}", "-n", "2", app], "is the launcher of"),
        (["--mpicc", f"/usr/bin/mpicc.{other}", "--", mpi.mpirun, "-n", "2", app], "belongs to"),
        (["--mpicc", "/bin/false", "--", mpi.mpirun, "-n", "2", app], "cannot compile"),
        (["-o", "exists", "--", mpi.mpirun, "-n", "2", app], "exists; choose another"),
        (["-o", "exists", "--force", "--", mpi.mpirun, "-n", "2", app], "does not replace it"),
        (["-o", "/proc/x/run", "--", mpi.mpirun, "-n", "2", app], "cannot be written"),
        (["--machine", "empty.json", "--", mpi.mpirun, "-n", "2", app], "empty.json"),
        (["--machine", "none.json", "--", mpi.mpirun, "-n", "2", app], "none.json"),
    ]:
        done = imbrex("run", *words)
        assert done.returncode == 2, words
        assert message in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        assert done.stdout == ""
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty.json", "exists", "text"]
    assert (tmp_path / "exists" / "precious").read_text() == "x"


@pytest.mark.skipif(os.getuid() != 0, reason="mounting a small file system needs root")
def test_full_disk_while_it_runs(mpi, program, imbrex, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        done = imbrex("run", "-o", str(disk / "run"), "--", mpi.mpirun, "-n", "2", str(program))
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    assert "imbrex: " in done.stderr
