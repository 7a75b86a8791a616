"""Calls that must not change places with what needs a message, and twins that do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 100
static double a[N], b[N], c[N], sum;
static double *p = b;
static int calls;
static void use(double *x, const double *y)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + y[i];
}
static void work(double *x)
{
    for (int i = 1; i < N; i++)
        x[i] = 0.5 * x[i] + x[i - 1];
}
static void count(double *x)
{
    work(x);
    calls++;
}
static void add(const double *x)
{
    for (int i = 0; i < N; i++)
        sum += x[i] * x[i];
}
static void draw(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = x[i] + rand();
}
#define WORK_C work(c)
int main(int argc, char **argv)
{
    int rank, peer, i, j, n = 3;
    double s = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    %s
    printf("%%g %%g %%g %%d %%d %%g %%g %%g\\n", a[1], b[2], c[3], calls, n, sum, *p, s);
    MPI_Finalize();
    return 0;
}
"""
SEND = "\nMPI_Send(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);"
RECEIVE = "MPI_Recv(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"

WITH_STATUS = "MPI_Status st;\n" + RECEIVE.replace("MPI_STATUS_IGNORE", "&st")
COUNT = "MPI_Get_count(&st, MPI_DOUBLE, &n);\n"
LOOP_B = "for (i = 0; i < N; i++)\nb[i] = 0.5 * b[i] + a[i];\n"
LOOP_C = "for (i = 0; i < N; i++)\nc[i] = 0.5 * c[i] + 1.0;\n"

