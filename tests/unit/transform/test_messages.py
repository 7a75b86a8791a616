"""What a statement waits for: kept from one pass, the same as when looked at for each statement."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from imbrex.transform.analysed import Analysis
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.messages import Messages
from imbrex.transform.model.memory import Access
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdlib.h>
struct field { double *v; int n; };
static double u[100], w[100];
static struct field one, two;
static int first = 1;
static void shift(void) { first++; }
static void fill(double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] += 1.0;
}
void step(struct field *f, double *x, int n, int k, MPI_Comm comm)
{
    double *p = x, *q = malloc(100 * sizeof *q);
    struct field *g = &one;
    double sum = 0.0;
    MPI_Request request;
    MPI_Irecv(&u[k], n, MPI_DOUBLE, 0, 0, comm, &request);
    MPI_Recv(p, n, MPI_DOUBLE, 0, 1, comm, MPI_STATUS_IGNORE);
    fill(u, 3);
    MPI_Recv(&q[first], n, MPI_DOUBLE, 0, 2, comm, MPI_STATUS_IGNORE);
    p = q;
    MPI_Send(p, n, MPI_DOUBLE, 1, 1, comm);
    k = k + 1;
    MPI_Recv(&w[k], 2, MPI_DOUBLE, 0, 3, comm, MPI_STATUS_IGNORE);
    MPI_Recv(g->v, 4, MPI_DOUBLE, 0, 4, comm, MPI_STATUS_IGNORE);
    shift();
    fill(w, n);
    MPI_Send(&u[k + first], 2, MPI_DOUBLE, 1, 2, comm);
    g = &two;
    f->v = q;
    for (int i = 0; i < n; i++) {
        MPI_Send(&u[i], 1, MPI_DOUBLE, 1, 3, comm);
        k = i;
        MPI_Send(&w[k], 1, MPI_DOUBLE, 1, 4, comm);
        fill(&w[i], 2);
    }
    MPI_Send(f->v, 4, MPI_DOUBLE, 1, 5, comm);
    MPI_Allreduce(&sum, &w[first], 1, MPI_DOUBLE, MPI_SUM, comm);
    n = 7;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast(u, n, MPI_DOUBLE, 0, comm);
    fill(q, n);
    free(q);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    one.v = malloc(80);
    two.v = malloc(80);
    step(&one, u, 4, argc, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""
CHOICES = list(product((True, False), repeat=3))


def looked_at(
    footprints: Footprints, routine: Routine, block: Block, index: int, choice: tuple[bool, ...]
) -> list[Access]:
    """The definition: each buffer, with what changes from this statement to the one that has it."""
    produces, nonblocking, collective = choice
    messages = Messages(footprints.program, footprints)
    count = len(block.statements)
    found: list[Access] = []
    for other in range(index + 1, count) if produces else range(index - 1, -1, -1):
        theirs = messages.of(routine, block.statements[other], produces=produces)
        between = block.statements[min(index, other) : max(index, other) + 1]
        changed = footprints.changed_by(between, routine.file)
        buffers = theirs.of(nonblocking=nonblocking, collective=collective)
        found += footprints.later(buffers, changed)
    return found


@pytest.mark.parametrize("text", [PROGRAM, PROGRAM.replace("int main", "int other")])
def test_each_buffer_has_what_changed_up_to_where_it_is_asked_for(
    text: str, tmp_path: Path
) -> None:
    path = tmp_path / "program.c"
    path.write_text(text)
    analysis = Analysis([path], Options())
    footprints = analysis.footprints
    routine = analysis.program.routines["step"]
    messages = Messages(analysis.program, footprints)
    access_forms = set()
    for block in routine.body.plain():
        for index, choice in product(range(len(block.statements)), CHOICES):
            produces, nonblocking, collective = choice
            found = messages.waiting(
                routine,
                block,
                index,
                produces=produces,
                nonblocking=nonblocking,
                collective=collective,
            )
            assert found == looked_at(footprints, routine, block, index, choice), (index, choice)
            access_forms |= {(access.through, access.section is None) for access in found}
    # Some places are known, of some only the array, and some were named by a pointer set since.
    assert access_forms >= {(False, False), (False, True), (True, False)}
