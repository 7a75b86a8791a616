"""What is not matched across ranks is said, and no cause is made up for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.diagnosis.diagnosis import diagnose
from imbrex.profile.causes import CAUSES
from imbrex.profile.run import Run, load_run

REASON = "one-sided, partitioned or between groups"
WAITS = {"partitioned": "MPI_Wait", "collective": "MPI_Bcast"}
NAMED = {"partitioned": "partitioned", "collective": "between groups"}
TIMES = 10
TABLE = "path intra-node\npoint 1 1 1000 -1 -1\npoint 65536 5000 100000 -1 -1"


def parts(run: Run, operation: str) -> dict[str, tuple[int, int]]:
    """The causes of rank 1's calls, which waited for rank 0 (ns)."""
    assert run.causes is not None
    number = run.job.operations.index(operation)
    chosen = run.causes[(run.causes["operation"] == number) & (run.causes["rank"] == 1)]
    assert chosen["call_ns"].sum() > 0.9 * TIMES * 10**7
    return {
        name: (int(chosen[f"{name}_min_ns"].sum()), int(chosen[f"{name}_max_ns"].sum()))
        for name in CAUSES
    }


@pytest.mark.untimed
@pytest.mark.parametrize("case", WAITS)
def test_the_reason_is_told_and_the_wait_has_no_cause(
    case: str, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    done = measured(compiled("unmatched"), case, table=TABLE)
    if "no partitioned" in done.process.stdout:
        pytest.skip("this MPI has no partitioned communication")
    run = load_run(done.folder, resolve=False)
    assert run.job.matching is not None
    unmatched = dict(run.job.matching.unmatched)
    assert unmatched.pop(REASON) >= TIMES
    assert not unmatched
    found = parts(run, WAITS[case])
    waited = 0.9 * TIMES * 10**7
    assert found.pop("unattributed")[0] >= waited
    assert all(low == 0 for name, (low, _) in found.items() if name != "library"), found
    (line,) = [line for line in diagnose(run).weaknesses if "match" in line]
    assert f"most because: {NAMED[case]}, which Imbrex does not match" in line
    assert "is unknown, " in line


@pytest.mark.untimed
def test_a_fence_waits_for_the_late_rank_and_its_data_has_no_cause(
    compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    """Who is late at a fence follows from the calls; when the data moved does not."""
    run = load_run(measured(compiled("unmatched"), "onesided", table=TABLE).folder, resolve=False)
    assert run.job.matching is not None
    assert run.job.matching.unmatched[REASON] == 2 * TIMES
    found = parts(run, "MPI_Win_fence")
    assert found["late_collective"][0] >= 0.8 * TIMES * 10**7
    assert found["unattributed"][0] > 0
    assert found["transfer"] == found["stalled"] == found["late_sender"] == (0, 0)
    (line,) = [line for line in diagnose(run).weaknesses if "match" in line]
    assert "most because: one-sided, which Imbrex does not match" in line


def test_messages_between_groups_are_matched(
    compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    """Only collectives between groups are not: MPI_Intercomm_create itself is none."""
    run = load_run(measured(compiled("unmatched"), "message", table=TABLE).folder, resolve=False)
    assert run.job.matching is not None
    assert run.job.matching.matched >= 2 * TIMES
    found = parts(run, "MPI_Recv")
    assert found["late_sender"][0] >= 0.8 * TIMES * 10**7
    assert found["unattributed"] == (0, 0)
    assert not [line for line in diagnose(run).weaknesses if "match" in line]
