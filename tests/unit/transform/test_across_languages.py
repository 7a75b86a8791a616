"""Routines of one language that another calls stay what they are: the other has their name."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

EXCHANGE = """#include <mpi.h>
static double w[100];
void %(name)s(double *u)
{
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, 1, 0, &u[0], 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
void twice(double *u)
{
    %(name)s(u);
    for (int i = 0; i < 100; i++)
        w[i] = 0.5 * w[i] + 1.0;
    u[3] += w[2];
}
"""
MAIN = """#include <mpi.h>
void twice(double *u);
void more_(double *u);
int main(int argc, char **argv)
{
    double u[100] = {1};
    MPI_Init(&argc, &argv);
    twice(u);
    %s
    MPI_Finalize();
    return 0;
}
"""
MORE = """subroutine more(u)
  %s
  double precision :: u(100)
  call exchange(u)
end subroutine
"""
BOUND = """interface
    subroutine exchange(u) bind(c, name='exchange')
      use iso_c_binding
      real(c_double) :: u(*)
    end subroutine
  end interface"""
IN_FORTRAN = """subroutine exchange(u)
  use mpi
  implicit none
  double precision :: u(100)
  integer :: ierr
  call MPI_Sendrecv(u(2), 1, MPI_DOUBLE_PRECISION, 1, 0, u(1), 1, MPI_DOUBLE_PRECISION, 1, 0, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
end subroutine

subroutine more(u)
  implicit none
  double precision :: u(100), v(100)
  integer :: i
  call exchange(u)
  do i = 1, 100
    v(i) = 0.5d0 * i
  end do
  u(3) = v(4)
end subroutine
"""


def decided(folder: Path, texts: dict[str, str]) -> Outcome:
    for name, text in texts.items():
        (folder / name).write_text(text)
    return transform([folder / name for name in texts], Options())


def split(outcome: Outcome) -> bool:
    return any(b"_start(" in text for text in outcome.after.values())


@pytest.mark.parametrize(("name", "declared"), [("exchange_", ""), ("exchange", BOUND)])
def test_a_function_of_c_that_fortran_calls(tmp_path: Path, name: str, declared: str) -> None:
    own = {"a.c": EXCHANGE % {"name": name}, "main.c": MAIN % ""}
    assert split(decided(tmp_path, own))
    both = {**own, "main.c": MAIN % "more_(u);", "more.f90": MORE % declared}
    outcome = decided(tmp_path, both)
    assert not outcome.skipped
    assert outcome.after == outcome.before
    (told,) = (d.obstacle_text for d in outcome.decisions)
    assert "exchange" in told
    assert "is called from another language" in told


@pytest.mark.parametrize("called", ["", "exchange_(u);"])
def test_a_routine_of_fortran_that_c_calls(tmp_path: Path, called: str) -> None:
    main = MAIN.replace("twice(u);", f"more_(u);{called}").replace("twice", "exchange_") % ""
    outcome = decided(tmp_path, {"a.f90": IN_FORTRAN, "main.c": main})
    assert split(outcome) is not bool(called)
