"""Statements that share lines: those that fill whole lines are passed, and stay together.

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
  integer, parameter :: n = 200
  real(8) :: u(0:n+1), f(n), g(n), s
  integer :: i, j, up, down, ierr
  up = 0; down = 0
  u = 1.0d0; f = 2.0d0
  g = 3.0d0
  s = 0
  call mpi_init(ierr)
  call mpi_sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, up, 1, u(0), 1, MPI_DOUBLE_PRECISION, down, 1, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  do i = 1, n; f(i) = 0.5d0*g(i); g(i) = s + i; end do
  print *, u(0), f(1), g(1)
  call mpi_finalize(ierr)
end program p
"""
LOOP = "  do i = 1, n; f(i) = 0.5d0*g(i); g(i) = s + i; end do\n"
# name: (what stands in the place of the loop, whether the message passes it)
CASES: dict[str, tuple[str, bool]] = {
    "as it is": (LOOP, True),
    "a comment behind it": (LOOP.replace("end do", "end do ! all; of it"), True),
    "a semicolon at the end": (LOOP.replace("end do", "end do;"), True),
    "a loop and an assignment": (LOOP.replace("end do", "end do; s = g(1)"), True),
    "two loops in one line each": (
        "  do j = 1, 3; do i = 1, n\n    f(i) = f(i) + 0.5d0*g(i)*j\n  end do; end do\n",
        True,
    ),
    "what is received is read": (LOOP.replace("s + i", "u(0)"), False),
    "what is received is read by the last": (LOOP.replace("end do", "end do; s = u(0)"), False),
    "what is sent is set": (LOOP.replace("g(i) = s + i", "u(i) = s"), False),
    "it may leave": ("  do j = 1, 2\n  f = f + 1; if (f(1) > 2) exit\n  end do\n", False),
    "a directive behind it": (LOOP.replace("end do\n", "end do !$omp nothing\n"), False),
    "a label": ("10 f = f + 1; g = 2*f\n", False),
    "continued from it": ("  f = f + 1; g = 2*f; &\n    s = 1\n", False),
    "a declaration": ("  f = f + 1; print *, f(1)\n", False),
}


@pytest.mark.parametrize("name", CASES)
def test_passed(name: str, tmp_path: Path) -> None:
    code, passes = CASES[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, {LOOP: code}))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    waits = text.find("call mpi_wait")
    assert (waits > text.index(code.splitlines()[0])) is passes, text
    if passes:
        assert code in text
