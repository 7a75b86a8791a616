"""Range-based loops over an array that is a member of an element: which element that is counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import rewritten

PROGRAM = """#include <mpi.h>
#include <vector>
struct Cell {
    double c[3];
    double rest;
};
static double work[5000];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<Cell> x(1000), y(1000), z(1000);
    double sum = 0.0, own[3] = {1.0, 2.0, 3.0};
    int k = 5;
    for (int step = 0; step < 3; step++) {
        MPI_Sendrecv(&x[0], 4, MPI_DOUBLE, (rank + 1) % size, 0, &y[999], 4, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 5000; i++)
            work[i] = work[i] * 1.01 + i;
        THERE
        sum += work[0]; // end
    }
    own[0] = sum;
    MPI_Finalize();
    return 0;
}
"""
USES = {
    "what comes is read": "for (double d : y[999].c) sum += d;",
    "what comes is read by name": "for (const double &d : y[999].c) sum += d;",
    "what comes may be read": "for (double d : y[k].c) sum += d;",
    "what comes is set": "for (double &d : y[999].c) d += 1.0;",
    "the element changes meanwhile": "for (double &d : y[k].c) { d = 1.0; k = 999; }",
}
SENT = {"what is sent is set": "for (double &d : x[0].c) d += 1.0;"}
OTHERS = {
    "of another vector": "for (double &d : z[999].c) d += 1.0;",
    "of a variable": "for (double d : own) sum += d;",
}


def wait(tmp_path: Path, there: str, number: int) -> tuple[int, int]:
    """Where the wait is, and where the loop is, in the text that comes of it."""
    text = rewritten(tmp_path / "main.cpp", PROGRAM.replace("THERE", there))
    return text.index(f"MPI_Wait(&imbrex_requests[{number}]"), text.index(there)


@pytest.mark.parametrize("there", USES.values(), ids=USES)
def test_the_message_is_awaited_in_front(there: str, tmp_path: Path) -> None:
    waits, uses = wait(tmp_path, there, 0)
    assert waits < uses


@pytest.mark.parametrize("there", SENT.values(), ids=SENT)
def test_the_message_is_sent_in_front(there: str, tmp_path: Path) -> None:
    assert min(wait(tmp_path, there, n)[0] for n in (0, 1)) < wait(tmp_path, there, 0)[1]


@pytest.mark.parametrize("there", OTHERS.values(), ids=OTHERS)
def test_the_messages_are_awaited_behind(there: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", PROGRAM.replace("THERE", there))
    assert text.index("MPI_Waitall(2, imbrex_requests") > text.index(there)
