"""Pointers in structures that are declared with a list: which field begins with which."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define ROOM calloc(100, sizeof(double))
%(type)s
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double *one = calloc(200, sizeof(double));
    %(declared)s
    for (int t = 0; t < 3; t++) {
        MPI_Recv(g.u, 100, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 100; i++)
            g.v[i] = 0.5 * g.v[i] + 1;
        for (int i = 0; i < 100; i++)
            g.v[i] += g.u[i];
    }
    printf("%%g\\n", g.v[5] + one[3]);
    MPI_Finalize();
    return 0;
}
"""
PLAIN = "typedef struct { int n; double *u, *v; } grid;"
NESTED = """typedef struct { int n[2]; struct { double *p, *q; } f; } grid;
#define u f.p
#define v f.q"""
UNION = "typedef struct { int n; union { double *u, *w; }; double *v; } grid;"
NAMELESS = "typedef struct { int n; struct { double *u; }; double *v; } grid;"
INNER = """typedef struct { double *x; int n[2]; struct { double *p; } f; double *v; } grid;
#define u f.p"""
APART = [
    (PLAIN, "grid g = {100, ROOM, ROOM};"),
    (PLAIN, "grid g = {.n = 100, .u = ROOM, .v = ROOM};"),
    (PLAIN, "grid g = {.v = ROOM, .n = 100, .u = one};"),
    (NESTED, "grid g = {{1, 2}, {ROOM, ROOM}};"),
    (NESTED, "grid g = {.f = {.p = ROOM, .q = one}, .n = {1}};"),
    (PLAIN, "grid list[2] = {{1, ROOM, ROOM}, {2, ROOM, ROOM}};\n    grid g = list[0];"),
    (PLAIN, "grid h = {1, ROOM, ROOM}, g = h;"),
    (INNER, "grid g = {one, {1, 2}, {ROOM}, ROOM};"),
]
ONE_ARRAY = [
    (PLAIN, "grid g = {100, one, one};"),
    (PLAIN, "grid g = {100, one, one + 1};"),
    (PLAIN, "grid g = {.u = one, .v = one};"),
    (PLAIN, "grid h = {1, one, ROOM}, g = {2, ROOM, h.u};\n    g.u = h.u;"),
    (NESTED, "grid g = {{1, 2}, {one, one}};"),
    (NESTED, "grid g = {1, 2, one, one};"),  # what is whose, braces do not say
    (
        INNER,
        "grid g = {0, 1, 2, {one}};\n    g.v = one;\n    if (argc > 5)\n        g.u = ROOM;",
    ),
    (INNER, "grid g = {ROOM, {1, 2}, {one}, one};"),
    (UNION, "grid g = {1, {one}, one};"),
    (NAMELESS, "grid g = {1, {one}, one};"),
    ("typedef struct { union { double *u, *v; }; } grid;", "grid g = {{.v = one}};"),
    (PLAIN, "grid list[2] = {[1] = {1, one, one}};\n    grid g = list[1];"),
]  # fmt: skip


def moved(folder: Path, kind: str, declared: str) -> bool:
    file = folder / "grid.c"
    file.write_text(PROGRAM % {"type": kind, "declared": declared})
    (receive,) = (
        d for d in transform([file], Options()).decisions if d.site.call.name == "MPI_Recv"
    )
    return receive.decision == "rewritten" and receive.crossed > 0


@pytest.mark.parametrize(("kind", "declared"), APART)
def test_each_field_has_an_array_of_its_own(tmp_path: Path, kind: str, declared: str) -> None:
    assert moved(tmp_path, kind, declared)


@pytest.mark.parametrize(("kind", "declared"), ONE_ARRAY)
def test_two_fields_may_name_one_array(tmp_path: Path, kind: str, declared: str) -> None:
    assert not moved(tmp_path, kind, declared)
