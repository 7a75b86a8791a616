"""Functions of modules that return what a collective gives: they become subroutines."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """module sums
  use mpi
  implicit none
  integer, parameter :: m = 400
  %(more)s
contains
  %(head)s
    integer, intent(in) :: n
    real(8), intent(in) :: a(n), b(n)
    %(declared)s
    real(8) :: local
    integer :: i, ierr
    local = 0.0d0
    do i = 1, n
      local = local + a(i) * b(i)
    end do
    %(call)s
  end function dot

  subroutine axpy(y, alpha, x)
    real(8), intent(inout) :: y(m)
    real(8), intent(in) :: alpha, x(m)
    integer :: i
    do i = 1, m
      y(i) = y(i) + alpha * x(i)
    end do
  end subroutine axpy
end module sums

program main
  use mpi
  use sums%(only)s
  implicit none
  real(8) :: x(m), r(m), p(m), rr, pair(2)
  integer :: ierr, it, count
  call MPI_Init(ierr)
  x = 1.0d0
  r = 2.0d0
  p = 3.0d0
  rr = 0.0d0
  pair = 0.0d0
  count = 0
  do it = 1, 10
    call axpy(r, 0.1d0, p)
    %(use)s
    call axpy(x, 0.3d0, p)
    x(1) = x(1) + rr + pair(1) + count
  end do
  print *, x(1), rr
  call MPI_Finalize(ierr)
end program main
"""
SUM = "call MPI_Allreduce(local, %s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)"
IN_PLACE = (SUM % "s").replace("local,", "MPI_IN_PLACE,")
PLAIN = {
    "more": "",
    "head": "function dot(a, b, n) result(s)",
    "declared": "real(8) :: s",
    "call": SUM % "s",
    "only": "",
    "use": "rr = dot(r, r, m)",
}
OWN = {"declared": "real(8) :: dot", "head": "function dot(a, b, n)", "call": SUM % "dot"}
TYPED = {"declared": "", "head": "real(8) function dot(a, b, n)", "call": SUM % "Dot"}
SPLIT = [
    ({}, "call dot_start(r, r, m, rr, "),
    ({"use": "rr = Dot(r, r, m)"}, "call dot_start(r, r, m, rr, "),
    ({"use": "rr = sqrt(dot(r, r, m))"}, "rr = sqrt(imbrex_dot_value)"),
    ({"use": "pair(1) = dot(r, r, m)"}, "pair(1) = imbrex_dot_value"),
    ({"use": "count = int(dot(r, r, m))"}, "count = int(imbrex_dot_value)"),
    ({"use": "rr = dot(r, r, m) / (1.0d0 + dot(p, p, m))"}, "rr = imbrex_dot_value / (1.0d0 + "),
    ({"use": "rr = dot(n=m, b=r, a=r)"}, "a=r, b=r, n=m, s=rr, "),
    ({"use": "rr = rr + dot(r, r, m)"}, "rr = rr + imbrex_dot_value"),
    ({"use": "if (it > 2) rr = dot(r, r, m)"}, "    if (it > 2) then\n      call dot_start("),
    ({"only": ", only: m, axpy, dot"}, "call dot_start(r, r, m, rr, "),
    (OWN, "MPI_Iallreduce(local, dot_value, 1"),
    (TYPED, "    real(8) dot_value\n"),
    ({"call": SUM % "s" + "\n    s = sqrt(s)"}, "s = sqrt(s)"),
    (
        {"call": "s = local\n    " + (SUM % "s").replace("local,", "MPI_IN_PLACE,")},
        "MPI_IN_PLACE, s",
    ),
]
GENERIC = "interface inner\n    module procedure dot\n  end interface"
WHOLE = [
    {"use": "if (it > 2 .and. dot(r, r, m) > 1.0d0) count = count + 1"},
    {"use": "if (it > 2) rr = 2.0d0 * dot(r, r, m)"},
    {"use": "do while (dot(r, r, m) > 1d9)\n      r = 0.5d0 * r\n    end do"},
    {"use": "rr = dot(r, r, int(dot(p, p, m)))"},
    {
        "more": "interface inner\n    module procedure dot\n  end interface",
        "use": "rr = inner(r, r, m)",
    },
    {"declared": "real(8), allocatable :: s", "call": "allocate(s)\n    " + SUM % "s"},
    {"declared": "real(8) :: s(2)", "call": SUM % "s", "use": "pair = dot(r, r, m)"},
]


def after(folder: Path, changes: dict[str, str]) -> str:
    file = folder / "cg.f90"
    file.write_text(PROGRAM % {**PLAIN, **changes})
    outcome = transform([file], Options(reassociation=True))
    assert not outcome.skipped
    text = outcome.after[str(file)]
    again = transform([file], Options(reassociation=True, contents={file: text}))
    assert again.after[str(file)] == text
    return text.decode()


@pytest.mark.parametrize(("changes", "expected"), SPLIT, ids=str)
def test_split(tmp_path: Path, changes: dict[str, str], expected: str) -> None:
    text = after(tmp_path, changes)
    assert expected in text
    assert "function dot" not in text
    main = text[text.index("program main") :]
    first, last = main.index("call dot_start("), main.rindex("call dot_finish(")
    assert first < main.index("call axpy(x") < last


@pytest.mark.parametrize("changes", WHOLE, ids=str)
def test_whole(tmp_path: Path, changes: dict[str, str]) -> None:
    assert "dot_start" not in after(tmp_path, changes)


def test_the_value_does_not_go_where_the_function_reads(tmp_path: Path) -> None:
    text = after(tmp_path, {"use": "r(1) = dot(r, r, m)\n    call axpy(p, 0.2d0, p)"})
    assert "dot_start(r, r, m, r(1)" not in text
    text = after(tmp_path, {"use": "rr = dot([rr], [rr], 1)\n    call axpy(p, 0.2d0, p)"})
    assert "[rr], 1, rr" not in text
