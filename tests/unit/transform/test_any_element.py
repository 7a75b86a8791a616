"""Loops over arrays of pointers: each of `f[q]` is an array of its own, whichever is meant.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define Q 5
enum { NX = 16, NY = 32 };
static const int cx[Q] = {0, 1, -1, 1, -1};
static int rank, size, left, right;
static double *f[Q], *g[Q];
static void exchange(void)
{
    MPI_Request r[4 * Q];
    for (int q = 0; q < Q; q++) {
        MPI_Irecv(&f[q][0], NY, MPI_DOUBLE, left, q, MPI_COMM_WORLD, &r[4 * q]);
        MPI_Irecv(&f[q][(NX + 1) * NY], NY, MPI_DOUBLE, right, Q + q, MPI_COMM_WORLD,
                  &r[4 * q + 1]);
        MPI_Isend(&f[q][NX * NY], NY, MPI_DOUBLE, right, q, MPI_COMM_WORLD, &r[4 * q + 2]);
        MPI_Isend(&f[q][NY], NY, MPI_DOUBLE, left, Q + q, MPI_COMM_WORLD, &r[4 * q + 3]);
    }
    MPI_Waitall(4 * Q, r, MPI_STATUSES_IGNORE);
}
static void stream(void)
{
    for (int q = 0; q < Q; q++)
        for (int i = 1; i <= NX; i++)
            for (int j = 0; j < NY; j++)
                g[q][i * NY + j] = 0.5 * f[q][(i - cx[q]) * NY + j];
}
static void flip(void)
{
    for (int q = 0; q < Q; q++) {
        double *t = f[q];
        f[q] = g[q];
        g[q] = t;
    }
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int q = 0; q < Q; q++) {
        f[q] = malloc((NX + 2) * NY * sizeof(double));
        g[q] = malloc((NX + 2) * NY * sizeof(double));
        for (int i = 0; i < (NX + 2) * NY; i++)
            f[q][i] = g[q][i] = (i * 7 + q * 3 + rank * 5) % 16;
    }
    for (int step = 0; step < 8; step++) {
        exchange();
        stream();
        flip();
    }
    double sum = 0.0;
    for (int q = 0; q < Q; q++)
        for (int i = NY; i < (NX + 1) * NY; i++)
            sum += f[q][i] * (q + 1);
    printf("%d %.17g\\n", rank, sum);
    MPI_Finalize();
    return 0;
}
"""
MADE = "        f[q] = malloc((NX + 2) * NY * sizeof(double));\n"
# name: (replacements, whether the messages are under way while most is streamed)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "backwards": (
        {
            "for (int q = 0; q < Q; q++)\n        for": "for (int q = Q - 1; q >= 0; q--)\n"
            "        for"
        },
        True,
    ),
    "not exchanged": ({"        flip();\n": ""}, True),
    "parts of one array": (
        {MADE: MADE.replace("malloc(", "q ? f[0] + 9 * q : malloc(")},
        False,
    ),
    "one array twice": ({MADE: f"{MADE}        if (q == 4)\n            f[q] = f[0];\n"}, False),
    "both have one": (
        {"        f[q] = g[q];\n        g[q] = t;\n": "        f[q] = g[q];\n        (void)t;\n"},
        False,
    ),
    "in place": ({"g[q][i * NY + j] =": "f[q][i * NY + j] ="}, False),
    "of any element": ({"0.5 * f[q]": "0.5 * f[rank % Q]"}, True),
    "by another pointer": (
        {
            "{\n    for (int q = 0; q < Q; q++)\n        for": (
                "{\n    double *first = f[0];\n    for (int q = 0; q < Q; q++)\n        for"
            ),
            "0.5 * f[q][(i - cx[q]) * NY + j]": "first[0] + f[q][i * NY + j]",
        },
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_streamed_meanwhile(name: str, tmp_path: Path) -> None:
    replacements, divided = CASES[name]
    text = rewritten(tmp_path / "case.c", changed(PROGRAM, replacements))
    assert ("exchange_start(" in text) is divided, text


def test_exchanged_in_between(tmp_path: Path) -> None:
    """What is streamed then are other arrays, but each may be one that a message is in."""
    swapped = {"        stream();\n        flip();": "        flip();\n        stream();"}
    text = rewritten(tmp_path / "case.c", changed(PROGRAM, swapped))
    loop = text[text.index("for (int step") :]
    assert loop.index("exchange_finish(") < loop.index("stream();")
