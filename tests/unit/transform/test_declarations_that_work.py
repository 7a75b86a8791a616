"""Declarations whose values take work: one half of a wrapper has them, in their place.

A value that nothing asks for is made all the same where making it packs a buffer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#define N 64
static double u[N + 2], v[N], w[N], out[4], in[4], more[2];
static int rank, size, total;
static int pack(double *buffer)
{
    for (int i = 0; i < 4; i++)
        buffer[i] = u[N - 3 + i];
    return 4;
}
%(helper)s
static void exchange(void)
{
    %(body)s
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < 5; k++) {
        exchange();
        for (int i = 0; i < N; i++)
            w[i] = w[i] * 0.5 + i;
        for (int i = 0; i < N; i++)
            v[i] = u[i] + 2 * u[i + 1];
        for (int i = 0; i < N; i++)
            u[i + 1] = v[i] + w[i] + more[0] + total;
    }
    MPI_Finalize();
    return (int)u[0];
}
"""
SEND = (
    "MPI_Sendrecv(%s, 4, MPI_DOUBLE, (rank + 1) %% size, 0, in, 4, MPI_DOUBLE,\n"
    "                 (rank + size - 1) %% size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
)
# The body, `SEND` in it for the message; what its start has, and what its finish has.
FORMS: dict[str, tuple[str, str, str]] = {
    "never used": ("int n = pack(out);\n    SEND\n    u[0] = in[3];", "pack(out)", "u[0] = in[3]"),
    "of an array of its own": (
        "double out[4];\n    int n = pack(out);\n    SEND\n    u[0] = in[3];",
        "pack(out)",
        "u[0] = in[3]",
    ),
    "used behind the wait": (
        "int n = pack(out);\n    SEND\n    u[0] = in[n - 1];",
        "pack(out)",
        "in[n - 1]",
    ),
    "used in front of it": (
        "int n = pack(out);\n    total += n;\n    SEND\n    u[0] = in[3];",
        "total += n",
        "u[0] = in[3]",
    ),
    "of what has come": (
        "pack(out);\n    SEND\n    double come = in[3];\n    more[0] = come;",
        "pack(out)",
        "double come = in[3];\n    more[0] = come;",
    ),
    "of each other": (
        "int n = pack(out), m = n - 1;\n    SEND\n    u[0] = in[m];",
        "pack(out)",
        "in[m]",
    ),
}


def halves(body: str, folder: Path, *, nested: bool) -> tuple[str, str, str]:
    """The start, the finish and the main program; `nested`: the message is in a routine apart."""
    buffer = "out" if not nested else "a"
    message = SEND % buffer
    helper = ""
    if nested:
        helper = "static void shift(double *a)\n{\n    " + message + "\n}"
        message = "shift(out);"
    source = folder / "program.c"
    body = body.replace("SEND", message)
    source.write_text(PROGRAM % {"helper": helper, "body": body})
    text = transform([source], Options()).after[str(source)].decode()
    start, finish, main = (
        text.index(name) for name in (" exchange_start(", " exchange_finish(", "int main(")
    )
    return text[start:finish], text[finish:main], text[main:]


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_one_half_has_it(form: tuple[str, str, str], nested: bool, tmp_path: Path) -> None:
    body, early, late = form
    start, finish, _ = halves(body, tmp_path, nested=nested)
    assert early in start
    assert early not in finish
    assert late in finish
    assert late not in start


def test_the_finish_is_handed_the_number_alone(tmp_path: Path) -> None:
    start, finish, main = halves(FORMS["used behind the wait"][0], tmp_path, nested=False)
    assert "*imbrex_n = n;" in start
    assert "int n," in finish.partition(")")[0]
    assert "int exchange_n;" in main


def test_a_table_of_constants_is_in_the_half_that_asks(tmp_path: Path) -> None:
    body = "static const int to[2] = {0, 3};\n    pack(out);\n    SEND\n    u[to[0]] = in[to[1]];"
    start, finish, _ = halves(body, tmp_path, nested=False)
    assert "static const int to[2] = {0, 3};" in finish
    assert "to[2]" not in start


def test_a_static_number_that_changes_stays(tmp_path: Path) -> None:
    body = (
        "static int calls = 0;\n    calls++;\n    pack(out);\n    SEND\n    u[calls % 2] = in[3];"
    )
    with pytest.raises(ValueError, match="substring not found"):
        halves(body, tmp_path, nested=False)
