"""Parameters that are `restrict`: what they reach is reached in no other way."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

STEP = """#include <mpi.h>
struct box { double x[8]; };
void step(%s, int n, int left, int right, int again)
{
    %s
    MPI_Sendrecv(&u[n - 2], 1, MPI_DOUBLE, right, 1, &u[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i < n - 1; i++)
        v[i] = 0.5 * (v[i] + i);
    for (int i = 1; i < n - 1; i++)
        u[i] += v[i];
    %s
}
"""
PLAIN = "double *u, double *v"
FIRST = "double *restrict u, double *v"


def moves(tmp_path: Path, text: str, name: str = "p.c") -> bool:
    path = tmp_path / name
    path.write_text(text)
    outcome = transform([path], Options())
    return outcome.before != outcome.after


@pytest.mark.parametrize(
    ("parameters", "first", "last", "moved"),
    [
        (PLAIN, "", "", False),
        (FIRST, "", "", True),
        ("double *u, double *restrict v", "", "", True),
        ("double u[restrict], double v[]", "", "", False),  # libclang does not tell
        ("double *const restrict u, const int k, double *v", "", "", True),
        (FIRST, "v = u + 1;", "", False),
        (FIRST, "u++;", "", False),
        (FIRST, "double **p = &v; *p = u;", "", False),
        (FIRST, "", "if (again) step(v, u, n, left, right, 0);", False),
    ],
)
def test_of_c(parameters: str, first: str, last: str, moved: bool, tmp_path: Path) -> None:
    assert moves(tmp_path, STEP % (parameters, first, last)) is moved


@pytest.mark.parametrize(("qualified", "moved"), [("__restrict__", True), ("", False)])
def test_of_cxx(qualified: str, moved: bool, tmp_path: Path) -> None:
    text = STEP % (f"double *{qualified} u, double *v", "", "")
    assert moves(tmp_path, text, "p.cpp") is moved


def test_called_again_by_another(tmp_path: Path) -> None:
    """Another routine that it calls may call it, with the arrays the other way round."""
    call = "again_with(u, v, n, left, right);"
    before = "void again_with(double *, double *, int, int, int);\n"
    behind = """void again_with(double *a, double *b, int n, int left, int right)
{
    if (n > 9)
        step(b, a, n - 1, left, right, 0);
}
"""
    text = STEP % (FIRST, "", call)
    assert not moves(tmp_path, before + text + behind)
    assert moves(tmp_path, before + text + behind.replace("step(b, a, n - 1, left, right, 0)", ";"))


POOL = """#include <stdlib.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double *pool = calloc(200, sizeof *pool);
    %s
    step(pool, pool + 100, 100, 0, 0, 1);
    MPI_Finalize();
    return pool[3] > 0.0;
}
"""


def test_called_through_a_pointer(tmp_path: Path) -> None:
    declared = "static void (*stepper)(double *, double *, int, int, int, int);\n"
    call = "if (again) stepper(v, u, n, left, right, 0);"
    assert moves(tmp_path, STEP % (FIRST, "", "") + POOL % "")
    text = STEP % (FIRST, "", call) + POOL % "stepper = step;"
    assert not moves(tmp_path, declared + text)


def test_one_of_three(tmp_path: Path) -> None:
    """Two that are not `restrict` stay what they are beside one that is."""
    assert not moves(tmp_path, STEP % ("double *restrict w, double *u, double *v", "", ""))


@pytest.mark.parametrize(("pointer", "moved"), [("double *", False), ("struct box *", False)])
def test_what_is_reached_through_more_than_one(pointer: str, moved: bool, tmp_path: Path) -> None:
    """Pointers in an array, and arrays in a structure that nothing changes, may be known twice."""
    text = (STEP % (f"{pointer}*restrict a, {pointer}*restrict b", "", "")).replace(
        "    \n", "    double *u = AT(a), *v = AT(b);\n", 1
    )
    at = "(p)[0]" if "struct" not in pointer else "(p)[0]->x"
    assert moves(tmp_path, f"#define AT(p) {at}\n{text}") is moved
