"""A run that never comes to its end: the first sentence says where each rank stands."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests import known_machine

pytestmark = pytest.mark.untimed

PATIENCE_S = 60
KILLED = r"(?:SIGKILL|exit code 9 \(as MPICH's launcher says of SIGKILL\))"
STUCK_S = 1.0
"""How long the ranks stand still at least before they are ended, also on a busy machine."""
SOURCE = Path(__file__).resolve().parent / "programs" / "stuck.c"


def place(mark: str) -> str:
    """`stuck.c:LINE` of the line with this comment."""
    lines = SOURCE.read_text().splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]
    return rf"stuck\.c:{number}"


@pytest.fixture
def stuck(compiled: Callable[..., Path]) -> Path:
    return compiled("stuck")


@contextmanager
def started(folder: Path, line: list[str]) -> Iterator[subprocess.Popen[str]]:
    """`imbrex run` in a session of its own, of which nobody is left."""
    words = ["run", "-o", "run", "--", *line]
    known_machine.keep(words, os.environ)
    child = subprocess.Popen(
        [sys.executable, "-m", "imbrex.cli", *words],
        cwd=folder,
        text=True,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield child
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def processes(child: subprocess.Popen[str], ranks: int) -> list[int]:
    """The ids that the ranks print where they are about to be stuck."""
    assert child.stdout is not None
    lines = [child.stdout.readline() for _ in range(ranks)]
    time.sleep(2 * STUCK_S)
    return [int(line.removeprefix("process ")) for line in lines]


def parent_of(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("\nPPid:")[2].split()[0])


@contextmanager
def stopped(launchers: set[int]) -> Iterator[None]:
    for process in launchers:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in launchers:
            os.kill(process, signal.SIGCONT)


def terminated(folder: Path, line: list[str], ranks: int) -> None:
    """Run a line until its ranks are stuck, and end it then."""
    with started(folder, line) as child:
        processes(child, ranks)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=PATIENCE_S)


def shown(imbrex: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """The sentence of the run, and its `ending`; the screen begins with the sentence."""
    totals = json.loads(imbrex("show", "run", "--json").stdout)["totals"]
    sentence = str(totals["sentence"])
    screen = " ".join(imbrex("show", "run").stdout.split())
    assert screen.startswith(sentence), screen
    return sentence, totals["ending"]


def test_a_deadlock_that_is_terminated(
    mpi: Any, stuck: Path, imbrex: Callable[..., Any], tmp_path: Path
) -> None:
    terminated(tmp_path, [mpi.mpirun, "-n", "2", str(stuck), "sends"], 2)
    sentence, ending = shown(imbrex)
    assert re.match(
        r"Ended by SIGTERM after [\d.]+ m?s: both ranks stood in MPI_Send at "
        rf"{place('both: deadlock')} for the last [\d.]+(?: to [\d.]+)? s, each waiting for the "
        r"other \(tag 0\)\. Until then: MPI ",
        sentence,
    ), sentence
    assert ending["by"] == "SIGTERM"
    (both,) = ending["places"]
    assert (both["awaited"]["peers"], both["awaited"]["circle"]) == ([0, 1], [0, 1])
    assert (both["state"], both["ranks"], both["operation"]) == ("in_call", [0, 1], "MPI_Send")
    # from the system's clock at the end and the thread's last entry: apart by what ending takes
    assert STUCK_S <= both["before_end_s"][0] <= both["before_end_s"][1] < PATIENCE_S


def test_a_deadlock_that_is_killed(
    mpi: Any, stuck: Path, imbrex: Callable[..., Any], tmp_path: Path
) -> None:
    with started(tmp_path, [mpi.mpirun, "-n", "2", str(stuck), "sends"]) as child:
        ranks = processes(child, 2)
        # Or the launcher ends the other rank in its own way as soon as one is gone.
        with stopped({parent_of(rank) for rank in ranks}):
            for rank in ranks:
                os.kill(rank, signal.SIGKILL)
        child.communicate(timeout=PATIENCE_S)
    sentence, ending = shown(imbrex)
    assert re.match(
        rf"Ended by {KILLED} after [\d.]+ m?s: both ranks stood in MPI_Send at "
        rf"{place('both: deadlock')} for the last ",
        sentence,
    ), sentence
    assert [stand["ranks"] for stand in ending["places"]] == [[0, 1]]


def test_a_rank_that_never_comes_to_a_collective_until_the_time_is_up(
    mpi: Any, stuck: Path, imbrex: Callable[..., Any]
) -> None:
    line = ["timeout", "8", mpi.mpirun, "-n", "2", str(stuck), "allreduce"]
    done = imbrex("run", "-o", "run", "--", *line)
    assert done.returncode == 124
    sentence, ending = shown(imbrex)
    assert re.match(
        r"Ended by its time limit after [\d.]+ s: rank 1 computed since its last call, MPI_Barrier "
        rf"at {place('the last call of the rank that computes')}, [\d.]+ m?s before the end; "
        rf"rank 0 stood in MPI_Allreduce at {place('the other waits')} for the last "
        r"[\d.]+(?: to [\d.]+)? s, which rank 1 did not enter\.",
        sentence,
    ), sentence
    assert [stand["state"] for stand in ending["places"]] == ["computing", "in_call"]


def test_an_abort(mpi: Any, stuck: Path, imbrex: Callable[..., Any]) -> None:
    done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "2", str(stuck), "aborts")
    assert done.returncode != 0
    sentence, ending = shown(imbrex)
    assert re.match(
        r"Ended by MPI_Abort after [\d.]+ m?s: rank 1 called MPI_Abort at "
        rf"{place('gives up')}, [\d.]+ [mu]?s before the end; rank 0 stood in MPI_Recv at "
        rf"{place('is left waiting')} for the last [\d.]+(?: to [\d.]+)? m?s, waiting for rank 1 "
        r"\(tag 0\)\.",
        sentence,
    ), sentence
    assert [stand["state"] for stand in ending["places"]] == ["aborted", "in_call"]


def test_a_rank_that_waits_while_the_other_is_in_finalize(
    mpi: Any, stuck: Path, imbrex: Callable[..., Any], tmp_path: Path
) -> None:
    with started(tmp_path, [mpi.mpirun, "-n", "2", str(stuck), "finalize"]) as child:
        processes(child, 2)
        live = shown(imbrex)[0]  # while it runs
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=PATIENCE_S)
    stands = (
        rf"rank 0 stood in MPI_Finalize at {place('the last call')}(.*); "
        rf"rank 1 stood in MPI_Recv at {place('for nothing')}"
    )
    assert re.match(rf"Not at its end: {stands}", live), live
    sentence, _ = shown(imbrex)
    assert re.match(rf"Ended by SIGTERM after [\d.]+ m?s: {stands}", sentence), sentence


def test_a_run_that_comes_to_its_end_says_nothing_of_it(
    mpi: Any, stuck: Path, imbrex: Callable[..., Any]
) -> None:
    done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "2", str(stuck), "none")
    assert done.returncode == 0
    assert json.loads(imbrex("show", "run", "--json").stdout)["totals"]["ending"] is None


@pytest.mark.parametrize(
    ("how", "operation", "awaited", "expected"),
    [
        ("any", "MPI_Recv", "of whomever", r", waiting for any rank \(any tag\)"),
        ("wait", "MPI_Wait", "one request", r", each waiting for the other \(tag 3\)"),
        ("waitall", "MPI_Waitall", "two requests", r", with messages open among them \(tag 3\)"),
        ("itself", "MPI_Ssend", "to itself", r", waiting for themselves \(tag 3\)"),
    ],
)
def test_whom_all_ranks_wait_for(
    mpi: Any,
    stuck: Path,
    imbrex: Callable[..., Any],
    tmp_path: Path,
    how: str,
    operation: str,
    awaited: str,
    expected: str,
) -> None:
    terminated(tmp_path, [mpi.mpirun, "-n", "2", str(stuck), how], 2)
    sentence, ending = shown(imbrex)
    assert re.search(
        rf"both ranks stood in {operation} at {place(awaited)} for the last "
        rf"[\d.]+(?: to [\d.]+)? s{expected}\.",
        sentence,
    ), sentence
    (both,) = ending["places"]
    assert both["awaited"]["any_source"] == (how == "any")
    assert both["awaited"]["is_sure"] == (how != "waitall")
    assert both["awaited"]["peers"] == ([] if how == "any" else [0, 1])


def test_whom_a_rank_waits_for_that_stands_in_a_collective_of_a_communicator(
    mpi: Any, stuck: Path, imbrex: Callable[..., Any], tmp_path: Path
) -> None:
    """Ranks 0 and 2 have a communicator: rank 0 waits there for the root, which is elsewhere."""
    terminated(tmp_path, [mpi.mpirun, "-n", "4", str(stuck), "broadcast"], 4)
    sentence, ending = shown(imbrex)
    stands = {tuple(stand["ranks"]): stand for stand in ending["places"]}
    assert stands[0,]["awaited"]["missing"] == [2]
    assert stands[2,]["awaited"]["peers"] == [3]
    assert stands[1, 3]["awaited"]["missing"] == [0, 2]
    assert "which rank 2 did not enter" in sentence
    assert "waiting for rank 3 (tag 9)" in sentence
    assert "which ranks 0 and 2 did not enter" in sentence
