"""Several arrays that one routine exchanges one after the other: all under way beside one nest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = """\
module halo
  use mpi
  implicit none
  integer :: n, nl, up, dn
contains
  subroutine exchange(x)
    real(8), intent(inout) :: x(n, 0:nl + 1)
    integer :: ierr
    call MPI_Sendrecv(x(1, 1), n, MPI_REAL8, up, 0, x(1, nl + 1), n, MPI_REAL8, &
      dn, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(x(1, nl), n, MPI_REAL8, dn, 1, x(1, 0), n, MPI_REAL8, &
      up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange
end module halo
program waves
  use mpi
  use halo
  implicit none
  integer :: ierr, rank, np, i, j, k
  real(8), allocatable :: a(:, :), b(:, :), c(:, :), d(:, :)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  n = 60
  nl = 60
  up = mod(rank + 1, np)
  dn = mod(rank + np - 1, np)
  allocate (a(n, 0:nl + 1), b(n, 0:nl + 1), c(n, 0:nl + 1), d(n, 0:nl + 1))
  a = 1
  b = rank
  c = 2
  d = 0
  do k = 1, 100
    call exchange(a)
    call exchange(b)
    call exchange(c)
    do j = 1, nl
      do i = 1, n
        d(i, j) = a(i, j - 1) + a(i, j + 1) + b(i, j - 1) + b(i, j + 1) + c(i, j + 1)
      end do
    end do
    a(:, 1:nl) = 0.25d0 * d(:, 1:nl)
    c(:, 1:nl) = 0.5d0 * d(:, 1:nl)
  end do
  print *, rank, sum(a), sum(c), sum(d)
  call MPI_Finalize(ierr)
end program waves
"""
FIRST, SECOND, THIRD = (f"    call exchange({name})\n" for name in "abc")
BODY = PROGRAM[
    PROGRAM.index("    call MPI_Sendrecv(x(1, 1)") : PROGRAM.index("  end subroutine ex")
]
BEGUN = """\
    integer :: r(4)
    call MPI_Irecv(x(1, nl + 1), n, MPI_REAL8, dn, 0, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Irecv(x(1, 0), n, MPI_REAL8, up, 1, MPI_COMM_WORLD, r(2), ierr)
    call MPI_Isend(x(1, 1), n, MPI_REAL8, up, 0, MPI_COMM_WORLD, r(3), ierr)
    call MPI_Isend(x(1, nl), n, MPI_REAL8, dn, 1, MPI_COMM_WORLD, r(4), ierr)
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, ierr)
"""
PACKED = """\
    real(8) :: sent(64), got(64)
    integer :: l
    do l = 1, n
      sent(l) = x(l, 1)
    end do
    call MPI_Sendrecv(sent, n, MPI_REAL8, up, 0, got, n, MPI_REAL8, dn, 0, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, ierr)
    do l = 1, n
      x(l, nl + 1) = got(l)
    end do
"""
PHASES = """\
    call MPI_Sendrecv(x(1, 1), n, MPI_REAL8, up, 0, x(1, nl + 1), n, MPI_REAL8, &
      dn, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(x(1, nl + 1), n, MPI_REAL8, dn, 1, x(1, 0), n, MPI_REAL8, &
      up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
"""
PRINT = "  print *, rank, sum(a), sum(c), sum(d)\n"
ONE_END = {"b(i, j - 1) + ": "", "a(i, j - 1) + ": ""}
# name: what is replaced, and how the calls follow each other up to the nest
MOVED: dict[str, tuple[dict[str, str], str]] = {
    "three": ({}, "sssdfff"),
    "two": ({FIRST: "", "a(i, j - 1) + a(i, j + 1) + ": ""}, "ssdff"),
    "nonblocking as it is": ({BODY: BEGUN}, "sssdfff"),
    "packed": ({BODY: PACKED} | ONE_END, "sssdfff"),
    "one of them in a branch": (
        {SECOND: "    if (k > 3) then\n  " + SECOND + "    end if\n"},
        "sssdfff",
    ),
    "behind an independent nest": (
        {THIRD: THIRD + "    d(:, :) = 2 * d(:, :)\n"},
        "sssdfff",
    ),
}
STAYS: dict[str, tuple[dict[str, str], str]] = {
    "a wildcard": (
        {
            "  call MPI_Finalize(ierr)\n": "  call MPI_Sendrecv(rank, 1, MPI_INTEGER, up, 7, np, "
            "1, MPI_INTEGER, &\n    MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)\n"
            "  print *, np\n  call MPI_Finalize(ierr)\n",
            BODY: BEGUN,
        },
        "sfsfsdf",
    ),
    "the same array": ({SECOND: FIRST}, "sfssdff"),
    "used between": ({SECOND: "    b(:, 1) = a(:, 0)\n" + SECOND}, "sfssdff"),
    "a barrier between": (
        {SECOND: "    call MPI_Barrier(MPI_COMM_WORLD, ierr)\n" + SECOND},
        "sfssdff",
    ),
    "a size between": ({SECOND: "    nl = nl - 1\n" + SECOND}, "sfssff"),
    "the end of one starts more": ({BODY: PHASES} | ONE_END, "sfsfsdf"),
    "needed everywhere": ({"d(i, j) = a(i, j - 1)": "d(i, j) = a(i, 0)"}, "sfssdff"),
    "started ahead of other work": ({FIRST: "    d(:, :) = 2 * d(:, :)\n" + FIRST}, "sfssdff"),
    "no work behind": ({PRINT: SECOND + THIRD + PRINT}, "sssdfffsfsf"),
    "work of its own between": (
        {SECOND: "    d(:, nl + 1) = k\n" + SECOND},
        "sfssdff",
    ),
}


def order(text: str) -> str:
    """What the loop of the main program calls up to its nest: starts, finishes and the interior."""
    loop = text[text.index("  do k = 1, 100") :]
    found = re.findall(
        r"call exchange_(s)tart|call exchange_(f)inish|(d)o j = (?:2|1, nl - 1)", loop
    )
    return "".join("".join(each) for each in found)


@pytest.mark.parametrize("change", MOVED)
def test_all_are_under_way(tmp_path: Path, change: str) -> None:
    parts, expected = MOVED[change]
    assert order(rewritten(tmp_path / "waves.f90", changed(PROGRAM, parts))) == expected


@pytest.mark.parametrize("change", STAYS)
def test_one_ends_before_the_next(tmp_path: Path, change: str) -> None:
    parts, expected = STAYS[change]
    assert order(rewritten(tmp_path / "waves.f90", changed(PROGRAM, parts))) == expected


def test_each_has_requests_and_buffers_of_its_own(tmp_path: Path) -> None:
    parts, _ = MOVED["packed"]
    text = rewritten(tmp_path / "waves.f90", changed(PROGRAM, parts))
    starts = re.findall(r"call exchange_start\((.*)\)", text)
    assert [start.split(", ", 1)[0] for start in starts] == ["a", "b", "c"]
    own = [start.split(", ", 1)[1] for start in starts]
    assert len(set(own)) == 3
    names = [name for start in own for name in start.split(", ")]
    assert len(set(names)) == len(names)
