"""What is not matched across ranks is said, and no cause is made up for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.diagnosis.diagnosis import diagnose
from imbrex.profile.causes import CAUSES
from imbrex.profile.run import Run, load_run

REASON = "one-sided"
WAITS = {
    "partitioned": ("MPI_Wait", "late_sender"),
    "arrived": ("MPI_Parrived", "late_sender"),
    "collective": ("MPI_Bcast", "late_collective"),
    "message": ("MPI_Recv", "late_sender"),
}
"""What rank 1 waits in, and for whom: rank 0."""
TIMES = 10
TABLE = "path intra-node\npoint 1 1 1000 -1 -1\npoint 65536 5000 100000 -1 -1"


def parts(run: Run, operation: str) -> dict[str, tuple[int, int]]:
    """The causes of rank 1's calls, which waited for rank 0 (ns)."""
    assert run.causes is not None
    number = run.job.operations.index(operation)
    chosen = run.causes[(run.causes["operation"] == number) & (run.causes["rank"] == 1)]
    assert chosen["call_ns"].sum() > 0.5 * TIMES * 10**7
    return {
        name: (int(chosen[f"{name}_min_ns"].sum()), int(chosen[f"{name}_max_ns"].sum()))
        for name in CAUSES
    }


@pytest.mark.untimed
@pytest.mark.parametrize("case", WAITS)
def test_who_is_late_between_groups_and_for_partitions_is_known(
    case: str, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    done = measured(compiled("unmatched"), case, table=TABLE)
    if "no partitioned" in done.process.stdout:
        pytest.skip("this MPI has no partitioned communication")
    run = load_run(done.folder, resolve=False)
    assert run.job.matching is not None
    assert not any(dict(run.job.matching.unmatched).values())
    assert run.job.matching.matched >= 2 * TIMES
    operation, cause = WAITS[case]
    found = parts(run, operation)
    assert found[cause][0] >= 0.3 * TIMES * 10**7  # rank 1 may leave the barrier late
    assert found["unattributed"] == (0, 0)
    assert not [line for line in diagnose(run).weaknesses if "match" in line]


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
