"""The names of functions that a trace has as hashes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from imbrex.recorder.trace import function_name, name_hash, read_trace


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ("MPI_Isend", "MPI_Isend"),
        ("MPI_Allreduce_c", "MPI_Allreduce_c"),
        ("mpi_send_", "MPI_Send"),
        ("mpi_waitall_f08_", "MPI_Waitall"),
        ("mpi_send_f08ts_", "MPI_Send"),
        ("MPI_Barrier_c", "an MPI call"),
        ("main", "an MPI call"),
    ],
)
def test_names_by_hash(known: str, name: str) -> None:
    assert function_name(name_hash(known)) == name


def test_a_receive_from_any_rank_is_posted_as_what_it_took(tmp_path: Path) -> None:
    # Two receives of message 0, which may be from any rank, took messages 1 and 2, the second
    # first; a third never ended. 5: the post at that place took what arrives behind.
    call = (0, name_hash("MPI_Irecv"), 1.0)
    rows = [call, (2, 0, 0.0), call, (2, 0, 0.0), (2, 0, 0.0)]
    rows += [(5, 3, 0.0), (3, 2, 0.0), (5, 1, 0.0), (3, 1, 0.0)]
    raw = np.array(rows, [("kind", "<u4"), ("id", "<u4"), ("ns", "<f4")])
    raw.tofile(tmp_path / "trace.4.bin")
    trace, functions = read_trace(tmp_path, [4])
    assert functions == ["MPI_Irecv"]
    assert list(zip(trace["kind"].tolist(), trace["id"].tolist(), strict=True)) == [
        *((0, 0), (2, 1), (0, 0), (2, 2), (2, 0)),
        *((3, 2), (3, 1)),
    ]
    # A trace that ends with the entry has no arrival behind it.
    np.array(rows[:6], raw.dtype).tofile(tmp_path / "trace.4.bin")
    assert read_trace(tmp_path, [4])[0]["id"].tolist() == [0, 0, 0, 0, 0]
