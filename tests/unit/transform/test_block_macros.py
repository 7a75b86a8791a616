"""Macros that are a block of statements, as one that exchanges two pointers, with no semicolon."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define SWAP(a, b) { double *t = a; a = b; b = t; }
static double w[8];
static int count;
static void exchange(double *a, int n, int up, int down)
{
    MPI_Sendrecv(&a[1], 1, MPI_DOUBLE, up, 1, &a[n + 1], 1, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void relax(const double *restrict from, double *restrict to, int n)
{
    for (int i = 1; i <= n; i++)
        to[i] = 0.5 * (from[i] + from[i + 1]);
}
int main(int argc, char **argv)
{
    int rank, size, n = 500;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = (rank + 1) % size, down = (rank + size - 1) % size;
    double *u = calloc(n + 2, sizeof *u), *v = calloc(n + 2, sizeof *v);
    for (int i = 1; i <= n; i++)
        u[i] = i + rank;
    for (int step = 0; step < 9; step++) {
        exchange(u, n, up, down);
        relax(u, v, n);
        SWAP(u, v)
    }
    printf("%g %g\\n", u[1], w[2] + count);
    MPI_Finalize();
    return 0;
}
"""
BLOCK = "{ double *t = a; a = b; b = t; }"
GOES = {
    "as it is": {},
    "a semicolon behind it": {"        SWAP(u, v)": "        SWAP(u, v);"},
    "a loop that runs once": {BLOCK: "do { double *t = a; a = b; b = t; } while (0);"},
    "more in the block": {BLOCK: "{ double *t = a; a = b; b = t; count++; }"},
    "another macro of statements": {
        "#define SWAP": "#define DECAY(a) { for (int i = 0; i < 8; i++) a[i] *= 2; }\n#define SWAP",
        "        SWAP(u, v)": "        DECAY(w)\n        SWAP(u, v)",
    },
}
STAYS = {
    "both get one": {BLOCK: "{ double *t = a; a = b; b = a; (void)t; }"},
    "it communicates": {
        "#define SWAP": "#define MEET(a) { MPI_Barrier(MPI_COMM_WORLD); a[0] += 1; }\n#define SWAP",
        "        relax(u, v, n);": "        MEET(w)\n        relax(u, v, n);",
    },
    "it is left": {
        "#define SWAP": "#define LEAVE(n) { if (n > 7) break; count++; }\n#define SWAP",
        "        relax(u, v, n);": "        LEAVE(step)\n        relax(u, v, n);",
    },
    "it prints": {
        "#define SWAP": '#define TELL(n) { printf("%d\\n", n); count++; }\n#define SWAP',
        "        relax(u, v, n);": "        TELL(step)\n        relax(u, v, n);",
    },
}


def is_divided(folder: Path, replaced: dict[str, str]) -> bool:
    text = rewritten(folder / "halo.c", changed(PROGRAM, replaced))
    loop = text[text.index("step < 9") :]
    if "exchange_start(" not in loop:
        return False
    between = loop[loop.index("exchange_start(") : loop.index("exchange_finish(")]
    return "relax_interior(" in between


@pytest.mark.parametrize("name", GOES)
def test_what_the_block_does_is_known(name: str, tmp_path: Path) -> None:
    assert is_divided(tmp_path, GOES[name])


@pytest.mark.parametrize("name", STAYS)
def test_what_it_does_else_keeps_the_wait(name: str, tmp_path: Path) -> None:
    assert not is_divided(tmp_path, STAYS[name])


def test_what_uses_the_message_stays_behind_the_wait(tmp_path: Path) -> None:
    replaced = {
        "#define SWAP": "#define ADD(a) { for (int i = 0; i < 8; i++) w[i] += a; }\n#define SWAP",
        "        relax(u, v, n);": "        ADD(u[n + 1])\n        relax(u, v, n);",
    }
    text = rewritten(tmp_path / "halo.c", changed(PROGRAM, replaced))
    loop = text[text.index("step < 9") :]
    assert loop.index("exchange_finish(") < loop.index("ADD(u[n + 1])")
