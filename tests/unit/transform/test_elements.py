"""Fields in arrays of pointers: `u[now]` beside `u[1 - now]`, and elements that change places.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.transform.engine import transform
from imbrex.transform.model.affine import QUOTIENT, Affine, never_equal
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define FIELDS 4
static int rank, size, n = 1000;
static double *u[FIELDS], *w[FIELDS], *kept;
static void halo(double *f, int left, int right)
{
    MPI_Sendrecv(&f[1], 1, MPI_DOUBLE, left, 1, &f[n + 1], 1, MPI_DOUBLE, right, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&f[n], 1, MPI_DOUBLE, right, 2, &f[0], 1, MPI_DOUBLE, left, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void step(const double *a, double *b)
{
    for (int i = 1; i <= n; i++)
        b[i] = a[i] + 0.1 * (a[i - 1] - 2 * a[i] + a[i + 1]);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size, now = 0;
    double sum = 0;
    for (int s = 0; s < FIELDS; s++) {
        u[s] = calloc(n + 2, sizeof(double));
        w[s] = calloc(n + 2, sizeof(double));
        for (int i = 1; i <= n; i++)
            u[s][i] = i % 7 + rank + s;
    }
BEFORE
    for (int t = 0; t < 50; t++) {
STEP
        now = 1 - now;
    }
    for (int i = 1; i <= n; i++)
        sum += i * (u[0][i] + 2 * u[1][i] + 3 * w[0][i] + 5 * u[2][i]);
    printf("%d %.15g\\n", rank, sum);
    MPI_Finalize();
    return 0;
}
"""
STENCIL = """for (int i = 1; i <= n; i++)
    TO[i] = FROM[i] + 0.1 * (FROM[i - 1] - 2 * FROM[i] + FROM[i + 1]);"""


def _stencil(source: str, target: str) -> str:
    return STENCIL.replace("TO", target).replace("FROM", source)


def _pair(one: str, other: str) -> str:
    return f"halo(u[{one}], left, right);\n" + _stencil(f"u[{one}]", f"u[{other}]")


def _named(one: str, between: str, other: str) -> str:
    declared = f"double *a = u[{one}];\n{between}\ndouble *b = u[{other}];"
    return f"{declared}\nhalo(a, left, right);\n" + _stencil("a", "b")


def _exchange(how: str, source: str = "u[s]", target: str = "w[s]") -> str:
    body = f"halo({source}, left, right);\n" + _stencil(source, target)
    return f"for (int s = 0; s < FIELDS - 1; s++) {{\n{body}\n{how}\n}}"


SWAP = "double *x = u[s];\nu[s] = w[s];\nw[s] = x;"

