"""Totals of what an event source booked, and what the collectives of messages.c must have moved."""

from __future__ import annotations

from typing import Any

INTRA = 2
"""The path between ranks of a node."""


def sums(result: Any, operation: str, path: int = INTRA) -> dict[str, int]:
    """Totals of one operation over one path."""
    rows = result.rows(operation)
    rows = rows[rows["path"] == path]
    return {name: int(rows[name].sum()) for name in rows.dtype.names if rows[name].dtype == "<i8"}


def check_collectives(result: Any) -> None:
    """What two ranks moved, both sides counted: what leaves one arrives at the other."""
    for operation, calls, block in (
        ("MPI_Bcast", 3, 1000000),
        ("MPI_Allgather", 3, 2 * 50000),
        ("MPI_Alltoall", 3, 2 * 40000),
        ("MPI_Gather", 3, 200000),
        ("MPI_Sendrecv", 3, 2 * 10),
    ):
        assert sums(result, operation)["bytes"] == 2 * calls * block, operation
    for operation in ("MPI_Barrier", "MPI_Comm_dup"):
        assert sums(result, operation)["transfers"] == 0
    both = sums(result, "MPI_Iallgather")["bytes"] + sums(result, "MPI_Wait")["bytes"]
    assert both == 2 * 2 * 30000
