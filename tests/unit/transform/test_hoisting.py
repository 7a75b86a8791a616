"""Calls that begin or end a routine: where they go to its callers, and where they must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double u[N], a[N], total;
static int left, right, round;
{top}
static void receive(double *x, int n)
{{
    double edge[N];
    MPI_Recv(edge, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        x[i] = edge[i];
}}
static void coefficients(int k)
{{
    for (int i = 0; i < N; i++)
        a[i] = 0.5 * k * i;
}}
static {result} solve({parameters})
{{
    {declarations}
    {first};
    for (int i = 0; i < N; i++)
        x[i] += a[i];
    {behind}
}}
int main(int argc, char **argv)
{{
    void (*hook)(void) = NULL;
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 10; k++) {{
        {inside}
        coefficients(k);
        {call}
    }}
    if (hook)
        hook();
    printf("%g %g %d\\n", u[3], total, round);
    MPI_Finalize();
    return 0;
}}
"""
USUAL = {
    "top": "",
    "result": "void",
    "parameters": "double *x, int n",
    "declarations": "",
    "first": "receive(x, n)",
    "behind": "",
    "inside": "",
    "call": "solve(u, N);",
}
GOES = {
    "as usual": {},
    "a constant set in front": {
        "declarations": "int many; many = 7;",
        "first": "receive(x, many)",
    },
    "a global name": {"first": "receive(u, n)"},
}
STAYS = {
    "a value that the message sets": {"declarations": "double s = x[0]; total += s;"},
    "an argument that the message sets": {
        "parameters": "double *x, int n, double s",
        "call": "solve(u, N, u[0]);",
        "behind": "total += s;",
    },
    "a return ahead of it": {"declarations": "if (n < 0) return;"},
    "a statement ahead of it": {"declarations": "x[0] = 1.0;"},
    "a local name": {"declarations": "double own[N];", "first": "receive(own, n)"},
    "another value set in front": {
        "declarations": "int many; many = n - 1;",
        "first": "receive(x, many)",
    },
    "a name that means something else at the caller": {
        "first": "receive(u, n)",
        "inside": "double u[N]; u[0] = k; total += u[0];",
    },
    "its value is used": {
        "result": "int",
        "behind": "return 1;",
        "call": "round += solve(u, N);",
    },
    "a call that is no statement of a block": {"call": "if (k > 3) solve(u, N);"},
    "its address is taken": {"inside": "hook = (void (*)(void))solve;"},
    "a number that is converted": {
        "parameters": "double *x, int n, int s",
        "first": "receive(x, s)",
        "call": "solve(u, N, 2.5);",
    },
    "an expression with a side effect": {"call": "solve(u, round++);"},
}


def rewritten(changes: dict[str, str], folder: Path) -> tuple[str, set[str]]:
    """The text afterwards, and the rewrites that are part of it."""
    path = folder / "program.c"
    path.write_text(PROGRAM.format(**{**USUAL, **changes}))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode(), {r for d in outcome.decisions for r in d.rewrites}


@pytest.mark.parametrize("name", GOES)
def test_goes_to_the_caller(name: str, tmp_path: Path) -> None:
    text, rewrites = rewritten(GOES[name], tmp_path)
    assert {"hoisting", "wrappers"} <= rewrites
    window = text[text.index("receive_start(", text.index("int main")) :]
    assert window.index("coefficients(k);") < window.index("receive_finish(")
    assert window.index("receive_finish(") < window.index("solve(u, N);")


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    text, rewrites = rewritten(STAYS[name], tmp_path)
    assert "hoisting" not in rewrites
    assert "receive_start" not in text[text.index("int main") :]


FORTRAN = """      program waves
      implicit none
      include 'mpif.h'
      double precision u(50), a(50)
      common /field/ u, a
      integer k, ierr, south
      common /grid/ south
      call mpi_init(ierr)
      south = 0
      do k = 1, 10
        call coefficients(k)
        call sweep({actual})
      end do
      print *, u(3)
      call mpi_finalize(ierr)
      end
      subroutine coefficients(k)
      implicit none
      integer k, i
      double precision u(50), a(50)
      common /field/ u, a
      do i = 1, 50
        a(i) = 0.5d0 * k * i
      end do
      end
      subroutine sweep(g, k)
      implicit none
      double precision g(50)
      double precision u(50), a(50)
      common /field/ u, a
      integer k, i, flag{more}
      flag = 1
      call plane(g, {inner})
      do i = 2, 50
        g(i) = g(i) + a(i) * g(i-1)
      end do
      end
      subroutine plane(g, k, flag)
      implicit none
      include 'mpif.h'
      double precision g(50), edge(50)
      integer k, flag, i, ierr, status(MPI_STATUS_SIZE)
      call mpi_recv(edge, 50, MPI_DOUBLE_PRECISION, 1, k,
     &  MPI_COMM_WORLD, status, ierr)
      do i = 1, 50
        g(i) = edge(i) + flag
      end do
      end
"""


@pytest.mark.parametrize(
    ("actual", "inner", "more", "goes"),
    [
        ("u, k", "k, flag", "", True),
        ("u, k", "k, 1", "", True),
        ("u, k + 1", "k, flag", "", True),
        # The caller's COMMON block has the name, the routine has a local variable of that name.
        ("u, k", "south, flag", ", south\n      data south /3/", False),
        # A block that the caller does not declare.
        ("u, k", "other, flag", "\n      integer other\n      common /third/ other", False),
        ("u(1:50:2), k", "k, flag", "", False),
    ],
)
def test_in_fortran(actual: str, inner: str, more: str, goes: bool, tmp_path: Path) -> None:
    path = tmp_path / "program.f"
    path.write_text(FORTRAN.format(actual=actual, inner=inner, more=more))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    rewrites = {r for d in outcome.decisions for r in d.rewrites}
    assert ("hoisting" in rewrites) is goes
    text = outcome.after[str(path)].decode()
    main = text[: text.index("subroutine coefficients")]
    assert ("call plane_finish(u, " in main) is goes
