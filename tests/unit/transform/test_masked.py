"""WHERE: a message passes one that does nothing but assign, and touches none of it.

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
  real(8) :: u(0:n+1), f(n), g(n), k(n)
  logical :: wet(n)
  integer :: up, down, ierr
  interface
    elemental real(8) function half(x)
      real(8), intent(in) :: x
    end function half
  end interface
  up = 0
  down = 0
  wet = .true.
  u = 1.0d0
  f = 2.0d0
  g = 3.0d0
  k = 1.0d0
  call mpi_init(ierr)
  call mpi_sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, up, 1, u(0), 1, MPI_DOUBLE_PRECISION, down, 1, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  where (wet)
    f = f + g
  elsewhere (g > 1)
    f = f / g
  elsewhere
    g = 0
  end where
  print *, u(0), f(1), g(1), k(1)
  call mpi_finalize(ierr)
end program p
elemental real(8) function half(x)
  real(8), intent(in) :: x
  half = 0.5d0 * x
end function half
"""
BODY = "    f = f + g\n"
WHERE = PROGRAM[PROGRAM.index("  where (wet)") : PROGRAM.index("  print")]
# name: (replacements, whether the message passes the construct)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "one line": ({WHERE: "  where (wet) f = f + g\n"}, True),
    "constructs inside": (
        {BODY: "    where (g > 2)\n      f = f + g\n    end where\n    k = f\n"},
        True,
    ),
    "what is not received is read": ({BODY: "    f = f + u(1:n)\n"}, True),
    "what is received is read": ({BODY: "    f = f + u(0:n-1)\n"}, False),
    "what is received is read by the mask": ({"  where (wet)": "  where (u(0:n-1) > 0)"}, False),
    "what is received is read by a later mask": ({"(g > 1)": "(u(0:n-1) > 0)"}, False),
    "what is received is set": ({BODY: "    u(0:n-1) = f\n"}, False),
    "what is sent is set": ({"    g = 0\n": "    u(1:n) = 0\n"}, False),
    "a function": ({BODY: "    f = half(f)\n"}, False),
    "a function in the mask": ({"  where (wet)": "  where (half(f) > 0)"}, False),
    "a name": ({"  where (wet)": "  w: where (wet)", "  end where": "  end where w"}, False),
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
    assert (waits > text.index("where (")) is passes, text
    if passes and "end where" in text:
        assert text.index("\n  end where") < waits


def test_nothing_counts_as_surely_set(tmp_path: Path) -> None:
    """An array that a mask fills keeps what the message before left in it."""
    path = tmp_path / "case.f90"
    fill = "  where (wet)\n    f = k\n  end where\n"
    send = "  call mpi_send(f, n, MPI_DOUBLE_PRECISION, {}, 1, MPI_COMM_WORLD, ierr)\n"
    code = "".join(fill + send.format(peer) for peer in ("up", "down"))
    path.write_text(changed(PROGRAM, {WHERE: code}))
    text = transform([path], Options()).after[str(path)].decode()
    assert "f2" not in text
