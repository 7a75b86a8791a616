"""`imbrex tune` on real programs: it ends with an answer, recommends nothing unproven, goes on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NETWORK = Path(__file__).parents[1] / "network"
SHORT = ("--budget", "60s", "--repeat", "3", "--warm", "0")


@pytest.fixture(scope="module")
def exchange(mpi: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """exchange.c of the two-host network, here on one host."""
    program = tmp_path_factory.mktemp("exchange") / "exchange"
    source = str(NETWORK / "exchange.c")
    subprocess.run([mpi.mpicc, "-g", "-O1", "-w", "-o", str(program), source], check=True)
    return str(program)


def test_without_time_in_mpi_it_stops_at_once(
    mpi: Any, compiled: Callable[..., Path], imbrex: Any, tmp_path: Path
) -> None:
    """Only rank 1 is late: no transfer is exposed, so nothing is tried."""
    line = (mpi.mpirun, "-n", "2", str(compiled("constructed/late_rank")))
    done = imbrex("tune", "--worth", "3", "--", *line)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()[:2]
    assert first.startswith("Nothing to gain from overlap here: ")
    assert "late rank 1" in second
    assert not (tmp_path / "imbrex-tune" / "trials.json").exists()


def test_candidates_are_tried_and_nothing_unproven_is_recommended(
    mpi: Any, exchange: str, imbrex: Any, tmp_path: Path
) -> None:
    transport = ("--mca", "btl", "tcp,self") if mpi.name == "openmpi" else ()
    line = (mpi.mpirun, *transport, "-n", "2", exchange, "late", "4000000", "5", "10")
    done = imbrex("tune", *SHORT, "--json", "-o", "found", "--", *line)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    folder = tmp_path / "found"
    assert answer == json.loads((folder / "answer.json").read_text())
    assert answer["command"] == list(line)
    tried = [c for c in answer["candidates"] if c["pairs"]]
    assert tried
    for candidate in answer["candidates"]:
        gain = candidate["gain"]
        assert not candidate["recommended"] or (gain is not None and gain[0] > answer["worth"])
        assert candidate["kind"] in ("setting", "combination")
    recommended = [c for c in answer["candidates"] if c["recommended"]]
    assert ("faster" in answer["verdict"]) == bool(recommended)
    assert (folder / "apply.sh").exists() == bool(recommended)
    # Started again it knows all that it did, and runs at most what is still open.
    before = json.loads((folder / "trials.json").read_text())["candidates"]
    again = imbrex("tune", *SHORT, "--json", "-o", "found", "--", *line)
    assert again.returncode == 0, again.stderr
    after = json.loads((folder / "trials.json").read_text())["candidates"]
    assert {
        what: pairs[: len(before[what])] for what, pairs in after.items() if what in before
    } == (before)
    # Neither another line nor another build goes on with these trials.
    other = imbrex("tune", "-o", "found", "--", *line[:-1], "11")
    assert (other.returncode, other.stderr.count("\n")) == (2, 1)
    assert "holds the trials of another command" in other.stderr
    Path(exchange).touch()
    other = imbrex("tune", "-o", "found", "--", *line)
    assert (other.returncode, other.stderr.count("\n")) == (2, 1)
    assert "another build of the program" in other.stderr


def test_a_program_that_fails_ends_it(mpi: Any, exchange: str, imbrex: Any) -> None:
    done = imbrex("tune", "--", mpi.mpirun, "-n", "2", exchange, "crash", "1000", "1", "1")
    assert done.returncode == 2
    assert "the program ended with exit code" in done.stderr.splitlines()[-1]
