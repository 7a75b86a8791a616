"""Why calls took their time, of programs that are late in one known way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.profile.causes import CAUSES
from imbrex.profile.matching import Log, Matching
from imbrex.profile.run import Run, load_run

TIMES, PAUSE_MS = 20, 10
TABLE = "path intra-node\npoint 1 1 1000 -1 -1\npoint 65536 5000 100000 -1 -1"
LATE = {
    "recv": ("MPI_Recv", 1, "late_sender"),
    "wait": ("MPI_Wait", 1, "late_sender"),
    "waitany": ("MPI_Waitany", 1, "late_sender"),
    "start": ("MPI_Wait", 1, "late_sender"),
    "probe": ("MPI_Probe", 1, "late_sender"),
    "sendrecv": ("MPI_Sendrecv", 1, "late_sender"),
    "edge": ("MPI_Sendrecv", 1, "late_sender"),
    "ssend": ("MPI_Ssend", 0, "late_receiver"),
    "barrier": ("MPI_Barrier", 1, "late_collective"),
    "bcast": ("MPI_Bcast", 1, "late_collective"),
    "reduce": ("MPI_Reduce", 1, "late_collective"),
    "alltoall": ("MPI_Alltoall", 1, "late_collective"),
    "allreduce": ("MPI_Allreduce", 1, "late_collective"),
    "ibcast": ("MPI_Wait", 1, "late_collective"),
    "win_start": ("MPI_Win_start", 1, "late_receiver"),
    "win_wait": ("MPI_Win_wait", 1, "late_sender"),
}
POLLS = {"test": "MPI_Test", "testany": "MPI_Testany", "iprobe": "MPI_Iprobe"}
POLLS |= {"turns": "MPI_Test", "win_test": "MPI_Win_test"}


def parts_of(run: Run, operation: str, rank: int) -> dict[str, tuple[int, int]]:
    """The causes of an operation's calls, ns."""
    assert run.causes is not None
    chosen = run.causes[
        (run.causes["operation"] == run.job.operations.index(operation))
        & (run.causes["rank"] == rank)
    ]
    return {
        name: (int(chosen[f"{name}_min_ns"].sum()), int(chosen[f"{name}_max_ns"].sum()))
        for name in CAUSES
    }


def check_sums(run: Run) -> None:
    """The parts of each row add up to its time, and the rows to what was measured."""
    assert run.causes is not None
    low = sum(run.causes[f"{name}_min_ns"].astype(int) for name in CAUSES)
    high = sum(run.causes[f"{name}_max_ns"].astype(int) for name in CAUSES)
    assert (low <= run.causes["call_ns"]).all()
    assert (high >= run.causes["call_ns"]).all()
    for rank in range(len(run.ranks)):
        told = run.causes["call_ns"][run.causes["rank"] == rank].sum()
        assert told == run.measures["call_ns"][run.measures["rank"] == rank].sum()
    calls = run.causes["count"].sum()
    assert calls == run.measures["count"].sum()


@pytest.mark.untimed
@pytest.mark.parametrize("case", LATE)
def test_who_was_late_is_named(
    case: str, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    done = measured(compiled("late"), case, str(PAUSE_MS), table=TABLE)
    run = load_run(done.folder, resolve=False)
    operation, rank, cause = LATE[case]
    waited = int(done.process.stdout.split()[-1])
    found = parts_of(run, operation, rank)
    # A process may be stopped between its own look at the clock and that of the call.
    assert 0.9 * waited - 10**6 <= found[cause][0], (waited, found)
    assert found[cause][0] <= 1.1 * waited + 10**6, (waited, found)
    assert waited >= TIMES * PAUSE_MS * 10**5, "the machine is too busy for this to say anything"
    for other in ("late_sender", "late_receiver", "late_collective"):
        if other != cause:
            assert found[other][0] == 0, found
    check_sums(run)
    assert run.partners is not None
    partner = run.partners[(run.partners["rank"] == rank) & (run.partners["peer"] == 1 - rank)]
    assert partner["late_min_ns"].sum() >= found[cause][0]
    assert run.job.matching is not None
    assert not run.job.matching.unmatched
    assert run.job.clocks is not None
    assert (run.job.clocks.error_s, run.job.clocks.violations) == (0.0, 0)


@pytest.mark.parametrize("case", POLLS)
def test_polls_wait_for_the_late_sender(
    case: str, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    """But for the time between the calls, which is computation, and for what a rank polls before it
    is interrupted for longer: of 50 ms that is little."""
    done = measured(compiled("late"), case, str(5 * PAUSE_MS), table=TABLE)
    run = load_run(done.folder, resolve=False)
    waited = int(done.process.stdout.split()[-1])
    found = parts_of(run, POLLS[case], 1)
    assert waited >= TIMES * PAUSE_MS * 10**5, "the machine is too busy for this to say anything"
    assert 0.4 * waited <= found["late_sender"][0] <= 1.1 * waited + 10**6, (waited, found)
    assert found["library"][0] < 0.2 * waited, found
    check_sums(run)
    assert run.partners is not None
    partner = run.partners[(run.partners["rank"] == 1) & (run.partners["peer"] == 0)]
    assert partner["late_min_ns"].sum() >= found["late_sender"][0]


@pytest.mark.untimed
def test_a_collective_without_data_is_not_taken_to_wait(
    compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    """Libraries return from it at once: no message came before it left, and nobody was late."""
    done = measured(compiled("late"), "empty", "2", table=TABLE)
    run = load_run(done.folder, resolve=False)
    assert parts_of(run, "MPI_Bcast", 1)["late_collective"][0] == 0
    check_sums(run)
    assert run.job.clocks is not None
    assert run.job.matching is not None
    assert (run.job.clocks.violations, dict(run.job.matching.unmatched)) == (0, {})


@pytest.mark.untimed
def test_all_at_once_on_four_ranks_adds_up(
    compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    """Ranks 2 and 3 take part in the collectives only."""
    cases = ["barrier", "bcast", "reduce", "alltoall", "allreduce", "ibcast"]
    for case in cases:
        run = load_run(measured(compiled("late"), case, "0", ranks=4).folder, resolve=False)
        check_sums(run)
        assert run.job.matching is not None
        assert not run.job.matching.unmatched, case


@pytest.mark.untimed
def test_without_a_log_nothing_is_matched_and_nothing_is_left_of_a_job_before(
    compiled: Callable[..., Path], measured: Callable[..., Any], tmp_path: Path
) -> None:
    for name in ("evidence", "causes", "waits", "partners", "timeline", "overview"):
        np.save(tmp_path / f"{name}.npy", np.zeros(1))
    done = measured(
        compiled("late"),
        "all",
        "0",
        environment={"IMBREX_LOG": "off", "IMBREX_DIR": str(tmp_path)},
    )
    assert done.process.returncode == 0
    run = load_run(tmp_path, resolve=False)
    assert run.causes is None
    assert run.evidence is None
    assert run.job.log is None
    assert run.job.matching == Matching(reason="no rank kept a log of its calls")


@pytest.mark.untimed
def test_a_small_log_covers_a_part_of_the_run(
    compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    done = measured(compiled("late"), "all", "0.5", environment={"IMBREX_LOG": "64K"})
    run = load_run(done.folder, resolve=False)
    check_sums(run)
    assert isinstance(run.job.log, Log)
    entry = json.loads((done.folder / "job.json").read_text())
    assert 0 < entry["log"]["logged_share"] <= 1
