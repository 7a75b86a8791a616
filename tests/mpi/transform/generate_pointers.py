"""Random C programs whose arrays are reached by pointers to their rows, allocated in several ways.

Two or three arrays change places; exchanges and loops stand in the steps or in routines of their
own. Some programs set a row anew, or have rows of two lengths: these are none that can be divided.
"""

from __future__ import annotations

import random

ROWS, CELLS = 10, 24
HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int rank, peer;

static double **block(int rows, int cells)
{
    double *data = calloc(rows * cells, sizeof(double));
    double **a = malloc(rows * sizeof(double *));
    for (int i = 0; i < rows; i++)
        a[i] = &data[i * cells];
    return a;
}

static double **chain(int rows, int cells)
{
    double **a = malloc(rows * sizeof(double *));
    a[0] = calloc(rows * cells, sizeof(double));
    for (int i = 1; i < rows; i++)
        a[i] = a[i - 1] + cells;
    return a;
}

static double **separate(int rows, int cells)
{
    double **a = malloc(rows * sizeof(double *));
    for (int i = 0; i < rows; i++)
        a[i] = calloc(cells, sizeof(double));
    return a;
}

static void exchange(double **p, int n, int m)
{
    MPI_Request r[4];
    MPI_Irecv(&p[0][1], m, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&p[n + 1][1], m, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&p[n][1], m, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&p[1][1], m, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

static void halo(double **p, int n, int w)
{
    MPI_Sendrecv(p[n], w, MPI_DOUBLE, peer, 3, p[0], w, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(p[1], w, MPI_DOUBLE, peer, 4, p[n + 1], w, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void step(double **p, double **q, int n, int m)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            q[i][j] = 0.25 * (p[i - 1][j] + p[i + 1][j]) + 0.125 * p[i][j - 1];
}

static void rows(double **p, double **q, int n, int m)
{
    for (int i = 1; i <= n; i++) {
        const double *above = p[i - 1], *below = p[i + 1];
        double *out = q[i];
        for (int j = 1; j <= m; j++)
            out[j] = 0.5 * above[j] + 0.25 * below[j];
    }
}

static double total(double **p, int n, int m, int weight)
{
    double sum = 0.0;
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m + 2; j++)
            sum += p[i][j] * (1 + (i + j) % weight);
    return sum;
}

static void drift(double **p, int n, int m)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            p[i][j] = 0.5 * p[i][j] + 0.25;
}
"""
MAIN = """
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    if (!freopen(rank ? "rank1.txt" : "rank0.txt", "a", stdout))
        return 1;
{calls}
    MPI_Finalize();
    return 0;
}}
"""
BEGIN = """    double sent[40], got[40], own = 0.0;
    for (int i = 0; i < 40; i++)
        sent[i] = i + rank;
    MPI_Sendrecv(sent, 40, MPI_DOUBLE, peer, 9, got, 40, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 2000; i++)
        own = 0.5 * own + i;
