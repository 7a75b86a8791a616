"""What a wait releases is told in terms of its start, which may say other things where it stands.

An index, a bound or a pointer that is set in between makes two sections that look apart the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 1000
static double u[N + 2], v[N + 2], w[N + 2], t;
static int n = 5;
%s
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n += argc;
%s
    printf("%%g %%g %%g %%g %%d\\n", u[3], v[4], w[1], t, n);
    MPI_Finalize();
    return 0;
}
"""
RECEIVE = "MPI_Recv(%s, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
SEND = "MPI_Send(%s, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);"
EXCHANGE = """static void exchange(int rank)
{
    %s
}
"""
ARRAYS = """    double *p = calloc(N + 2, 8);
    double *q = calloc(N + 2, 8);
"""
STEP = """    for (int s = 0; s < 9; s++) {
%s
    }
    t = p[1] + q[2];
"""
SWAP = """        double *old = p;
        p = q;
        q = old;
"""
FILL = """        for (int i = 0; i < N; i++)
            %s[i] = i * s + rank;
"""

# name: (top-level code, code in main, what must come first, and what only behind it)
CASES = {
    "a send of what an index before names": (
        "",
        f"    {RECEIVE % '&u[n]'}\n    n = n + 1;\n    work(v);\n"
        f"    {SEND % '&u[n - 1]'}\n    work(w);",
        "MPI_Wait",
        "MPI_Isend(&u[n - 1]",
    ),
    "a send through a pointer that has moved": (
        "",
        f"    double *p = u;\n    {RECEIVE % '&p[1]'}\n    p = p + 1;\n    work(v);\n"
        f"    {SEND % '&p[0]'}\n    work(w);",
        "MPI_Wait",
        "MPI_Isend(&p[0]",
    ),
    "in a wrapper": (
        EXCHANGE % (RECEIVE % "&u[n]" + "\n    n = n + 1;\n    t = u[n - 1];"),
        "    exchange(rank);\n    work(v);",
        "MPI_Wait",
        "t = u[n - 1];",
    ),
    "behind the call of a wrapper": (
        EXCHANGE % (RECEIVE % "&u[n]"),
        "    exchange(rank);\n    work(v);\n    n = n + 1;\n    for (int i = n - 1; i < n; i++)\n"
        "        w[i] = u[i];\n    work(w);",
        "exchange_finish(exchange_requests);",
        "w[i] = u[i]",
    ),
    "arrays that are exchanged": (
        "",
        ARRAYS + STEP % (f"        {SEND % 'p'}\n" + SWAP + FILL % "q" + FILL % "w"),
        "",
        "double *old = p;",
    ),
    "arrays that are exchanged in a branch": (
        "",
        ARRAYS
        + STEP
        % (
            f"        {SEND % 'p'}\n        if (s % 2) {{\n    "
            + SWAP.replace("\n   ", "\n       ")
            + "        }\n"
            + FILL % "q"
            + FILL % "w"
        ),
        "",
        "q[i] = i",
    ),
    "arrays that are exchanged, in the next iteration": (
        "",
        ARRAYS + STEP % (FILL % "w" + FILL % "q" + FILL % "p" + f"        {SEND % 'p'}\n" + SWAP),
        "",
        "q[i] = i",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_order(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top, code, first, then = CASES[name]
    path = Path("case.c")
    monkeypatch.chdir(tmp_path)
    path.write_text(PROGRAM % (top, code))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after["case.c"].decode()
    if first:
        assert after != path.read_text()
        assert after.index(first) < after.index(then)
    elif "MPI_Isend" in after:  # the send is over where its memory gets another name
        start, use = after.index("MPI_Isend(p"), after.index(then)
        assert "MPI_Wait" in after[start:use] if start < use else "MPI_Wait" in after[:use]
