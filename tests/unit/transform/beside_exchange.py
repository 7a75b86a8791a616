"""A program of C++ that exchanges elements of vectors beside work, with a place for what is asked.

`x` is sent, `y[999]` comes, and `z` has no part in it.
"""

from __future__ import annotations

from pathlib import Path

from tests.unit.transform.replacing import rewritten

_PROGRAM = """#include <mpi.h>
#include <array>
#include <utility>
#include <vector>
TYPES
static double work[5000];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<Cell> x(1000), y(1000), z(1000);
    double sum = 0.0;
    FRONT
    for (int step = 0; step < 3; step++) {
        MPI_Sendrecv(&x[0], 4, MPI_DOUBLE, (rank + 1) % size, 0, &y[999], 4, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 5000; i++)
            work[i] = work[i] * 1.01 + i;
        THERE
        sum += work[0]; // end
    }
    work[0] = sum;
    MPI_Finalize();
    return 0;
}
"""


def text_with(folder: Path, types: str, front: str, there: str) -> str:
    """What becomes of it; `types` declares Cell, four numbers, and what else is needed."""
    program = _PROGRAM.replace("TYPES", types).replace("FRONT", front).replace("THERE", there)
    return rewritten(folder / "main.cpp", program)


def first_wait(text: str) -> int:
    """Where a message is first awaited, behind the work."""
    waits = ("MPI_Wait(&imbrex_requests", "MPI_Waitall(2, imbrex_requests")
    found = min(at for at in map(text.find, waits) if at > 0)
    assert text.index("work[i] = work[i]") < found
    return found
