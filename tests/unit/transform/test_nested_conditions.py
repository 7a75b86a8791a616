"""Wrappers of wrappers that call these on conditions: both halves have them.

Each program that must stay differs from one that is split in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 500
static double u[N + 2], v[N + 2], w[N + 2], x[N + 2];
static int rank, size, up, down, both = 1, late = 1;
static int ask(void)
{
    return late++;
}
static void exchange(double *a, int tag)
{
    if (size > 1)
        MPI_Sendrecv(&a[1], 1, MPI_DOUBLE, up, tag, &a[N + 1], 1, MPI_DOUBLE, down, tag,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void exchange_all(void)
{
    exchange(u, 1);
    if (both)
        exchange(v, 2);
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
        exchange_all();
        decay();
        for (int i = 1; i <= N; i++) {
            u[i] += 0.5 * u[i + 1] + w[i];
            v[i] += 0.25 * v[i + 1];
        }
    }
    printf("%g %g\\n", u[1], v[1] + x[N + 1]);
    MPI_Finalize();
    return 0;
}
"""
GUARDED = "    if (both)\n        exchange(v, 2);\n"
SPLIT = {
    "as it is": {},
    "with braces": {GUARDED: "    if (both) {\n        exchange(v, 2);\n    }\n"},
    "two in one": {
        f"    exchange(u, 1);\n{GUARDED}": (
            "    if (both) {\n        exchange(u, 1);\n        exchange(v, 2);\n    }\n"
        )
    },
    "the other branch": {
        GUARDED: "    if (both)\n        exchange(v, 2);\n    else\n        v[N + 1] = 1.0;\n"
    },
    "a second one": {GUARDED: f"{GUARDED}    if (late == 3)\n        exchange(x, 3);\n"},
    "set further down": {GUARDED: f"{GUARDED}    both = 1 - both;\n"},
    "work beside it": {
        GUARDED: "    if (both) {\n        w[0] += 1.0;\n        exchange(v, 2);\n    }\n"
    },
}
STAYS = {
    "the condition has an effect": {"if (both)": "if (late++ > 2)"},
    "the condition calls": {"if (both)": "if (ask() > 2)"},
    "its branch changes it": {
        GUARDED: "    if (both) {\n        exchange(v, 2);\n        both = 0;\n    }\n"
    },
    "a message changes it": {"if (both)": "if (v[N + 1] < 9.0)"},
    "another message": {
        GUARDED: "    if (both) {\n        exchange(v, 2);\n        MPI_Barrier(MPI_COMM_WORLD);\n"
        "    }\n"
    },
    "in a loop": {GUARDED: "    while (both-- > 0)\n        exchange(v, 2);\n    both = 1;\n"},
    "it may be left": {
        GUARDED: "    if (both) {\n        if (late > 4)\n            return;\n"
        "        exchange(v, 2);\n    }\n"
    },
}


@pytest.mark.parametrize("name", SPLIT)
def test_split(name: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "halo.c", changed(PROGRAM, SPLIT[name]))
    loop = text[text.index("for (int step") :]
    start, finish = loop.index("exchange_all_start("), loop.index("exchange_all_finish(")
    assert start < loop.index("decay();") < finish
    halves = text[: text.index("static void decay")]
    for half in ("start", "finish"):
        part = halves[halves.index(f"static void exchange_all_{half}(") :]
        assert part.index("if (both)") < part.index("exchange_") or "    exchange_" in part


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "halo.c", changed(PROGRAM, STAYS[name]))
    assert "exchange_all_start(" not in text, text


def test_a_condition_that_the_work_changes(tmp_path: Path) -> None:
    """The finish would ask it once more: it stays in front of that work."""
    text = rewritten(
        tmp_path / "halo.c",
        changed(PROGRAM, {"        decay();": "        decay();\n        both ^= 1;"}),
    )
    loop = text[text.index("for (int step") :]
    assert loop.index("exchange_all_finish(") < loop.index("both ^= 1;")
    text = rewritten(
        tmp_path / "work.c",
        changed(PROGRAM, {"        w[i] = 0.5": "        both = 0, w[i] = 0.5"}),
    )
    assert "exchange_all_start(" not in text
