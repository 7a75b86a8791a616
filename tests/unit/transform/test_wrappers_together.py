"""Wrappers of wrappers, and several in one program: the order of their halves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

NESTED = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double u[N + 2], v[N + 2], w[N], box[2], bin[2];
static int flag;
static void shift(double *f, int peer, int tag)
{
    %s
}
static void exchange(int peer)
{
    %s
}
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange(1 - rank);
    %s
    printf("%%g %%g %%g %%d\\n", u[N + 1], v[N + 1], w[3], flag);
    MPI_Finalize();
    return 0;
}
"""
DIRECT = (
    "MPI_Sendrecv(&f[1], 1, MPI_DOUBLE, peer, tag, &f[N + 1], 1, MPI_DOUBLE, peer, tag, "
    "MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
)
SHARED = (
    "bin[0] = f[1]; MPI_Sendrecv(bin, 1, MPI_DOUBLE, peer, tag, box, 1, MPI_DOUBLE, peer, tag, "
    "MPI_COMM_WORLD, MPI_STATUS_IGNORE); f[N + 1] = box[0];"
)
BOTH = "shift(u, peer, 1);\n    shift(v, peer, 2);"

# name: (the inner routine, the outer one, main, starts ahead of the work; 0: it is not split)
NESTS = {
    "two fields": (DIRECT, BOTH, "work(w);", 2),
    "one buffer for both": (SHARED, BOTH, "work(w);", 1),
    "a start that needs the finish before it": (
        DIRECT,
        "shift(u, peer, 1);\n    v[1] = u[N + 1];\n    shift(v, peer, 2);",
        "work(w);",
        1,
    ),
    "a buffer of the inner routine": (
        "double x[2]; x[0] = f[1]; "
        + DIRECT.replace("&f[1]", "x").replace("&f[N + 1]", "x + 1")
        + " f[N + 1] = x[1];",
        BOTH,
        "work(w);",
        2,
    ),
    "a call in a condition": (DIRECT, "if (flag)\n        shift(u, peer, 1);", "work(w);", 1),
    "a call in a loop": (
        DIRECT,
        "for (int i = 0; i < 2; i++)\n        shift(u, peer, i);",
        "work(w);",
        0,
    ),
    "a barrier in it": (DIRECT, BOTH + "\n    MPI_Barrier(MPI_COMM_WORLD);", "work(w);", 0),
    "the work needs it": (DIRECT, BOTH, "for (int i = 0; i < N; i++) w[i] = u[N + 1] + i;", 0),
}


@pytest.mark.parametrize("name", NESTS)
def test_nested(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrapper of wrappers; what may start is ahead of the caller's work."""
    *code, starts = NESTS[name]
    path = Path("case.c")
    monkeypatch.chdir(tmp_path)
    path.write_text(NESTED % tuple(code))
    outcome = transform([path], Options())
    after = outcome.after["case.c"].decode()
    assert ("exchange_finish" in after) is (starts > 0)
    if starts:
        first = after[after.index("void exchange_start") : after.index("void exchange_finish")]
        assert first.count("shift_start(") == starts
        main = after[after.index("int main") :]
        assert main.index("exchange_start(") < main.index("work(w)")
        assert main.index("work(w)") < main.index("exchange_finish(")
    again = transform([path], Options(contents={path: outcome.after["case.c"]}))
    assert again.after == again.before


TWO = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double u[N + 2], v[N + 2], w[N];
static void left(double *f, int peer)
{
    MPI_Sendrecv(&f[1], 1, MPI_DOUBLE, peer, 1, &f[N + 1], 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void right(double *f, int peer)
{
    MPI_Sendrecv(&f[N], 1, MPI_DOUBLE, peer, 2, &f[0], 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    left(u, 0);
    work(w);
    right(v, 0);
    work(w);
    printf("%g %g %g\\n", u[N + 1], v[0], w[3]);
    MPI_Finalize();
    return 0;
}
"""


def test_two_wrappers_in_one_file(tmp_path: Path) -> None:
    """Each half keeps the name of its requests, though the other wrapper has used it by then."""
    path = tmp_path / "case.c"
    path.write_text(TWO)
    outcome = transform([path], Options())
    after = outcome.after[str(path)].decode()
    main = after[after.index("int main") :]
    for name in ("left", "right"):
        start, finish = main.index(f"{name}_start("), main.index(f"{name}_finish(")
        assert "work(w)" in main[start:finish]
    assert "imbrex_requests2" not in after


def test_two_calls_of_one_wrapper(tmp_path: Path) -> None:
    """Work between two calls is passed by the finish of the first or the start of the second."""
    path = tmp_path / "case.c"
    path.write_text(TWO.replace("right(v, 0);\n", "left(v, 0);\n"))
    outcome = transform([path], Options())
    after = outcome.after[str(path)].decode()
    main = after[after.index("int main") :]
    order = re.findall(r"left_(\w+)\(|(work)\(", main)
    assert [first or second for first, second in order] == [
        *("start", "work", "finish"),
        *("start", "work", "finish"),
    ]


def test_a_wrapper_beside_one_around_it(tmp_path: Path) -> None:
    """Both use the same buffers: the inner one's start stays behind the outer one's finish."""
    path = tmp_path / "case.c"
    code = "work(w);\n    shift(u, 1 - rank, 5);\n    work(w);"
    path.write_text(NESTED % (SHARED, BOTH, code))
    outcome = transform([path], Options())
    after = outcome.after[str(path)].decode()
    main = after[after.index("int main") :]
    order = re.findall(r"(exchange|shift)_(\w+)\(", main)
    assert order == [
        ("exchange", "start"),
        ("exchange", "finish"),
        ("shift", "start"),
        ("shift", "finish"),
    ]
