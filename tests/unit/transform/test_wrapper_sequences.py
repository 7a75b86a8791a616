"""Different routines that exchange one after the other: all under way beside one nest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct {
    int nx, ny, west, east, south, north;
    MPI_Comm comm;
    MPI_Datatype column;
} domain;
double tile[64];
static void rows(domain *d, double *u)
{
    int w = d->nx + 2;
    MPI_Request r[4];
    MPI_Irecv(u + 1, d->nx, MPI_DOUBLE, d->south, 0, d->comm, &r[0]);
    MPI_Irecv(u + (d->ny + 1) * w + 1, d->nx, MPI_DOUBLE, d->north, 1, d->comm, &r[1]);
    MPI_Isend(u + w + 1, d->nx, MPI_DOUBLE, d->south, 1, d->comm, &r[2]);
    MPI_Isend(u + d->ny * w + 1, d->nx, MPI_DOUBLE, d->north, 0, d->comm, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}
static void columns(domain *d, double *u)
{
    int w = d->nx + 2;
    MPI_Request r[4];
    MPI_Irecv(u + w, 1, d->column, d->west, 2, d->comm, &r[0]);
    MPI_Irecv(u + w + d->nx + 1, 1, d->column, d->east, 3, d->comm, &r[1]);
    MPI_Isend(u + w + 1, 1, d->column, d->west, 3, d->comm, &r[2]);
    MPI_Isend(u + w + d->nx, 1, d->column, d->east, 2, d->comm, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    domain d;
    int dims[2] = {0, 0}, periods[2] = {0, 0}, size, rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &d.comm);
    MPI_Comm_rank(d.comm, &rank);
    MPI_Cart_shift(d.comm, 0, 1, &d.south, &d.north);
    MPI_Cart_shift(d.comm, 1, 1, &d.west, &d.east);
    d.nx = 50;
    d.ny = 40;
    MPI_Type_vector(d.ny, 1, d.nx + 2, MPI_DOUBLE, &d.column);
    MPI_Type_commit(&d.column);
    int w = d.nx + 2, n = w * (d.ny + 2);
    double *u = malloc(n * sizeof(double)), *v = malloc(n * sizeof(double));
    double *t = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++) { u[i] = 0.01 * (i % 71 + rank); v[i] = u[i]; t[i] = 0; }
    for (int it = 0; it < 12; it++) {
        rows(&d, u);
        columns(&d, u);
        for (int j = 1; j <= d.ny; j++)
            for (int i = 1; i <= d.nx; i++)
                t[j * w + i] = u[(j - 1) * w + i] + u[(j + 1) * w + i] + u[j * w + i - 1];
        for (int j = 1; j <= d.ny; j++)
            for (int i = 1; i <= d.nx; i++) u[j * w + i] = 0.3 * t[j * w + i];
    }
    double s = 0, all;
    for (int i = 0; i < n; i++) s += u[i] + v[i] + tile[i % 64];
    MPI_Allreduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, d.comm);
    if (rank == 0) printf("%.15g\\n", all);
    MPI_Type_free(&d.column);
    free(u);
    free(v);
    free(t);
    MPI_Finalize();
    return 0;
}
"""
ROWS, COLUMNS = "        rows(&d, u);\n", "        columns(&d, u);\n"
CORNERS = {
    "MPI_Type_vector(d.ny,": "MPI_Type_vector(d.ny + 2,",
    "u + w, 1, d->column": "u, 1, d->column",
    "u + w + d->nx + 1, 1, d->column": "u + d->nx + 1, 1, d->column",
    "u + w + 1, 1, d->column": "u + 1, 1, d->column",
    "u + w + d->nx, 1, d->column": "u + d->nx, 1, d->column",
}
WAIT = "    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);\n}\nstatic void columns"
TWO_PHASES = (
    "    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);\n"
    "    MPI_Sendrecv(u + 1, d->nx, MPI_DOUBLE, d->north, 5, tile, d->nx, MPI_DOUBLE,\n"
    "                 d->south, 5, d->comm, MPI_STATUS_IGNORE);\n}\nstatic void columns"
)
OWN = "    MPI_Request r[4];\n"
REQUESTS = {"double tile[64];\n": "double tile[64];\nMPI_Request r[4];\n", OWN: ""}
PACKED = {
    "    MPI_Irecv(u + 1, d->nx, MPI_DOUBLE, d->south, 0,": (
        "    for (int i = 0; i < 50; i++) tile[i] = u[w + 1 + i];\n"
        "    MPI_Irecv(u + 1, d->nx, MPI_DOUBLE, d->south, 0,"
    ),
    "u + w + 1, d->nx, MPI_DOUBLE": "tile, d->nx, MPI_DOUBLE",
    "    MPI_Irecv(u + w, 1, d->column": (
        "    for (int i = 0; i < 40; i++) tile[i] = u[w + 1 + w * i];\n"
        "    MPI_Irecv(u + w, 1, d->column"
    ),
    "u + w + 1, 1, d->column": "tile, 40, MPI_DOUBLE",
}
SAME_CHANNELS = {
    "d->west, 2": "d->south, 0",
    "d->east, 3": "d->north, 1",
    "d->west, 3": "d->south, 1",
    "d->east, 2": "d->north, 0",
}
OTHER = {"columns(&d, u);\n": "columns(&d, v);\n", "u[j * w + i - 1];": "v[j * w + i - 1];"}
# name: what is replaced, and how the calls follow each other up to the nest
MOVED: dict[str, tuple[dict[str, str], str]] = {
    "one array": ({}, "RCdrc"),
    "two arrays": (OTHER, "RCdrc"),
    "two arrays with their corners": (CORNERS | OTHER, "RCdrc"),
    "one behind the other": ({ROWS: "", COLUMNS: COLUMNS + ROWS}, "CRdcr"),
    "the same channels": (SAME_CHANNELS, "RCdrc"),
    "on one line": ({ROWS + COLUMNS: ROWS[:-1] + COLUMNS.strip() + "\n"}, "RCdrc"),
    "three calls": (
        {COLUMNS: COLUMNS + "        rows(&d, v);\n", "u[j * w + i - 1];": "v[(j - 1) * w + i];"},
        "RCRdrcr",
    ),
    "in front of an independent nest": (
        {COLUMNS: COLUMNS + "        for (int i = 0; i < n; i++) t[i] = 2 * t[i];\n"},
        "RCdrc",
    ),
    "what the first one receives is used behind": (
        {COLUMNS: COLUMNS + "        u[w + 5] = u[1];\n"},
        "RCrc",
    ),
}
STAYS: dict[str, tuple[dict[str, str], str]] = {
    "corners that travel twice": (CORNERS, "Cdc"),
    "a wildcard": (
        {
            "    MPI_Type_free": "    MPI_Sendrecv(&s, 1, MPI_DOUBLE, rank, 9, &all, 1,\n"
            "        MPI_DOUBLE, MPI_ANY_SOURCE, 9, d.comm, MPI_STATUS_IGNORE);\n    MPI_Type_free"
        },
        "Cdc",
    ),
    "a barrier between": ({COLUMNS: "        MPI_Barrier(d.comm);\n" + COLUMNS}, "Cdc"),
    "used between": ({COLUMNS: "        v[0] = u[1];\n" + COLUMNS}, "Cdc"),
    "what is sent is set between": ({COLUMNS: "        u[w + 1] = 1;\n" + COLUMNS}, "Cdc"),
    "a size between": ({COLUMNS: "        d.nx = 50;\n" + COLUMNS}, "d"),
    "a declaration between": ({COLUMNS: "        int k = it;\n" + COLUMNS}, "Cdc"),
    "the end of the first one starts more": ({WAIT: TWO_PHASES}, "Cdc"),
    "requests that both use": (REQUESTS, "d"),
    "a buffer that both use": (PACKED, "Cdc"),
    "needed everywhere": ({"u[(j - 1) * w + i] +": "u[i] +"}, "Cdc"),
    "an argument with an effect": ({"rows(&d, u);": "rows(&d, (argc++, u));"}, "Cdc"),
    "called by its address": (
        {
            "    double s = 0, all;": "    void (*f)(domain *, double *) = rows;\n    f(&d, v);\n"
            "    double s = 0, all;",
        },
        "Cdc",
    ),
    "the second one in a branch": ({COLUMNS: "        if (it > 3)\n    " + COLUMNS}, "Cdc"),
    "the first one in a branch": ({ROWS: "        if (it > 3)\n    " + ROWS}, "Cdc"),
}


