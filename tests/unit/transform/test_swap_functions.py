"""Functions that exchange two pointers: `swap(&u, &unew);` leaves each array in one of them.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

SWAP = "static void swap(double **a, double **b)\n{\n%s}\n"
PLAIN = "    double *t = *a;\n    *a = *b;\n    *b = t;\n"
PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct grid { int n, up, down; double *u, *unew; };
SWAP
static void exchange(double *u, int n, int up, int down)
{
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, up, 0, &u[n + 1], 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void relax(const double *u, double *v, int n)
{
    for (int i = 1; i <= n; i++)
        v[i] = 0.5 * (u[i] + u[i + 1]);
}
int main(int argc, char **argv)
{
    int rank, size, n = 64;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = (rank + 1) % size, down = (rank + size - 1) % size;
    double *u = calloc(n + 2, sizeof *u), *unew = calloc(n + 2, sizeof *u);
    for (int i = 0; i < n + 2; i++)
        u[i] = i + rank;
    for (int step = 0; step < 9; step++) {
        exchange(u, n, up, down);
        relax(u, unew, n);
        swap(&u, &unew);
    }
    printf("%g\\n", u[1]);
    MPI_Finalize();
    return 0;
}
"""
BODIES = {
    "as it is": (PLAIN, True),
    "declared before": ("    double *t;\n    t = *a;\n    *a = *b;\n    *b = t;\n", True),
    "with comments": (PLAIN.replace("    *a", "    /* now */ *a").replace("t;", "t; // end"), True),
    "the other way round": ("    double *t = *b;\n    *b = *a;\n    *a = t;\n", True),
    "returning": (f"{PLAIN}    return;\n", True),
    "both get one": ("    double *t = *a;\n    *a = *b;\n    *b = *a;\n    (void)t;\n", False),
    "the second is lost": ("    double *t = *b;\n    *a = t;\n    *b = t;\n", False),
    "moved": ("    double *t = *a;\n    *a = *b;\n    *b = t + 1;\n", False),
    "sometimes": (f"    if (a[0] == b[0])\n        return;\n{PLAIN}", False),
    "it keeps an address": (f"    static double **last;\n    last = a;\n{PLAIN}", False),
}
CALLS: dict[str, tuple[dict[str, str], bool]] = {
    "in a condition": ({"        swap(&u": "        if (step % 2)\n            swap(&u"}, True),
    "in another one": ({"swap(&u, &unew);\n    }": "swap(&unew, &u);\n    }"}, True),
    "a third pointer": (
        {"        swap(": "        double *w = unew;\n        swap(&w, &u);\n        swap("},
        False,
    ),
    "one set to the other": ({"        swap(": "        unew = u;\n        swap("}, False),
    "an address is known": (
        {"    for (int step": "    double **p = &u;\n    *p = unew;\n    for (int step"},
        False,
    ),
    "through a pointer": (
        {
            "    for (int step": "    void (*f)(double **, double **) = swap;\n    for (int step",
            "        swap(": "        f(",
        },
        False,
    ),
    "the elements behind": ({"swap(&u, ": "unew++;\n        swap(&u, "}, False),
    "with itself": ({"swap(&u, &unew);": "swap(&u, &u);\n        unew = u;"}, False),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_the_function_does(name: str, tmp_path: Path) -> None:
    body, split = BODIES[name]
    text = rewritten(tmp_path / "case.c", PROGRAM.replace("SWAP", SWAP % body))
    assert ("exchange_start(" in text) is split, text
    assert ("relax_interior(" in text) is split, text


@pytest.mark.parametrize("name", CALLS)
def test_how_it_is_called(name: str, tmp_path: Path) -> None:
    replacements, split = CALLS[name]
    program = changed(PROGRAM.replace("SWAP", SWAP % PLAIN), replacements)
    text = rewritten(tmp_path / "case.c", program)
    assert ("relax_interior(" in text) is split, text


FIELDS = {
    "    double *u = calloc(n + 2, sizeof *u), *unew = calloc(n + 2, sizeof *u);\n": (
        "    struct grid g;\n    FILLED\n    g.u = calloc(n + 2, sizeof *g.u);\n"
        "    g.unew = calloc(n + 2, sizeof *g.u);\n"
    ),
    "u[i] = i": "g.u[i] = i",
    "exchange(u,": "exchange(g.u,",
    "relax(u, unew,": "relax(g.u, g.unew,",
    "swap(&u, &unew)": "swap(&g.u, &g.unew)",
    '", u[1]': '", g.u[1]',
}
# What fills a structure at first, and whether that leaves the arrays apart.
FILLED = {
    "(void)0;": True,
    "memset(&g, 0, sizeof g);": True,
    "struct grid other; memcpy(&g, &other, sizeof g);": False,
    "struct grid other = {0}; g = other;": False,
}


@pytest.mark.parametrize("filled", FILLED)
def test_fields(filled: str, tmp_path: Path) -> None:
    program = changed(PROGRAM.replace("SWAP", SWAP % PLAIN), FIELDS).replace("FILLED", filled)
    text = rewritten(tmp_path / "case.c", program)
    assert ("relax_interior(" in text) is FILLED[filled], text


# How a macro exchanges the two fields, and whether that leaves the arrays apart.
MACROS = {
    "do { double *t_ = (a); (a) = (b); (b) = t_; } while (0)": True,
    "do { double *t_ = a; a = b; b = t_; } while (0)": True,
    "do { double *t_ = a; a = b; (void)t_; } while (0)": False,
    "do { double *t_ = a; a = b; b = t_ + 1; } while (0)": False,
    "do { double *t_ = b; a = b; b = t_; } while (0)": False,
}


@pytest.mark.parametrize("macro", MACROS)
def test_macros(macro: str, tmp_path: Path) -> None:
    program = changed(PROGRAM, FIELDS | {"SWAP": f"#define EXCHANGE(a, b) {macro}"})
    program = changed(program, {"FILLED": "", "swap(&g.u, &g.unew)": "EXCHANGE(g.u, g.unew)"})
    text = rewritten(tmp_path / "case.c", program)
    assert ("relax_interior(" in text) is MACROS[macro], text


def test_a_function_of_another_file(tmp_path: Path) -> None:
    main, swap = tmp_path / "main.c", tmp_path / "swap.c"
    main.write_text(PROGRAM.replace("SWAP", "void swap(double **a, double **b);"))
    swap.write_text((SWAP % PLAIN).removeprefix("static "))
    alone = transform([main], Options()).after[str(main)]
    assert b"relax_interior(" not in alone
    both = transform([main, swap], Options()).after[str(main)]
    assert b"relax_interior(" in both