# name: (code, part of the reason; empty where none is told)
REFUSED = {
    "the later one uses the message too": (RECEIVE + "use(b, a);\nuse(c, a);", ""),
    "the later one reads what the first sets": (RECEIVE + "use(b, a);\nuse(c, b);", "use `b`"),
    "the later one sets what the first reads": (
        RECEIVE + "use(b, a);\nuse(b, c);",
        "use `b`",
    ),
    "both count their calls": (RECEIVE + "count(a);\ncount(c);", "use `calls`"),
    "both add to one sum": (RECEIVE + "add(a);\nadd(c);", "use `sum`"),
    "both draw random numbers": (RECEIVE + "draw(a);\ndraw(c);", "use `rand`"),
    "through a pointer": (RECEIVE + "use(b, a);\nwork(p);", "both use"),
    "an argument changes between them": (
        RECEIVE + "use(b, a);\nn = rank;\nfor (int i = 0; i < n; i++) c[i] = c[i] * b[0] + i;",
        "",
    ),
    "output between them": (RECEIVE + 'use(b, a);\nputs(".");\nwork(c);', "puts"),
    "another message between them": (
        RECEIVE + "use(b, a);\nMPI_Barrier(MPI_COMM_WORLD);\nwork(c);",
        "the call of MPI_Barrier",
    ),
    "a jump between them": (RECEIVE + "use(b, a);\nif (n > 9) return 1;\nwork(c);", "return"),
    "from a macro": (RECEIVE + "use(b, a);\nWORK_C;", "macro"),
    "two on a line": (RECEIVE + "use(b, a); work(c);", "shares its line"),
    "an index that is used behind the loops": (
        RECEIVE + LOOP_B + LOOP_C + 'if (i > 9) puts("");',
        "",
    ),
    "an index that may be what it was": (
        RECEIVE + LOOP_B + "if (rank) i = 0;\n" + LOOP_C + 'printf("%d", i);',
        "",
    ),
    "an index whose address is known": ("int *q = &i;\n*q = 1;" + RECEIVE + LOOP_B + LOOP_C, ""),
    "an index that the loop goes on from": (
        "i = 0;" + RECEIVE + LOOP_B + "for (; i < N; i++)\nc[i] = 0.5 * c[i] + 1.0;",
        "",
    ),
    "an index that is set in a part of a condition": (
        RECEIVE + LOOP_B + "for (j = 0; j < N; j++) {\n"
        "j += rank && (i = j) > 3;\nc[j] = 0.5 * c[j] + i;\n}",
        "",
    ),
    "an index behind a label": (
        "i = 3;\nif (n > 9) goto in;\n" + RECEIVE + LOOP_B + LOOP_C + "in:\nwork(c);",
        "",
    ),
    "an assignment that the message decides": (
        RECEIVE + LOOP_B + "s = b[1];\nfor (j = 0; j < N; j++)\nc[j] = 0.5 * c[j] + s;",
        "",
    ),
    "an assignment that calls": (
        RECEIVE + LOOP_B + "s = getchar();\nfor (j = 0; j < N; j++)\nc[j] = 0.5 * c[j] + s;",
        "",
    ),
    "what follows needs the count": (
        WITH_STATUS + COUNT + "for (i = 0; i < n; i++)\nc[i] = 0.5 * c[i] + 1.0;",
        "",
    ),
    "what follows needs the source": (
        WITH_STATUS + COUNT + "for (i = st.MPI_SOURCE; i < N; i++)\nc[i] = 0.5 * c[i] + 1.0;",
        "",
    ),
    "what follows needs one number of the message": (
        RECEIVE + "s = a[1];\nfor (i = 0; i < N; i++)\nc[i] = 0.5 * c[i] + s;",
        "",
    ),
    "the short statement asks for what is computed": (RECEIVE + "s = a[1] + c[2];\nwork(c);", ""),
    "what follows and a short statement draw numbers": (
        RECEIVE + "s = a[1];\nn = rand();\ndraw(c);",
        "use `rand`",
    ),
    "a variable that begins with what has come": (
        RECEIVE + "double t = a[1];\nwork(c);\ns = t;",
        "a declaration",
    ),
    "what makes the message needs the other": ("use(c, b);\nuse(a, c);" + SEND, ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, prepared: Callable[[str, str], tuple[bool, list[str]]]) -> None:
    code, reason = REFUSED[name]
    done, details = prepared(PROGRAM % code, "rearrangement")
    assert not done, details
    assert any(reason in line for line in details) if reason else not details


DONE = {
    "behind a receive": RECEIVE + "use(b, a);\nwork(c);",
    "before a send": "work(c);\nuse(a, b);" + SEND,
    "before a send, with what it needs": "work(c);\nwork(b);\nuse(a, b);" + SEND,
    "over a short statement": RECEIVE + "use(b, a);\nn = 4;\nwork(c);",
    "a loop": RECEIVE + "use(b, a);\nfor (int i = 1; i < N; i++)\nc[i] = c[i] * 0.5 + c[i - 1];",
    "an index that both have": RECEIVE + LOOP_B + LOOP_C,
    "a number that the loop needs": RECEIVE + LOOP_B + "s = 0.5;\nfor (i = 0; i < N; i++)\n"
    "s += c[i];\n",
    "what is sent, and set anew": SEND + "\n" + LOOP_B.replace("b[i]", "a[i]") + LOOP_C,
    "behind what asks for the count": WITH_STATUS + COUNT + LOOP_C,
    "behind what keeps the source": WITH_STATUS + "n = st.MPI_SOURCE;\nwork(c);",
    "behind one number of the message": RECEIVE + "s = a[1];\nwork(c);",
    "behind two": RECEIVE + "s = a[1];\nn = a[2] > 3;\nwork(c);",
    "behind a condition": RECEIVE + "if (a[1] > 3)\nn = 2;\nwork(c);",
    "inside a condition": "if (rank > 0) {\n" + RECEIVE + "use(b, a);\nwork(c);\n}",
}


@pytest.mark.parametrize("name", DONE)
def test_exchanged(name: str, prepared: Callable[[str, str], tuple[bool, list[str]]]) -> None:
    done, details = prepared(PROGRAM % DONE[name], "rearrangement")
    assert done, details
