"""Structures with requests in them that are declared: with a list of values, or with none."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
typedef struct {
    int n, peer[2];
    MPI_Request req[2];
    struct { MPI_Request last; int more; } rest;
} halo;
static double u[100], v[100], w[100];
static void post(halo *h)
{
    MPI_Irecv(u, h->n, MPI_DOUBLE, h->peer[0], 0, MPI_COMM_WORLD, &h->req[0]);
    MPI_Isend(v, h->n, MPI_DOUBLE, h->peer[1], 0, MPI_COMM_WORLD, &h->req[1]);
}
int main(int argc, char **argv)
{
    MPI_Request q = MPI_REQUEST_NULL, two[2];
    MPI_Init(&argc, &argv);
    %s
    for (int t = 0; t < 3; t++) {
        post(&h);
        MPI_Waitall(2, h.req, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 100; i++)
            w[i] = 0.5 * w[i] + 1;
        for (int i = 0; i < 100; i++)
            w[i] += u[i];
    }
    printf("%%g\\n", w[5]);
    MPI_Finalize();
    return 0;
}
"""
UNUSED = [
    "halo h;\n    h.n = 100;",
    "halo h = {0};\n    h.n = 100;",
    "halo h = {100};",
    "halo h = {100, {0, 0}};",
    "halo h = {100, {0, 0}, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};",
    "halo h = {100, {0, 0}, {MPI_REQUEST_NULL}, {MPI_REQUEST_NULL, 3}};",
    "halo h = {.n = argc * 100};",
    "halo h = {.n = 100, .req = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};",
    "halo h = {.peer = {0, 0}, .n = 100, .rest = {.more = argc}};",
    "halo h = {100}, g[3] = {{0}, {1}, {2}};\n    g[0].n = h.n;",
]
IN_USE = [
    "halo h = {100, {0, 0}, {q, q}};",
    "halo h = {100, {0, 0}, {MPI_REQUEST_NULL, q}};",
    "halo h = {100, {0, 0}, {MPI_REQUEST_NULL}, {q, 3}};",
    "halo h = {.n = 100, .req = {q, MPI_REQUEST_NULL}};",
    "halo h = {.n = 100, .req[1] = q};",
    "halo h = {.n = 100, .rest = {.last = q}};",
    "halo h = {100, 0, 0, q, q};",
    "halo g = {100}, h = g;",
    "halo g = {100}, h[2] = {g, g};",
]


def waits(folder: Path, declared: str, name: str = "halo.c") -> Outcome:
    text = PROGRAM % declared
    if "h[2]" in declared:
        text = text.replace("post(&h)", "post(h)").replace("h.req", "h[0].req")
    file = folder / name
    file.write_text(text)
    return transform([file], Options())


def moved(outcome: Outcome) -> bool:
    (wait,) = (d for d in outcome.decisions if d.site.call.name == "MPI_Waitall")
    return wait.decision == "rewritten"


@pytest.mark.parametrize("declared", UNUSED)
def test_a_list_without_handles(tmp_path: Path, declared: str) -> None:
    assert moved(waits(tmp_path, declared))


@pytest.mark.parametrize("declared", IN_USE)
def test_a_list_with_handles(tmp_path: Path, declared: str) -> None:
    assert not moved(waits(tmp_path, declared))


STATUS = """#include <mpi.h>
#include <cstdio>
struct Loud { int n; Loud() : n(1) { std::puts("made"); } };
struct Domain {
    int n, rank;
    double *out, *in, *work;
    MPI_Request req[2];
};
static void send(Domain &d)
{
    %s
    MPI_Isend(d.out, d.n, MPI_DOUBLE, 1 - d.rank, 0, MPI_COMM_WORLD, &d.req[1]);
    MPI_Wait(&d.req[1], MPI_STATUS_IGNORE);
}
static void relax(Domain &d)
{
    for (int i = 0; i < d.n; i++)
        d.work[i] = 0.5 * d.work[i] + i;
}
int main(int argc, char **argv)
{
    Domain d;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &d.rank);
    d.n = 100;
    d.out = new double[100]();
    d.in = new double[100]();
    d.work = new double[100]();
    for (int t = 0; t < 3; t++) {
        MPI_Irecv(d.in, d.n, MPI_DOUBLE, 1 - d.rank, 0, MPI_COMM_WORLD, &d.req[0]);
        send(d);
        relax(d);
        MPI_Wait(&d.req[0], MPI_STATUS_IGNORE);
    }
    std::printf("%%g\\n", d.in[3] + d.work[3]);
    MPI_Finalize();
}
"""


@pytest.mark.parametrize(
    ("declared", "split"),
    [
        ("MPI_Status status;", True),
        ("MPI_Status status[2];", True),
        ("MPI_Status status = MPI_Status();", True),
        ("struct { int a; double b[3]; } pair;", True),
        ("Loud loud;", False),
        ("struct Pair { Loud loud; int n; } pair;", False),
    ],
)
def test_a_structure_that_is_declared_runs_no_code(
    tmp_path: Path, declared: str, split: bool
) -> None:
    file = tmp_path / "domain.cpp"
    file.write_text(STATUS % declared)
    decisions = transform([file], Options()).decisions
    (start,) = (d for d in decisions if d.site.call.name == "MPI_Isend")
    assert (start.decision == "rewritten" and "wrappers" in start.rewrites) is split
