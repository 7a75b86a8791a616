"""The names of functions that a trace has as hashes."""

from __future__ import annotations

import pytest

from imbrex.recorder.trace import function_name, name_hash


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
