"""Both faces of an axis are under way together, where packing and unpacking touch other elements.

Each program that must be rewritten stands beside some that differ in what makes it wrong.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
struct grid {
    int n[2], peer[4], count[2];
    double *out[4], *in[4];
};
static int wide = 1;
static size_t at(const struct grid *g, int i, int j)
{
    return (size_t)i * (size_t)(g->n[1] + 2) + (size_t)j;
}
%(bounds)s
static void pack(const struct grid *g, const double *u, int face, double *values)
{
    int low[2], high[2];
    if (g->peer[face] == MPI_PROC_NULL)
        return;
    layer(g, face, 0, low, high);
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            *values++ = u[at(g, i, j)];
}
static void unpack(const struct grid *g, double *u, int face, const double *values)
{
    int low[2], high[2];
    if (g->peer[face] == MPI_PROC_NULL)
        return;
    layer(g, face, 1, low, high);
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            u[at(g, i, j)] = *values++;
}
static void exchange(struct grid *g, double *u)
{
    for (int d = 0; d < 2; d++) {
%(exchange)s
    }
}
int main(int argc, char **argv)
{
    struct grid g;
    MPI_Comm comm;
    int none[2] = {0, 0}, dims[2] = {0, 0}, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, none, 0, &comm);
    for (int d = 0; d < 2; d++) {
        MPI_Cart_shift(comm, d, 1, &g.peer[2 * d], &g.peer[2 * d + 1]);
        g.n[d] = argc > 1 ? atoi(argv[1]) : 20;
    }
    g.count[0] = g.n[1];
    g.count[1] = g.n[0];
    for (int f = 0; f < 4; f++) {
        g.out[f] = malloc(g.count[f / 2] * sizeof(double));
        g.in[f] = malloc(g.count[f / 2] * sizeof(double));
    }
    %(main)s
    double *u = calloc((size_t)(g.n[0] + 2) * (size_t)(g.n[1] + 2), sizeof(double));
    exchange(&g, u);
    printf("%%g\\n", u[5]);
    MPI_Finalize();
    return 0;
}
"""
LAYER = """static void layer(const struct grid *g, int face, int ghost, int *low, int *high)
{
    for (int d = 0; d < 2; d++) {
        low[d] = 1;
        high[d] = g->n[d];
    }
    int d = face / 2;
    low[d] = high[d] = face % 2 ? g->n[d] + ghost : 1 - ghost;
}
"""
EXCHANGE = """        int lower = 2 * d, upper = 2 * d + 1;
        pack(g, u, lower, g->out[lower]);
        MPI_Sendrecv(g->out[lower], g->count[d], MPI_DOUBLE, g->peer[lower], 0, g->in[upper],
                     g->count[d], MPI_DOUBLE, g->peer[upper], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        unpack(g, u, upper, g->in[upper]);
        pack(g, u, upper, g->out[upper]);
        MPI_Sendrecv(g->out[upper], g->count[d], MPI_DOUBLE, g->peer[upper], 1, g->in[lower],
                     g->count[d], MPI_DOUBLE, g->peer[lower], 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        unpack(g, u, lower, g->in[lower]);"""


def program(bounds: str = LAYER, exchange: str = EXCHANGE, main: str = "") -> str:
    return PROGRAM % {"bounds": bounds, "exchange": exchange, "main": main}


def layer(body: str) -> str:
    head = "static void layer(const struct grid *g, int face, int ghost, int *low, int *high)"
    return f"{head}\n{{\n{body}\n}}\n"


OWN_BRANCHES = layer("""    low[0] = low[1] = 1;
    high[0] = g->n[0], high[1] = g->n[1];
    if (face == 0)
        low[0] = high[0] = 1 - ghost;
    else if (face == 1)
        low[0] = high[0] = g->n[0] + ghost;
    else if (face == 2)
        low[1] = high[1] = 1 - ghost;
    else
        low[1] = high[1] = g->n[1] + ghost;""")
ONE_ROUTINE_DEEPER = """
static void ends(const struct grid *g, int axis, int upper, int ghost, int *low, int *high)
{
    *high = upper ? g->n[axis] + ghost : 1 - ghost;
    *low = *high;
}
""" + layer("""    int axis = face >> 1, other = 1 - axis;
    low[other] = 1;
    high[other] = g->n[other];
    ends(g, axis, face & 1, ghost, &low[axis], high + axis);""")
