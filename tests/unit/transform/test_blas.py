"""BLAS and LAPACK without their sources: what they leave alone, and that they call no MPI."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options
from imbrex.transform.readers import blas

F = """program p
  implicit none
  include 'mpif.h'
  integer :: e, i, peer, r, piv(20), info
  double precision :: a(20, 20), b(20, 20), c(20, 20), x(20), y(20), s
  double precision, external :: ddot
  call mpi_init(e)
  call mpi_comm_rank(mpi_comm_world, r, e)
  peer = 1 - r
  do i = 1, 10
    call mpi_sendrecv(x, 20, mpi_double_precision, peer, 1, y, 20, mpi_double_precision, peer, &
                      1, mpi_comm_world, mpi_status_ignore, e)
    call dgemm('N', 'N', 20, 20, 20, 1d0, a, 20, b, 20, 0.5d0, c, 20)
    {call}
    call other(x, y, a, b, c, s)
  end do
  call mpi_finalize(e)
end program p
subroutine other(x, y, a, b, c, s)
  double precision :: a(20, 20), b(20, 20), c(20, 20), x(20), y(20), s
  x = x + y + c(1, 1) + s
end subroutine other
"""
C = """#include <mpi.h>
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
            const double *, const int *, const double *, const int *, const double *, double *,
            const int *);
void cblas_daxpy(int, double, const double *, int, double *, int);
void cblas_dgemv(int, int, int, int, double, const double *, int, const double *, int, double,
                 double *, int);
static double a[400], b[400], c[400], x[20], y[20];
int main(int argc, char **argv)
{
    int rank, n = 20, one = 1;
    double alpha = 1, beta = 0.5;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 5; k++) {
        MPI_Sendrecv(x, 20, MPI_DOUBLE, 1 - rank, 1, y, 20, MPI_DOUBLE, 1 - rank, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        dgemm_("N", "N", &n, &n, &n, &alpha, a, &n, b, &n, &beta, c, &n);
        CALL
        x[3] += y[2];
    }
    MPI_Finalize();
    return c[7] > 0;
}
"""


def run(text: str, name: str, tmp_path: Path) -> Outcome:
    path = tmp_path / name
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome


def waits(outcome: Outcome, received: bool, sent: bool) -> bool:
    """Whether what a call needs is complete there: the receive of y, the send of x. A send may be
    completed with the receive; where a call needs neither, both are under way."""
    (decision,) = (d for d in outcome.decisions if d.site.call.name == "MPI_Sendrecv")
    assert decision.decision == "rewritten"
    (text,) = outcome.after.values()
    lines = text.decode().lower().splitlines()
    at = next(i for i, line in enumerate(lines) if "! here" in line or "/* here */" in line)
    found = [line for line in lines[:at] if "mpi_wait" in line]
    if not received and not sent:
        return not found
    requests = {
        name: re.findall(r"imbrex_requests[([]\d[)\]]", line)[0]
        for line in lines
        for name in ("mpi_irecv", "mpi_isend")
        if name in line
    }
    needed = [n for n, need in (("mpi_irecv", received), ("mpi_isend", sent)) if need]
    return all(any("waitall" in w or requests[name] in w for w in found) for name in needed)


@pytest.mark.parametrize(
    ("call", "received", "sent"),
    [
        ("call dgemv('N', 20, 20, 1d0, a, 20, b, 1, 0d0, c, 1)", False, False),
        ("call dgemv('N', 20, 20, 1d0, a, 20, x, 1, 0d0, c, 1)", False, False),
        ("call dgemv('N', 20, 20, 1d0, a, 20, y, 1, 0d0, c, 1)", True, False),
        ("call dgemv('N', 20, 20, 1d0, a, 20, b, 1, 0d0, x, 1)", False, True),
        ("call dgemv('N', 20, 20, 1d0, a, 20, b, 1, 0d0, y, 1)", True, False),
        ("call daxpy(20, 2d0, y, 1, x, 1)", True, True),
        ("call dswap(20, a, 1, x, 1)", False, True),
        ("call dcopy(20, x, 1, a, 1)", False, False),
        ("call dcopy(20, y(2), 1, a, 1)", True, False),
        ("call dscal(20, 2d0, x(3), 1)", False, True),
        ("call dscal(20, y(1), a, 1)", True, False),
        ("call dgetrf(20, 20, a, 20, piv, info)", False, False),
        ("call dgetrs('N', 20, 1, a, 20, piv, x, 20, info)", False, True),
        ("s = s + ddot(20, x, 1, a, 1)", False, False),
        ("s = s + ddot(20, a, 1, y, 1)", True, False),
        ("call dsyev('N', 'U', 20, a, 20, c, b, 400, info)", True, True),  # effects not described
        ("call pdgemv('N', 20, 20, 1d0, a, 20, b, 1, 0d0, c, 1)", True, True),  # PBLAS
        ("call dgsum2d(0, 'A', ' ', 20, 1, c, 20, -1, 0)", True, True),  # BLACS
    ],
)
def test_what_is_waited_for_before_a_call(
    call: str, received: bool, sent: bool, tmp_path: Path
) -> None:
    outcome = run(F.replace("{call}", f"{call} ! here"), "p.f90", tmp_path)
    assert waits(outcome, received, sent)


@pytest.mark.parametrize(
    ("call", "received", "sent"),
    [
        ("cblas_daxpy(20, 2.0, x, 1, a, 1);", False, False),
        ("cblas_daxpy(20, 2.0, y, 1, a, 1);", True, False),
        ("cblas_daxpy(20, 2.0, b, 1, x, 1);", False, True),
        ("cblas_dgemv(101, 111, 20, 20, 1.0, a, 20, x, 1, 0.0, c, 1);", False, False),
        ("cblas_dgemv(101, 111, 20, 20, 1.0, a, 20, y, 1, 0.0, c, 1);", True, False),
        ("cblas_dgemv(101, 111, 20, 20, 1.0, a, 20, b, 1, 0.0, x, 1);", False, True),
    ],
)
def test_cblas(call: str, received: bool, sent: bool, tmp_path: Path) -> None:
    outcome = run(C.replace("CALL", f"{call} /* here */"), "p.c", tmp_path)
    assert waits(outcome, received, sent)


REDUCE = """program p
  implicit none
  include 'mpif.h'
  integer :: e, i, m, n
  double precision :: a(20, 20), x(20)
  call mpi_init(e)
  {call}
  m = 2
  call mpi_allreduce(m, n, 1, mpi_integer, mpi_sum, mpi_comm_world, e)
  do i = 1, 20
    x(i) = 2*x(i)
  end do
  print *, x(n)
  call mpi_finalize(e)
