"""One variable for error codes of MPI and for `stat=` of others, which is asked for at once.

Each program that must stay differs from one that is rewritten in who may ask for a code of MPI.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """\
subroutine step(u, v, n, up, down)
  use mpi
  implicit none
  integer, intent(in) :: n, up, down
  real(8), intent(inout) :: u(0:n+1), v(n)
  real(8), allocatable :: w(:)
  integer :: i, ierr
  allocate(w(n), stat=ierr)
  if (ierr /= 0) then
    print *, 'no memory', ierr
    call mpi_abort(MPI_COMM_WORLD, 1, ierr)
  end if
  call mpi_sendrecv(u(n), 1, MPI_REAL8, up, 1, u(0), 1, MPI_REAL8, down, 1, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, ierr)
  do i = 1, n
    w(i) = 2 * v(i)
  end do
  v(1) = w(1) + u(0)
  deallocate(w)
end subroutine
program p
  use mpi
  implicit none
  real(8) :: u(0:65), v(64)
  integer :: ierr
  call mpi_init(ierr)
  u = 1
  v = 2
  call step(u, v, 64, 0, 0)
  print *, v(1)
  call mpi_finalize(ierr)
end program
"""
ALLOCATE = "  allocate(w(n), stat=ierr)\n"
CALL = "  call mpi_sendrecv("
WORK = "  do i = 1, n\n    w(i) = 2 * v(i)\n  end do\n"
FREE = "  deallocate(w)\n"
CHECK = "  deallocate(w, stat=ierr)\n  if (ierr /= 0) stop\n"
OVERLAPPED: dict[str, dict[str, str]] = {
    "stat of an allocation": {},
    "iostat of input": {
        ALLOCATE: "  read (5, *, iostat=ierr) i\n  if (ierr /= 0) stop 'no number'\n"
        "  allocate(w(n))\n  ierr = 0\n",
        "  if (ierr /= 0) then\n    print *, 'no memory', ierr\n"
        "    call mpi_abort(MPI_COMM_WORLD, 1, ierr)\n  end if\n": "",
    },
    "asked for behind the exchange, too": {FREE: CHECK},
}
STAYS: dict[str, dict[str, str]] = {
    "the code of the exchange is asked for": {WORK: "  if (ierr /= 0) n2 = 1\n" + WORK},
    "it is asked for later": {ALLOCATE: ALLOCATE + "  w = 0\n"},
    "it is asked for again": {FREE: FREE + "  if (ierr /= 0) v(2) = 3\n"},
    "it is reached in another way": {
        ALLOCATE: "  if (up > 3) goto 10\n" + ALLOCATE,
        "  if (ierr /= 0) then\n": "10 if (ierr /= 0) then\n",
    },
    "a call of MPI is in the check": {
        "    print *, 'no memory', ierr\n": "    call mpi_barrier(MPI_COMM_WORLD, ierr)\n"
        "    if (ierr /= 0) print *, ierr\n"
    },
    "other routines see it": {
        "  integer :: i, ierr\n": "  integer :: i\n",
        "  use mpi\n  implicit none\n  integer, intent(in)": "  use mpi\n  use codes\n"
        "  implicit none\n  integer, intent(in)",
        "subroutine step(u": "module codes\n  integer :: ierr\nend module\nsubroutine step(u",
    },
}


def text_of(tmp_path: Path, replacements: dict[str, str]) -> str:
    path = tmp_path / "step.f90"
    text = PROGRAM
    if "n2" in "".join(replacements.values()):
        text = text.replace("integer :: i, ierr", "integer :: i, n2, ierr")
    for old, new in replacements.items():
        assert old in text, old
        text = text.replace(old, new, 1)
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode()


@pytest.mark.parametrize("name", OVERLAPPED)
def test_overlapped(name: str, tmp_path: Path) -> None:
    """The exchange travels beside the work, and stays between what sets and asks for a status."""
    text = text_of(tmp_path, OVERLAPPED[name])
    start, wait = text.index("call mpi_irecv("), text.index("call mpi_wait(")
    assert start < text.index("w(i) = 2") < wait
    assert text.index("stat=ierr") < text.index("if (ierr /= 0)") < start
    if CHECK in text:
        assert text.rindex("call mpi_wait") < text.index(CHECK)


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    assert "mpi_irecv" not in text_of(tmp_path, STAYS[name])


def test_no_call_goes_between(tmp_path: Path) -> None:
    """A wait that would go further down stays in front of what sets the status, and of the loop
    that does so; a start stays behind what asks for it."""
    loop = "  do i = 1, 2\n    allocate(x(n), stat=ierr)\n    if (ierr /= 0) v(2) = 7\n"
    loop += "    deallocate(x)\n  end do\n"
    behind = {"  v(1) = w(1) + u(0)\n": loop + "  v(1) = w(1) + u(0)\n"}
    text = text_of(tmp_path, {**behind, "allocatable :: w(:)": "allocatable :: w(:), x(:)"})
    assert text.rindex("call mpi_wait") < text.index("do i = 1, 2")
    before = {CALL: loop + CALL, "allocatable :: w(:)": "allocatable :: w(:), x(:)"}
    text = text_of(tmp_path, before)
    assert text.index("v(2) = 7") < text.index("call mpi_irecv(")
