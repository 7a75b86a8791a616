"""What stands between an exchange and a step may set the sizes that the step's loops run to."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

C = """\
#include <mpi.h>
static double u[32][34], v[32][34];
static int last, ny = 10, nx = 20, other, rank, peer;
static void exchange(void)
{
    MPI_Sendrecv(u[10], 34, MPI_DOUBLE, peer, 0, u[0], 34, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    last = (int)u[0][3] + BETWEEN;
}
static void step(void)
{
    for (int i = 1; i <= ny; i++)
        for (int j = 1; j <= nx; j++)
            v[i][j] = u[i - 1][j] + 0.5 * u[i + 1][j];
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int t = 0; t < 3; t++) {
        exchange();
        BETWEEN--;
        step();
    }
    MPI_Finalize();
    return (int)v[1][1];
}
"""
CPP = """\
#include <mpi.h>
#include <vector>
#define AT(i, j) ((i) * (nx + 2) + (j))
static int peer;
class Grid {
  public:
    explicit Grid(int) : nx(20), ny(10), other(0), u(1000), v(1000) {}
    void exchange()
    {
        MPI_Request r[2];
        MPI_Irecv(edge, nx, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&u[AT(ny, 1)], nx, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int j = 1; j <= nx; j++)
            u[AT(0, j)] = edge[j - 1];
        edge[3] = BETWEEN;
    }
    void step()
    {
        for (int i = 1; i <= ny; i++)
            for (int j = 1; j <= nx; j++)
                v[AT(i, j)] = u[AT(i - 1, j)] + 0.5 * u[AT(i + 1, j)];
    }
    int nx, ny, other;
    std::vector<double> u, v;
    double edge[16];
};
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    Grid g(1);
    for (int t = 0; t < 3; t++) {
        g.exchange();
        g.BETWEEN--;
        g.step();
    }
    MPI_Finalize();
    return (int)g.v[30];
}
"""
FORTRAN = """\
module field
  implicit none
  include 'mpif.h'
  integer :: last, ny = 10, nx = 20, other = 0, me, peer
  double precision :: u(34, 0:31), v(34, 0:31)
contains
  subroutine exchange
    integer :: ierr
    call mpi_sendrecv(u(1, 10), 34, MPI_DOUBLE_PRECISION, peer, 0, u(1, 0), 34, &
      MPI_DOUBLE_PRECISION, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    last = int(u(3, 0)) + BETWEEN
  end subroutine
  subroutine step
    integer :: i, j
    do i = 1, ny
      do j = 1, nx
        v(j, i) = u(j, i - 1) + 0.5d0 * u(j, i + 1)
      end do
    end do
  end subroutine
end module
program main
  use field
  integer :: t, ierr
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  peer = 1 - me
  do t = 1, 3
    call exchange
    BETWEEN = BETWEEN - 1
    call step
  end do
  print *, me, v(3, 1)
  call mpi_finalize(ierr)
end program
"""
PROGRAMS = {"c": C, "cpp": CPP, "f90": FORTRAN}


@pytest.mark.parametrize("language", PROGRAMS)
@pytest.mark.parametrize(("between", "goes"), [("ny", False), ("nx", False), ("other", True)])
def test_a_size_that_is_set_in_between_stops_the_step(
    language: str, between: str, goes: bool, tmp_path: Path
) -> None:
    """The exchange ends with a use of it, so that its end cannot follow what sets it."""
    source = tmp_path / f"program.{language}"
    source.write_text(PROGRAMS[language].replace("BETWEEN", between))
    text = transform([source], Options()).after[str(source)]
    assert (b"step_interior" in text) == goes