end program p
"""
OWN = """subroutine dscal(n, s, x, inc)
  include 'mpif.h'
  integer :: n, inc, e, m
  double precision :: s, x(n)
  call mpi_allreduce(n, m, 1, mpi_integer, mpi_sum, mpi_comm_world, e)
  x = s*x*m
end subroutine dscal
"""


@pytest.mark.parametrize(
    ("call", "fits"),
    [
        ("call dscal(20, 2d0, x, 1)", True),
        ("call dgesvd('N', 'N', 20, 20, a, 20, x, a, 1, a, 1, a, 1, n)", True),
        ("call pdscal(20, 2d0, x, 1)", False),
        ("call dgebs2d(0, 'A', ' ', 20, 1, x, 20)", False),
        ("call dscale(20, 2d0, x, 1)", False),
    ],
)
def test_collectives_beside_them(call: str, fits: bool, tmp_path: Path) -> None:
    outcome = run(REDUCE.replace("{call}", call), "p.f90", tmp_path)
    assert any(d.decision == "rewritten" for d in outcome.decisions) is fits


def test_a_routine_of_the_program_is_what_it_says(tmp_path: Path) -> None:
    """One that communicates is seen under any name: its collective changes with the other."""
    text = REDUCE.replace("{call}", "if (m > 3) call dscal(20, 2d0, x, 1)")
    outcome = run(text + OWN, "p.f90", tmp_path)
    assert [d.decision for d in outcome.decisions] == ["rewritten", "rewritten"]


def test_each_routine_has_all_of_its_arguments() -> None:
    """Numbers of arguments by the reference implementations."""
    counts = {
        **{"daxpy": 6, "drot": 7, "drotmg": 5, "dgemv": 11, "dgbmv": 13, "dsymv": 10, "dspmv": 9},
        **{"zher2": 9, "dtrsv": 8, "dtbsv": 9, "dtpsv": 7, "dger": 9, "dsyr": 7, "dspr": 6},
        **{"dsyr2": 9, "dspr2": 8, "dgemm": 13, "dsymm": 12, "dsyrk": 10, "zher2k": 12},
        **{"dtrsm": 11, "dgetrf": 6, "dgetrs": 9, "dgesv": 8, "dpotrf": 5, "dpotrs": 8},
        **{"dgtsv": 8, "dpttrs": 7, "dlacpy": 7, "dlaset": 7, "dlaswp": 7, "dsbmv": 11},
    }
    assert {name: len(blas.FORTRAN_EFFECTS[name]) for name in counts} == counts
    assert blas.C_EFFECTS["cblas_dgemm"][12] == "rw"
    assert all("w" in "".join(e.values()) for n, e in blas.FORTRAN_EFFECTS.items() if "gem" in n)