CASES = layer("""    low[0] = low[1] = 1;
    high[0] = g->n[0], high[1] = g->n[1];
    switch (face) {
    case 0:
        low[0] = high[0] = 1 - ghost;
        break;
    case 1:
        low[0] = high[0] = g->n[0] + ghost;
        break;
    case 2: {
        low[1] = high[1] = 1 - ghost;
        break;
    }
    default:
        low[1] = high[1] = g->n[1] + ghost;
    }""")
TWO_LABELS = layer("""    int axis = face >> 1, side = 1 - ghost;
    low[1 - axis] = 1;
    high[1 - axis] = g->n[1 - axis];
    switch (face) {
    case 1:
    case 3:
        side = g->n[axis] + ghost;
        break;
    }
    low[axis] = high[axis] = side;""")
FIRST_SIDES = LAYER.replace("1 - ghost;", "(ghost == 0);")
ASKS = "        if (g->n[0] < 1 || g->n[1] < 1)\n            return;\n"
# Programs of which both faces go together.
SWAP = "\n        double *t = g->out[0]; g->out[0] = g->out[1]; g->out[1] = t;"
DONE = {
    "buffers that change places": program(exchange=EXCHANGE + SWAP),
    "by division and remainder": program(),
    "branches": program(OWN_BRANCHES),
    "cases": program(CASES),
    "cases that return": program(CASES.replace("break;", "return;")),
    "cases of two labels": program(TWO_LABELS),
    "a routine in the routine": program(ONE_ROUTINE_DEEPER),
    "a comparison": program(FIRST_SIDES),
    "constants instead of a loop": program(
        exchange=EXCHANGE.replace("int lower = 2 * d, upper = 2 * d + 1;", "")
        .replace("lower", "0")
        .replace("upper", "1")
        .replace("[d]", "[0]")
    ),
    "the upper face first": program(
        exchange=EXCHANGE.replace("lower", "one").replace("upper", "lower").replace("one", "upper")
    ),
    "sizes that are looked at": program(exchange=ASKS + EXCHANGE),
}


def run(text: str, tmp_path: Path) -> tuple[str, Outcome]:
    path = tmp_path / "case.c"
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode(), outcome


def packs_both_first(text: str) -> bool:
    """Whether both faces are packed before any is unpacked, in what is not a copy."""
    body = text[text.index("static void exchange") : text.index("int main")]
    body = body[body.rindex("continue;") :] if "continue;" in body else body
    return body.rindex("    pack(") < body.index("unpack(")


@pytest.mark.parametrize("name", DONE)
def test_together(name: str, tmp_path: Path) -> None:
    after, _ = run(DONE[name], tmp_path)
    assert packs_both_first(after), after
    assert after.count("MPI_Irecv") == 2, after
    path = tmp_path / "case.c"
    path.write_text(after)
    assert transform([path], Options()).after[str(path)].decode() == after


# What is asked for where the program does not show it, and nothing else.
def test_guard(tmp_path: Path) -> None:
    after, outcome = run(DONE["by division and remainder"], tmp_path)
    assert "if (g->n[1] < 0) { /* imbrex: as before, where elements may be shared */" in after
    assert after.count("MPI_Sendrecv") == 2  # the copy's
    assert [d.decision for d in outcome.decisions].count("rewritten") == 2
    lines = DONE["by division and remainder"].splitlines()
    for decision in outcome.decisions:
        assert decision.site.call.name in lines[decision.site.call.line - 1]


def test_no_guard_where_the_program_asks(tmp_path: Path) -> None:
    after, _ = run(DONE["sizes that are looked at"], tmp_path)
    assert "imbrex: as before" not in after


