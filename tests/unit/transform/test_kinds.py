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
  real(selected_real_kind(6)) :: j
  real(selected_real_kind(p=13, r=300)) :: k
  real(selected_real_kind(18)) :: l
  integer(selected_int_kind(9)) :: m
  integer(kind=selected_int_kind(r=12)) :: n
  integer*8 :: o
  integer(c_int64_t) :: p
  complex(c_float_complex) :: q
  complex*16 :: r
  integer(c_short) :: s
  real(selected_real_kind(6, 100)) :: t
  a = 1; b = 2; c = 3; d = 4; e = 5; f = 6; g = 7; h = 8; i = 9
  j = 1; k = 2; l = 3; m = 4; n = 5; o = 6; p = 7; q = 8; r = 9; s = 1; t = 2
end program main
"""
KNOWN = {
    "a": "double precision",
    "b": "double precision",
    "c": "double precision",
    "d": "integer(8)",
    "e": "real",
    "f": "double precision",
    "g": "real(selected_real_kind(30))",
    "h": "double complex",
    "i": "real(rk)",  # the module's name for it is another one here
    "j": "real",
    "k": "double precision",
    "l": "real(selected_real_kind(18))",
    "m": "integer",
    "n": "integer(8)",
    "o": "integer(8)",
    "p": "integer(8)",
    "q": "complex",
    "r": "double complex",
    "s": "integer(2)",
    "t": "double precision",
}


@pytest.mark.parametrize("name", KNOWN)
def test_type(name: str, tmp_path: Path) -> None:
    path = tmp_path / "kinds.f90"
    path.write_text(PROGRAM)
    program = read_program([path], Options())
    found = {v.name: v.element for v in program.variables.values() if v.kind == "local"}
    assert found[name] == KNOWN[name]
