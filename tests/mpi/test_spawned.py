"""Messages and collectives with processes that the program started: not matched, and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.diagnosis.diagnosis import diagnose
from imbrex.profile.run import load_run

pytestmark = pytest.mark.untimed

PARENTS, MESSAGES, AMONG_PARENTS = 2, 10, 5
OUTSIDE = "with a process outside the job"
TABLE = "path intra-node\npoint 1 1 1000 -1 -1\npoint 65536 5000 100000 -1 -1"


def test_what_spawned_processes_take_part_in_is_counted_with_its_reason(
    mpi: Any, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    if mpi.name != "openmpi":
        pytest.skip("hydra of MPICH 4.0 does not start processes for a program everywhere")
    done = measured(compiled("family"), ranks=PARENTS, table=TABLE)
    assert done.process.stdout.split("\n")[0] == "4 processes"
    told = "processes started by MPI_Comm_spawn are not measured"
    assert done.process.stderr.count(told) == 1, done.process.stderr
    run = load_run(done.folder, resolve=False)
    assert len(run.ranks) == PARENTS
    assert run.job.matching is not None
    # Each of two with its child both ways; a barrier, a merge and a sum of all, and a broadcast,
    # from which all but one parent get nothing.
    outside = PARENTS * (2 * MESSAGES + 3) + 1
    left = {reason: n for reason, n in run.job.matching.unmatched.items() if n}
    assert left == {OUTSIDE: outside}
    both = PARENTS * 2 * AMONG_PARENTS
    assert run.job.matching.matched == both
    lines = diagnose(run).weaknesses
    assert any(
        line.startswith(f"{outside} of {outside + both} (")
        and "transfers are with processes that are not measured (MPI_Comm_spawn" in line
        for line in lines
    ), lines
