"""Kinds of Fortran's numbers that a module names: the types that they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

PROGRAM = """\
module sizes
  use, intrinsic :: iso_fortran_env, only: long => int64, real32
  implicit none
  integer, parameter :: dp = kind(1.0d0), rk = 8, unknown = selected_real_kind(30)
end module sizes
program main
  use sizes, only: dp, wp => rk, long, real32, unknown
  use iso_c_binding
  implicit none
  real(dp) :: a
  real(wp) :: b
  real(kind=dp) :: c
  integer(long) :: d
  real(real32) :: e
  real(c_double) :: f
  real(unknown) :: g
  complex(dp) :: h
  real(rk) :: i
  a = 1; b = 2; c = 3; d = 4; e = 5; f = 6; g = 7; h = 8; i = 9
end program main
"""
KNOWN = {
    "a": "double precision",
    "b": "double precision",
    "c": "double precision",
    "d": "integer(int64)",
    "e": "real",
    "f": "double precision",
    "g": "real(selected_real_kind(30))",
    "h": "double complex",
    "i": "real(rk)",  # the module's name for it is another one here
}


@pytest.mark.parametrize("name", KNOWN)
def test_type(name: str, tmp_path: Path) -> None:
    path = tmp_path / "kinds.f90"
    path.write_text(PROGRAM)
    program = read_program([path], Options())
    found = {v.name: v.element for v in program.variables.values() if v.kind == "local"}
    assert found[name] == KNOWN[name]
