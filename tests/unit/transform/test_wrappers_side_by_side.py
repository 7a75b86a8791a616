"""Calls of wrappers that nothing computes beside: their messages are under way together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#define N 64
static double u[N + 2], v[N + 2], in[2][4], out[2][4];
static int rank, size, left, right, seen, came;
static void pass(double *a, double *b, int to, int from, int tag)
{
    MPI_Sendrecv(a, 4, MPI_DOUBLE, to, tag, b, 4, MPI_DOUBLE, from, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
%(more)s}
static void pass_back(double *a, double *b, int to, int from, int tag)
{
    MPI_Sendrecv(a, 4, MPI_DOUBLE, to, tag, b, 4, MPI_DOUBLE, from, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) %% size;
    right = (rank + 1) %% size;
    for (int k = 0; k < 5; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        %(first)s
        %(between)s
        %(second)s
        MPI_Barrier(MPI_COMM_WORLD);
        u[0] = in[0][0] + in[1][1] + seen;
        for (int i = 0; i < 4; i++)
            out[0][i] = out[1][i] = u[i];
    }
    MPI_Finalize();
    return (int)u[0] + (int)v[0] + came;
}
"""
USUAL = {
    "more": "",
    "first": "pass(out[0], in[0], right, left, 1);",
    "between": "",
    "second": "pass(out[1], in[1], left, right, 2);",
}
TOGETHER: dict[str, dict[str, str]] = {
    "two calls": {},
    "of two wrappers": {"second": "pass_back(out[1], in[1], left, right, 2);"},
    "one message after another of one tag": {"second": "pass(out[1], in[1], right, left, 1);"},
    "from one buffer": {"second": "pass(out[0], in[1], left, right, 2);"},
    "a number between": {"between": "seen++;"},
    "what each finish counts": {"more": "    came++;\n"},
}
APART: dict[str, dict[str, str]] = {
    "the second sends what came": {"second": "pass(in[0], in[1], left, right, 2);"},
    "both receive into one buffer": {"second": "pass(out[1], in[0], left, right, 2);"},
    "what came is used between": {"between": "out[1][0] = in[0][3];"},
    "what is sent is set between": {"between": "out[0][1] = seen;"},
    "a barrier between": {"between": "MPI_Barrier(MPI_COMM_WORLD);"},
    "the tag is what is counted": {
        "more": "    came++;\n",
        "second": "pass(out[1], in[1], left, right, came);",
    },
    "anybody may send": {
        "between": "MPI_Recv(v, 0, MPI_DOUBLE, MPI_ANY_SOURCE, 9, "
        "MPI_COMM_SELF, MPI_STATUS_IGNORE);"
    },
}


def calls(fields: dict[str, str], folder: Path) -> list[str]:
    """The halves in the main program, in their order."""
    source = folder / "program.c"
    source.write_text(PROGRAM % {**USUAL, **fields})
    text = transform([source], Options()).after[str(source)].decode()
    main = text[text.index("int main") :]
    return re.findall(r"pass(?:_back)?_(start|finish)\(", main)


@pytest.mark.parametrize("fields", TOGETHER.values(), ids=TOGETHER)
def test_they_go_together(fields: dict[str, str], tmp_path: Path) -> None:
    assert calls(fields, tmp_path) == ["start", "start", "finish", "finish"]


@pytest.mark.parametrize("fields", APART.values(), ids=APART)
def test_they_stay_apart(fields: dict[str, str], tmp_path: Path) -> None:
    assert calls(fields, tmp_path) in ([], ["start", "finish"], ["start", "finish"] * 2)


def test_work_beside_one_is_worth_more(tmp_path: Path) -> None:
    work = "for (int i = 0; i < N; i++)\n            v[i] = 0.5 * v[i] + i;"
    source = tmp_path / "program.c"
    source.write_text(PROGRAM % {**USUAL, "second": USUAL["second"] + f"\n        {work}"})
    text = transform([source], Options()).after[str(source)].decode()
    main = text[text.index("int main") :]
    assert main.index("pass_start(") < main.index("v[i] = 0.5") < main.index("pass_finish(")


def test_what_is_told_of_it(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM % USUAL)
    outcome = transform([source], Options())
    decision = next(d for d in outcome.decisions if d.site.routine.name == "pass")
    assert decision.decision == "rewritten"
    assert "other messages are under way at the same time" in str(decision.reason)
    assert any("under way together in main" in detail for detail in decision.details)
