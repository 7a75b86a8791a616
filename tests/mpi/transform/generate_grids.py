"""Random C programs whose arrays are pointers in structures, with routines around loops on them.

Two objects have three arrays each, which change places within an object, between objects, or are
made one. Exchanges and loop nests are routines, whose bounds are components.
"""

from __future__ import annotations

import random

COLUMNS, ROWS = 30, 12
HEAD = f"""#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct {{
    int nx, ny, peer;
    double *u, *v, *w;
}} grid;
#define SIZE (({ROWS} + 2) * ({COLUMNS} + 2) + 2000)
#define AT(g, i, j) ((i) * ((g)->nx + 2) + (j))
static grid one, two, *at = &one;
static int rank;

static void turn(grid *g)
{{
    double *old = g->u;
    g->u = g->v;
    g->v = old;
}}
"""
# The routines: of elements, or (`LINES`) of lines that the same memory is.
ELEMENTS = {
    "exchange": """static void exchange(const grid *g, double *p)
{
    MPI_Request r[4];
    MPI_Irecv(&p[AT(g, 0, 1)], g->nx, MPI_DOUBLE, g->peer, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&p[AT(g, g->ny + 1, 1)], g->nx, MPI_DOUBLE, g->peer, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&p[AT(g, g->ny, 1)], g->nx, MPI_DOUBLE, g->peer, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&p[AT(g, 1, 1)], g->nx, MPI_DOUBLE, g->peer, 2, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}
""",
    "halo": """static void halo(grid *g)
{
    MPI_Sendrecv(&g->u[AT(g, g->ny, 1)], g->nx, MPI_DOUBLE, g->peer, 3, &g->u[AT(g, 0, 1)], g->nx,
                 MPI_DOUBLE, g->peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
""",
    "step": """static void step(const grid *g, const double *p, double *q)
{
    const int nx = g->nx, ny = g->ny;
    for (int i = 1; i <= ny; i++)
        for (int j = 1; j <= nx; j++)
            q[AT(g, i, j)] = 0.25 * (p[AT(g, i - 1, j)] + p[AT(g, i + 1, j)]) + 0.125 * j;
}
""",
    "relax": """static void relax(const grid *g)
{
    for (int i = 1; i <= g->ny; i++)
        for (int j = 1; j <= g->nx; j++)
            g->v[AT(g, i, j)] = 0.5 * g->u[AT(g, i - 1, j)] + 0.25 * g->w[AT(g, i, j)];
}
""",
    "drift": """static void drift(grid *g, double *q)
{
    double start = g->u[AT(g, 1, 1)];
    for (int i = 1; i <= g->ny; i++)
        for (int j = 1; j <= g->nx; j++)
            q[AT(g, i, j)] = 0.5 * q[AT(g, i, j)] + start;
}
""",
    "scale": """static void scale(grid *g, double *p)
{
    for (int i = 1; i < g->ny; i++)
        for (int j = 1; j < g->nx; j++)
            p[AT(g, i, j)] = 0.5 * p[AT(g, i, j)] + 0.25;
}
""",
    "sweep": """static void sweep(const grid *g, double *p)
{
    for (int i = 1; i <= g->ny; i++)
        for (int j = 1; j <= g->nx; j++)
            p[AT(g, i, j)] = 0.5 * p[AT(g, i - 1, j)] + 0.25 * p[AT(g, i, j)];
}
""",
}
LINES = {
    "exchange": """static void exchange(const grid *g, double *a)
{
    double (*p)[g->nx + 2] = (double (*)[g->nx + 2])a;
    MPI_Request r[4];
    MPI_Irecv(&p[0][1], g->nx, MPI_DOUBLE, g->peer, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&p[g->ny + 1][1], g->nx, MPI_DOUBLE, g->peer, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&p[g->ny][1], g->nx, MPI_DOUBLE, g->peer, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&p[1][1], g->nx, MPI_DOUBLE, g->peer, 2, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}
""",
    "halo": """static void halo(grid *g)
{
    const int w = g->nx + 2;
    double (*u)[w] = (double (*)[w])g->u;
    MPI_Sendrecv(&u[g->ny][1], g->nx, MPI_DOUBLE, g->peer, 3, &u[0][1], g->nx, MPI_DOUBLE, g->peer,
                 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
""",
    "step": """static void in_lines(int ny, int w, double p[ny + 2][w], double (*q)[w])
{
    for (int i = 1; i <= ny; i++)
        for (int j = 1; j < w - 1; j++)
            q[i][j] = 0.25 * (p[i - 1][j] + p[i + 1][j]) + 0.125 * j;
}

static void step(const grid *g, double *p, double *q)
{
    in_lines(g->ny, g->nx + 2, (double (*)[g->nx + 2])p, (void *)q);
}
""",
    "relax": """static void relax(const grid *g)
{
    int nx = g->nx;
    double (*v)[nx + 2] = (double (*)[nx + 2])g->v;
    const double (*u)[nx + 2] = (const double (*)[nx + 2])g->u;
    for (int i = 1; i <= g->ny; i++)
        for (int j = 1; j <= nx; j++)
            v[i][j] = 0.5 * u[i - 1][j] + 0.25 * g->w[AT(g, i, j)];
}
""",
    "sweep": """static void sweep(const grid *g, double *a)
{
    int ny = g->ny;
    double (*p)[g->nx + 2] = (double (*)[g->nx + 2])a;
    for (int i = 1; i <= ny; i++) {
        double *row = p[i];
        for (int j = 1; j <= g->nx; j++)
            row[j] = 0.5 * p[i - 1][j] + 0.25 * row[j];
    }
}
""",
}
MAIN = """
static void make(grid *g, int nx, int ny)
{{
    g->nx = nx;
    g->ny = ny;
    g->peer = 1 - rank;
    g->u = calloc(SIZE, sizeof(double));
    g->v = calloc(SIZE, sizeof(double));
    g->w = calloc(SIZE, sizeof(double));
}}

int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    at->peer = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!freopen(rank ? "rank1.txt" : "rank0.txt", "a", stdout))
        return 1;
    make(&one, {columns}, {rows});
    make(&two, {columns} - 4, {rows});
    double *all[] = {{one.u, one.v, one.w, two.u, two.v, two.w}};
    for (int j = 0; j < 6; j++)
        for (int i = 0; i < SIZE; i++)
            all[j][i] = (i * 7 + j * 3 + rank * 5) % 32 / 32.0;
{calls}
    MPI_Finalize();
    return 0;
}}
"""
CHECK = """    program_{number}();
    for (int j = 0; j < 6; j++) {{
        double sum = 0.0;
        for (int i = 0; i < SIZE; i++)
            sum += all[j][i] * (1 + i % 13);
        printf("program {number} rank %d array %d %.17g\\n", rank, j, sum);
    }}"""
