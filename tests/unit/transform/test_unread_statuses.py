"""An MPI_Waitall whose statuses go into an array that nothing looks at."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASES = Path(__file__).parent / "cases"
IN_C = (CASES / "unread.c").read_text()
IN_FORTRAN = (CASES / "unread.f90").read_text()


def _after(text: str, path: Path) -> str:
    path.write_text(text)
    return transform([path], Options()).after[str(path)].decode()


def test_taken_apart_in_c(tmp_path: Path) -> None:
    """The receives are awaited behind the interior, the sends where the rows are set again."""
    after = _after(IN_C, tmp_path / "main.c")
    receives, sends = "MPI_Waitall(2, reqs, stats);", "MPI_Waitall(2, &reqs[2], stats);"
    interior = after.index("i <= NY - 1")
    assert interior < after.index(receives) < after.index(sends)


def test_posted_an_iteration_ahead(tmp_path: Path) -> None:
    """A wait passes the interior also where its receive was posted in the iteration before."""
    after = _after(IN_FORTRAN, tmp_path / "main.f90")
    posted = after.index("call MPI_Irecv(u(1, 0)")
    loop, interior = after.index("do n = 1, 50"), after.index("do j = 2, ny - 1")
    awaited = after.index("call MPI_Waitall(2, reqs(1:2), stats, ierr)")
    again = after.rindex("call MPI_Irecv(u(1, 0)")
    assert posted < loop < interior < awaited < again
    # What stays needs no fence: none stands in front of the interior.
    assert "MPI_Get_address" not in after[loop:interior]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        for (int i = 1; i <= NY", "rank += stats[0].MPI_SOURCE; for (int i = 1; i <= NY"),
        ("    MPI_Status stats[4];", "    extern MPI_Status stats[4];"),
        ("    double s = 0", 'printf("%d", stats[1].MPI_TAG); double s = 0'),
    ],
)
def test_stays_whole_where_statuses_may_be_read(old: str, new: str, tmp_path: Path) -> None:
    assert old in IN_C
    after = _after(IN_C.replace(old, new, 1), tmp_path / "main.c")
    assert "MPI_Waitall(2" not in after


AHEAD = """
program ahead
  use mpi
  implicit none
  integer, parameter :: nx = 400, ny = 50
  real(8) :: u(nx, ny), v(nx), total
  integer :: c, i, n, ierr, rank, request
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  u = rank
  v = 0
  c = 1
  call MPI_Irecv(u(1, c), nx, MPI_DOUBLE_PRECISION, rank, 0, MPI_COMM_WORLD, request, ierr)
  c = 2
  do n = 1, 40
    call MPI_Send(v, nx, MPI_DOUBLE_PRECISION, rank, 0, MPI_COMM_WORLD, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    do i = 1, nx
      v(i) = v(i) + u(i, READ) + 1
    end do
    call MPI_Irecv(u(1, c), nx, MPI_DOUBLE_PRECISION, rank, 0, MPI_COMM_WORLD, request, ierr)
    CHANGE
  end do
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  total = sum(v)
  print *, total
  call MPI_Finalize(ierr)
end program ahead
subroutine advance(c)
  integer :: c
  c = c + 1
end subroutine advance
"""


@pytest.mark.parametrize(
    "change", ["c = c + 1", "call advance(c)", "if (n > 0) c = c + 1", "c = ieor(c, 1)"]
)
def test_a_buffer_that_is_named_otherwise_by_now(change: str, tmp_path: Path) -> None:
    """What the iteration before received into is not what the arguments say now."""
    text = AHEAD.replace("READ", "c - 1").replace("CHANGE", change)
    after = _after(text, tmp_path / "main.f90")
    loop = after[after.index("do n = 1, 40") :]
    assert loop.index("call MPI_Wait(request") < loop.index("do i = 1, nx")


def test_a_buffer_that_is_named_alike(tmp_path: Path) -> None:
    """The same receive, beside which another column is used: its wait passes the loop."""
    text = AHEAD.replace("READ", "c + 1").replace("CHANGE", "").replace("  c = 2\n", "")
    after = _after(text, tmp_path / "main.f90")
    loop = after[after.index("do n = 1, 40") :]
    assert loop.index("do i = 1, nx") < loop.index("call MPI_Wait(request")
