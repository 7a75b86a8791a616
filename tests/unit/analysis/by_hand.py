"""Hand-worked causes: each case is small enough to be drawn. Times are ns; a message of 1,000 bytes
takes 100 to 200 ns."""

from __future__ import annotations

from tests.unit.analysis.jobs import (
    Rank,
)

PATH = ("path intra-node", "point 1 1 2 -1 -1", "point 1000 100 200 -1 -1")
WAITS_FOR_RECEIVE = (*PATH, "class 1 0 0 1000 0 1000 0 1000 0 1000")
BUFFERED = (*PATH, "class 1 1 0 1000 0 1000 0 1000 0 1000")
CAUSES = ("late_sender", "late_receiver", "late_collective", "transfer", "stalled", "library")
CAUSES = (*CAUSES, "file_io", "unattributed")


def told(row: dict[str, int]) -> dict[str, tuple[int, int]]:
    """The causes of a row that are not nothing."""
    parts = {name: (row[f"{name}_min_ns"], row[f"{name}_max_ns"]) for name in CAUSES}
    assert sum(low for low, _ in parts.values()) <= row["call_ns"]
    assert sum(high for _, high in parts.values()) >= row["call_ns"]
    return {name: part for name, part in parts.items() if part != (0, 0)}


def gain(row: dict[str, int], name: str = "gainable") -> tuple[int, int]:
    return row[f"{name}_min_ns"], row[f"{name}_max_ns"]


def two() -> tuple[Rank, Rank]:
    return Rank(), Rank()