# What each routine begins with, so that something is rewritten in each program.
FIRST = """    double sent[40], got[40], own = 0.0;
    for (int i = 0; i < 40; i++)
        sent[i] = i + rank;
    MPI_Sendrecv(sent, 40, MPI_DOUBLE, 1 - rank, 9, got, 40, MPI_DOUBLE, 1 - rank, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2000; i++)
        own = 0.5 * own + i;
    one.w[0] = got[3] + own;
"""
OBJECTS = (("&one", "one."), ("&two", "two."), ("at", "at->"))
INDENT = " " * 8


class _Routine:
    """One routine: a few steps, each of exchanges, loop nests and exchanges of pointers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        # Mostly arrays only change places within their object, as in programs that are written.
        self.wild = self.random.random() < 0.3

    def text(self) -> str:
        lines = ["    for (int k = 0; k < 4; k++) {"]
        for _ in range(self.random.choice((2, 3))):
            object_ = self.random.choice(OBJECTS)
            lines += self._exchange(object_)
            if self.random.random() < 0.3:
                lines += self._other()
            same = object_ if self.random.random() < 0.8 else self.random.choice(OBJECTS)
            lines += self._work(same)
            if self.random.random() < 0.6:
                lines += self._turn(object_)
        return "\n".join([*lines, "    }"])

    def _array(self, prefix: str) -> str:
        return prefix + self.random.choice("uuvw")

    def _exchange(self, object_: tuple[str, str]) -> list[str]:
        given, prefix = object_
        draw = self.random.random()
        if draw < 0.25:
            return [f"{INDENT}halo({given});"]
        if draw < 0.85:
            return [f"{INDENT}exchange({given}, {self._array(prefix)});"]
        sent, received = self.random.sample(["u", "v", "w"], 2)
        row = self.random.choice(("1", "2", "3"))
        where = f"AT({given}, {row}, 1)"
        tail = f"{prefix}nx, MPI_DOUBLE, {prefix}peer, 4"
        return [
            f"{INDENT}MPI_Sendrecv(&{prefix}{sent}[AT({given}, 5, 1)], {tail},",
            f"{INDENT}             &{prefix}{received}[{where}], {tail}, MPI_COMM_WORLD,",
            f"{INDENT}             MPI_STATUS_IGNORE);",
        ]

    def _work(self, object_: tuple[str, str]) -> list[str]:
        given, prefix = object_
        other = self.random.choice(OBJECTS)[1] if self.random.random() < 0.2 else prefix
        draw = self.random.random()
        if draw < 0.6:
            return [f"{INDENT}step({given}, {self._array(prefix)}, {self._array(other)});"]
        if draw < 0.75:
            return [f"{INDENT}relax({given});"]
        name = self.random.choice(("scale", "sweep", "drift"))
        return [f"{INDENT}{name}({given}, {self._array(prefix)});"]

    def _other(self) -> list[str]:
        given, prefix = self.random.choice(OBJECTS)
        choices = [
            f"{self._array(prefix)}[AT({given}, 4, 2)] += 0.5;",
            f"{prefix}ny = {self.random.choice((ROWS, ROWS - 2, 3))};",
        ]
        if self.wild:
            choices += [
                "at = k % 2 ? &one : &two;",
                "at = at == &one ? &two : &one;",
                f"{prefix}nx = k % 2 ? {COLUMNS} : {COLUMNS - 6};",
            ]
        return [INDENT + self.random.choice(choices)]

    def _turn(self, object_: tuple[str, str]) -> list[str]:
        given, prefix = object_
        if not self.wild or self.random.random() < 0.5:
            return [f"{INDENT}turn({given});"]
        other = self.random.choice(OBJECTS)[1]
        first, second = self._array(prefix), self._array(other)
        lines = [f"double *old = {first};", f"{first} = {second};"]
        lines.append(f"{self.random.choice((second, second, self._array(other)))} = old;")
        if self.random.random() < 0.2:
            lines = [f"{first} = {second} + {self.random.choice((0, 0, 4))};"]
        return [f"{INDENT}{{", *(f"{INDENT}    {line}" for line in lines), f"{INDENT}}}"]


def source(seeds: list[int]) -> str:
    """One program that runs the random routine of each seed in turn."""
    routines = [
        f"static void program_{number}(void)\n{{\n{FIRST}{_Routine(number).text()}\n}}\n"
        for number in seeds
    ]
    calls = "\n".join(CHECK.format(number=number) for number in seeds)
    main = MAIN.format(calls=calls, columns=COLUMNS, rows=ROWS)
    choose = random.Random(seeds[0])
    given = (LINES if name in LINES and choose.random() < 0.5 else ELEMENTS for name in ELEMENTS)
    kernels = "\n".join(table[name] for name, table in zip(ELEMENTS, given, strict=True))
    return f"{HEAD}\n{kernels}\n" + "\n".join(routines) + main
