"""`imbrex tune` on real programs: it ends with an answer and recommends nothing unproven."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent / "programs"


def test_without_time_in_mpi_it_stops_at_once(
    mpi: Any, compiled: Callable[..., Path], imbrex: Any, tmp_path: Path
) -> None:
    """Only rank 1 is late: no transfer is exposed, so nothing is tried."""
    line = (mpi.mpirun, "-n", "2", str(compiled("constructed/late_rank")))
    done = imbrex("tune", "--worth", "5", "--", *line)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()[:2]
    assert first.startswith("Nothing to gain from overlap here: ")
    assert "late rank 1" in second
    assert not (tmp_path / "imbrex-tune" / "trials.json").exists()


@pytest.fixture
def project(mpi: Any, tmp_path: Path) -> Path:
    """A folder with tuned.c and the program made of it."""
    folder = tmp_path / "project"
    folder.mkdir()
    source = folder / "tuned.c"
    source.write_bytes((PROGRAMS / "tuned.c").read_bytes())
    words = [mpi.mpicc, "-g", "-O1", "-o", str(folder / "tuned"), str(source)]
    subprocess.run(words, check=True)
    return folder


def test_candidates_are_tried_and_nothing_unproven_is_recommended(
    mpi: Any, project: Path, imbrex: Any, tmp_path: Path
) -> None:
    """The blocking exchange of tuned.c is rewritten, built and run; the user's tree stays."""
    program = project / "tuned"
    before = {file: file.read_bytes() for file in project.iterdir()}
    line = (mpi.mpirun, "-n", "2", str(program), "4000000", "5")
    short = ("--budget", "20s", "--repeat", "3", "--warm", "0", "--worth", "0.1")
    done = imbrex("tune", *short, "--json", "-o", "found", "--", *line)
    assert done.returncode == 0, done.stderr
    answer, folder = json.loads(done.stdout), tmp_path / "found"
    assert answer == json.loads((folder / "answer.json").read_text())
    assert answer["command"] == list(line)
    for candidate in answer["candidates"]:
        gain = candidate["gain"]
        assert not candidate["recommended"] or (gain is not None and gain[0] > answer["worth"])
        assert candidate["kind"] in ("setting", "progress", "source", "combination")
        # The replay of the measured run says what progress would save.
        if candidate["kind"] == "progress":
            assert candidate["predicted_s"] is not None
    recommended = [c for c in answer["candidates"] if c["recommended"]]
    assert answer["verdict"].partition(" % faster (")[0].replace(".", "").isdigit() == bool(
        recommended
    )
    assert (folder / "apply.sh").exists() == bool(recommended)
    rewrites = [c for c in answer["candidates"] if c["kind"] == "source"]
    if any("time was over" in note for note in answer["notes"]):
        pytest.skip("this machine is too busy to build and run the program in 20 s")
    assert any(c["what"].startswith("tuned.c:13 rewritten") for c in rewrites)
    for candidate in rewrites:
        assert candidate["failed"] is None or "the time was over" in candidate["failed"]
        assert not candidate["pairs"] or candidate["checked"] == "output"
        command = candidate["apply"][0].replace(" apply ", " apply --check ")
        assert subprocess.run(command, shell=True, check=False).returncode == 0
    assert {file: file.read_bytes() for file in project.iterdir()} == before
    assert "+    MPI_Irecv(in" in (folder / "rewrite-1.patch").read_text()
    # Neither another line nor another build goes on with these trials.
    other = imbrex("tune", "-o", "found", "--", *line[:-1], "6")
    assert (other.returncode, other.stderr.count("\n")) == (2, 1)
    assert "of another command; name another with -o" in other.stderr
    if (folder / "trials.json").exists():
        program.touch()
        other = imbrex("tune", "-o", "found", "--", *line)
        assert (other.returncode, other.stderr.count("\n")) == (2, 1)
        assert "another build of the program" in other.stderr


@pytest.mark.untimed
def test_a_program_that_fails_ends_it(mpi: Any, compiled: Callable[..., Path], imbrex: Any) -> None:
    done = imbrex("tune", "--", mpi.mpirun, "-n", "2", str(compiled("endings")), "code")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("exit code 9: nothing is tried")


def test_the_progress_thread_is_tried_where_it_drives_data(
    mpi: Any, compiled: Callable[..., Path], imbrex: Any, tmp_path: Path
) -> None:
    """helped.c computes until its data is there, or its patience ends: at once with the thread."""
    if mpi.name != "openmpi":
        pytest.skip("MPICH 4.0 over TCP now and then stays in MPI_Finalize, with or without Imbrex")
    environment = {**os.environ, "OMPI_MCA_btl": "tcp,self", "HELPED_WAIT_S": "0.4"}
    # What the line sets is not tried: only the thread is.
    options = ("--bind-to", "none", "--mca", "btl_tcp_progress_thread", "0")
    line = (mpi.mpirun, *options, "-n", "2", str(compiled("helped")), "message")
    # It waits in its own loop, so that next to nothing of its time is in MPI.
    short = ("--budget", "90s", "--repeat", "3", "--warm", "0", "--worth", "0.1")
    words = ("tune", *short, "--check", "grep -q right", "--json", "-o", "found", "--", *line)
    done = imbrex(*words, env=environment)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    tried = [c for c in answer["candidates"] if c["kind"] == "progress"]
    if any("the time was over" in note for note in answer["notes"]) or (
        tried and not all(c["pairs"] for c in tried)
    ):
        pytest.skip("this machine is too busy to run the program in 90 s")
    assert [c["what"].partition("=")[0] for c in tried] == ["imbrex-exec --progress"] * 2
    assert all(c["estimate"] > 0.1 and c["checked"] == "command" for c in tried)
    # The line to copy does what was tried.
    (start,) = tried[0]["apply"]
    again = subprocess.run(
        start, shell=True, env=environment, capture_output=True, text=True, check=True
    )
    assert again.stdout.split("\n")[:2] == ["moved", "right"]
