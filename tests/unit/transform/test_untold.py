"""Statements of Fortran that are not analysed: what they name may be read, what they call runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

TWO = """program p
  implicit none
  include 'mpif.h'
  integer :: ierr, me, i, kept, status(mpi_status_size)
  double precision :: a(1000), b(1000), c(1000)
  namelist /other/ kept
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, me, ierr)
  call mpi_recv(a, 9, mpi_double_precision, 1 - me, 0, mpi_comm_world, status, ierr)
  call mpi_recv(b, 9, mpi_double_precision, 1 - me, 1, mpi_comm_world, status, ierr)
  do i = 1, 1000
    c(i) = 2.0d0 * i
  end do
  c(1) = b(2) + c(3)
  do i = 1, 1000
    c(i) = c(i) + 2.0d0 * i
  end do
  c(1) = a(2) + c(3)
  %s
  call mpi_finalize(ierr)
end program p
"""


def after(text: str, tmp_path: Path) -> str:
    path = tmp_path / "p.f90"
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode()


@pytest.mark.parametrize(
    ("later", "read"),
    [
        ("print *, c(1)", False),
        ("print *, c(1), status(mpi_tag)", True),
        ("if (me == 0) write (6, '(2g12.4)') c(1), status(mpi_tag)", True),
        ("associate (s => status)\n    kept = s(mpi_tag)\n  end associate", True),
        ("kept = status(mpi_tag)", True),
        ("allocate (character(3) :: text, stat=kept)", False),
    ],
)
def test_a_status_that_is_printed_is_the_last_one(later: str, read: bool, tmp_path: Path) -> None:
    """The waits of both messages then stay in their order."""
    text = after(TWO % later, tmp_path)
    assert text.count("call mpi_irecv(") == 2
    first, last = text.index("mpi_get_address(a,"), text.index("mpi_get_address(b,")
    assert (first < last) is read


SHARED = """module work
  implicit none
  include 'mpif.h'
  integer :: ierr, me, left, right
  double precision :: buf(100), u(100, 100), v(100, 100), w(1000)
contains
  subroutine exchange
    integer :: i
    do i = 1, 100
      buf(i) = u(1, i)
    end do
    call mpi_send(buf, 100, mpi_double_precision, left, 1, mpi_comm_world, ierr)
    do i = 1, 100
      v(1, i) = 2 * u(2, i)
    end do
    do i = 1, 100
      buf(i) = u(100, i)
    end do
    call mpi_send(buf, 100, mpi_double_precision, right, 2, mpi_comm_world, ierr)
    do i = 1, 1000
      w(i) = 2 * w(i)
    end do
  end subroutine
  subroutine show
    integer :: k
    k = 1
    %s
  end subroutine
end module
program p
  use work
  implicit none
  integer :: k
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, me, ierr)
  left = 1 - me
  right = 1 - me
  do k = 1, 10
    call exchange
    call show
  end do
  call mpi_finalize(ierr)
end program p
"""


@pytest.mark.parametrize(
    ("shown", "copied"),
    [
        ("print *, w(3)", True),
        ("print *, buf(3)", False),
        ("write (7) buf", False),
        ("associate (b => buf)\n    w(1) = b(1)\n    end associate", False),
    ],
)
def test_an_array_that_another_routine_prints_has_no_copy(
    shown: str, copied: bool, tmp_path: Path
) -> None:
    assert ("buf2" in after(SHARED % shown, tmp_path)) is copied


CODE = """module common
  implicit none
  include 'mpif.h'
  integer :: ierr, me
  %s
end module common
module other
  use common%s
  implicit none
contains
  subroutine show
    %s
  end subroutine show
end module other
program p
  use common
  use other
  implicit none
  integer :: i
  double precision :: a(1000), b(1000)
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, me, ierr)
  call mpi_recv(a, 9, mpi_double_precision, 1 - me, 0, mpi_comm_world, mpi_status_ignore, ierr)
  do i = 1, 1000
    b(i) = 2.0d0 * i
  end do
  b(1) = b(2) + a(3)
  ierr = me
  call show
  print *, b(1)
  call mpi_finalize(ierr)
end program p
"""


@pytest.mark.parametrize(
    ("declared", "use", "shown", "moves"),
    [
        ("", "", "continue", True),
        ("", "", "ierr = 3", True),
        ("", "", "call mpi_barrier(mpi_comm_world, ierr)", True),
        ("", "", "print *, ierr", False),
        ("", "", "if (ierr /= 0) stop", False),
        ("", "", "call unseen", False),
        ("", "", "me = ierr", False),
        ("", ", only: code => ierr", "print *, code", False),
        ("namelist /all/ ierr, me", "", "write (6, nml=all)", False),
        ("integer :: code\n  equivalence (ierr, code)", "", "print *, code", False),
        ("integer, pointer :: code\n  target :: ierr", "", "code => ierr", False),
    ],
)
def test_an_error_code_in_a_module(
    declared: str, use: str, shown: str, moves: bool, tmp_path: Path
) -> None:
    """It is set by the start, and by the wait, where no routine of the program reads it."""
    assert ("mpi_irecv" in after(CODE % (declared, use, shown), tmp_path)) is moves


CALLED = """program p
  implicit none
  include 'mpif.h'
  integer :: ierr, n, i
  integer, external :: total
  double precision :: a(1000)
  double precision, allocatable :: x(:)
  call mpi_init(ierr)
  n = 3
  call mpi_bcast(n, 1, mpi_integer, 0, mpi_comm_world, ierr)
  do i = 1, 1000
    a(i) = sqrt(dble(i))
  end do
  %s
  print *, a(n)
  call mpi_finalize(ierr)
end program p
"""


@pytest.mark.parametrize(
    ("statement", "known"),
    [
        ("print *, sin(a(n)), (a(i), i = 1, 3)", True),
        ("write (6, *) a(n)", True),
        ("inquire (file='a', number=n)", True),
        ("associate (b => a)\n    b(1) = sin(b(2)) + b(3)\n  end associate", True),
        ("block\n    integer :: k(3)\n    k(1) = n\n    a(1) = k(1)\n  end block", True),
        ("print *, total(n)", False),
        ("if (n > 2) write (6, *) total(n)", False),
        ("allocate (x(total(n)))", False),
        ("open (unit=total(n), file='a')", False),
        ("associate (b => a)\n    if (n > 2) call unseen(b)\n  end associate", False),
        ("associate (b => a)\n    call unseen\n  end associate", False),
        ("associate (b => a)\n    n = total(n)\n  end associate", False),
        ("block\n    integer, external :: other\n    n = other(n)\n  end block", False),
    ],
)
def test_what_is_called_in_them_may_communicate(
    statement: str, known: bool, tmp_path: Path
) -> None:
    assert ("mpi_ibcast" in after(CALLED % statement, tmp_path)) is known
