"""Calls of wrappers of C that a loop makes one after the other: why they stay is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.model.advice import advice
from imbrex.transform.options import Options

C = """#include <mpi.h>
#include <stdio.h>
#define N 500
#define NF 3
static double u[NF][N + 2], w[N + 2];
static int rank, size, up, down;
static void exchange(double *a)
{
    MPI_Sendrecv(&a[1], 1, MPI_DOUBLE, up, 1, &a[N + 1], 1, MPI_DOUBLE, down, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void decay(double *a)
{
    for (int i = 1; i <= N; i++)
        a[i] = 0.5 * a[i] + 0.125;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = (rank + 1) %% size;
    down = (rank + size - 1) %% size;
    for (int step = 0; step < 9; step++) {
        %(use)s
        u[0][1] += u[1][N + 1] + w[2];
    }
    printf("%%g %%g\\n", u[0][1], u[2][N + 1]);
    MPI_Finalize();
    return 0;
}
"""
REASON = "main calls it in a loop: the messages of each call end before the next one begins"
EACH = "for (int k = 0; k < NF; k++)"
TOLD = {
    "each field": f"{EACH} exchange(u[k]); decay(w);",
    "each field under a condition": f"{EACH} {{ if (k > 0) exchange(u[k]); }} decay(w);",
    "what a message is about is set in the loop": (
        f"{EACH} {{ double *a = u[k]; exchange(a); }} decay(w);"
    ),
    "the work is about the fields": f"{EACH} exchange(u[k]); {EACH} decay(u[k]);",
}
NOT_TOLD = {
    "the same field again": f"{EACH} exchange(u[0]); decay(w);",
}


def told(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    outcome = transform([path], Options())
    (decision,) = [d for d in outcome.decisions if "Sendrecv" in d.site.call.name]
    assert decision.decision != "rewritten"
    if decision.obstacle is None:
        return ""
    assert advice(decision.obstacle.cause) or decision.obstacle.cause.text != REASON
    return decision.obstacle.cause.text


@pytest.mark.parametrize("case", TOLD)
def test_each_call_waits(tmp_path: Path, case: str) -> None:
    assert told(tmp_path, "halo.c", C % {"use": TOLD[case]}) == REASON


@pytest.mark.parametrize("case", NOT_TOLD)
def test_where_it_is_no_reason(tmp_path: Path, case: str) -> None:
    assert told(tmp_path, "halo.c", C % {"use": NOT_TOLD[case]}) != REASON


def test_one_by_one_they_go(tmp_path: Path) -> None:
    """What the advice says."""
    path = tmp_path / "halo.c"
    path.write_text(C % {"use": "exchange(u[0]);\n        exchange(u[1]);\n        decay(w);"})
    text = transform([path], Options()).after[str(path)].decode()
    loop = text[text.index("step < 9") :]
    starts = [loop.index("exchange_start(u[0]"), loop.index("exchange_start(u[1]")]
    assert max(starts) < loop.index("decay(w)") < loop.index("exchange_finish(")
