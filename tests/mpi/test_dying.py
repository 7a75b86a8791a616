"""Ranks that do not come to MPI_Finalize: their calls are matched all the same, by the parts that
they leave, and the causes are those of the program."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import forked
from tests.mpi.conftest import Runtime

from imbrex.launch.match_parts import match_parts
from imbrex.profile.run import Run, load_run

pytestmark = pytest.mark.untimed

MESSAGES, LATE_S, LATE_COLLECTIVE_S = 10, 0.1, 0.3
"""As in programs/dies.c."""
SURE = 0.5
"""Of that so much is seen on a machine however busy: a receive may be posted late."""


def ran(mpi: Any, program: Path, how: str, folder: Path) -> Run:
    """A run of programs/dies.c in this folder, to the end that it is told."""
    line = ("run", "-o", "run", "--", mpi.mpirun, "-n", "2", str(program), how)
    done = forked.imbrex(line, cwd=folder, timeout=300)
    assert (done.returncode == 0) == (how == "finalize"), done.stderr
    return load_run(folder / "run")


@pytest.fixture
def died(mpi: Any, compiled: Callable[..., Path], tmp_path: Path) -> Callable[[str], Run]:
    program = compiled("dies")
    return lambda how: ran(mpi, program, how, tmp_path)


@pytest.fixture(scope="module")
def killed(
    mpi: Any, compiled: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """A run whose ranks were both killed, of which tests damage copies."""
    return ran(mpi, compiled("dies"), "killed", tmp_path_factory.mktemp("killed"))


def causes(run: Run, operation: str, rank: int) -> Any:
    """The rows of an operation of a rank."""
    assert run.causes is not None, run.job.warnings
    number = run.job.operations.index(operation)
    return run.causes[(run.causes["operation"] == number) & (run.causes["rank"] == rank)]


def check(run: Run) -> None:
    """The receives waited for late sends, and rank 1 for rank 0 in the barrier."""
    received = causes(run, "MPI_Recv", 0)
    late_s = received["late_sender_min_ns"].sum() / 1e9
    assert SURE * MESSAGES * LATE_S <= late_s <= received["call_ns"].sum() / 1e9
    assert received["logged"].sum() == received["count"].sum() == MESSAGES
    assert received["unattributed_max_ns"].sum() <= 0.01 * received["call_ns"].sum()
    barrier = causes(run, "MPI_Barrier", 1)
    late_s = barrier["late_collective_min_ns"].sum() / 1e9
    assert SURE * LATE_COLLECTIVE_S <= late_s <= barrier["call_ns"].sum() / 1e9
    matching = run.job.matching
    assert matching is not None
    # each message on both sides, and the barrier of each
    assert (matching.matched, dict(matching.unmatched)) == (2 * MESSAGES + 2, {})
    assert run.job.log is not None and run.job.log.logged_share > 0.99
    for table in (run.evidence, run.causes, run.partners):
        assert table is not None and len(table)
        assert set(np.unique(table["rank"])) <= {0, 1}


@pytest.mark.parametrize("how", ["finalize", "killed", "any", "aborts", "exits"])
def test_the_causes_of_a_run_are_known_however_it_ends(
    died: Callable[[str], Run], how: str
) -> None:
    check(died(how))


def test_one_rank_is_killed(died: Callable[[str], Run], imbrex: Callable[..., Any]) -> None:
    check(died("one"))
    shown = json.loads(imbrex("show", "run", "--json").stdout)["totals"]
    assert "late ranks" in shown["sentence"] or "late sender" in shown["sentence"], shown
    assert [stand["ranks"] for stand in shown["ending"]["places"]]


def with_parts(run: Run, folder: Path) -> Path:
    """A run directory that is not complete: the parts alone."""
    (folder / "parts").mkdir(parents=True)
    for part in (run.directory / "parts").glob("*.part"):
        shutil.copy(part, folder / "parts")
    return folder


def test_a_rank_without_a_part_leaves_the_others_their_rows(
    killed: Run, runtime: Runtime, tmp_path: Path
) -> None:
    folder = with_parts(killed, tmp_path / "left")
    (folder / "parts" / "rank-1.part").unlink()
    assert match_parts(folder, runtime.library, is_helped=False) == []
    run = load_run(folder)
    received = causes(run, "MPI_Recv", 0)
    assert received["count"].sum() == MESSAGES
    assert received["late_sender_min_ns"].sum() == 0  # nobody says when the sends began
    assert run.job.matching is not None and run.job.matching.matched == 0


@pytest.mark.parametrize("keep", [0.0, 0.001, 0.1, 0.5])
def test_a_part_that_is_cut_short_harms_no_other(
    killed: Run, runtime: Runtime, tmp_path: Path, keep: float
) -> None:
    folder = with_parts(killed, tmp_path / "left")
    part = folder / "parts" / "rank-1.part"
    with part.open("r+b") as file:
        file.truncate(int(part.stat().st_size * keep))
    assert match_parts(folder, runtime.library, is_helped=False) == []
    received = causes(load_run(folder), "MPI_Recv", 0)
    assert received["count"].sum() == MESSAGES


def test_random_damage_is_a_line_or_harmless(killed: Run, runtime: Runtime, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    for trial in range(12):
        folder = with_parts(killed, tmp_path / f"left-{trial}")
        part = folder / "parts" / "rank-1.part"
        data = np.fromfile(part, np.uint8)
        at = random.integers(0, len(data), 20000)
        data[at] = random.integers(0, 256, len(at))
        data.tofile(part)
        warnings = match_parts(folder, runtime.library, is_helped=False)
        assert warnings == [] or "could not be matched" in warnings[0]
        load_run(folder)
