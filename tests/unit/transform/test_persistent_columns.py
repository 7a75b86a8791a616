"""Persistent requests whose messages are columns of arrays, by MPI_Type_vector."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

C = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define IDX(i, j) ((i) * (ny + 2) + (j))
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, dims[2] = {0, 0}, periods[2] = {1, 0}, north, south, west, east;
    MPI_Comm cart;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Comm_rank(cart, &rank);
    MPI_Cart_shift(cart, 0, 1, &north, &south);
    MPI_Cart_shift(cart, 1, 1, &west, &east);
    int nx = 80, ny = 60;
    double *u = calloc((nx + 2) * (ny + 2), sizeof(double));
    double *v = calloc((nx + 2) * (ny + 2), sizeof(double));
    for (int i = 0; i < nx + 2; i++)
        for (int j = 0; j < ny + 2; j++)
            u[IDX(i, j)] = i - 0.5 * j + rank;
    MPI_Datatype column;
    MPI_Type_vector(nx, 1, ny + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Request req[8];
    MPI_Recv_init(&u[IDX(0, 1)], ny, MPI_DOUBLE, north, 0, cart, &req[0]);
    MPI_Recv_init(&u[IDX(nx + 1, 1)], ny, MPI_DOUBLE, south, 1, cart, &req[1]);
    MPI_Recv_init(&u[IDX(1, 0)], 1, column, west, 2, cart, &req[2]);
    MPI_Recv_init(&u[IDX(1, ny + 1)], 1, column, east, 3, cart, &req[3]);
    MPI_Send_init(&u[IDX(nx, 1)], ny, MPI_DOUBLE, south, 0, cart, &req[4]);
    MPI_Send_init(&u[IDX(1, 1)], ny, MPI_DOUBLE, north, 1, cart, &req[5]);
    MPI_Send_init(&u[IDX(1, ny)], 1, column, east, 2, cart, &req[6]);
    MPI_Send_init(&u[IDX(1, 1)], 1, column, west, 3, cart, &req[7]);
    for (int t = 0; t < 50; t++) {
        MPI_Startall(8, req);
        MPI_Waitall(8, req, MPI_STATUSES_IGNORE);
        for (int i = 1; i <= nx; i++)
            for (int j = 1; j <= ny; j++)
                v[IDX(i, j)] = u[IDX(i - 1, j)] + u[IDX(i + 1, j)] + u[IDX(i, j - 1)] +
                               u[IDX(i, j + 1)];
        for (int i = 1; i <= nx; i++)
            for (int j = 1; j <= ny; j++)
                u[IDX(i, j)] = 0.25 * v[IDX(i, j)];
    }
    double s = 0, all;
    for (int i = 1; i <= nx; i++)
        s += u[IDX(i, 1)];
    MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, cart);
    if (!rank) printf("%.12e\\n", all);
    for (int k = 0; k < 8; k++) MPI_Request_free(&req[k]);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
"""
FORTRAN = """program main
  use mpi
  implicit none
  integer, parameter :: nx = 90, ny = 70
  real(8) :: u(0:nx+1, 0:ny+1), w(0:nx+1, 0:ny+1), s, all
  integer :: req(8), row, ierr, me, np, cart, dims(2), n, so, we, ea, i, j, t
  logical :: per(2)
  call MPI_Init(ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  dims = 0; per = .true.
  call MPI_Dims_create(np, 2, dims, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, per, .false., cart, ierr)
  call MPI_Comm_rank(cart, me, ierr)
  call MPI_Cart_shift(cart, 0, 1, we, ea, ierr)
  call MPI_Cart_shift(cart, 1, 1, so, n, ierr)
  call MPI_Type_vector(ny, 1, nx + 2, MPI_DOUBLE_PRECISION, row, ierr)
  call MPI_Type_commit(row, ierr)
  do j = 0, ny+1
    do i = 0, nx+1
      u(i, j) = sin(0.1d0*i + me)*cos(0.2d0*j)
    end do
  end do
  w = 0
  call MPI_Recv_init(u(0, 1), 1, row, we, 1, cart, req(1), ierr)
  call MPI_Recv_init(u(nx+1, 1), 1, row, ea, 2, cart, req(2), ierr)
  call MPI_Recv_init(u(1, 0), nx, MPI_DOUBLE_PRECISION, so, 3, cart, req(3), ierr)
  call MPI_Recv_init(u(1, ny+1), nx, MPI_DOUBLE_PRECISION, n, 4, cart, req(4), ierr)
  call MPI_Send_init(u(nx, 1), 1, row, ea, 1, cart, req(5), ierr)
  call MPI_Send_init(u(1, 1), 1, row, we, 2, cart, req(6), ierr)
  call MPI_Send_init(u(1, ny), nx, MPI_DOUBLE_PRECISION, n, 3, cart, req(7), ierr)
  call MPI_Send_init(u(1, 1), nx, MPI_DOUBLE_PRECISION, so, 4, cart, req(8), ierr)
  do t = 1, 30
    call MPI_Startall(8, req, ierr)
    call MPI_Waitall(8, req, MPI_STATUSES_IGNORE, ierr)
    do j = 1, ny
      do i = 1, nx
        w(i, j) = 0.25d0*(u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
      end do
    end do
    u(1:nx, 1:ny) = w(1:nx, 1:ny)
  end do
  s = sum(u(1:nx, 1:ny))
  call MPI_Reduce(s, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, cart, ierr)
  if (me == 0) print '(es22.14)', all
  do i = 1, 8
    call MPI_Request_free(req(i), ierr)
  end do
  call MPI_Type_free(row, ierr)
  call MPI_Finalize(ierr)
end program
"""
INTERIOR_OF_C = "            for (int j = 2; j <= ny - 1; j++)\n"
INTERIOR_OF_FORTRAN = "    do j = 2, ny - 1\n      do i = 2, nx - 1\n"
LATER = "        MPI_Startall(8, req);\n"
STAY_IN_C: dict[str, dict[str, str]] = {
    "two columns each": {"MPI_Type_vector(nx, 1,": "MPI_Type_vector(nx, 2,"},
    "of longer lines": {"1, ny + 2, MPI_DOUBLE": "1, ny + 3, MPI_DOUBLE"},
    "the lines change": {LATER: f"{LATER}        ny--;\n"},
    "the array changes": {
        LATER: f"        double *w = u;\n        u = v;\n        v = w;\n{LATER}"
    },
}
STAY_IN_FORTRAN: dict[str, dict[str, str]] = {
    "two columns each": {"MPI_Type_vector(ny, 1,": "MPI_Type_vector(ny, 2,"},
    "of longer lines": {"nx + 2, MPI_DOUBLE": "nx + 3, MPI_DOUBLE"},
}


def test_the_interior_of_c_is_in_front(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.c", C)
    start, interior = text.index("MPI_Startall("), text.index(INTERIOR_OF_C)
    assert start < interior < text.index("MPI_Waitall(4, req, MPI_STATUSES_IGNORE);")


def test_the_interior_of_fortran_is_in_front(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.f90", FORTRAN)
    start, interior = text.index("call MPI_Startall("), text.index(INTERIOR_OF_FORTRAN)
    assert start < interior < text.index("call MPI_Waitall(4, req(1:4),")


@pytest.mark.parametrize("replaced", STAY_IN_C.values(), ids=STAY_IN_C)
def test_the_loop_of_c_stays(replaced: dict[str, str], tmp_path: Path) -> None:
    assert INTERIOR_OF_C not in rewritten(tmp_path / "main.c", changed(C, replaced))


@pytest.mark.parametrize("replaced", STAY_IN_FORTRAN.values(), ids=STAY_IN_FORTRAN)
def test_the_loop_of_fortran_stays(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.f90", changed(FORTRAN, replaced))
    assert INTERIOR_OF_FORTRAN not in text
