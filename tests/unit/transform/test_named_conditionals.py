"""Names of IF and SELECT constructs of Fortran, and SELECT CASE that asks as an IF does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """module swaps
  use mpi
  implicit none
  integer, parameter :: n = 32, along = 2
  integer :: me, np, ierr
contains
  subroutine swap(a, axis)
    real(8), intent(inout) :: a(n, 0:n+1)
    integer, intent(in) :: axis
    integer :: req(4), nr
    nr = 0
    if (me > 0) then
      nr = nr + 1
      call MPI_Irecv(a(1, 0), n, MPI_DOUBLE_PRECISION, me-1, 1, MPI_COMM_WORLD, req(nr), ierr)
      nr = nr + 1
      call MPI_Isend(a(1, 1), n, MPI_DOUBLE_PRECISION, me-1, 2, MPI_COMM_WORLD, req(nr), ierr)
    end if
    if (me < np - 1) then
      nr = nr + 1
      call MPI_Irecv(a(1, n+1), n, MPI_DOUBLE_PRECISION, me+1, 2, MPI_COMM_WORLD, req(nr), ierr)
      nr = nr + 1
      call MPI_Isend(a(1, n), n, MPI_DOUBLE_PRECISION, me+1, 1, MPI_COMM_WORLD, req(nr), ierr)
    end if
    call MPI_Waitall(nr, req, MPI_STATUSES_IGNORE, ierr)
  end subroutine swap
end module swaps
program main
  use mpi
  use swaps
  implicit none
  real(8) :: u(n, 0:n+1), v(n, 0:n+1), w(n)
  integer :: i, j, it
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  do j = 0, n+1
    do i = 1, n
      u(i, j) = mod(i + j*5 + me, 9)
    end do
  end do
  v = 0
  w = 0
  do it = 1, 6
    call swap(u, 2)
    do i = 1, n
      w(i) = mod(2*w(i) + it, 11d0)
    end do
    do j = 1, n
      do i = 1, n
        v(i, j) = u(i, j-1) + u(i, j+1) + w(i)
      end do
    end do
    do j = 1, n
      do i = 1, n
        u(i, j) = mod(v(i, j), 23d0)
      end do
    end do
  end do
  print *, me, sum(u)
  call MPI_Finalize(ierr)
end program main
"""
FIRST = "    if (me > 0) then\n"
LEFT = FIRST + PROGRAM.partition(FIRST)[2].partition("    end if\n")[0]
NAMED = LEFT.replace("    if", "    left: if")
END = "    end if\n"
BEGIN = "    nr = 0\n" + LEFT
RIGHT = "    if (me < np - 1) then\n"
LAST = "    call MPI_Waitall"


def named(text: str) -> str:
    """The first conditional with a name."""
    return changed(text, {LEFT + END: NAMED + "    end if left\n"})


def selected(head: str, rest: str = "") -> str:
    """The messages within one case of a SELECT CASE."""
    return changed(
        PROGRAM,
        {
            BEGIN: f"    nr = 0\n    select case (axis)\n{head}{LEFT}",
            LAST: f"{LAST}@",
            "    call MPI_Waitall@(nr, req, MPI_STATUSES_IGNORE, ierr)\n": "    call MPI_Waitall"
            f"(nr, req, MPI_STATUSES_IGNORE, ierr)\n{rest}    end select\n",
        },
    )


GO = {
    "as it is": PROGRAM,
    "a name": named(PROGRAM),
    "a name, in other letters": named(PROGRAM).replace("end if left", "END IF Left"),
    "a name of an else": changed(
        named(PROGRAM), {"    end if left\n": "    else left\n      nr = 0\n    end if left\n"}
    ),
    "names of both": changed(
        named(PROGRAM),
        {RIGHT: "    right: if (me < np - 1) then\n", f"{END}{LAST}": f"    end if right\n{LAST}"},
    ),
    "a case": selected("    case (2)\n"),
    "a case of a constant": selected("    case (along)\n"),
    "a range": selected("    case (2:)\n"),
    "several values": selected("    case (2, 4:6)\n"),
    "and the rest": selected("    case (2)\n", "    case default\n      a(:, 0) = 0\n"),
    "and others": selected("    case (2)\n", "    case (3)\n      a(:, 0) = 0\n    case default\n"),
    "a named one": selected("    case (2) way\n")
    .replace("    select case (axis)", "    way: select case (axis)")
    .replace("end select", "end select way"),
}
STAY = {
    "it is left by its name": changed(
        named(PROGRAM), {NAMED: NAMED + "      if (nr > 9) exit left\n"}
    ),
    "the rest comes first": selected("    case default\n      nr = 0\n    case (2)\n"),
    "a logical one": selected("    case (.true.)\n").replace("case (axis)", "case (axis > 1)"),
    "what it asks is set": selected("    case (2)\n")
    .replace("    nr = 0\n    select case (axis)", "    nr = 2\n    select case (nr)")
    .replace("(nr)\n    case (2)\n", "(nr)\n    case (2)\n      nr = 0\n"),
    "it asks a function": changed(
        selected("    case (2)\n"),
        {
            "select case (axis)": "select case (asked(axis))",
            "contains\n": "contains\n  integer function asked(k)\n    integer, intent(in) :: k\n"
            "    asked = k\n    ierr = 3\n  end function asked\n",
        },
    ),
    "a directive": selected("    case (2)\n    !$omp critical\n", "    !$omp end critical\n"),
}


@pytest.mark.parametrize("text", GO.values(), ids=GO)
def test_what_asks_is_asked_twice(text: str, tmp_path: Path) -> None:
    found = rewritten(tmp_path / "p.f90", text)
    assert "call swap_start(u, " in found and "call swap_finish(" in found
    assert found.lower().count("left") == text.lower().count("left") or "left:" not in found
    again = transform([tmp_path / "q.f90"], Options(contents={tmp_path / "q.f90": found.encode()}))
    assert again.after[str(tmp_path / "q.f90")] == found.encode()


@pytest.mark.parametrize("text", STAY.values(), ids=STAY)
def test_what_cannot_be_asked_twice_stays(text: str, tmp_path: Path) -> None:
    assert "swap_start" not in rewritten(tmp_path / "p.f90", text)


@pytest.mark.parametrize("asked", ["select case (way)\n    case ('x  y==.a.', \"it's\")", "if"])
def test_characters_stay_as_they_are(asked: str, tmp_path: Path) -> None:
    if asked == "if":
        text = selected("    case (2)\n").replace(
            "    select case (axis)\n    case (2)", "    if (way == 'x  y==.a.') then"
        )
        text = text.replace("end select", "end if")
    else:
        text = selected("    case (2)\n").replace("select case (axis)\n    case (2)", asked)
    text = text.replace("integer :: me, np", "character(9) :: way = ' '\n  integer :: me, np")
    found = rewritten(tmp_path / "p.f90", text)
    assert "call swap_start(u, " in found
    assert found.count("way == 'x  y==.a.'") == 2
    assert asked == "if" or found.count('way == "it\'s"') == 2