REFUSED = {
    "unpacks what it packs": program(LAYER.replace("+ ghost : 1 - ghost", ": 1")),
    "two layers deep": program(LAYER.replace("low[d] = high[d] =", "high[d] =")),
    "a width that another routine may set": program(
        LAYER.replace("n[d] + ghost", "n[d] + ghost * wide"), main="wide = argc - 1;"
    ),
    "a size that a routine changes": program(
        LAYER.replace("    int d = face / 2;", "    int d = face / 2;\n    wide++;").replace(
            "n[d] + ghost", "n[d] + ghost * wide"
        )
    ),
    "faces with their corners, of two axes": program(
        LAYER.replace("low[d] = 1;", "low[d] = 0;").replace("= g->n[d];", "= g->n[d] + 1;"),
        EXCHANGE.replace("pack(g, u, upper,", "pack(g, u, (upper + 2) % 4,", 2).replace(
            "unpack(g, u, (upper + 2) % 4,", "unpack(g, u, upper,"
        ),
    ),
    "another face than it seems": program(
        exchange=EXCHANGE.replace("2 * d + 1;", "2 * d + 1;\n        upper = argument;").replace(
            "        int lower", "        int argument = g->peer[0], lower"
        )
    ),
    "bounds that stay as they were": program().replace(
        "    layer(g, face, 0, low, high);", "    if (wide) layer(g, face, 0, low, high);"
    ),
    "a case that runs into the next": program(
        CASES.replace("1 - ghost;\n        break;\n    case 1:", "1 - ghost;\n    case 1:")
    ),
    "a case that is left in the middle": program(
        CASES.replace(
            "low[0] = high[0] = 1 - ghost;", "if (wide) break; low[0] = high[0] = 1 - ghost;"
        )
    ),
    "a case that unpacks what it packs": program(CASES.replace("g->n[0] + ghost", "g->n[0]")),
    "a face without a case": program(TWO_LABELS.replace("case 3:", "case 3: default:")),
    "cases of something else": program(CASES.replace("switch (face)", "switch (face + wide)")),
    "counted in twos": program(LAYER.replace("d < 2; d++", "d < 2; d += 2")),
    "a bound set behind the routine": program().replace(
        "    layer(g, face, 0, low, high);", "    layer(g, face, 0, low, high);\n    high[0]++;"
    ),
    "bounds through another pointer": program().replace(
        "    layer(g, face, 0, low, high);",
        "    int *other = face % 2 ? low : high;\n    layer(g, face, 0, low, high);\n"
        "    other[0] += wide;",
    ),
    "a size that changes behind the question": program(
        exchange=f"{ASKS}        g->n[1] -= 2;\n{EXCHANGE}"
    ),
    "a size that changes between the faces": program(
        exchange=ASKS
        + EXCHANGE.replace(
            "        pack(g, u, upper,", "        g->n[1]--;\n        pack(g, u, upper,", 1
        )
    ),
    "one buffer for both faces": program(
        main="for (int f = 1; f < 4; f++) g.in[f] = g.in[0], g.out[f] = g.out[0];"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_one_after_the_other(name: str, tmp_path: Path) -> None:
    after, _ = run(REFUSED[name], tmp_path)
    assert not packs_both_first(after), after


# The second face may be packed once the first has left, and is received behind the unpacking.
SHARED = {
    "buffers that are parts of one": program(main="g.out[1] = g.out[0] + 1;"),
    "a buffer that another takes over": program(
        exchange=EXCHANGE + "\n        g->out[0] = g->out[1];"
    ),
    "one buffer twice": program(main="g.out[1] = g.out[0];"),
    "a part of another array": program(main="g.out[1] = pool + 5;").replace(
        "static int wide", "static double pool[900];\nstatic int wide"
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_first_has_left(name: str, tmp_path: Path) -> None:
    after, _ = run(SHARED[name], tmp_path)
    body = after[after.index("static void exchange") : after.index("int main")]
    body = body[body.rindex("continue;") :] if "continue;" in body else body
    first, second = (m.start() for m in re.finditer(r"\bpack\(", body))
    sent = body.find("MPI_Isend", first)
    assert "MPI_Wait(" in body[sent:second] or "MPI_Sendrecv(" in body[first:second], after


def test_receives_into_one_buffer(tmp_path: Path) -> None:
    after, _ = run(program(main="g.in[1] = g.in[0];"), tmp_path)
    body = after[after.index("static void exchange") : after.index("int main")]
    body = body[body.rindex("continue;") :] if "continue;" in body else body
    receives = [m.start() for m in re.finditer(r"MPI_Irecv|MPI_Sendrecv", body)]
    assert receives[1] > body.index("unpack(") or (len(receives) == 2 and "Sendrecv" in body), after
