"""Values of derived types that an expression of Fortran makes: `point(x, y)` calls nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """module points
  implicit none
  type point
    real :: x
    {component}
  end type point
  {interface}
contains
  function make(a) result(p)
    real, intent(in) :: a
    type(point) :: p
    p = point({given})
  end function make
end module points
program p
  use points

  include 'mpif.h'
  integer :: i, n, ierr
  double precision :: w(1000)
  type(point) :: q
  call mpi_init(ierr)
  do i = 1, 10
    n = 3
    call mpi_bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    w = w + 2.0d0
    q = make(real(n))
    print *, q%x, w(1)
  end do
  call mpi_finalize(ierr)
end program p
"""
USUAL = {"component": "real :: y", "interface": "", "given": "a, y=2.0 * a"}
GENERIC = "interface point\n    module procedure other\n  end interface point"
OTHER = """contains
  function other(a, b) result(p)
    real, intent(in) :: a
    integer, intent(in) :: b
    type(point) :: p
    external :: unread
    call unread(a, b)
    p = make(a)
  end function other
  function make"""


def decided(path: Path, text: str) -> str:
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    (found,) = [d for d in outcome.decisions if d.site.call.name == "MPI_Bcast"]
    return found.decision


@pytest.mark.parametrize("given", ["a, y=2.0 * a", "a, a", "x=a, y=max(a, 1.0)"])
def test_goes(given: str, tmp_path: Path) -> None:
    assert decided(tmp_path / "a.f90", PROGRAM.format(**{**USUAL, "given": given})) == "rewritten"


@pytest.mark.parametrize(
    "changes",
    [
        {"given": "a, unread(a)"},
        {"component": "real, pointer :: y", "given": "a, null()"},
        {"component": "procedure(), pointer, nopass :: y", "given": "a, null()"},
        {"interface": GENERIC, "given": "a, 2"},
        {"interface": "interface point\n    procedure unread\n  end interface"},
    ],
)
def test_stays(changes: dict[str, str], tmp_path: Path) -> None:
    text = PROGRAM.format(**{**USUAL, **changes})
    if "other" in text:
        text = text.replace("contains\n  function make", OTHER, 1)
    assert decided(tmp_path / "a.f90", text) == "refused"
