"""Messages of each of MPI's types of numbers: their elements are known, and loops are divided."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import rewritten

C = """#include <mpi.h>
#include <complex.h>
#include <stdint.h>
static {number} u[66][40], v[66][40];
int main(int argc, char **argv)
{{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 9; step++) {{
        MPI_Sendrecv(&u[64][0], {count}, {datatype}, (rank + 1) % size, 0, &u[0][0], {count},
                     {datatype}, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i < 65; i++)
            for (int j = 0; j < 40; j++)
                v[i][j] = u[i - 1][j] + u[i][j];
        for (int i = 1; i < 65; i++)
            for (int j = 0; j < 40; j++)
                u[i][j] = v[i][j];
    }}
    MPI_Finalize();
    return 0;
}}
"""
FORTRAN = """program main
  use mpi
  use, intrinsic :: iso_fortran_env, only: int64, int32
  implicit none
  {number} :: u(40, 0:65), v(40, 0:65)
  integer :: rank, size, ierr, step, i, j
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, size, ierr)
  u = 1
  do step = 1, 9
    call mpi_sendrecv(u(1, 64), {count}, {datatype}, mod(rank + 1, size), 0, u(1, 0), {count}, &
                      {datatype}, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierr)
    do j = 1, 64
      do i = 1, 40
        v(i, j) = u(i, j - 1) + u(i, j)
      end do
    end do
    do j = 1, 64
      do i = 1, 40
        u(i, j) = v(i, j)
      end do
    end do
  end do
  call mpi_finalize(ierr)
end program main
"""
IN_C = [
    ("short", "MPI_SHORT"),
    ("unsigned short", "MPI_UNSIGNED_SHORT"),
    ("unsigned char", "MPI_UNSIGNED_CHAR"),
    ("unsigned char", "MPI_BYTE"),
    ("signed char", "MPI_SIGNED_CHAR"),
    ("unsigned", "MPI_UNSIGNED"),
    ("unsigned long", "MPI_UNSIGNED_LONG"),
    ("long long", "MPI_LONG_LONG"),
    ("long long", "MPI_LONG_LONG_INT"),
    ("unsigned long long", "MPI_UNSIGNED_LONG_LONG"),
    ("long double", "MPI_LONG_DOUBLE"),
    ("int8_t", "MPI_INT8_T"),
    ("int16_t", "MPI_INT16_T"),
    ("int32_t", "MPI_INT32_T"),
    ("int64_t", "MPI_INT64_T"),
    ("int64_t", "MPI_LONG_LONG"),
    ("uint8_t", "MPI_UINT8_T"),
    ("uint16_t", "MPI_UINT16_T"),
    ("uint32_t", "MPI_UINT32_T"),
    ("uint64_t", "MPI_UINT64_T"),
    ("float complex", "MPI_C_FLOAT_COMPLEX"),
    ("float complex", "MPI_C_COMPLEX"),
    ("double complex", "MPI_C_DOUBLE_COMPLEX"),
]
IN_FORTRAN = [
    ("integer", "MPI_INTEGER4"),
    ("integer(int32)", "MPI_INTEGER"),
    ("integer(int64)", "MPI_INTEGER8"),
    ("integer(8)", "MPI_INTEGER8"),
    ("integer*8", "MPI_INTEGER8"),
    ("integer(selected_int_kind(15))", "MPI_INTEGER8"),
    ("real(4)", "MPI_REAL4"),
    ("real(selected_real_kind(12))", "MPI_DOUBLE_PRECISION"),
    ("complex", "MPI_COMPLEX8"),
    ("complex*16", "MPI_COMPLEX16"),
    ("complex(kind(1d0))", "MPI_DOUBLE_COMPLEX"),
]
OTHER_IN_C = [
    ("double", "MPI_FLOAT"),
    ("short", "MPI_INT"),
    ("int64_t", "MPI_INT32_T"),
    ("unsigned char", "MPI_UINT16_T"),
]
OTHER_IN_FORTRAN = [
    ("integer", "MPI_INTEGER8"),
    ("integer(8)", "MPI_INTEGER"),
    ("double precision", "MPI_REAL4"),
    ("complex", "MPI_DOUBLE_COMPLEX"),
]


def of_c(folder: Path, number: str, datatype: str, count: str = "40") -> bool:
    text = C.format(number=number, datatype=datatype, count=count)
    return "for (int i = 2; i < 65; i++)" in rewritten(folder / "main.c", text)


def of_fortran(folder: Path, number: str, datatype: str, count: str = "40") -> bool:
    text = FORTRAN.format(number=number, datatype=datatype, count=count)
    return "do j = 2, 64\n" in rewritten(folder / "main.f90", text)


@pytest.mark.parametrize(("number", "datatype"), IN_C)
def test_loops_of_c_are_divided(number: str, datatype: str, tmp_path: Path) -> None:
    assert of_c(tmp_path, number, datatype)
    assert not of_c(tmp_path, number, datatype, "41")  # of the next row too


@pytest.mark.parametrize(("number", "datatype"), IN_FORTRAN)
def test_loops_of_fortran_are_divided(number: str, datatype: str, tmp_path: Path) -> None:
    assert of_fortran(tmp_path, number, datatype)
    assert not of_fortran(tmp_path, number, datatype, "41")


def test_complex_numbers_are_two_each(tmp_path: Path) -> None:
    assert of_c(tmp_path, "double complex", "MPI_DOUBLE", "80")
    assert of_c(tmp_path, "float complex", "MPI_FLOAT", "80")
    assert not of_c(tmp_path, "double complex", "MPI_DOUBLE", "82")
    assert not of_c(tmp_path, "double complex", "MPI_DOUBLE", "81")


@pytest.mark.parametrize(("number", "datatype"), OTHER_IN_C)
def test_another_type_of_c_stays(number: str, datatype: str, tmp_path: Path) -> None:
    assert not of_c(tmp_path, number, datatype)


@pytest.mark.parametrize(("number", "datatype"), OTHER_IN_FORTRAN)
def test_another_type_of_fortran_stays(number: str, datatype: str, tmp_path: Path) -> None:
    assert not of_fortran(tmp_path, number, datatype)
