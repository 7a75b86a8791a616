"""An exchange that goes into the routine behind it: where it does, and where it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double u[N], v[N], total;
static int left, right, round_number;
{top}
static void exchange(void)
{{
    double edge[1];
    MPI_Sendrecv(&u[N - 2], 1, MPI_DOUBLE, right, 0, edge, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    u[0] = edge[0];
}}
{between}
static {result} compute({parameters})
{{
    {declarations}
    {first}
    for (int i = 1; i < N - 1; i++)
        v[i] = 0.5 * (u[i - 1] + u[i]) + 1e-3 * round_number;
    {behind}
}}
int main(int argc, char **argv)
{{
    void (*hook)(void) = NULL;
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 10; k++) {{
        {ahead}
        {call}
        for (int i = 1; i < N - 1; i++)
            u[i] = v[i];
    }}
    {once}
    if (hook)
        hook();
    printf("%g %g %d\\n", u[3], total, round_number);
    MPI_Finalize();
    return 0;
}}
"""
USUAL = {
    "top": "",
    "between": "",
    "result": "void",
    "parameters": "void",
    "declarations": "",
    "first": "round_number++;",  # so that it is more than one loop nest
    "behind": "",
    "ahead": "exchange();",
    "call": "compute();",
    "once": "",
}
GOES = {
    "as usual": {},
    "a declaration that the exchange leaves alone": {
        "declarations": "double s = 2.0;",
        "behind": "total += s;",
    },
    "from two places": {"once": "exchange();\n    compute();"},
    "the exchange alone somewhere else too": {"once": "exchange();"},
}
STAYS = {
    "a declaration with a value of the exchange": {
        "declarations": "double s = u[0];",
        "behind": "total += s;",
    },
    "a call without the exchange": {"once": "compute();"},
    "a statement between": {"call": "u[0] *= 2.0; compute();"},
    "a condition on the exchange": {"ahead": "if (k > 3) exchange();"},
    "a condition on the call": {"call": "if (k > 3) compute();"},
    "an exchange that is not always compiled": {"ahead": "\n#ifdef MANY\nexchange();\n#endif\n"},
    "a call that is not always compiled": {"call": "\n#ifndef FEW\ncompute();\n#endif\n"},
    "a directive between": {"call": "\n#pragma omp barrier\ncompute();"},
    "an argument": {
        "parameters": "double s",
        "behind": "total += s;",
        "call": "compute(u[0]);",
    },
    "its value is used": {
        "result": "int",
        "behind": "return 1;",
        "call": "round_number += compute();",
    },
    "its address is taken": {"once": "hook = (void (*)(void))compute;"},
    "it communicates itself": {"first": "MPI_Barrier(MPI_COMM_WORLD);"},
    "it may leave": {"first": "if (left < 0) exit_now();", "top": "void exit_now(void);"},
    "a variable with the name of the exchange": {"declarations": "int exchange = 1;"},
}


def rewritten(changes: dict[str, str], folder: Path) -> tuple[str, set[str]]:
    """The text afterwards, and the rewrites that are part of it."""
    path = folder / "program.c"
    path.write_text(PROGRAM.format(**{**USUAL, **changes}))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode(), {r for d in outcome.decisions for r in d.rewrites}


@pytest.mark.parametrize("name", GOES)
def test_goes_into_the_routine(name: str, tmp_path: Path) -> None:
    text, rewrites = rewritten(GOES[name], tmp_path)
    assert {"sinking", "wrappers"} <= rewrites
    body = text[text.index("compute(void)") : text.index("int main")]
    assert body.index("exchange_start(") < body.index("0.5 * ") < body.index("exchange_finish(")
    assert body.count("0.5 * ") == 2
    inside = text[text.index("for (int k") : text.index("u[i] = v[i]")]
    assert "exchange" not in inside


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    text, rewrites = rewritten(STAYS[name], tmp_path)
    assert "sinking" not in rewrites
    assert "exchange_start" not in text


FORTRAN = """module field
  implicit none
  integer, parameter :: n = 50
  integer :: many = 40, left = 0, right = 0, rounds = 0
  double precision :: u(n), v(n)
end module field
program main
  use field
  use mpi
  implicit none
  integer :: k, ierr
  call mpi_init(ierr)
  do k = 1, 10
    call exchange
    call compute
    u(2:n - 1) = v(2:n - 1)
  end do
  print *, u(3)
  call mpi_finalize(ierr)
end program main
subroutine exchange
  use field
  use mpi
  implicit none
  integer :: requests(2), p, ierr
  double precision :: sent(2), got(2)
  p = 1
  sent(p) = u(n - 1)
  call mpi_irecv(got, 1, MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD, requests(1), ierr)
  call mpi_isend(sent, p, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, requests(2), ierr)
  call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  {again}
  u(1) = got(p)
  {more}
end subroutine exchange
subroutine compute
  use field
  implicit none
  integer :: i{declared}
  rounds = rounds + 1
  do i = 2, n - 1
    v(i) = 0.5d0 * (u(i - 1) + u(i))
  end do
end subroutine compute
"""


@pytest.mark.parametrize(
    ("again", "more", "declared", "goes"),
    [
        ("p = 1", "", "", True),
        # A counter that one statement sets to a number is set in both halves.
        ("continue", "", "", True),
        # One that does not begin anew in each case has its value from the start, which hands it on.
        ("if (left > 0) p = 2", "", "", True),
        # It begins anew from a value of its own: that comes from the start.
        ("p = p + 0", "", "", True),
        # A local array is as long as the exchange says.
        ("p = 1", "many = 30", "\n  double precision :: w(many)\n  w(1) = 1.0d0", False),
    ],
)
def test_in_fortran(again: str, more: str, declared: str, goes: bool, tmp_path: Path) -> None:
    path = tmp_path / "program.f90"
    path.write_text(FORTRAN.format(again=again, more=more, declared=declared))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    rewrites = {r for d in outcome.decisions for r in d.rewrites}
    assert ("sinking" in rewrites) is goes
    text = outcome.after[str(path)].decode()
    assert ("call exchange_finish(" in text) is goes
    if goes:
        finish = text[text.index("subroutine exchange_finish") :]
        used = finish.index("u(1) = got(p)")
        given = finish[finish.index("(") + 1 : finish.index(")")].split(", ")
        assert "p" in given or finish.index("p = 1") < used
        assert finish.index("mpi_waitall") < used
