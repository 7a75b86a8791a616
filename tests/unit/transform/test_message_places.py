"""Rows 0 and `ny + 1` are told apart by the messages of rows 1 and `ny`; where they are not.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

C = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { int nx, ny; double *u, *v; } grid;
void unknown(double **p);
static int nx, ny, up, down, flag;
static double *u, *v, *w;
static void exchange(double *a)
{
    MPI_Sendrecv(&a[nx], nx, MPI_DOUBLE, up, 0, &a[(ny + 1) * nx], nx, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* between */
    MPI_Sendrecv(&a[ny * nx], nx, MPI_DOUBLE, down, 1, &a[0], nx, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void step(double *a, double *b)
{
    for (int j = 1; j <= ny; j++)
        for (int i = 0; i < nx; i++)
            b[j * nx + i] = 0.5 * (a[(j - 1) * nx + i] + a[(j + 1) * nx + i]);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &flag);
    nx = atoi(argv[1]);
    ny = nx / flag;
    u = calloc((ny + 2) * nx, sizeof(double));
    v = (double *)malloc((ny + 2) * nx * sizeof(double));
    /* set */
    for (int s = 0; s < 9; s++) {
        exchange(u);
        step(u, v);
        double *t = u;
        u = v;
        v = t;
    }
    printf("%g\\n", u[nx]);
    MPI_Finalize();
    return 0;
}
"""
GOES: dict[str, dict[str, str]] = {
    "as it is": {},
    "rows of an array type": {
        "#include <stdlib.h>": "#include <stdlib.h>\n#define N 64",
        "(double *a": "(double (*a)[N]",
        " double *b": " double (*b)[N]",
        "*u, *v, *w": "(*u)[N], (*v)[N], *w",
        "*t": "(*t)[N]",
        "(double *)malloc(": "malloc(N * ",
        "&a[nx], nx": "a[1], N",
        "&a[(ny + 1) * nx], nx": "a[ny + 1], N",
        "&a[ny * nx], nx": "a[ny], N",
        "&a[0], nx": "a[0], N",
        "b[j * nx + i] = 0.5 * (a[(j - 1) * nx + i] + a[(j + 1) * nx + i])": (
            "b[j][i] = 0.5 * (a[j - 1][i] + a[j + 1][i])"
        ),
        "u[nx]": "u[1][0]",
        "i < nx": "i < N",
    },
    "something is computed in between": {"/* between */": "w = NULL;"},
    "messages that may be left out in between": {
        "/* between */": "if (flag) MPI_Send(&flag, 1, MPI_INT, up, 7, MPI_COMM_WORLD);"
    },
    "another pointer goes through the elements": {
        "/* set */": "for (w = u; w < u + nx; w++) *w = 1.0;"
    },
}
STAYS: dict[str, dict[str, str]] = {
    "a pointer into the memory": {"/* set */": "u += nx;"},
    "a pointer is advanced": {"/* set */": "u++;"},
    "a pointer is set to an element": {"/* set */": "u = &u[nx];"},
    "a pointer is set to a sum": {"/* set */": "u = v + nx;"},
    "allocated with something in front": {
        "malloc((ny + 2) * nx * sizeof(double))": ("malloc((ny + 3) * nx * sizeof(double)) + nx")
    },
    "given an element": {"exchange(u);": "exchange(u + nx);"},
    "given an element elsewhere": {"/* set */": "exchange(&v[nx]);"},
    "set through a pointer": {"/* set */": "double **p = &u;\n    *p = v + nx;"},
    "set by code that is not seen": {"/* set */": "unknown(&u);"},
    "another file may call it": {"static void exchange": "void exchange", "int main": "int other"},
    "returned in between": {"/* between */": "if (flag > 3) return;"},
    "ended in between": {"/* between */": "if (flag > 3) exit(1);"},
    "aborted in between": {"/* between */": "if (flag > 3) MPI_Abort(MPI_COMM_WORLD, 1);"},
    "the size changes in between": {"/* between */": "ny--;"},
    "a message may be left out": {
        "    MPI_Sendrecv(&a[ny": "    if (flag) MPI_Sendrecv(&a[ny",
    },
    "the rows may be the same": {"&a[ny * nx], nx": "&a[0], nx"},
    "the row of the other message is another one": {"&a[ny * nx], nx": "&a[(ny + 1) * nx], nx"},
}
FORTRAN = """      subroutine exchange(a, nx, ny, up, down)
      include 'mpif.h'
      integer nx, ny, up, down, ierr, st(MPI_STATUS_SIZE)
      double precision a(nx, 0:ny+1)
      call MPI_SENDRECV(a(1,1), nx, MPI_DOUBLE_PRECISION, up, 0,
     &     a(1,ny+1), nx, MPI_DOUBLE_PRECISION, down, 0,
     &     MPI_COMM_WORLD, st, ierr)
      call MPI_SENDRECV(a(1,ny), nx, MPI_DOUBLE_PRECISION, down, 1,
     &     a(1,0), nx, MPI_DOUBLE_PRECISION, up, 1,
     &     MPI_COMM_WORLD, st, ierr)
      end
      subroutine step(a, b, nx, ny)
      integer nx, ny, i, j
      double precision a(nx, 0:ny+1), b(nx, 0:ny+1)
      do j = 1, ny
         do i = 1, nx
            b(i,j) = 0.5d0 * (a(i,j-1) + a(i,j+1))
         end do
      end do
      end
      program p
      include 'mpif.h'
      integer ierr, k, up, down
      double precision u(8, 0:8), v(8, 0:8)
      call MPI_INIT(ierr)
      up = MPI_PROC_NULL
      down = MPI_PROC_NULL
      do k = 1, 9
         call exchange(u, 8, 7, up, down)
         call step(u, v, 8, 7)
         call exchange(v, 8, 7, up, down)
         call step(v, u, 8, 7)
      end do
      print *, u(1,1)
      call MPI_FINALIZE(ierr)
      end
"""


def both_under_way(tmp_path: Path, name: str, text: str) -> bool:
    """Whether the receives of both rows are under way at once."""
    source = tmp_path / name
    source.write_text(text)
    outcome = transform([source], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(source)].upper()
    parts = after.split(b"STEP(")[0].split(b"MPI_IRECV(")
    return len(parts) == 3 and b"MPI_WAIT" not in parts[1] and b"MPI_SENDRECV(" not in after


@pytest.mark.parametrize("name", GOES)
def test_both_rows_are_under_way_together(name: str, tmp_path: Path) -> None:
    assert both_under_way(tmp_path, "p.c", changed(C, GOES[name]))


@pytest.mark.parametrize("name", STAYS)
def test_rows_that_may_be_one_are_not(name: str, tmp_path: Path) -> None:
    assert not both_under_way(tmp_path, "p.c", changed(C, STAYS[name]))


def test_rows_of_an_array_in_fortran(tmp_path: Path) -> None:
    assert both_under_way(tmp_path, "p.f", FORTRAN)
    linear = FORTRAN.replace("a(nx, 0:ny+1)", "a(nx, 0:*)")
    assert both_under_way(tmp_path, "p.f", linear)  # `ny` is no less than the low bound
    other = FORTRAN.replace("a(1,ny), nx", "a(1,1), nx")
    assert not both_under_way(tmp_path, "p.f", other)
