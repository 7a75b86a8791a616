"""Random C programs that exchange the faces of a grid through routines and arrays of buffers.

Most may have both faces of an axis under way together, at least where sizes are not negative; in
the others what is packed is what was unpacked, buffers are shared or exchanged, or bounds are not
what they seem. Sizes are from -1 to 6, so that guards decide both ways.
"""

from __future__ import annotations

import random

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define SPACE 600
static double pool[2][SPACE], shared[400], *noted = shared + 200;
static int rank, wide = 1;
static double *array(int n)
{
    double *made = calloc((size_t)n, sizeof(double));
    if (!made)
        exit(3);
    return made;
}
static double *noting(int n)
{
    double *made = calloc((size_t)n, sizeof(double));
    noted = made;
    return made;
}
static void work(double *x)
{
    for (int k = 0; k < SPACE; k++)
        x[k] = 0.5 * x[k] + 0.25;
}
"""
MAIN = """
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!freopen(rank ? "rank1.txt" : "rank0.txt", "a", stdout))
        return 1;
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < SPACE; i++)
            pool[j][i] = (i * 7 + j * 3 + rank * 5) % 32 / 32.0;
{calls}
    MPI_Finalize();
    return 0;
}}
"""
# Elements of a grid lie around the middle of an array: those of a negative size do too.
ROUTINES = """struct grid_{k} {{ int n[2], peer[4], count[2]; double *out[4], *in[4]; }};
static int at_{k}(const struct grid_{k} *g, int i, int j)
{{
    return i * (g->n[1] + 2) + j;
}}
{bounds}
static void pack_{k}(struct grid_{k} *g, const double *u, int face{values})
{{
    int low[2], high[2]{number};
    {skip}
    {ask_out}
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            {sent} = u[at_{k}(g, i, j)];
}}
static void unpack_{k}(struct grid_{k} *g, double *u, int face{values})
{{
    int low[2], high[2]{number};
    if (g->peer[face] == MPI_PROC_NULL)
        return;
    {ask_in}
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            u[at_{k}(g, i, j)] = {received};
}}
static void exchange_{k}(struct grid_{k} *g, double *u{also})
{{
    {check}
{exchange}
}}
static void program_{k}(void)
{{
    struct grid_{k} g;
    double *t;
    for (int d = 0; d < 2; d++) {{
        g.peer[2 * d] = {low_peer};
        g.peer[2 * d + 1] = {high_peer};
    }}
    g.n[0] = {n0};
    g.n[1] = {n1};
    g.count[0] = {n1} > 0 ? {n1} : 0;
    g.count[1] = {n0} > 0 ? {n0} : 0;
    for (int f = 0; f < 4; f++) {{
        g.out[f] = {made};
        g.in[f] = {made};
    }}
    {spoil}
    for (int step = 0; step < 2; step++) {{
        {calls}
        work(pool[1]);
        {swap}
    }}
    for (int f = 0; f < 4; f++)
        for (int i = 0; i < 20; i++)
            pool[1][i] += g.out[f][i] + g.in[f][i];
    (void)t;
}}
"""
CHECK = """    program_{number}();
    for (int j = 0; j < 6; j++) {{
        double sum = 0.0;
        for (int i = 0; i < SPACE; i++)
            sum += pool[j / 3][i] * (1 + i % (13 + j));
        printf("program {number} rank %d array %d %.17g\\n", rank, j, sum);
    }}"""
BY_DIVISION = """    for (int d = 0; d < 2; d++) {{
        low[d] = {first};
        high[d] = g->n[d]{last};
    }}
    int d = face / 2;
    low[d] = high[d] = face % 2 ? g->n[d] + ghost : 1 - ghost;"""
BY_BRANCHES = """    low[0] = low[1] = {first};
    high[0] = g->n[0]{last}, high[1] = g->n[1]{last};
    if (face == 0)
        low[0] = high[0] = 1 - ghost;
    else if (face == 1)
        low[0] = high[0] = g->n[0] + ghost;
    else if (face == 2)
        low[1] = high[1] = 1 - ghost;
    else
        low[1] = high[1] = g->n[1] + ghost;"""
BY_ROUTINE = """    int axis = face >> 1, other = axis == 0;
    low[other] = {first};
    high[other] = g->n[other]{last};
    end_{k}(g, axis, face & 1, ghost, &low[axis], high + axis);"""
END = """static void end_{k}(const struct grid_{k} *g, int axis, int upper, int ghost,
                   int *a, int *b)
{{
    *b = upper ? g->n[axis] + ghost : 1 - ghost;
    *a = *b;
}}
"""
SPOILT_BOUNDS = (
    "    high[face / 2]++;",
    "    low[face / 2]--;",
    "    wide++;\n    high[face / 2] += wide % 2;",
    "    if (wide)\n        low[face / 2] -= ghost;",
    "    low[face / 2] -= g->count[0] > 2;",
    "    int *of = ghost ? low : high;\n    of[face / 2] -= ghost;",
)
ONE_WAY = """{i}pack_{k}(g, u, {packed}{out_a});
{i}MPI_Sendrecv(g->out[{a}], g->count[{d}], MPI_DOUBLE, g->peer[{a}], {t}, g->in[{b}],
{i}             g->count[{d}], MPI_DOUBLE, g->peer[{b}], {t}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
{i}unpack_{k}(g, u, {b}{in_b});"""
MADE = ("calloc(100, sizeof(double))", "array(100)", "array(100)", "noting(100)")
SWAP = "t = g.out[0]; g.out[0] = g.out[1]; g.out[1] = t;"
SPOILT_BUFFERS = (
    "g.out[1] = g.out[0];",
    "g.in[0] = g.in[1];",
    "g.out[1] = g.out[0] + 3;",
    "g.in[1] = shared + 7; g.in[0] = shared;",
    "g.out[3] = g.in[3];",
    "g.out[1] = noted;",
    "t = g.in[2]; g.in[2] = g.in[3]; g.in[3] = t;",
)


class _Program:
    def __init__(self, seed: int) -> None:
        self.k = seed
        self.random = random.Random(seed)

    def _rarely(self) -> bool:
        return self.random.random() < 0.12

    def _bounds(self) -> str:
        draw = self.random
        body = draw.choice((BY_DIVISION, BY_DIVISION, BY_BRANCHES, BY_ROUTINE))
        corners = draw.random() < 0.2
        first, last = ("0", " + 1") if corners else ("1", "")
        text = body.format(k=self.k, first=first, last=last)
        if self._rarely():
            text += "\n" + draw.choice(SPOILT_BOUNDS)
        head = f"static void layer_{self.k}(const struct grid_{self.k} *g, int face, int ghost, "
        before = END.format(k=self.k) if body is BY_ROUTINE else ""
        return f"{before}{head}int *low, int *high)\n{{\n{text}\n}}"

    def _exchange(self) -> tuple[str, str, str]:
        """Its body, a further parameter, and how it is called."""
        draw = self.random
        form = draw.choice(("loop", "loop", "numbers", "parameter"))
        if form == "numbers":
            text = "\n".join(self._axis("", str(2 * d), str(2 * d + 1), str(d)) for d in (0, 1))
            return text, "", f"exchange_{self.k}(&g, pool[0] + 250);"
        names = "int lower = 2 * d, upper = 2 * d + 1;"
        if draw.random() < 0.3:
            names = "int lower = 2 * d, upper = lower + 1;"
        inner = self._axis("    " if form == "loop" else "", "lower", "upper", "d")
        if form == "loop":
            text = f"    for (int d = 0; d < 2; d++) {{\n        {names}\n{inner}\n    }}"
            return text, "", f"exchange_{self.k}(&g, pool[0] + 250);"
        calls = " ".join(f"exchange_{self.k}(&g, pool[0] + 250, {d});" for d in (0, 1))
        return f"    {names}\n{inner}", ", int d", calls

    def _axis(self, deeper: str, lower: str, upper: str, d: str) -> str:
        indent = "    " + deeper
        faces = [lower, upper]
        if self.random.random() < 0.3:
            faces.reverse()
        parts = []
        for tag, (a, b) in enumerate((faces, faces[::-1])):
            packed = faces[0] if self._rarely() else a
            out_a, in_b = (f", g->out[{a}]", f", g->in[{b}]") if self.passed else ("", "")
            names = {"a": a, "b": b, "d": d, "t": tag, "out_a": out_a, "in_b": in_b}
            parts.append(ONE_WAY.format(k=self.k, i=indent, packed=packed, **names))
        return "\n".join(parts)

    def text(self) -> str:
        draw = self.random
        self.passed = draw.random() < 0.6
        exchange, also, calls = self._exchange()
        lines = draw.random() < 0.5
        sizes = draw.choices((-1, 0, 1, 2, 5, 6), weights=(1, 1, 2, 3, 3, 3), k=2)
        width = "0" if self._rarely() else "1"
        return ROUTINES.format(
            k=self.k,
            bounds=self._bounds(),
            values=", double *values" if self.passed else "",
            number="" if self.passed else ", number = 0",
            skip="if (g->peer[face] == MPI_PROC_NULL)\n        return;" if lines else "",
            ask_out=f"layer_{self.k}(g, face, 0, low, high);",
            ask_in=f"layer_{self.k}(g, face, {width}, low, high);",
            sent="*values++" if self.passed else "g->out[face][number++]",
            received="*values++" if self.passed else "g->in[face][number++]",
            also=also,
            check="if (g->n[0] < 1 || g->n[1] < 1)\n        return;" if self._rarely() else "",
            exchange=exchange,
            low_peer="1 - rank" if lines else "rank ? 0 : MPI_PROC_NULL",
            high_peer="1 - rank" if lines else "rank ? MPI_PROC_NULL : 1",
            n0=sizes[0],
            n1=sizes[1],
            made=draw.choice(MADE),
            spoil=draw.choice(SPOILT_BUFFERS) if self._rarely() else "",
            calls=calls,
            swap=SWAP if self._rarely() else "",
        )


def source(seeds: list[int]) -> str:
    """One program that runs the random exchange of each seed in turn."""
    routines = [_Program(number).text() for number in seeds]
    calls = [CHECK.format(number=number) for number in seeds]
    return HEAD + "\n" + "\n".join(routines) + MAIN.format(calls="\n".join(calls))
