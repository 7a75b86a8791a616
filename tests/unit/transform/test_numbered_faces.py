"""Faces of a field that a structure holds, packed and unpacked by their number.

For each number a routine touches other elements of `g->u`, which is known where it is called in a
loop over all of them, and of the loop as a whole behind it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define AT(g, i, j) ((i) * ((g)->ny + 2) + (j))
typedef struct {
    int nx, ny, nbr[4], len[4];
    double *u, *v, *out[4], *in[4];
    MPI_Request req[8];
} grid;
static int wanted = 1;
%(called)s
static void pack(grid *g, int f)
{
    int n = 0;
    double *b = g->out[f];
    if (f / 2 == 0) {
        int i = f == 0 ? 1 : g->nx;
        for (int j = 1; j <= g->ny; j++)
            b[n++] = g->u[AT(g, i, j)];
    } else {
        int j = f == 2 ? 1 : g->ny;
        for (int i = 1; i <= g->nx; i++)
            b[n++] = g->u[AT(g, i, j)];
    }
}
static void unpack(grid *g, int f%(given)s)
{
    int n = 0;
    double *b = g->in[f];
    %(before)s
    if (f / 2 == 0) {
        int i;
        %(chosen)s
        for (int j = 1; j <= g->ny; j++)
            %(field)s[AT(g, i, j)] = b[n++];
    } else {
        int j = f == 2 ? 0 : g->ny + 1;
        for (int i = 1; i <= g->nx; i++)
            %(field)s[AT(g, i, j)] = b[n++];
    }
    %(behind)s
}
static void exchange(grid *g, grid *other)
{
    for (int f = 0; f < 4; f++)
        MPI_Irecv(g->in[f], g->len[f], MPI_DOUBLE, g->nbr[f], f ^ 1, MPI_COMM_WORLD, &g->req[f]);
    for (int f = 0; f < 4; f++) {
        pack(g, f);
        MPI_Isend(g->out[f], g->len[f], MPI_DOUBLE, g->nbr[f], f, MPI_COMM_WORLD, &g->req[4 + f]);
    }
    MPI_Waitall(8, g->req, MPI_STATUSES_IGNORE);
    %(loop)s
}
static void relax(grid *g)
{
    for (int i = 1; i <= g->nx; i++)
        for (int j = 1; j <= g->ny; j++)
            g->v[AT(g, i, j)] = g->u[AT(g, i - 1, j)] + g->u[AT(g, i + 1, j)]
                + g->u[AT(g, i, j - 1)] + g->u[AT(g, i, j + 1)];
}
int main(int argc, char **argv)
{
    grid g = {20, 10, {0, 0, 0, 0}, {10, 10, 20, 20}}, other = {20, 10};
    MPI_Init(&argc, &argv);
    g.u = calloc(22 * 12, sizeof(double));
    g.v = calloc(22 * 12, sizeof(double));
    %(shared)s
    wanted = argc;
    for (int f = 0; f < 4; f++) {
        g.out[f] = calloc(g.len[f], sizeof(double));
        g.in[f] = calloc(g.len[f], sizeof(double));
    }
    for (int t = 0; t < 5; t++) {
        exchange(&g, &other);
        relax(&g);
        double *s = g.u;
        g.u = g.v;
        g.v = s;
    }
    printf("%%g\\n", g.u[15]);
    MPI_Finalize();
    return 0;
}
"""
FIRST = """static void first(int f, int *at)
{
    *at = f == 0 || f == 2 ? 0 : 1;
}"""
LOW = """static void low(grid *h, int i)
{
    double *p = h->u;
    p[i] = 0;
}"""
LATER = LOW.replace("h->u;", "h->u + 100;")
SET = """static void set(double *p, int i)
{
    p[i] = 0;
}"""
# One that has another fill a variable of its own, which is gone when it returns.
ROOM = """static void fill(double *room)
{
    room[0] = 1;
    room[1] = 2;
}
static void set(double *to, int i)
{
    double room[2];
    fill(room);
    to[i] = room[0] + room[1];
}"""
# One that is called too deep in others to be followed.
DEEP = SET + "".join(
    f"\nstatic void {name}(double *p, int i)\n{{\n    double *q = p;\n    {inner}(q, i);\n}}"
    for name, inner in (("a", "set"), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"))
)
PLAIN = {
    "called": "",
    "shared": "",
    "given": "",
    "before": "",
    "chosen": "i = f == 0 ? 0 : g->nx + 1;",
    "field": "g->u",
    "behind": "",
    "loop": "for (int f = 0; f < 4; f++)\n        unpack(g, f);",
}
# The interior of `relax` runs before the wait, so none of it may be unpacked, nor set, by `unpack`.
MAY_GO = [
    {},
    {"chosen": "if (f == 0)\n            i = 0;\n        else\n            i = g->nx + 1;"},
    {"called": FIRST, "chosen": "first(f, &i);\n        i = i ? g->nx + 1 : 0;"},
    {"before": "double *u = g->u;", "field": "u"},
    {"before": "double *const p = g->u, *u = p;", "field": "u"},
    {"behind": "g->u[AT(g, g->nx + 1, 1)] *= 0.5;"},
    {"called": LOW, "behind": "low(g, 3);"},
    {"called": LOW, "behind": "for (int k = 0; k < 3; k++)\n        low(g, k + 2);"},
    {"called": LOW, "before": "int k = f;", "behind": "if (k < 4)\n        low(g, k);"},
    {"called": SET, "before": "double *w = g->u;", "behind": "set(w, 3);"},
    {"called": SET, "behind": "set(g->u, 3);"},
    {"called": ROOM, "behind": "set(g->u, 3);"},
    {"loop": "for (int f = 3; f >= 0; f--)\n        unpack(g, f);"},
    {"loop": "for (int a = 0; a < 2; a++)\n        for (int s = 0; s < 2; s++)\n"
             "            unpack(g, 2 * a + s);"},
    {"loop": "unpack(g, 0);\n    unpack(g, 1);\n    unpack(g, 2);\n    unpack(g, 3);"},
    {"given": ", int last", "loop": "for (int f = 0; f < 4; f++)\n        unpack(g, f, g->ny);",
     "behind": "g->u[AT(g, 0, last)] = 1;"},
]  # fmt: skip
MUST_STAY = [
    {"chosen": "i = f == 0 ? 10 : g->nx + 1;"},
    {"chosen": "i = f == 0 ? 0 : g->nx - 9;"},
    {"chosen": "i = f == wanted ? 0 : 1;"},
    {"chosen": "if (f == 0)\n            i = 0;\n        else\n            i = wanted;"},
    {"called": FIRST, "chosen": "first(f, &i);\n        i = i ? 10 : 0;"},
    {"chosen": "i = f == 0 ? 0 : g->nx + 1;\n        i += wanted;"},
    {"before": "double *u = g->u + 3 * (g->ny + 2);", "field": "u"},
    {"before": "double *u = g->u;\n    u += g->ny + 2;", "field": "u"},
    {"before": "int k = 0;\n    double *u = g->u + k;\n    k = 3;", "field": "u",
     "behind": "u[k + 12] = 1;"},
    {"behind": "g->u[AT(g, 10, 5)] *= 0.5;"},
    {"called": LATER, "behind": "low(g, 3);"},
    {"called": LOW, "behind": "low(g, 100);"},
    {"called": LOW, "behind": "if (f == 1)\n        low(g, 40);"},
    {"called": LOW, "behind": "for (int k = 0; k < 3; k++)\n        low(g, k + 30);"},
    {"called": SET, "before": "double *w = g->u;", "behind": "set(w, 40);"},
    {"called": SET, "before": "double *w = g->u + 36;", "behind": "set(w, 4);"},
    {"called": SET, "behind": "double *w = g->u + f;\n    set(w, 40);"},
    {"called": SET, "behind": "for (int i = 0; i < 3; i++) {\n        double *w = g->u + 12 * i;\n"
                             "        set(w, 40);\n    }"},
    {"called": ROOM, "behind": "set(g->u, 40);"},
    {"called": DEEP, "before": "double *w = g->u;", "behind": "e(w, 40);"},
    {"called": DEEP, "behind": "for (int i = 0; i < 3; i++) {\n        double *w = g->u + 12 * i;\n"
                              "        e(w, 3);\n    }"},
    {"before": "grid *h = g;\n    h->u[40] = 1;"},
    {"behind": "g->nx = 5;"},
    {"before": "if (f == 3)\n        g->ny = 7;"},
    {"before": "g->u += 3;", "behind": "g->u -= 3;"},
    {"shared": "other.u = g.u;", "given": ", grid *h", "behind": "h->u[40] = 1;",
     "loop": "for (int f = 0; f < 4; f++)\n        unpack(g, f, other);"},
    {"shared": "other.u = g.u;", "given": ", grid *h", "before": "g = h;",
     "loop": "for (int f = 0; f < 4; f++)\n        unpack(g, f, other);"},
    {"loop": "for (int f = 0; f < 4; f++) {\n        g->nx -= f;\n        unpack(g, f);\n"
             "        g->nx += f;\n    }"},
    {"loop": "for (int f = 0; f < 4; f++) {\n        unpack(g, f);\n        g->u[50] = f;\n    }"},
]  # fmt: skip


def decided(folder: Path, changes: dict[str, str]) -> Outcome:
    file = folder / "grid.c"
    file.write_text(PROGRAM % {**PLAIN, **changes})
    return transform([file], Options())


def split(outcome: Outcome) -> bool:
    (wait,) = (d for d in outcome.decisions if d.site.call.name == "MPI_Waitall")
    return wait.decision == "rewritten" and "wrappers" in wait.rewrites


@pytest.mark.parametrize("changes", MAY_GO, ids=str)
def test_unpacking_leaves_the_interior_alone(tmp_path: Path, changes: dict[str, str]) -> None:
    assert split(decided(tmp_path, changes))


@pytest.mark.parametrize("changes", MUST_STAY, ids=str)
def test_what_may_touch_the_interior_stays(tmp_path: Path, changes: dict[str, str]) -> None:
    assert not split(decided(tmp_path, changes))


NESTED = """#include <mpi.h>
#include <stdio.h>
static double u[100], r[20];
static void put(double *v, int f)
{
    double *p = v + %d;
    for (int i = 0; i < 10; i++)
        p[i] = f;
}
static void range(int f, int *low)
{
    low[0] = f / 2 == 0 ? 0 : 10;
    low[1] = low[0] + 4;
}
static void fill(double *v, int f)
{
    int low[2];
    range(f, low);
    for (int i = low[0]; i <= low[1]; i++)
        v[i] = f + i;
    put(v, f);
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++)
        for (int f = 0; f < 4; f++) {
            MPI_Request q;
            MPI_Irecv(r, 10, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD, &q);
            MPI_Send(&u[60], 10, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD);
            fill(u, f);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        }
    printf("%%g\\n", r[3] + u[50]);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(("first", "moved"), [(20, True), (55, False)])
def test_a_pointer_of_a_called_routine_is_followed(tmp_path: Path, first: int, moved: bool) -> None:
    file = tmp_path / "nested.c"
    file.write_text(NESTED % first)
    outcome = transform([file], Options())
    (send,) = (d for d in outcome.decisions if d.site.call.name == "MPI_Send")
    assert (send.decision == "rewritten" and send.crossed > 0) is moved
