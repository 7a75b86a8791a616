"""Counts and bytes of C programs equal what the programs count themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.untimed


def expected(output: str) -> tuple[Counter[Any], Counter[Any], Counter[Any]]:
    """Calls, transfers and bytes by (rank, operation) from the program's `expect` lines."""
    calls: Counter[Any] = Counter()
    transfers: Counter[Any] = Counter()
    moved: Counter[Any] = Counter()
    for line in output.splitlines():
        if line.startswith("expect "):
            _, rank, _, operation, *numbers = line.split()
            key = (int(rank), operation)
            calls[key] += int(numbers[0])
            transfers[key] += int(numbers[1])
            moved[key] += int(numbers[2])
    return calls, transfers, moved


@pytest.mark.parametrize(
    ("name", "ranks"), [("point", 2), ("collective", 2), ("collective", 4), ("rma", 2)]
)
def test_counts_and_bytes_are_those_of_the_program(
    name: str, ranks: int, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    # Open MPI 4.1.4 itself crashes in Fetch_and_op with its osc/rdma over shared memory.
    run = measured(compiled(name), ranks=ranks, environment={"OMPI_MCA_osc": "^rdma"})
    calls, transfers, moved = expected("".join(f.read_text() for f in run.folder.glob("expect.*")))
    assert len({rank for rank, _ in calls}) == ranks
    wrong = []
    for key in calls:
        rank, operation = key
        seen = tuple(run.total(operation, q, rank) for q in ("count", "transfers", "bytes"))
        if seen != (calls[key], transfers[key], moved[key]):
            wrong.append(f"{key}: {seen} and not {(calls[key], transfers[key], moved[key])}")
    assert not wrong, "\n".join(wrong)
    assert run.measures["wait_min_ns"].min() >= 0
    assert (run.measures["overlap_min_ns"] <= run.measures["overlap_max_ns"]).all()
    assert (run.ranks["ended"] == 0).all()
    assert not (run.folder / "parts").exists()
