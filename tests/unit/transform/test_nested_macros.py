"""Macros inside macros: libclang leaves the last one out of what ends with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.in_place import IN_PLACE

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

DEFINED = """#define IS(x) x
#define ZERO IS(0.0)
#define TEN IS(10)
#define TWICE(x) IS(2 * x)
#define BOTH(a, b) IS(a + b)
#define TWO IS(0.0); MPI_Barrier(MPI_COMM_WORLD)
#define OPEN IS(0.0); if (me) {
#define TAG IS(7)
#define WHOLE IS(MPI_COMM_WORLD)
#define WAIT IS(&r)
"""
PROGRAM = """#include <mpi.h>
%s
static double u[1000], v[1000], w[1000], z[10];
int main(int argc, char **argv)
{
    int i, n, me;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (n = 0; n < 10; n++) {
        %s
        %s
        for (i = 0; i < 1000; i++)
            w[i] = w[i] * 2;
        u[n] = v[0];
    }
    MPI_Finalize();
}
"""
EXCHANGE = (
    "MPI_Sendrecv(u, 10, MPI_DOUBLE, 0, 0, v, 10, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, "
    "MPI_STATUS_IGNORE);"
)


def after(call: str, between: str, tmp_path: Path) -> str:
    path = tmp_path / "p.c"
    path.write_text(PROGRAM % (DEFINED, call, between))
    outcome = transform([path], Options(rewrites=IN_PLACE))
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode()


@pytest.mark.parametrize(
    ("between", "passed"),
    [
        ("z[0] = ZERO;", True),
        ("if (me) z[1] = 2; else z[0] = ZERO;", True),
        ("if (me)\n            z[1] = ZERO;", True),
        ("while (me > 3) me = TEN;", True),
        ("for (i = 0; i < TEN; i++) z[i] = ZERO;", True),
        ("z[2] = TWICE(3.0);", True),
        ("z[2] = TWICE((1.0 + ZERO));", True),
        ("z[2] = BOTH(ZERO, (1.0));", True),
        ("{ double q = ZERO; z[3] = q; }", True),
        ("z[1] = TWO;", False),
        ("if (me) z[1] = TWO;", False),
        ("z[1] = OPEN } z[2] = ZERO;", False),
        ("v[1] = ZERO;", False),
    ],
)
def test_statements_that_end_with_one_are_passed(
    between: str, passed: bool, tmp_path: Path
) -> None:
    text = after(EXCHANGE, between, tmp_path)
    behind = text.index("MPI_Wait") > text.index("w[i] * 2") if "MPI_Wait" in text else False
    assert behind is passed, text
    assert between in text


@pytest.mark.parametrize(
    ("call", "written"),
    [
        (EXCHANGE.replace("u, 10", "u, TEN"), "MPI_Isend(u, TEN, MPI_DOUBLE, 0, 0,"),
        (EXCHANGE.replace("v, 10", "v, 3 + TEN"), "MPI_Irecv(v, 3 + TEN, MPI_DOUBLE,"),
        (EXCHANGE.replace("v, 10", "v, TWICE(5)"), "MPI_Irecv(v, TWICE(5), MPI_DOUBLE,"),
        (EXCHANGE.replace("0, 0,", "0, TAG,"), "MPI_Isend(u, 10, MPI_DOUBLE, 0, TAG,"),
        (EXCHANGE.replace("MPI_COMM_WORLD", "WHOLE"), "0, 0, WHOLE, &imbrex_requests[1])"),
        ("MPI_Irecv(v, TEN, MPI_DOUBLE, 0, 0, WHOLE, &r);\n        MPI_Wait(WAIT, IS(NULL));", ""),
    ],
)
def test_arguments_keep_them(call: str, written: str, tmp_path: Path) -> None:
    assert written in after(call, "", tmp_path)


def test_functions_of_headers(tmp_path: Path) -> None:
    lines = PROGRAM.splitlines(keepends=True)
    body = "".join(lines[4:]) % (EXCHANGE.replace("10", "TEN"), "z[0] = ZERO;")
    header = "static inline int work(int argc, char **argv)\n" + body.replace(
        "}\n}", "}\n    return 0;\n}"
    )
    (tmp_path / "h.h").write_text("".join(lines[:3]) % DEFINED + header)
    path = tmp_path / "p.c"
    path.write_text('#include "h.h"\nint main(int n, char **a) { return work(n, a); }\n')
    outcome = transform([path], Options(root=tmp_path))
    text = outcome.after[str(tmp_path / "h.h")].decode()
    assert "MPI_Isend(u, TEN, MPI_DOUBLE" in text
    assert text.index("MPI_Wait") > text.index("w[i] * 2")
