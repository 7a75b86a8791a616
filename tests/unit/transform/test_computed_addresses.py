"""Buffers that a function computes the address of, and distances added to elements' addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 100
struct slice { long cells; int planes; double *now, *next; };
static struct slice s;
static double side[N], u[9 * N], v[9 * N];
static int number;
static double *elsewhere(int i);
static double *plane(double *field, const struct slice *of, int index)
{
    return field + (size_t)index * (size_t)of->cells;
}
static double *element(double *field, int i) { return &field[i]; }
static double *now(struct slice *of, int i) { return plane(of->now, of, i); }
static double *of_u(int i) { return u + i * N; }
static double *next_of_u(void) { return u + number++; }
static double *either(int i) { return i > 2 ? u : v; }
static double *counted(int i)
{
    number++;
    return u + i;
}
static double *again(int i) { return i > 0 ? again(i - 1) : u; }
static double *loop(double *x, int i) { return loop(x, i) + 1; }
static double *bytes(double *x, int i) { return (double *)((char *)x + i); }
static double *held(double **x, int i) { return x[0] + i; }
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
static double *elsewhere(int i) { number += i; return v; }
int main(int argc, char **argv)
{
    int rank, peer, n = N, i = 1;
    double *p = u, **q = &p;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    s.cells = N;
    s.now = calloc(9 * N, sizeof(double));
    s.next = calloc(9 * N, sizeof(double));
    %s
    printf("%%g %%g %%g %%g %%g %%d %%d %%p\\n", u[1], v[2], s.now[1], s.next[2], side[0], n, i, q);
    MPI_Finalize();
    return 0;
}
"""
TO = "N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);"
FROM = "N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"

# name: (code, the statement up to which the start goes, or None)
CASES = {
    "a plane of a field": (f"work(side);\nMPI_Send(plane(s.now, &s, 1), {TO}", "work(side)"),
    "a plane that another function chooses": (
        f"work(side);\nMPI_Send(now(&s, 1), {TO}",
        "work(side)",
    ),
    "an element of an array": (f"work(v);\nMPI_Send(element(u, 5), {TO}", "work(v)"),
    "of a global array": (f"work(v);\nMPI_Recv(of_u(3), {FROM}", "work(v)"),
    "another part of the array": (f"work(u);\nMPI_Send(element(u, 2 * N), {TO}", "work(u)"),
    "the part that is computed": (f"work(u);\nMPI_Send(element(u, N - 1), {TO}", None),
    "the part behind the one that its argument names": (
        f"work(u + N);\nMPI_Send(element(&u[N - 50], 60), {TO}",
        None,
    ),
    "a field that is computed": (f"work(s.now);\nMPI_Send(plane(s.now, &s, 0), {TO}", None),
    "what the address depends on is set": (
        f"work(side);\ns.cells = N / 2;\nMPI_Send(plane(s.now, &s, 1), {TO}",
        None,
    ),
    "the pointer is set": (
        f"work(side);\ns.now = s.next;\nMPI_Send(now(&s, 1), {TO}",
        None,
    ),
    "the address is counted on": (f"work(side);\nMPI_Send(next_of_u(), {TO}", None),
    "one of two": (f"work(side);\nMPI_Send(either(i), {TO}", None),
    "more is done": (f"work(side);\nMPI_Send(counted(i), {TO}", None),
    "more is done further down": (f"work(side);\nMPI_Send(elsewhere(i), {TO}", None),
    "it calls itself": (f"work(side);\nMPI_Send(loop(u, i), {TO}", None),
    "it calls itself under a condition": (f"work(side);\nMPI_Send(again(i), {TO}", None),
    "bytes are added": (f"work(u + N);\nMPI_Send(bytes(u, i), {TO}", None),
    "a pointer that a pointer names": (f"work(u + 50);\nMPI_Send(held(q, i), {TO}", None),
    "a row, and a row added": (
        f"for (int j = 0; j < n; j++)\nu[(i + 1) * n + j] = side[j];\n"
        f"MPI_Send(&u[i * n + 0] + N, {TO}",
        None,
    ),
    "a row, and less than a row added": (
        f"for (int j = 0; j < n; j++)\nu[(i + 1) * n + j] = side[j];\n"
        f"MPI_Send(&u[i * n + 0] + 7, {TO}",
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_computed_addresses(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, passed = CASES[name]
    monkeypatch.chdir(tmp_path)
    path = Path("case.c")
    path.write_text(PROGRAM % code)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after["case.c"].decode()
    start = max(after.find("MPI_Isend("), after.find("MPI_Irecv("))
    main = after.index("s.next = calloc")
    if passed is None:
        stops = {"work(", "for (int j", "s.cells = ", "s.now = s.next"}
        last = max(after.rfind(text, main, after.index("printf(")) for text in stops)
        assert start < 0 or start > last, after
    else:
        assert main < start < after.index(passed, main), after