def order(text: str) -> str:
    """What the loop of the main program calls up to its last nest: halves and the interior."""
    loop = text[text.index("for (int it = 0") :]
    found = re.findall(
        r"(rows|columns)_(start|finish)\d?\(|(for) \(int j = (?:2|1); j <= d.ny( - 1)?; j\+\+\)\n"
        r" *for \(int i = (?:2|1); i <= d.nx(?: - 1)?; i\+\+\)\n *t",
        loop,
    )
    letters = []
    for name, half, nest, _ in found:
        letter = "d" if nest else name[0]
        letters.append(letter.upper() if half == "start" else letter)
    return "".join(letters)


@pytest.mark.parametrize("change", MOVED)
def test_all_are_under_way(tmp_path: Path, change: str) -> None:
    parts, expected = MOVED[change]
    assert order(rewritten(tmp_path / "axes.c", changed(PROGRAM, parts))) == expected


@pytest.mark.parametrize("change", STAYS)
def test_one_ends_before_the_next(tmp_path: Path, change: str) -> None:
    parts, expected = STAYS[change]
    assert order(rewritten(tmp_path / "axes.c", changed(PROGRAM, parts))) == expected


def test_windows_that_meet_elsewhere_do_not_cross(tmp_path: Path) -> None:
    """A start does not go ahead of the finish in front of it, whatever is shared elsewhere."""
    again = (
        "    for (int k = 0; k < 3; k++) {\n"
        "        rows(&d, u);\n"
        "        for (int i = 0; i < n; i++) t[i] = 2 * t[i] + 1;\n"
        "        columns(&d, u);\n"
        "        u[1] = t[1];\n"
        "    }\n"
        "    double s = 0, all;"
    )
    text = rewritten(tmp_path / "axes.c", changed(PROGRAM, {"    double s = 0, all;": again}))
    behind = text[text.index("for (int k = 0") :]
    found = re.findall(r"(rows|columns)_?(start|finish)?\(", behind)
    assert found.index(("columns", "start")) > found.index(("rows", "finish"))


def lines_of(text: str, routine: str) -> frozenset[tuple[str, int]]:
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(f"static void {routine}("))
    last = next(i for i in range(first, len(lines)) if "MPI_Waitall" in lines[i])
    return frozenset(("axes.c", number + 1) for number in range(first, last + 1))


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [(("rows", "columns"), "RCdrc"), (("columns",), "Cdc"), (("rows",), "d")],
)
def test_both_are_split_where_both_are_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: tuple[str, ...], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("axes.c").write_text(PROGRAM)
    only = frozenset().union(*(lines_of(PROGRAM, name) for name in chosen))
    outcome = transform([Path("axes.c")], Options(only=only))
    assert order(outcome.after["axes.c"].decode()) == expected


def test_each_call_is_told_as_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "axes.c"
    path.write_text(PROGRAM)
    told = [d for d in transform([path], Options()).decisions if d.site.routine.name != "main"]
    assert len(told) == 10
    assert all(decision.decision == "rewritten" for decision in told)
    text = "rows, columns are split into starts and finishes around work of main"
    assert all(any(text in line for line in decision.details) for decision in told)
