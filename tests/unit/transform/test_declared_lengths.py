"""Fortran's arrays with bounds that variables give: told by these only while they keep them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

# A message of two lines, or of one where these are twice as long; the loop reads its second half.
PROGRAM = """module sizes
  implicit none
  integer :: k = 8
contains
  subroutine shrink
    k = k / 2
  end subroutine
  subroutine go(u, w, n, m, peer)
    use mpi
    integer, intent(inout) :: n
    integer, intent(in) :: m, peer
    double precision, intent(inout) :: u(n, m), w(n, m)
    integer :: i, e, r
    call mpi_irecv(u(1, 1), 2 * n, mpi_double_precision, peer, 1, mpi_comm_world, r, e)
    call mpi_wait(r, mpi_status_ignore, e)
    do i = n + 1, 2 * n
      w(i - n, 3) = 2 * u(i, 1) + 1
    end do
  end subroutine
end module

program p
  use mpi
  use sizes
  implicit none
  double precision :: u(8, 4), w(8, 4)
  integer :: n, e, rank
  call mpi_init(e)
  call mpi_comm_rank(mpi_comm_world, rank, e)
  u = rank
  w = rank
  n = 8
  call go(u, w, n, 4, mpi_proc_null)
  print *, sum(w), n
  call mpi_finalize(e)
end program
"""
CALL = "    call mpi_irecv("
HALVE = {CALL: f"    n = n / 2\n{CALL}"}
BY_MODULE = {
    "u(n, m), w(n, m)": "u(k, m), w(k, m)",
    "2 * n, mpi": "2 * k, mpi",
    "i = n + 1, 2 * n": "i = k + 1, 2 * k",
    "w(i - n, 3)": "w(i - k, 3)",
}
MOVED = "end do\n    call mpi_wait("


@pytest.mark.parametrize(
    "replaced",
    [HALVE, BY_MODULE | {CALL: f"    call shrink\n{CALL}"}],
    ids=["an argument", "a variable of a module"],
)
def test_bounds_that_change(replaced: dict[str, str], tmp_path: Path) -> None:
    """The array has the lines that it had when the routine was entered."""
    text = rewritten(tmp_path / "bounds.f90", changed(PROGRAM, replaced))
    assert MOVED not in text.lower()


@pytest.mark.parametrize("size", ["n", "k"], ids=["an argument", "a variable of a module"])
def test_bounds_that_stay(size: str, tmp_path: Path) -> None:
    """What is read is behind the message's two lines."""
    behind = {
        f"i = {size} + 1, 2 * {size}": f"i = 1, {size}",
        f"w(i - {size}, 3)": "w(i, 3)",
        "u(i, 1)": "u(i, 3)",
    }
    text = changed(PROGRAM, ({} if size == "n" else BY_MODULE) | behind)
    assert MOVED in rewritten(tmp_path / "bounds.f90", text).lower()
