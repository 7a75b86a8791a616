"""DO CONCURRENT: a message passes one that does nothing but assign, and touches none of it.

One that needs what comes is divided by its ranges: most of it runs meanwhile.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """\
program p
  use mpi
  implicit none
  integer, parameter :: n = 64
  real(8) :: u(0:n+1), f(n, n), s
  integer :: i, j, up, down, ierr
  interface
    pure real(8) function half(x)
      real(8), intent(in) :: x
    end function half
  end interface
  up = 0
  down = 0
  i = 3
  s = 0.0d0
  u = 1.0d0
  f = 2.0d0
  call mpi_init(ierr)
  call mpi_sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, up, 1, u(0), 1, MPI_DOUBLE_PRECISION, down, 1, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  do concurrent (i = 1:n, j = 1:n)
    f(i, j) = f(i, j) + 0.5d0
  end do
  print *, i, s, u(0), f(1, 1)
  call mpi_finalize(ierr)
end program p
pure real(8) function half(x)
  real(8), intent(in) :: x
  half = 0.5d0 * x
end function half
"""
BODY = "    f(i, j) = f(i, j) + 0.5d0\n"
HEADER = "  do concurrent (i = 1:n, j = 1:n)\n"
# name: (replacements, whether the message passes the construct)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "what is not received is read": ({BODY: "    f(i, j) = f(i, j) + u(j)\n"}, True),
    "what is received is read": ({BODY: "    f(i, j) = f(i, j) + u(0)\n"}, False),
    "what is received is read by a stride": (
        {HEADER: "  do concurrent (i = 0:n:2, j = 1:n)\n", BODY: "    f(1, j) = u(i)\n"},
        False,
    ),
    "what is received is read downwards": (
        {HEADER: "  do concurrent (i = n:0:-1, j = 1:n)\n", BODY: "    f(1, j) = u(i)\n"},
        False,
    ),
    "by elements that are not known": ({BODY: "    f(i, j) = u(int(f(i, j)))\n"}, False),
    "what is sent is set": ({BODY: "    u(i) = f(i, j)\n"}, False),
    "variables are shared": (
        {HEADER: "  do concurrent (i = 1:n, j = 1:n) default(none) shared(f)\n"},
        True,
    ),
    "a mask": ({HEADER: "  do concurrent (i = 1:n, j = 1:n, f(i, j) > 0)\n"}, False),
    "a variable of each iteration": (
        {HEADER: "  do concurrent (i = 1:n, j = 1:n) local(s)\n"},
        False,
    ),
    "a function": ({BODY: "    f(i, j) = half(f(i, j))\n"}, False),
    "a loop inside": (
        {BODY: "    do k = 1, 2\n      f(i, j) = f(i, j) + k\n    end do\n", "j, up": "j, k, up"},
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_passed(name: str, tmp_path: Path) -> None:
    replacements, passes = CASES[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    waits = text.find("call mpi_wait")
    assert (waits > text.index("do concurrent")) is passes, text
    if passes:
        assert text.index("\n  end do") < waits


def test_index_of_its_own(tmp_path: Path) -> None:
    """The index outside keeps its value: nothing that sets it or asks for it changes places."""
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, {"u(0), 1, MPI": "u(i - 3), 1, MPI"}))
    text = transform([path], Options()).after[str(path)].decode()
    assert "call mpi_irecv(u(i-3)" not in text[text.index("do concurrent") :]
    assert text.index("i = 3") < text.index("u(i")


# name: (replacements, the ranges of the interior; "" where it stays whole)
NEEDS = {BODY: "    f(i, j) = f(i, j) + u(j - 1)\n"}
DIVIDED: dict[str, tuple[dict[str, str], str]] = {
    "by its last range": (NEEDS, "(i = 1:n, j = 2:n)"),
    "by its first range": (
        {HEADER: "  do concurrent (j=1:n, i=1:n)\n", **NEEDS},
        "(j=2:n, i=1:n)",
    ),
    "by a range as an expression": (
        {HEADER: "  do concurrent (i = 1:n, j = max(1, down):n)\n", **NEEDS},
        "",
    ),
    "two assignments": (
        {BODY: "    f(i, j) = f(i, j) + u(j - 1)\n    f(i, j) = 2.0d0 * f(i, j)\n"},
        "(i = 1:n, j = 2:n)",
    ),
    "an array by one of its indices": (
        {BODY: "    f(i, j) = u(i + 1) * u(j - 1)\n"},
        "(i = 1:n, j = 2:n)",
    ),
    "elements of others are read": ({BODY: "    f(i, j) = f(i, j - 1) + u(j - 1)\n"}, ""),
    "a scalar is set": ({BODY: "    s = u(j - 1)\n    f(i, j) = s\n"}, ""),
    "one element for all": ({BODY: "    f(1, 1) = u(j - 1)\n"}, ""),
    "an element for each row": ({BODY: "    f(i, 1) = u(j - 1)\n"}, ""),
    "a diagonal": ({BODY: "    f(i, i) = u(j - 1)\n"}, ""),
    "every second": (
        {HEADER: "  do concurrent (i = 1:n, j = 1:n:2)\n", **NEEDS},
        "",
    ),
    "by twice the index": (
        {HEADER: "  do concurrent (i = 1:n, j = 1:n/2)\n", BODY: "    f(i, j) = u(2 * j - 2)\n"},
        "",
    ),
    "downwards": ({HEADER: "  do concurrent (i = 1:n, j = n:1:-1)\n", **NEEDS}, ""),
    "all of an array is set": ({BODY: "    f = u(j - 1)\n"}, ""),
    "both indices in a subscript": ({BODY: "    f(i, j) = u(i + j - 2)\n"}, ""),
}


@pytest.mark.parametrize("name", DIVIDED)
def test_divided(name: str, tmp_path: Path) -> None:
    replacements, ranges = DIVIDED[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    assert text.count("do concurrent") == (2 if ranges else 1) + text.count(":min("), text
    if ranges:
        assert f"do concurrent {ranges}\n" in text[: text.index("call mpi_wait")], text


def test_names_that_the_bounds_would_need(tmp_path: Path) -> None:
    """The strips are written with MIN and MAX: not where the program has variables of that name."""
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, {**NEEDS, "integer :: i, j, up": "integer :: min, i, j, up"}))
    text = transform([path], Options()).after[str(path)].decode()
    assert text.count("do concurrent") == 1
