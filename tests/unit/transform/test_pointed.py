"""Kernels that go through local pointers: divided where these surely name what messages do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

C = (Path(__file__).parent / "cases" / "pointed.c").read_text()
U = "    const double *u = g->u;\n    double *f = g->f;\n"
ROWS = "        const double *row = u + j * m, *north = row - m, *south = row + m;\n"
OUT = "        double *out = f + j * m;\n"
CELL = "            const double *cell = &g->f[j * m + i];\n"
LINE = "            out[i] = 0.25 * (north[i] + south[i] + row[i - 1] + row[i + 1]);\n"
MORE = """static int parity;
static double *kept;
static void turn(Grid *g)
{
    double *t = g->u;
    g->u = g->f;
    g->f = t;
}
static void keep(double **p)
{
    kept = *p;
    *p = *p + 1;
}
static void by_rows("""

# What is changed in `by_rows`; both of its exchange and its loop.
ROWS_GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "elements of the row": {ROWS: ROWS.replace("u + j * m", "&u[j * m]")},
    "the field itself": {U: "    double *f = g->f;\n", ROWS: ROWS.replace("= u +", "= g->u +")},
    "one behind the other": {
        ROWS: "        const double *row = u + j * m;\n        const double *north = row - m;\n"
        "        const double *south = north + 2 * m;\n"
    },
    "columns beside it": {
        ROWS: ROWS.replace("south = row + m", "south = row + m, *west = row - 1"),
        "row[i - 1]": "west[i]",
    },
    "constant pointers": {U: U.replace("*u", "*const u").replace("*f", "*const f")},
    "restricted pointers": {U: U.replace("*u", "*restrict u").replace("*f", "*restrict f")},
    "rows from the end": {ROWS: ROWS.replace("row - m", "u + (g->ny + 1 - j) * m")},
    "a length of another name": {ROWS: ROWS.replace("m", "(g->nx + 2)")},
    "values for a function": {
        MORE: MORE.replace(
            "static void by_rows(",
            "static double most(double a, double b)\n{\n    return a > b ? a : b;\n}\n"
            "static void by_rows(",
        ),
        "north[i] + south[i]": "most(north[i], south[i])",
    },
}
ROWS_STAY: dict[str, dict[str, str]] = {
    "in place": {OUT: "        double *out = g->u + j * m;\n"},
    "in place by another pointer": {U: U.replace("= g->f", "= g->u")},
    "a row behind": {OUT: OUT.replace("j * m", "(j + 1) * m"), "row[i - 1]": "out[i - m]"},
    "pointers that step": {
        U: U + "    const double *row = u + m, *north = u, *south = u + 2 * m;\n",
        ROWS: "",
        "row[i + 1]);\n": "row[i + 1]);\n        row += m, north += m, south += m;\n",
    },
    "a pointer that is set again": {U: U + "    if (parity)\n        u = g->f;\n"},
    "one of two": {U: U.replace("= g->u", "= parity ? g->u : g->f")},
    "its address is taken": {U: U.replace("const double *u", "double *u") + "    keep(&u);\n"},
    "the fields change places": {U: U + "    turn(g);\n"},
    "the fields change places behind": {
        "row[i + 1]);\n    }\n": "row[i + 1]);\n    }\n    turn(g);\n",
        U: "    turn(g);\n" + U,
    },
    "the length changes": {
        "const int m = g->nx + 2;\n    const double *u": "int m = g->nx + 2;\n    const double *u",
        ROWS: "        const double *row = u + j * m;\n        m += parity;\n"
        "        const double *north = row - m, *south = row + m;\n",
    },
    "the row of a counter": {
        U: U + "    int k = 0;\n",
        ROWS: ROWS.replace("j * m", "++k * m").replace("= u", "= u"),
    },
    "any row": {ROWS: ROWS.replace("row - m", "row - parity * m")},
    "the first row": {ROWS: ROWS.replace("row - m", "u")},
    "rows of an outer counter": {
        U: U + "    for (int k = 0; k < 3; k++) {\n    const double *south = u + k * m;\n",
        ROWS: ROWS.replace(", *south = row + m", ""),
        "row[i + 1]);\n    }\n": "row[i + 1]);\n    }\n    }\n",
    },
    "another type": {
        ROWS: ROWS.replace("*south = row + m", "*south = (const double *)((char *)u + j)")
    },
}
CELLS_STAY: dict[str, dict[str, str]] = {
    "in place": {"double *const w = g->w;": "double *const w = g->f;"},
    "a cell of another place": {CELL: CELL.replace("j * m + i", "parity * m + i")},
}


def in_c(tmp_path: Path, replaced: dict[str, str]) -> str:
    text = changed(C, {"static void by_rows(": MORE})
    return rewritten(tmp_path / "pointed.c", changed(text, replaced))


def test_all_are_divided(tmp_path: Path) -> None:
    text = in_c(tmp_path, {})
    place = text.index("exchange_start(&g, g.u")
    for name in (
        *("by_rows_interior(&g)", "exchange_finish", "by_rows_boundary(&g)"),
        *("exchange_start(&g, g.f", "by_cells_interior(&g)", "exchange_finish"),
        "by_cells_boundary(&g)",
    ):
        place = text.index(name, place) + 1


@pytest.mark.parametrize("replaced", ROWS_GO.values(), ids=ROWS_GO)
def test_rows_are_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "by_rows_interior(&g)" in in_c(tmp_path, replaced)


@pytest.mark.parametrize("replaced", ROWS_STAY.values(), ids=ROWS_STAY)
def test_rows_that_stay(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "by_rows_interior" not in in_c(tmp_path, replaced)


@pytest.mark.parametrize("replaced", CELLS_STAY.values(), ids=CELLS_STAY)
def test_cells_that_stay(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "by_cells_interior" not in in_c(tmp_path, replaced)


def test_two_rows_away(tmp_path: Path) -> None:
    """As many rows stay behind the messages as the pointers reach."""
    away = {ROWS: ROWS.replace("row - m", "row - (j > 1 ? 2 : 1) * m")}
    assert "by_rows_interior" not in in_c(tmp_path, away)
    text = in_c(tmp_path, {ROWS: ROWS.replace("row - m", "row - 2 * m"), "int j = 1": "int j = 2"})
    assert "for (int j = 3; j <= g->ny - 1" in text


THREE_ROWS = "        for (int i = 0; i < 3 * m; i++)\n            out[1] += row[i];\n"
LOOP = "    for (int j = 1; j <= g->ny; j++) {\n        const double *row"


def test_several_rows_at_once(tmp_path: Path) -> None:
    loop = "        for (int i = 1; i <= g->nx; i++)\n" + LINE
    assert "by_rows_interior" not in in_c(tmp_path, {loop: THREE_ROWS})


def test_the_row_of_an_index_before_its_loop(tmp_path: Path) -> None:
    """It is one row, whatever the index is in the loop."""
    before = "    int j = 0;\n    const double *first = u + j * m;\n"
    replaced = {
        U: U + before,
        LOOP: LOOP.replace("int j", "j"),
        "north[i]": "first[i]",
    }
    assert "by_rows_interior" not in in_c(tmp_path, replaced)


WHOLE = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, n = 1000;
    MPI_Request r[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *a = calloc(n + 2, sizeof(double)), *b = calloc(n + 2, sizeof(double));
    double *c = calloc(n + 2, sizeof(double));
    for (int step = 0; step < 10; step++) {
        const double *u = a;
        double *f = c;
        //
        MPI_Irecv(&a[n + 1], 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&a[1], 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int i = 1; i <= n; i++)
            f[i] = u[i - 1] + u[i + 1];
        for (int i = 1; i <= n; i++)
            a[i] = b[i] + c[i];
    }
    MPI_Finalize();
    return 0;
}
"""
TURN = "        double *t = a;\n        a = b;\n        b = t;\n"


def divides(tmp_path: Path, replaced: dict[str, str]) -> bool:
    text = rewritten(tmp_path / "whole.c", changed(WHOLE, replaced))
    wait = text.index("MPI_Wait")
    return "for (int i = 1; i <= n - 1; i++)\n            f[i]" in text[:wait]


def test_in_the_routine_of_the_messages(tmp_path: Path) -> None:
    assert divides(tmp_path, {})
    assert divides(tmp_path, {"&a[n + 1]": "&u[n + 1]", "&a[1]": "&u[1]", "const double": "double"})
    assert not divides(tmp_path, {"        //\n": TURN})
    assert not divides(tmp_path, {"        //\n": TURN, "f[i] = u": "f[i] = b[i] + u"})
    assert not divides(tmp_path, {"*f = c;": "*f = a;"})