# name: (before the loop, in the loop, whether the exchange is divided)
PROGRAMS = {
    "now and 1 - now": ("", _pair("now", "1 - now"), True),
    "now + 2 and 1 - now": ("", _pair("now + 2", "1 - now"), True),
    "now and 2 - now": ("", _pair("now", "2 - now"), False),
    "now and argc": ("", _pair("now", "argc"), False),
    "by a remainder": ("", _pair("t % 2", "(t + 1) % 2"), True),
    "by a remainder and its complement": ("", _pair("t % 2", "1 - t % 2"), True),
    "two further on": ("", _pair("t % 2", "(t + 2) % 2"), False),
    "by remainders of two divisors": ("", _pair("t % 2", "(t + 1) % 3"), False),
    "by the other bit": ("", _pair("now", "now ^ 1"), True),
    "by another bit": ("", _pair("now", "now ^ 2"), False),
    "one array in both": ("u[1] = u[0];", _pair("now", "1 - now"), False),
    "parts of one array": ("u[1] = u[0] + 1;", _pair("now", "1 - now"), False),
    "one array by its address": (
        "double **p = &u[1];\n*p = u[0];",
        _pair("now", "1 - now"),
        False,
    ),
    "named": ("", _named("now", "", "1 - now"), True),
    "named with a number in between": ("", _named("now", "int k = 3;", "1 - now"), True),
    "the index changes in between": ("", _named("now", "now = 1 - now;", "1 - now"), False),
    "the array changes in between": (
        "",
        _named("now", "double *x = u[0];\nu[0] = u[1];\nu[1] = x;", "1 - now"),
        False,
    ),
    "named by equal indices": ("", _named("now", "", "2 - now"), False),
    "an index with a name": ("", "int next = 1 - now;\n" + _pair("now", "next"), True),
    "indices with names": (
        "",
        "const int old = t % 2, new = 1 - old;\n" + _pair("old", "new"),
        True,
    ),
    "a name set at the end": (
        "",
        "int next = 1 - now;\n" + _pair("now", "next") + "\nnow = next;\nnow = 1 - now;",
        True,
    ),
    "what it was made of changes": (
        "",
        "int next = 1 - now;\nnow = next;\n" + _pair("now", "next"),
        False,
    ),
    "what it was made of may change": (
        "",
        "int next = 1 - now;\nif (argc > 2)\nnow = next;\n" + _pair("now", "next"),
        False,
    ),
    "it changes in a loop around": (
        "",
        "int next = 1 - now;\nfor (int k = 0; k < 2; k++) {\n"
        + _pair("now", "next")
        + "\nnow = next;\n}",
        False,
    ),
    "it is set again": (
        "",
        "int next = 1 - now;\nnext = argc - 1;\n" + _pair("now", "next"),
        False,
    ),
    "it is set by its address": (
        "",
        'int next = 1 - now;\nscanf("%d", &next);\n' + _pair("now", "next"),
        False,
    ),
    "a pointer is declared with it": (
        "",
        "int next = 1 - now;\n" + _named("now", "", "next"),
        True,
    ),
    "a pointer is declared with it later": (
        "",
        "int next = 1 - now;\nnow = next;\n" + _named("now", "", "next"),
        False,
    ),
    "given to a routine": (
        "",
        "halo(u[now], left, right);\nstep(u[now], u[1 - now]);",
        True,
    ),
    "given to a routine, maybe one": (
        "",
        "halo(u[now], left, right);\nstep(u[now], u[argc - 1]);",
        False,
    ),
    "elements change places": ("", _exchange(SWAP), True),
    "elements of one array change places": (
        "",
        _exchange("double *x = u[s];\nu[s] = u[s + 1];\nu[s + 1] = x;", target="u[s + 1]"),
        True,
    ),
    "three change places": (
        "",
        _exchange("double *x = u[s];\nu[s] = w[s];\nw[s] = w[s + 1];\nw[s + 1] = x;"),
        True,
    ),
    "one is copied": ("", _exchange("u[s] = w[s];"), False),
    "one is copied behind an exchange": ("", _exchange(SWAP + "\nu[s] = w[s];"), False),
    "one is copied in a condition": ("", _exchange(SWAP + "\nif (argc > 5)\nu[s] = w[s];"), False),
    "another element takes it": (
        "",
        _exchange("double *x = u[s];\nu[s] = w[s];\nw[s + 1] = x;"),
        False,
    ),
    "the third keeps its own": (
        "",
        _exchange("double *x = u[s];\nu[s] = w[s];\nw[s] = w[s + 1];"),
        False,
    ),
    "moved by a part": (
        "",
        _exchange("double *x = u[s];\nu[s] = w[s] + 1;\nw[s] = x;"),
        False,
    ),
    "chosen": (
        "",
        _exchange("double *x = u[s];\nu[s] = argc > 5 ? u[s + 1] : w[s];\nw[s] = x;"),
        False,
    ),
    "in the midst of it": (
        "",
        _exchange("double *x = u[s];\nu[s] = w[s];\nkept = u[s];\nw[s] = kept;"),
        False,
    ),
    "exchanged with another pointer": (
        "kept = u[0];",
        _exchange("double *x = u[s];\nu[s] = kept;\nkept = x;", target="u[s + 1]"),
        False,
    ),
    "all copied": ("memcpy(w, u, sizeof w);", _exchange(SWAP), False),
    "made of parts of one": (
        "for (int s = 0; s < FIELDS; s++)\nw[s] = u[0] + s;",
        _exchange(SWAP),
        False,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_fields_in_arrays_of_pointers(name: str, tmp_path: Path) -> None:
    before, step, divided = PROGRAMS[name]
    path = tmp_path / "case.c"
    path.write_text(PROGRAM.replace("BEFORE", before).replace("STEP", step))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    assert (b"MPI_Irecv" in outcome.after[str(path)]) is divided, outcome.after[str(path)]


def test_quotients_are_other_integers_on_both_sides() -> None:
    """Read in another iteration, one remainder's quotient is not what it was."""
    index = Affine(0, ((f"{QUOTIENT}case.c:7", -2), ("t", 1)))
    assert not never_equal(index, index)
    assert not never_equal(index, index.plus(Affine(2)))
    assert never_equal(index, index.plus(Affine(1)))


@given(
    st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(-7, 7)),
    st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(-7, 7)),
)
def test_what_never_is_equal(left: tuple[int, int, int], right: tuple[int, int, int]) -> None:
    """Against all values of two variables in a range that has a solution if there is any."""

    def affine(form: tuple[int, int, int]) -> Affine:
        i, j = Affine.variable("i"), Affine.variable("j")
        return Affine(form[2]).plus(i, form[0]).plus(j, form[1])

    equal = any(
        left[0] * i + left[1] * j + left[2] == right[0] * i + right[1] * j + right[2]
        for i, j in product(range(-40, 41), repeat=2)
    )
    assert never_equal(affine(left), affine(right)) is not equal
