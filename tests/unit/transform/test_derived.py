"""Fields computed from others: row lengths and datatypes of a grid, and where nothing is known.

Each program that must stay differs from the one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.analysed import Analysis
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

GRID = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct {
    int nx, ny, ld;
    int west, east;
    MPI_Datatype column;
} grid;
#define AT(g, i, j) ((size_t)(j) * (g)->ld + (i))
static void setup(grid *g, int n, int nx, int parts)
{
    grid other;
    g->nx = n / parts;
    g->ny = n;
    g->ld = g->nx + 2;
    MPI_Type_vector(g->ny, 1, g->ld, MPI_DOUBLE, &g->column);
    MPI_Type_commit(&g->column);
}
static void change(grid *g, int n)
{
    grid other;
    /* later */
    g->west = MPI_PROC_NULL;
}
static void halo(grid *g, double *u)
{
    MPI_Request r[4];
    MPI_Irecv(u + AT(g, 0, 1), 1, g->column, g->west, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(u + AT(g, g->nx + 1, 1), 1, g->column, g->east, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(u + AT(g, g->nx, 1), 1, g->column, g->east, 0, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(u + AT(g, 1, 1), 1, g->column, g->west, 1, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}
static void smooth(const grid *g, const double *u, double *v)
{
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            v[AT(g, i, j)] = 0.5 * (u[AT(g, i - 1, j)] + u[AT(g, i + 1, j)]);
}
int main(int argc, char **argv)
{
    int n = 16, rank, size;
    grid g;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *u = calloc(10000, sizeof *u), *v = calloc(10000, sizeof *v), sum = 0;
    /* first */
    setup(&g, n, n, size);
    g.west = rank ? rank - 1 : MPI_PROC_NULL;
    g.east = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < g.ld * (g.ny + 2); i++)
        u[i] = v[i] = i + rank;
    /* in main */
    for (int s = 0; s < 10; s++) {
        halo(&g, u);
        smooth(&g, u, v);
        halo(&g, v);
        smooth(&g, v, u);
    }
    if (n < 0)
        change(&g, n);
    for (int i = 0; i < g.ld * (g.ny + 2); i++)
        sum += u[i];
    printf("%d %.15g\\n", rank, sum);
    MPI_Finalize();
    return 0;
}
"""


def grid(replacements: dict[str, str]) -> str:
    """The program with some of its text replaced."""
    text = GRID
    for old, new in replacements.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


