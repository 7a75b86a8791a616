"""Fortran: conditions not to be evaluated, absent arguments, operators of the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """module m
  type t
    double precision :: v
  end type
  interface operator(+)
    module procedure plus
  end interface
  double precision :: a(100), b(100), c(100)
contains
  function plus(x, y) result(r)
    type(t), intent(in) :: x, y
    double precision :: r
    r = x%%v + y%%v + b(7)
    a(3) = 7
  end function
  subroutine work(x)
    double precision, intent(inout) :: x(100)
    integer :: i
    do i = 1, 100
      x(i) = 0.5d0 * x(i) + 1.d0
    end do
  end subroutine
  subroutine go(peer, q, y, t1, t2)
    use mpi
    integer, intent(in) :: peer
    double precision, pointer :: q(:)
    double precision, optional :: y(100)
    type(t) :: t1, t2
    double precision :: s
    integer :: ierr, status(MPI_STATUS_SIZE)
    s = 0.d0
    call work(c)
    %s
    call work(c)
    %s
    c(1) = s
  end subroutine
end module
program p
  use m
  use mpi
  double precision, pointer :: q(:)
  type(t) :: t1, t2
  integer :: ierr, rank
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  nullify(q)
  call go(1 - rank, q, t1=t1, t2=t2)
  call mpi_finalize(ierr)
end program
"""
SEND = "call mpi_send(a, 100, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, ierr)"
RECV = "call mpi_recv(y, 100, MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, status, ierr)"


def after(first: str, second: str, tmp_path: Path) -> str:
    path = tmp_path / "case.f90"
    path.write_text(PROGRAM % (first, second))
    return transform([path], Options()).after[str(path)].decode()


def test_conditions_stay_one_inside_the_other(tmp_path: Path) -> None:
    inner = f"if (q(1) < 5) then\n{SEND}\nend if"
    text = after(f"if (associated(q)) then\n{inner}\nend if", "", tmp_path)
    start = text.index("mpi_isend")
    assert text.rindex("if (associated(q)) then", 0, start) < text.rindex("if (q(1) < 5)", 0, start)
    assert start < text.index("call work(c)")
    assert ".and." not in text


def test_an_absent_argument_is_not_named(tmp_path: Path) -> None:
    text = after(f"if (present(y)) then\n{RECV}\nend if", "", tmp_path)
    assert "if (present(y)) call mpi_irecv(y," in text
    assert "if (present(y)) call mpi_get_address(y," in text


@pytest.mark.parametrize(("use", "passed"), [("s = t1 + t2", False), ("s = t1%v + t2%v", True)])
def test_an_operator_of_the_program_is_a_function(use: str, passed: bool, tmp_path: Path) -> None:
    text = after(SEND, f"{use}\ncall work(c)", tmp_path)
    assert (text.index(use) < text.index("call mpi_wait(")) is passed


MISMATCH = """      program p
      include 'mpif.h'
      integer e, i, n
      double precision a(1000), x
      call mpi_init(e)
      call mpi_bcast(n, 1, mpi_integer, 0, mpi_comm_world, e)
      %s
      do i = 1, 1000
        a(i) = sqrt(dble(i))
      end do
      print *, a(4), x, n
      call mpi_finalize(e)
      end
"""


@pytest.mark.parametrize(
    ("call", "decisions"),
    [
        (
            "call mpi_bcast(x, 1, mpi_double_precision, 0,\n     & mpi_comm_world, e)",
            ["rewritten", "rewritten"],
        ),
        (
            "call mpi_recv(x, 1, mpi_double_precision, 0, 0,\n"
            "     & mpi_comm_world, mpi_status_ignore, e)",
            ["refused", "rewritten"],
        ),
    ],
)
def test_a_mismatch_that_the_build_allows(call: str, decisions: list[str], tmp_path: Path) -> None:
    """A program that calls one procedure with two types is compiled so that this is no error."""
    path = tmp_path / "p.f"
    path.write_text(MISMATCH % call)
    assert [d.decision for d in transform([path], Options()).decisions] == decisions