"""
END = """    double more = got[3] + own;
{totals}"""
TOTAL = """    printf("program {number} rank %d array {line} %.17g\\n", rank,
           more + total({array}, n, m, {weight}));"""
INDENT = " " * 8


class _Routine:
    """One routine: three arrays, and some steps of exchanges and loops on them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.wild = self.random.random() < 0.3

    def text(self, number: int) -> str:
        maker = self.random.choice(("block", "chain", "separate"))
        lines = [f"    int n = {ROWS}, m = {CELLS} - {self.random.choice((0, 4, 9))};"]
        for array in "uvw":
            chosen = self.random.choice(("block", "separate", maker, maker))
            more = " + 1" if self.wild and self.random.random() < 0.2 else ""
            lines.append(f"    double **{array} = {chosen}(n + 2, m + 2{more});")
        lines += [
            "    for (int i = 0; i < n + 2; i++)",
            "        for (int j = 0; j < m + 2; j++)",
            "            u[i][j] = v[i][j] = w[i][j] = (i * 7 + j * 3 + rank * 5) % 32 / 32.0;",
        ]
        lines += [f"    {self._odd()}"] if self.wild and self.random.random() < 0.5 else []
        lines.append("    for (int k = 0; k < 4; k++) {")
        for _ in range(self.random.choice((1, 2, 3))):
            first = self.random.choice("uuuvw")
            lines += self._exchange(first)
            if self.random.random() < 0.3:
                lines.append(f"{INDENT}{self.random.choice('uvw')}[4][2] += 0.5;")
            lines += self._work(first if self.random.random() < 0.8 else "w")
            if self.random.random() < 0.6:
                lines += self._turn()
            if self.wild and self.random.random() < 0.3:
                lines.append(f"{INDENT}{self._odd()}")
        return "\n".join([BEGIN, *lines, "    }", self._totals(number)])

    @staticmethod
    def _totals(number: int) -> str:
        lines = [
            TOTAL.format(number=number, line=line, array="uvw"[line // 2], weight=13 + line % 2)
            for line in range(6)
        ]
        return END.format(totals="\n".join(lines)) + "\n"

    def _exchange(self, p: str) -> list[str]:
        draw = self.random.random()
        if draw < 0.4:
            return [f"{INDENT}exchange({p}, n, m);"]
        if draw < 0.8:
            return [f"{INDENT}halo({p}, n, m + 2);"]
        q = self.random.choice([x for x in "uvw" if x != p])
        row = self.random.choice(("0", "2", "n + 1"))
        tail = "m, MPI_DOUBLE, peer, 5"
        call = f"MPI_Sendrecv({p}[1] + 1, {tail}, &{q}[{row}][1], {tail}, MPI_COMM_WORLD,"
        return [INDENT + call, f"{INDENT}             MPI_STATUS_IGNORE);"]

    def _work(self, p: str) -> list[str]:
        q = self.random.choice([x for x in "uvw" if x != p] * 3 + [p])
        draw = self.random.random()
        if draw < 0.35:
            return [f"{INDENT}step({p}, {q}, n, m);"]
        if draw < 0.6:
            return [f"{INDENT}rows({p}, {q}, n, m);"]
        if draw < 0.7:
            return [f"{INDENT}drift({q}, n, m);"]
        first, last = (
            self.random.choice(("0", "1", "2")),
            self.random.choice(("m", "m + 1", "m - 3")),
        )
        above = self.random.choice(("i - 1", "i + 1", "i"))
        return [
            f"{INDENT}for (int i = 1; i <= n; i++)",
            f"{INDENT}    for (int j = {first}; j <= {last}; j++)",
            f"{INDENT}        {q}[i][j] += 0.25 * {p}[{above}][j] + 0.125;",
        ]

    def _turn(self) -> list[str]:
        p, q = self.random.sample("uvw", 2)
        lines = [f"double **old = {p};", f"{p} = {q};", f"{q} = old;"]
        return [f"{INDENT}{{", *(f"{INDENT}    {line}" for line in lines), f"{INDENT}}}"]

    def _odd(self) -> str:
        p, q = self.random.sample("uvw", 2)
        row = self.random.choice(("0", "1", "3", "n"))
        return self.random.choice(
            (
                f"{p}[{row}] = {q}[{row}];",
                f"{{ double *one = {p}[{row}]; {p}[{row}] = {p}[2]; {p}[2] = one; }}",
                f"*({p} + {row}) = {q}[5];",
                f"{{ double **some = {p} + 1; some[0] = {q}[2]; }}",
                f"{p} = {q};",
                "m -= 2;",
            )
        )


def source(seeds: list[int]) -> str:
    """One program that runs the random routine of each seed in turn."""
    routines = [
        f"static void program_{number}(void)\n{{\n{_Routine(number).text(number)}}}\n"
        for number in seeds
    ]
    calls = "\n".join(f"    program_{number}();" for number in seeds)
    return HEAD + "\n" + "\n".join(routines) + MAIN.format(calls=calls)
