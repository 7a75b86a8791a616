"""Wrappers whose ranks take turns: one side sends in a branch, the other receives in another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

TURNS = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double u[N + 2], v[N], in[N], out[N];
static int rank, size, turn;
static int asked(void) { return turn++; }
static void exchange(double *f)
{
    %s
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    exchange(u);
    for (int i = 0; i < N; i++)
        v[i] = 0.5 * v[i] + 1.0;
    printf("%%d %%g %%g %%g %%d\\n", rank, u[N + 1], v[0], in[3], asked());
    MPI_Finalize();
    return 0;
}
"""
SEND = "MPI_Send(out, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);"
RECV = "MPI_Recv(in, N, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
UNPACK = "for (int i = 0; i < N; i++) f[i] = in[i];"
# name: (the body of the exchange, the conditions that the finish asks; None: it stays whole)
TURN = {
    "by turns": (f"if (rank) {{ {SEND} {RECV} }} else {{ {RECV} {SEND} }}", []),
    "by turns, one unpacks": (
        f"if (rank) {{ {SEND} {RECV} {UNPACK} }} else {{ {RECV} {SEND} }}",
        ["if (rank)"],
    ),
    "by turns, the other unpacks": (
        f"if (rank) {{ {SEND} {RECV} }} else {{ {RECV} {SEND} {UNPACK} }}",
        ["if (rank)", "else"],
    ),
    "else if": (
        f"if (!rank) {{ {SEND} {RECV} }} else if (size > 1) {{ {RECV} {UNPACK} {SEND} }}",
        ["if (!rank)", "else if (size > 1)"],
    ),
    "without braces": (
        f"if (rank) {SEND} else {RECV} if (rank) {RECV} else {SEND} {UNPACK}",
        ["if (rank)"],
    ),
    "nested": (
        f"if (rank) {{ if (size > 1) {{ {RECV} {UNPACK} }} }} else {{ {SEND} }}",
        ["if (rank)", "if (size > 1)"],
    ),
    "the condition counts": (f"if (asked()) {{ {SEND} {RECV} }} else {{ {RECV} {SEND} }}", None),
    "the branch sets what was asked": (
        f"if (turn) {{ turn = 0; {RECV} {UNPACK} }} else {{ {SEND} }}",
        None,
    ),
    "what was asked is received": (
        "if (turn) { MPI_Recv(&turn, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); } "
        f"else {{ {SEND} }}",
        None,
    ),
    "the inner condition is received": (
        "if (rank) { MPI_Recv(&turn, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); "
        f"if (turn) {{ {SEND} }} }} else {{ {SEND} }}",
        ["if (rank)", "if (turn)"],
    ),
    "a variable of the branch": (
        f"if (rank) {{ int k = turn; {RECV} f[k] = in[k]; }} else {{ {SEND} }}",
        None,
    ),
    "in a loop": (f"for (int k = 0; k < 2; k++) if (rank) {{ {SEND} }} else {{ {RECV} }}", None),
}


@pytest.mark.parametrize("name", TURN)
def test_by_turns(name: str, tmp_path: Path) -> None:
    """What a branch sends and receives is started in it; what needs it is done in it later."""
    body, conditions = TURN[name]
    path = tmp_path / "case.c"
    text = re.sub(r"([;{}]) (?![;0-9a-z]+ = |[0-9a-z]+ < |i\+\+)", r"\1\n    ", body)
    path.write_text(TURNS % text)
    after = transform([path], Options()).after[str(path)].decode()
    assert ("exchange_finish(" in after) is (conditions is not None)
    if conditions is None:
        return
    finish = after.split("static void exchange_finish(")[1].split("int main(")[0]
    asked = re.findall(r"(?:else )?if \(.*?\)(?= \{)|else(?= \{)", finish)
    assert asked == conditions
    assert finish.index("MPI_Waitall") < (finish.find("if (") if conditions else len(finish))