# name: (replacements, whether the row length is known, whether the column is)
CASES: dict[str, tuple[dict[str, str], bool, bool]] = {
    "as it is": ({}, True, True),
    "set from a parameter": (
        {"g->ld = g->nx + 2;": "g->ld = nx + 2;", "g->nx = n / parts;": "g->nx = nx;"},
        True,
        True,
    ),
    "the column by parameters": ({"g->ny, 1, g->ld": "g->ny, 1, nx + 2"}, True, False),
    "a constant column": ({"g->ny, 1, g->ld": "4, 1, 40"}, True, True),
    "a length that is set again": ({"/* later */": "g->ld++;"}, False, False),
    "a width that is set again": ({"/* later */": "g->nx = 3;"}, False, True),
    "a height that is set again": ({"/* later */": "g->ny--;"}, True, False),
    "a column that is set again": ({"/* later */": "g->column = MPI_DOUBLE;"}, True, False),
    "a width set behind the length": (
        {"g->ld = g->nx + 2;": "g->ld = g->nx + 2; g->nx = n;"},
        False,
        True,
    ),
    "set in one case only": ({"g->ld = g->nx + 2;": "if (n) g->ld = g->nx + 2;"}, False, True),
    "both in one case": (
        {
            "g->nx = n / parts;": "if (n) {\n        g->nx = n / parts;",
            "g->ld = g->nx + 2;": "g->ld = g->nx + 2;\n    }",
        },
        True,
        True,  # else no width was given, and none may be asked for
    ),
    "left in between": ({"g->ny = n;": "if (n < 0) return; g->ny = n;"}, False, True),
    "asked for in between": ({"g->ny = n;": "g->ny = n + g->ld;"}, False, True),
    "of another object": ({"g->ld = g->nx + 2;": "g->ld = other.nx + 2;"}, False, True),
    "the width of another object": ({"g->nx = n / parts;": "other.nx = n / parts;"}, False, True),
    "the width of another too": (
        {"g->ny = n;": "g->ny = n; other.nx = n;"},
        False,
        True,
    ),
    "another object from here on": (
        {"g->ny = n;": "g->ny = n; g = &other;"},
        False,
        False,
    ),
    "in a loop over objects": (
        {"g->ny = n;": "g->ny = n; for (int i = 0; i < 2; i++) g[i].nx = n;"},
        False,
        True,
    ),
    "through a pointer to the field": (
        {"/* later */": "int *p = &g->nx; *p = 2;"},
        False,
        True,
    ),
    "a message sets it": (
        {"/* later */": "MPI_Bcast(&g->nx, 1, MPI_INT, 0, MPI_COMM_WORLD);"},
        False,
        True,
    ),
    "a message sets it before": (
        {"g->nx = n / parts;": "MPI_Bcast(&g->nx, 1, MPI_INT, 0, MPI_COMM_WORLD);"},
        True,
        True,
    ),
    "a message sets it later": (
        {
            "g->nx = n / parts;": "MPI_Request r; g->nx = 0; "
            "MPI_Irecv(&g->nx, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r);",
            "/* later */": "MPI_Request r = MPI_REQUEST_NULL; MPI_Wait(&r, MPI_STATUS_IGNORE);",
        },
        False,
        True,
    ),
    "a file sets it": (
        {
            "/* later */": "MPI_File f = MPI_FILE_NULL; "
            "MPI_File_read(f, &g->nx, 1, MPI_INT, MPI_STATUS_IGNORE);"
        },
        False,
        True,
    ),
    "an input sets it": ({"/* later */": 'scanf("%d", &g->nx);'}, False, True),
    "an input sets it before": ({"g->nx = n / parts;": 'scanf("%d", &g->nx);'}, False, True),
    "a length of a length": (
        {
            "g->ld = g->nx + 2;": "g->wide = g->nx + 1; g->ld = g->wide + 1;",
            "nx, ny, ld;": "nx, ny, ld, wide;",
        },
        True,
        True,
    ),
    "a length of a length that is asked for in between": (
        {
            "g->ny = n;": "g->ny = g->ld;",
            "g->ld = g->nx + 2;": "g->wide = g->nx + 1; g->ld = g->wide + 1;",
            "nx, ny, ld;": "nx, ny, ld, wide;",
        },
        False,
        True,
    ),
    "a column that MPI makes in another way": (
        {"/* later */": "MPI_Type_dup(MPI_DOUBLE, &g->column);"},
        True,
        False,
    ),
    "a message sets all of it": (
        {"/* later */": "MPI_Bcast(g, (int)sizeof *g, MPI_BYTE, 0, MPI_COMM_WORLD);"},
        False,
        False,
    ),
    "all of it is cleared": ({"/* later */": "memset(g, 0, sizeof *g);"}, False, True),
    "copied as a whole": ({"/* later */": "other = *g;"}, False, False),
    "copied byte by byte": ({"/* later */": "memcpy(g, &other, sizeof *g);"}, False, False),
    "another that is all 0": (
        {
            "static void smooth(": "static grid zero;\nstatic void smooth(",
            "/* in main */": "halo(&zero, u);",
        },
        False,
        True,
    ),
    "another with values": ({"/* in main */": "grid h = {3, 4, 5}; halo(&h, u);"}, False, False),
    "another without values": ({"/* in main */": "grid h; if (n) setup(&h, n, n, 1);"}, True, True),
    "given to unknown code": (
        {
            "static void smooth(": "void unknown(grid *);\nstatic void smooth(",
            "/* in main */": "unknown(&g);",
        },
        False,
        False,
    ),
    "a macro may set more": (
        {
            "static void setup(": "#define BOTH(a) ((a)++, other.nx++)\nstatic void setup(",
            "g->ny = n;": "g->ny = n; BOTH(g->nx);",
        },
        False,
        True,
    ),
    "a union": (
        {"int nx, ny, ld;": "int nx, ny; union { int ld; float f; };"},
        False,
        False,
    ),
    "a short length": ({"int nx, ny, ld;": "int nx, ny; short ld;"}, False, False),
    "volatile": ({"int nx, ny, ld;": "int ny, ld; volatile int nx;"}, False, False),
    "in a static object": ({"    grid g;\n": "    static grid g;\n"}, True, True),
    "in a static object that is asked for first": (
        {"    grid g;\n": "    static grid g;\n", "/* first */": "if (g.ld) return 1;"},
        False,
        True,
    ),
    "the column of a static object that is asked for first": (
        {"    grid g;\n": "    static grid g;\n", "/* first */": "halo(&g, u);"},
        False,
        True,
    ),
    "in memory of its own": (
        {
            "    grid g;\n": "    grid *h = malloc(sizeof *h);\n",
            "&g,": "h,",
            " g.": " h->",
            "(g.": "(h->",
        },
        True,
        True,
    ),
    "in memory that is all 0": (
        {
            "    grid g;\n": "    grid *h = calloc(1, sizeof *h);\n",
            "&g,": "h,",
            " g.": " h->",
            "(g.": "(h->",
        },
        False,
        True,
    ),
}


def known(path: Path) -> tuple[bool, bool]:
    program = Analysis([path], Options()).program
    assert not program.skipped, program.skipped
    strides = {
        stride
        for routine in program.routines.values()
        for statement in routine.statements()
        for access in statement.accesses
        if access.section is not None and routine.name == "smooth"
        for stride in access.strides
    }
    names = {name for stride in strides for name in stride.variables()}
    return (
        "field:grid.nx" in names and "field:grid.ld" not in names,
        "field:grid.column" in program.layouts,
    )


@pytest.mark.parametrize("name", CASES)
def test_what_is_known_of_a_grid(name: str, tmp_path: Path) -> None:
    replacements, length, column = CASES[name]
    path = tmp_path / "case.c"
    path.write_text(grid(replacements))
    assert known(path) == (length, column)
    outcome = transform([path], Options())
    rewritten = {d.site.call.name for d in outcome.decisions if d.decision == "rewritten"}
    assert ("MPI_Isend" in rewritten) is (length and column and "4, 1, 40" not in path.read_text())


def test_functions_of_a_header_are_looked_at_too(tmp_path: Path) -> None:
    text = grid({"static void setup(": '#include "case.h"\nstatic void setup('})
    path, header = tmp_path / "case.c", tmp_path / "case.h"
    path.write_text(text)
    header.write_text("static inline int twice(int n) { int m = abs(n); return 2 * m; }\n")
    assert known(path) == (True, True)
    header.write_text("static inline void widen(grid *g) { g->nx++; }\n")
    assert known(path) == (False, True)
