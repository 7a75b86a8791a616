"""Waits that must not go into the next iteration of a loop, each beside one that does."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double a[N], b[N], c[N], u[N][N];
static int limit = 10;
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
static int more(void) { return limit-- > 0; }
static void put(int peer)
{
    work(b);
    %s
}
int main(int argc, char **argv)
{
    int rank, peer, n = N;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    %s
    put(peer);
    printf("%%g %%g %%g %%g %%d\\n", a[1], b[2], c[3], u[1][1], n);
    MPI_Finalize();
    return 0;
}
"""
SEND = "MPI_Send(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);"
RECV = "MPI_Recv(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
FILL = "work(a);"
LOOP = "for (int k = 0; k < 9; k++) {\n"

# name: code in main
REFUSED = {
    "nothing before the buffer is filled": LOOP + f"{FILL}\n{SEND}\n}}",
    "it is filled first": LOOP + f"{FILL}\nwork(b);\n{FILL}\n{SEND}\n}}",
    "the loop's condition reads it": "do {\nwork(b);\n" + f"{RECV}\n" + "} while (a[0] < 9.0);",
    "the loop's condition calls": "while (more()) {\nwork(b);\n"
    + f"{FILL}\n{RECV}\n"
    + "limit += a[0] > 1; }",
    "the buffer is declared in the body": (
        LOOP + "double x[N];\nwork(b);\nwork(x);\n"
        "MPI_Send(x, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);\n}"
    ),
    "a status that is read": (
        LOOP + f"work(b);\nwork(a);\n{RECV.replace('MPI_STATUS_IGNORE', '&status')}\n"
        "n += status.MPI_SOURCE;\n}"
    ),
    "a part of an array that moves with the loop": (
        LOOP + "work(u[k + 1]);\nMPI_Send(u[k], N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);\n}"
    ),
    "a barrier at the top": LOOP + f"MPI_Barrier(MPI_COMM_WORLD);\nwork(b);\n{FILL}\n{SEND}\n}}",
    "output at the top": LOOP + f'puts(".");\nwork(b);\n{FILL}\n{SEND}\n}}',
    "a jump at the top": LOOP + f"if (n < 3) break;\nwork(b);\n{FILL}\n{SEND}\n}}",
    "a jump behind the start": LOOP + f"work(b);\n{FILL}\n{SEND}\nif (n < 3) continue;\n}}",
    "a pointer to the buffer": (
        "double *p = a;\n" + LOOP + f"p[1] = 2.0;\nwork(b);\n{FILL}\n{SEND}\n}}"
    ),
    "a loop without braces": "for (int k = 0; k < 9; k++)\n" + SEND,
}
DONE = {
    "a send": LOOP + f"work(b);\n{FILL}\n{SEND}\n}}",
    "a receive": LOOP + f"work(b);\nwork(a);\n{RECV}\n}}",
    "under a condition": LOOP + f"work(b);\n{FILL}\nif (rank > 0)\n{SEND}\n}}",
    "a loop that may be left above the start": (
        LOOP + f"work(b);\n{FILL}\nif (n < 3) break;\n{SEND}\n}}"
    ),
    "a loop in a loop": LOOP
    + LOOP.replace("k", "m")
    + f"work(b);\n{FILL}\n{SEND}\n}}\nwork(c);\n}}",
    "a while loop": "while (limit > 0) {\nlimit--;\nwork(b);\n" + f"{FILL}\n{SEND}\n}}",
}


def carried(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    path = Path("case.c")
    monkeypatch.chdir(tmp_path)
    path.write_text(PROGRAM % ("", code))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    again = transform([path], Options(contents={path: outcome.after["case.c"]}))
    assert again.after["case.c"] == outcome.after["case.c"]
    return [line for d in outcome.decisions for line in d.details if "next iteration" in line]


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not carried(REFUSED[name], tmp_path, monkeypatch)


@pytest.mark.parametrize("name", DONE)
def test_carried(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert carried(DONE[name], tmp_path, monkeypatch)


LATER_ROOM = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double a[N], b[N], c[N], u[3][N];
static MPI_Request q[2];
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
static void finish(void)
{
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}
int main(int argc, char **argv)
{
    int rank, peer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int k = 0; k < 9; k++) {
        MPI_Isend(u[1], N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(c, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &q[1]);
        work(b);
        finish();
        work(u[2]);
        MPI_Recv(u[0], N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
    printf("%g %g %g %g\\n", a[1], b[2], c[3], u[0][1]);
    MPI_Finalize();
    return 0;
}
"""


def test_a_start_stays_behind_its_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`finish` makes room for the start once it has moved, above the wait of the same request."""
    monkeypatch.chdir(tmp_path)
    path = Path("case.c")
    path.write_text(LATER_ROOM)
    outcome = transform([path], Options())
    body = outcome.after["case.c"].decode().partition("for (int k")[2].partition("\n    }")[0]
    assert "imbrex_requests, " in body  # one of its waits stands in the loop, for both
    assert body.index("imbrex_requests, ") < body.index("MPI_Isend(a, ")
    (send,) = [d for d in outcome.decisions if d.site.call.name == "MPI_Send"]
    assert "in the next iteration" in send.details[1]


TURNED = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 100
static double b[N];
static double *e, *f;
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
int main(int argc, char **argv)
{
    int rank, peer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    e = calloc(N, sizeof(double));
    f = calloc(N, sizeof(double));
    for (int k = 0; k < 9; k++) {
        double *t = e;
        e = f;
        f = t;
        work(b);
        f[0] = rank;
        MPI_Sendrecv(e, 1, MPI_DOUBLE, peer, 1, f, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    printf("%g %g %g\\n", b[1], e[0], f[0]);
    MPI_Finalize();
    return 0;
}
"""


def test_what_is_received_is_sent_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The buffers of one call do not overlap, but what comes is what the next call sends."""
    monkeypatch.chdir(tmp_path)
    path = Path("case.c")
    path.write_text(TURNED)
    text = transform([path], Options()).after["case.c"].decode()
    body = text.partition("for (int k")[2].partition("\n    }")[0]
    assert body.index("work(b)") < body.index("MPI_Irecv(f") < body.index("MPI_Wait")
    assert body.index("MPI_Isend(e") < body.index("work(b)")
