"""Routines of C around a message that return at once where there is nothing to exchange.

Each program that must stay differs from one that is split in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct {
    int n;
    double *u;
} field;
static double u[102], v[102];
static int up = MPI_PROC_NULL, down = MPI_PROC_NULL, size, asked;
static int counted(void)
{
    return asked++;
}
static int alone(void)
{
    return size == 1;
}
static void exchange(const field *f)
{
    %(first)s
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, up, 0, &u[101], 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    %(last)s
}
static void step(void)
{
    for (int i = 1; i <= 100; i++)
        v[i] = u[i - 1] + u[i + 1];
}
int main(int argc, char **argv)
{
    field f = {3, u};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int t = 0; t < 3; t++) {
        exchange(&f);
        %(between)s
        step();
    }
    printf("%%g %%d\\n", v[5], counted() + alone());
    MPI_Finalize();
    return 0;
}
"""
# name: (what is put in, what stands in the finish in this order; None where the routine stays)
CASES: dict[str, tuple[dict[str, str], tuple[str, ...] | None]] = {
    "a variable of the file": ({"first": "if (size == 1) return;"}, ("size == 1",)),
    "in braces": ({"first": "if (size == 1) {\n        return;\n    }"}, ("size == 1",)),
    "the end of the program": ({"first": "if (size == 1) exit(1);"}, None),
    "two": ({"first": "if (!f) return;\n    if (f->n < 1) return;"}, ("!f", "f->n < 1")),
    "a declaration behind": (
        {"first": "if (!f) return;\n    int n = f->n;", "last": "u[101] *= n;"},
        ("!f", "int n = f->n;"),
    ),
    "declarations on both sides": (
        {
            "first": "int n = f->n;\n    if (n < 1) return;\n    int m = 8 / n;",
            "last": "u[101] = m;",
        },
        ("int n = f->n;", "n < 1", "int m = 8 / n;"),
    ),
    "asked of MPI": (
        {"first": "int p;\n    MPI_Comm_size(MPI_COMM_WORLD, &p);\n    if (p == 1) return;"},
        ("int p,", "p == 1"),
    ),
    "behind what the start does": (
        {"first": "u[0] = 0;\n    if (size < 2) return;"},
        ("size < 2",),
    ),
    "by a function": ({"first": "if (alone()) return;"}, None),
    "by one that counts": ({"first": "if (counted()) return;"}, None),
    "counted": ({"first": "if (asked++ > 3) return;"}, None),
    "what it does first": (
        {"first": "if (size == 1) { asked = 1; return; }"},
        ("if (size == 1) {\n        return;\n    }",),
    ),
    "what it does to that": ({"first": "if (size == 1) { size = 2; return; }"}, None),
    "otherwise": ({"first": "if (size == 1) return; else asked = 1;"}, None),
    "what came": ({"first": "if (u[101] < 0) return;"}, None),
    "what it sets behind": ({"first": "if (asked) return;", "last": "asked = 1;"}, None),
    "what is set behind its call": (
        {"first": "if (asked) return;", "between": "asked = t;"},
        ("if (asked)",),
    ),
    "what the work also asks": (
        {"first": "if (asked) return;", "between": "v[0] = asked;"},
        ("if (asked)",),
    ),
    "behind the message": ({"last": "if (asked) return;\n    u[101] = 1;"}, None),
    "behind a message": (
        {"first": "MPI_Barrier(MPI_COMM_WORLD);\n    if (asked) return;"},
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_split(name: str, tmp_path: Path) -> None:
    changes, stands = CASES[name]
    file = tmp_path / "early.c"
    file.write_text(PROGRAM % {"first": "", "last": "", "between": "", **changes})
    outcome = transform([file], Options())
    assert not outcome.skipped
    text = outcome.after[str(file)].decode()
    assert ("exchange_start(" in text) is (stands is not None), text
    if stands is not None:
        finish = text[text.index("exchange_finish(") :]
        places = [finish.index(part) for part in (*stands, "MPI_Wait")]
        assert places == sorted(places), finish
        set_behind = finish.find("asked = t;")
        assert set_behind < 0 or finish.index("exchange_finish(exchange_requests") < set_behind


def test_what_the_start_hands_on(tmp_path: Path) -> None:
    """The finish must know what it asks although the start returned."""
    file = tmp_path / "early.c"
    first = "int p;\n    MPI_Comm_size(MPI_COMM_WORLD, &p);\n    if (p == 1) return;"
    file.write_text(PROGRAM % {"first": first, "last": "", "between": ""})
    assert_handed_on(file, "if (p == 1)")


def test_what_a_macro_asks_is_handed_on_as_well(tmp_path: Path) -> None:
    file = tmp_path / "early.c"
    first = "int p;\n    MPI_Comm_size(MPI_COMM_WORLD, &p);\n    if (ALONE) return;"
    text = PROGRAM % {"first": first, "last": "", "between": ""}
    file.write_text(f"#define ALONE (p == 1)\n{text}")
    assert_handed_on(file, "if (ALONE)")


def assert_handed_on(file: Path, asked: str) -> None:
    text = transform([file], Options()).after[str(file)].decode()
    start = text[text.index("exchange_start(") :]
    assert start.index("*imbrex_p = p;") < start.index(asked)
