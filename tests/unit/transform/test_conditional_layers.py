"""Wrappers of wrappers of wrappers, where one between others asks a condition of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 500
static double u[N + 2], v[N + 2], w[N + 2];
static int rank, size, up, down, mode = 1, level = 2, budget = 3;
static void exchange(double *a)
{
    MPI_Sendrecv(&a[1], 1, MPI_DOUBLE, up, 1, &a[N + 1], 1, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void inner(double *a)
{
    if (mode)
        exchange(a);
}
static void outer(double *a)
{
    inner(a);
}
static void decay(void)
{
    for (int i = 1; i <= N; i++)
        w[i] = 0.5 * w[i] + 0.125;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = (rank + 1) % size;
    down = (rank + size - 1) % size;
    for (int i = 0; i <= N; i++)
        u[i] = v[i] = i + rank;
    for (int step = 0; step < 9; step++) {
        outer(u);
        decay();
        u[1] += 0.5 * u[N + 1] + w[2];
    }
    printf("%g %g\\n", u[1], v[N + 1] + w[3]);
    MPI_Finalize();
    return 0;
}
"""
OUTER = "{\n    inner(a);\n}"
ASKED = "    if (mode)\n        exchange(a);\n"
SPLIT = {
    "as it is": {},
    "a condition of the outer one": {OUTER: "{\n    if (level > 1)\n        inner(a);\n}"},
    "the same condition": {OUTER: "{\n    if (mode) {\n        inner(a);\n    }\n}"},
    "another branch": {
        OUTER: "{\n    if (level > 1)\n        inner(a);\n    else\n        w[0]++;\n}"
    },
    "two calls": {OUTER: "{\n    inner(a);\n    inner(v);\n}"},
    "three layers": {
        "static void outer(double *a)\n": (
            "static void middle(double *a)\n{\n    if (up >= 0)\n        inner(a);\n}\n"
            "static void outer(double *a)\n"
        ),
        OUTER: "{\n    middle(a);\n}",
    },
    "the finish unpacks": {OUTER: "{\n    inner(a);\n    a[N] += mode * a[N + 1];\n}"},
    "set behind it": {OUTER: "{\n    inner(a);\n    mode = 1 - mode;\n}"},
}
STAYS = {
    "the condition counts": {ASKED: "    if (budget-- > 0)\n        exchange(a);\n"},
    "the branch changes it": {
        ASKED: "    if (mode) {\n        exchange(a);\n        mode = 0;\n    }\n"
    },
    "a loop": {OUTER: "{\n    for (int k = 0; k < level; k++)\n        inner(a);\n}"},
    "the outer condition counts": {OUTER: "{\n    if (budget-- > 0)\n        inner(a);\n}"},
    "the work changes it": {"0.125;\n": "0.125;\n    mode = w[3] < 0.5;\n"},
}


@pytest.mark.parametrize("name", SPLIT)
def test_split(name: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "halo.c", changed(PROGRAM, SPLIT[name]))
    loop = text[text.index("for (int step") :]
    start, finish = loop.index("outer_start("), loop.index("outer_finish(")
    assert start < loop.index("decay();") < finish
    for half in ("start", "finish"):
        part = text[text.index(f"static void inner_{half}(") :]
        assert part.index("if (mode)") < part.index(f"exchange_{half}(")


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "halo.c", changed(PROGRAM, STAYS[name]))
    loop = text[text.index("for (int step") :]
    assert "outer_start(" not in loop


HALVES = {
    ASKED + "}\n": (
        "    if (mode)\n        exchange(a);\n}\n"
        "static void begin(double *a, MPI_Request *q)\n{\n    if (mode) {\n"
        "        MPI_Irecv(&a[N + 1], 1, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &q[0]);\n"
        "        MPI_Isend(&a[1], 1, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &q[1]);\n    }\n}\n"
        "static void end(MPI_Request *q)\n{\n"
        "    if (mode)\n        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);\n}\n"
    ),
}
BY_HAND = {
    "its own array": ("{\n    MPI_Request q[2];\n    begin(a, q);\n    end(q);\n}", True),
    "in a branch": (
        "{\n    MPI_Request q[2];\n    if (level > 1) {\n        begin(a, q);\n        end(q);\n"
        "    }\n}",
        True,
    ),
    "it begins with handles": (
        "{\n    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};\n    begin(a, q);\n"
        "    end(q);\n}",
        False,
    ),
    "what a call before has begun": (
        "{\n    static MPI_Request q[2];\n    if (level++ > 2)\n        end(q);\n"
        "    begin(a, q);\n}",
        False,
    ),
    "in a loop": (
        "{\n    MPI_Request q[2];\n    for (int k = 0; k < level; k++) {\n        if (k)\n"
        "            end(q);\n        begin(a, q);\n    }\n    end(q);\n}",
        False,
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_halves_by_hand(name: str, tmp_path: Path) -> None:
    body, goes = BY_HAND[name]
    text = rewritten(tmp_path / "halo.c", changed(PROGRAM, {**HALVES, OUTER: body}))
    loop = text[text.index("for (int step") :]
    assert ("outer_start(" in loop) is goes, text
