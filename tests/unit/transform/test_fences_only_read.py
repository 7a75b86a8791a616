"""Fences behind waits for what a routine of Fortran may only read: any compiler takes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """module shifts
  use mpi_f08
  implicit none
  type :: team
    double precision, allocatable :: all(:)
  end type team
contains
  subroutine shift(have, want, other, n)
    integer, intent(in) :: n, other
    double precision, intent(in) :: have(n)
    double precision, intent(out) :: want(n)
    double precision :: work(n)
    integer :: i
    work = 1
    call MPI_Sendrecv(have, n, MPI_DOUBLE_PRECISION, other, 5, want, n, MPI_DOUBLE_PRECISION, &
      other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    do i = 2, n
      work(i) = work(i - 1) + have(i)
    end do
    want = want + work
  end subroutine shift
end module shifts
program p
  use mpi_f08
  use shifts
  implicit none
  double precision :: a(100), b(100)
  integer :: me
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  a = me
  call shift(a, b, 1 - me, 100)
  print *, b(3)
  call MPI_Finalize()
end program p
"""
READ = "double precision, intent(in) :: have(n)"
NAMES = "MPI_COMM_WORLD, MPI_STATUS_IGNORE, MPI_DOUBLE_PRECISION, MPI_Init, MPI_Finalize"
LISTED = f"use mpi_f08, only: {NAMES}, MPI_Comm_rank, MPI_Sendrecv\n"
OBJECT = {
    READ: "type(team), intent(in) :: have",
    "Sendrecv(have,": "Sendrecv(have%all,",
    "have(i)": "have%all(i)",
    "a(100), b": "b",
    "  integer :: me\n": "  integer :: me\n  type(team) :: a\n  allocate (a%all(100))\n",
    "  a = me": "  a%all = me",
}


@pytest.mark.parametrize(
    ("changes", "fence"),
    [
        ({}, "MPI_Get_address(have, imbrex_address)"),
        ({READ: READ.replace("(in)", "(inout)")}, "MPI_F_SYNC_REG(have)"),
        (OBJECT, "MPI_Get_address(have%all, imbrex_address)"),
        (OBJECT | {"type(team), intent(in)": "type(team)"}, "MPI_F_SYNC_REG(have%all)"),
        ({"use mpi_f08\n": LISTED}, "MPI_Get_address(have, imbrex_address)"),
    ],
)
def test_the_fence(changes: dict[str, str], fence: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "p.f90", changed(PROGRAM, changes))
    assert f"call {fence}\n" in text
    assert "call MPI_F_SYNC_REG(want)\n" in text
    assert text.count(":: imbrex_address") == int("imbrex_address)" in fence)
    if LISTED in text:
        assert "MPI_Get_address" in text.partition("contains")[0]
