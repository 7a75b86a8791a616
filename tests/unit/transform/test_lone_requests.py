"""Wrappers of C and C++ with a local request that is no array: split around their callers' work."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
static int left, right;
static double u[102], v[102], w[102];
static MPI_Request other = MPI_REQUEST_NULL, copied;
static void exchange(double *x, int n)
{
    %(declared)s
    MPI_Status status;
    MPI_Irecv(&x[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &first);
    %(second)s
    MPI_Send(&x[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD);
    MPI_Send(&x[n], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
    %(wait)s
    MPI_Wait(&second, &status);
}
static void relax(int n)
{
    for (int i = 1; i <= n; i++)
        v[i] = 0.25 * (u[i - 1] + 2 * u[i] + u[i + 1]);
}
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < 102; i++)
        u[i] = w[i] = rank + i;
    for (int t = 0; t < 5; t++) {
        %(use)s
        for (int i = 1; i <= 100; i++)
            u[i] = v[i] + w[i];
    }
    printf("%%g\\n", u[50]);
    MPI_Finalize();
    return 0;
}
"""
PLAIN = {
    "declared": "MPI_Request first, second;",
    "second": "MPI_Irecv(&x[n + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &second);",
    "wait": "MPI_Wait(&first, &status);",
    "use": "exchange(u, 100);\n        relax(100);",
}
SPLIT = [
    {},
    {"declared": "MPI_Request first;\n    MPI_Request second = MPI_REQUEST_NULL;"},
    {"declared": "MPI_Request first = MPI_REQUEST_NULL, second = MPI_REQUEST_NULL;"},
    {"declared": "MPI_Request second, first[1];", "wait": "MPI_Wait(first, &status);"},
    {"wait": "MPI_Waitall(1, &first, MPI_STATUSES_IGNORE);"},
    {"use": "exchange(u, 100);\n        exchange(w, 100);\n        relax(100);"},
]
WHOLE = [
    {"wait": "MPI_Request *p = &first;\n    MPI_Wait(p, &status);"},
    {"wait": "copied = first;\n    MPI_Wait(&first, &status);"},
    {"wait": "if (first != MPI_REQUEST_NULL)\n        MPI_Wait(&first, &status);"},
    {"declared": "MPI_Request second = other, first;"},
    {"declared": "static MPI_Request second;\n    MPI_Request first;"},
    {"second": "second = other;"},
]


def decided(folder: Path, name: str, changes: dict[str, str]) -> Outcome:
    text = PROGRAM % {**PLAIN, **changes}
    if "first[1]" in text:
        text = text.replace("&first", "first")
    file = folder / name
    file.write_text(text)
    return transform([file], Options())


def split(outcome: Outcome) -> bool:
    return any(b"exchange_start(" in text for text in outcome.after.values())


@pytest.mark.parametrize("changes", SPLIT, ids=str)
@pytest.mark.parametrize("name", ["halo.c", "halo.cpp"])
def test_the_callers_have_the_request(tmp_path: Path, name: str, changes: dict[str, str]) -> None:
    assert split(decided(tmp_path, name, changes))


@pytest.mark.parametrize("changes", WHOLE, ids=str)
def test_a_request_that_is_used_otherwise(tmp_path: Path, changes: dict[str, str]) -> None:
    assert not split(decided(tmp_path, "halo.c", changes))
