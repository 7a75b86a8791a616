"""Routines that have started their messages already are split as those of blocking calls are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <string.h>
#define N 100
static double u[N + 2], w[N], in2[2], total;
{top}
static void exchange(double *f, int up, int down)
{{
    double out[2], in[2];
    MPI_Request {requests};
    {first}
    MPI_Irecv(&in[0], 1, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&in[1], 1, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &r[1]);
    out[0] = f[1];
    out[1] = f[N];
    MPI_Isend(&out[0], 1, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(&out[1], 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &r[3]);
    {wait}
    f[0] = in[0];
    f[N + 1] = in[1];
    {behind}
}}
int main(int argc, char **argv)
{{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 10; k++) {{
        exchange(u, 1 - rank, 1 - rank);
        for (int i = 0; i < N; i++)
            w[i] = 0.5 * w[i] + {used};
        u[2] += u[0] + u[N + 1] + w[3];
    }}
    printf("%g %g %g\\n", u[2], total, in2[0]);
    MPI_Finalize();
    return 0;
}}
"""
USUAL = {
    "top": "",
    "requests": "r[4]",
    "first": "",
    "wait": "MPI_Waitall(4, r, MPI_STATUSES_IGNORE);",
    "behind": "",
    "used": "1.0",
}
SPLIT = {
    "as usual": {},
    "a return ahead of the messages": {"first": "if (up < 0) return;"},
    "requests of the file": {
        "top": "static MPI_Request r[4];",
        "requests": "other",
        "behind": "(void)other;",
    },
    "a number from the start to the finish": {
        "first": "double s = f[3]; f[3] = 2.0 * s;",
        "behind": "in2[0] = s * in[0];",
    },
    "a wait for each": {
        "wait": "for (int i = 0; i < 4; i++) MPI_Wait(&r[i], MPI_STATUS_IGNORE);",
    },
    "a barrier of data behind the wait": {"behind": "total += in[0];"},
    "requests preset by a loop": {"first": "for (int i = 0; i < 4; i++) r[i] = MPI_REQUEST_NULL;"},
    "a buffer that is filled again": {
        "behind": "MPI_Irecv(&in[0], 1, MPI_DOUBLE, up, 7, MPI_COMM_WORLD, &r[0]);"
        " MPI_Isend(&out[0], 1, MPI_DOUBLE, down, 7, MPI_COMM_WORLD, &r[1]);"
        " MPI_Waitall(2, r, MPI_STATUSES_IGNORE); f[1] += in[0];",
    },
}
WHOLE = {
    "its callers use what comes": {"used": "u[0]"},
    "its callers set what comes": {"used": "(u[0] = i)"},
    "requests preset where they are declared": {
        "requests": "r[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, "
        "MPI_REQUEST_NULL}",
    },
    "the size of an array is asked for": {"behind": "total += sizeof(in);"},
    "requests of the file that are copied": {
        "top": "static MPI_Request r[4], kept[4];",
        "requests": "other",
        "wait": "memcpy(kept, r, sizeof r); MPI_Waitall(4, r, MPI_STATUSES_IGNORE);",
        "behind": "(void)other;",
    },
    "requests of the file that another routine starts with what is computed": {
        "top": "static MPI_Request r[4]; static void more(void) "
        "{ MPI_Isend(w, N, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, &r[3]); }",
        "requests": "other",
        "first": "if (f == NULL) more();",
        "behind": "(void)other;",
    },
    "requests that are passed on": {
        "top": "static void end(MPI_Request *q) { MPI_Waitall(4, q, MPI_STATUSES_IGNORE); }",
        "wait": "end(r);",
    },
    "a number from the start that is unset on one way": {
        "first": "double s; if (up) s = f[3];",
        "behind": "if (up) in2[0] = s * in[0];",
    },
    "a barrier": {"behind": "MPI_Barrier(MPI_COMM_WORLD);"},
    "a return ahead of the wait": {
        "wait": "if (up < 0) return;\n    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);"
    },
}


def text_after(changes: dict[str, str], folder: Path) -> str:
    path = folder / "program.c"
    path.write_text(PROGRAM.format(**{**USUAL, **changes}))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    again = transform([path], Options(contents={path: outcome.after[str(path)]}))
    assert again.after == outcome.after
    return outcome.after[str(path)].decode()


@pytest.mark.parametrize("name", SPLIT)
def test_split(name: str, tmp_path: Path) -> None:
    text = text_after(SPLIT[name], tmp_path)
    start = text[text.index("void exchange_start(") : text.index("void exchange_finish(")]
    finish = text[text.index("void exchange_finish(") : text.index("int main")]
    assert start.count("MPI_Irecv(") == start.count("MPI_Isend(") == 2
    assert "MPI_Wait" not in start
    assert "MPI_Wait" in finish
    assert finish.index("MPI_Wait") < finish.index("f[0] = in[0];")
    main = text[text.index("int main") :]
    loop = main.index("w[i] = ")
    assert main.index("exchange_start(") < loop < main.index("exchange_finish(")
    own = re.search(r"MPI_Request exchange_r\[4\];", main)
    assert (own is None) is ("top" in SPLIT[name])
    assert "imbrex_requests" not in text
    handed_on = start.count("*imbrex_s = s;"), len(re.findall(r" double s\b", finish))
    assert handed_on == ((1, 1) if "a number" in name else (0, 0))


@pytest.mark.parametrize("name", WHOLE)
def test_stays_whole(name: str, tmp_path: Path) -> None:
    assert "exchange_start" not in text_after(WHOLE[name], tmp_path)
