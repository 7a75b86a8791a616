"""Sweeps over the cells of one colour are divided; sweeps whose iterations depend are not.

All forms print the same before and after on real ranks where they are divided, as
`cases/redblack.c` and `cases/redblack.f90` do.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

C = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define NX 96
#define NY 90
%(array)s
static void exchange(int up, int down)
{
    MPI_Sendrecv(ROW(1), NY + 2, MPI_DOUBLE, up, 0, ROW(NX + 1), NY + 2, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(ROW(NX), NY + 2, MPI_DOUBLE, down, 1, ROW(0), NY + 2, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    int rank, size, up, down, i, j, color;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    %(made)s
    for (i = 0; i < NX + 2; i++)
        for (j = 0; j < NY + 2; j++)
            U(i, j) = 0.01 * ((37 * i + 11 * j + 5 * rank) %% 101);
    for (color = 0; color < 2; color++) {
        exchange(up, down);
        for (i = 1; i <= NX; i++)
            %(sweep)s
    }
    printf("%%g\\n", U(3, 4));
    MPI_Finalize();
    return 0;
}
"""
LINE = "static double *u;\n#define U(i, j) u[(i) * (NY + 2) + (j)]\n#define ROW(i) &U(i, 0)"
MADE = "u = malloc(sizeof(double) * (NX + 2) * (NY + 2));"
SIZED = LINE.replace("NY", "ny").replace("static", "static int ny;\nstatic", 1)
ARRAYS = {
    "array": ("static double u[NX + 2][NY + 2];\n#define U(i, j) u[i][j]\n#define ROW(i) u[i]", ""),
    "line": (LINE, MADE),
    "sized line": (SIZED, "ny = argc > 1 ? atoi(argv[1]) : NY;\n" + MADE.replace("NY", "ny")),
    "rows": (
        "static double **u;\n#define U(i, j) u[i][j]\n#define ROW(i) &u[i][0]",
        "u = malloc((NX + 2) * sizeof(double *)); u[0] = malloc(sizeof(double) * (NX + 2) * (NY "
        "+ 2)); for (i = 1; i < NX + 2; i++) u[i] = u[0] + i * (NY + 2);",
    ),
}
CELL = "U(i, j) = 0.25 * (U(i - 1, j) + U(i + 1, j) + U(i, j - 1) + U(i, j + 1));"
SECOND = "for (j = 1 + (i + color) % 2; j <= NY; j += 2)\n"
EACH = "for (j = 1; j <= NY; j++)\n"
DIVIDED = {
    "first": SECOND + CELL,
    "relaxed": SECOND + CELL.replace("U(i, j) = 0.25 * (", "U(i, j) += 0.25 * (-4 * U(i, j) + "),
    "bits": f"for (j = 1 + ((i + color) & 1); j <= NY; j += 2)\n{CELL}",
    "less": f"for (j = 2 - (i + color) % 2; j < NY + 1; j += 2)\n{CELL}",
    "declared": f"for (int k = 1 + (i + color) % 2; k <= NY; k += 2)\n{CELL}".replace(" j", " k"),
    "even": f"{EACH}if ((i + j + color) % 2 == 0)\n{CELL}",
    "color": f"{EACH}if ((i + j) % 2 == color)\n{CELL}",
    "bit": f"{EACH}if (((i + j) & 1) == color)\n{CELL}",
    "odd": f"{EACH}if ((i + j + color) % 2)\n{CELL}",
    "not even": f"{EACH}if ((i + j + color) % 2 != 0)\n{CELL}",
    "not odd": f"{EACH}if (!((i + j + color) % 2)) {{\n{CELL}\n}}",
}
WHOLE = {
    "diagonal": SECOND + CELL.replace("U(i - 1, j)", "U(i - 1, j - 1)"),
    "knight": SECOND + CELL.replace("U(i - 1, j)", "U(i - 1, j + 3)"),
    "columns": f"for (j = 1 + color % 2; j <= NY; j += 2)\n{CELL}",
    "third": f"for (j = 1 + (i + color) % 3; j <= NY; j += 2)\n{CELL}",
    "not third": f"{EACH}if ((i + j + color) % 3)\n{CELL}",
    "all": EACH + CELL,
    "otherwise": f"{EACH}if ((i + j) % 2 == color)\n{CELL}\nelse U(i, j) = 0.5 * U(i - 1, j - 1);",
    "each": f"for (j = 1 + (i + color) % 2; j <= NY; j += 1)\n{CELL}",
    "not above": f"{EACH}if ((i + j) % 2 <= color)\n{CELL}",
    # Remainders of negative numbers are not 1 but -1.
    "not one": f"{EACH}if ((i + j - 150) % 2 != 1)\n{CELL}",
    "changed": f"{SECOND}{{ {CELL} color ^= 0; }}",
    "two": f"{SECOND}{{ {CELL} if (j < NY) U(i, j + 1) = 0.5 * U(i - 1, j); }}",
}


def is_divided(path: Path, text: str) -> bool:
    path.write_text(text)
    outcome = transform([path], Options())
    return outcome.after[str(path)].decode().count("0.25") > text.count("0.25")


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("sweep", [*DIVIDED, *WHOLE])
def test_c(sweep: str, array: str, tmp_path: Path) -> None:
    declared, made = ARRAYS[array]
    text = C % {"array": declared, "made": made, "sweep": (DIVIDED | WHOLE)[sweep]}
    if array == "sized line":
        before, main = text.split("static void exchange")
        text = f"{before}static void exchange{main.replace('NY', 'ny').replace(': ny', ': NY')}"
    assert is_divided(tmp_path / "app.c", text) is (sweep in DIVIDED)


FORTRAN = """module grid
  implicit none
  integer, parameter :: n = 60
  real(8), allocatable :: u(:, :)
contains
%(routine)s
end module
program app
  use mpi
  use grid
  implicit none
  integer :: ierr, rank, ranks, left, right, it, i, j, color, m
  real :: x
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  left = rank - 1; if (left < 0) left = mpi_proc_null
  right = rank + 1; if (right >= ranks) right = mpi_proc_null
  allocate (u(0:n + 1, 0:n + 1))
  u = rank
  do color = 0, 1
    call mpi_sendrecv(u(0, n), n + 2, mpi_double_precision, right, 1, u(0, 0), n + 2, &
                      mpi_double_precision, left, 1, mpi_comm_world, mpi_status_ignore, ierr)
    call mpi_sendrecv(u(0, 1), n + 2, mpi_double_precision, left, 2, u(0, n + 1), n + 2, &
                      mpi_double_precision, right, 2, mpi_comm_world, mpi_status_ignore, ierr)
    %(sweep)s
  end do
  print *, u(3, 4)
  call mpi_finalize(ierr)
end program
"""
CELL_F = "u(i, j) = 0.25d0*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))"
SECOND_F = "do i = 1 + mod(j + color, 2), n, 2"
EACH_F = "do i = 1, n"
ROUTINE = """subroutine relax(color)
    integer, intent(in) :: color
    integer :: i, j, m
    real :: x
    do j = 1, n
      %s
        %s
      end do
    end do
  end subroutine"""
OWN = """integer function mod(a, b)
    integer, intent(in) :: a, b
    mod = 0*a*b
  end function"""
FROM_M = "do i = m, n, 2"
DIVIDED_F = {
    "mod": (SECOND_F, CELL_F),
    "modulo": ("do i = 2 - modulo(j - color, 2), n, 2", CELL_F),
    "iand": ("do i = 1 + iand(j + color, 1), n, 2", CELL_F),
    "if": (EACH_F, f"if (mod(i + j + color, 2) == 0) {CELL_F}"),
    "not": (EACH_F, f"if (mod(i + j + color, 2) .ne. 0) {CELL_F}"),
    "then": (EACH_F, f"if (mod(i + j, 2) .eq. color) then\n{CELL_F}\nend if"),
    "variable": (f"m = 1 + mod(j + color, 2)\n{FROM_M}", CELL_F),
    "variable, long before": (f"m = 1 + mod(j + color, 2)\n! half of a row\n\n{FROM_M}", CELL_F),
    "variable of the body, set": (f"m = 1 + mod(j + color, 2)\n{FROM_M}", f"m = i\n{CELL_F}"),
}
WHOLE_F = {
    "diagonal": (SECOND_F, CELL_F.replace("u(i - 1, j)", "u(i - 1, j - 1)")),
    "columns": ("do i = 1 + color, n, 2", CELL_F),
    "third": ("do i = 1 + mod(j + color, 3), n, 2", CELL_F),
    "all": (EACH_F, CELL_F),
    "each": ("do i = 1 + mod(j + color, 2), n, 1", CELL_F),
    "otherwise": (
        EACH_F,
        f"if (mod(i + j, 2) == color) then\n{CELL_F}\nelse\nu(i, j) = u(i, j - 1)\nend if",
    ),
    "not one": (EACH_F, f"if (mod(i + j - 70, 2) /= 1) {CELL_F}"),
    "or": (EACH_F, f"if (mod(i + j, 2) == color .or. i == j) {CELL_F}"),
    "variable, other parity": (f"m = 1 + mod(j + color, 3)\n{FROM_M}", CELL_F),
    "variable, set again": (f"m = 1 + mod(j + color, 2)\nm = j\n{FROM_M}", CELL_F),
    "variable, set if": (f"if (j > 2) m = 1 + mod(j + color, 2)\n{FROM_M}", CELL_F),
    "variable, by turns": (f"m = 3 - m\n{FROM_M}", CELL_F),
    "variable, label": (
        f"m = 1 + mod(j + color, 2)\n10 {FROM_M}",
        f"{CELL_F}\nif (m == 9) goto 10",
    ),
    "variable, from a real": ("x = 1 + mod(j + color, 2)\ndo i = int(x), n, 2", CELL_F),
    "variable, diagonal": (
        f"m = 1 + mod(j + color, 2)\n{FROM_M}",
        CELL_F.replace("u(i - 1, j)", "u(i - 1, j - 1)"),
    ),
    "step": (SECOND_F.replace(", 2", ", merge(1, 2, color > 5)"), CELL_F),
}


@pytest.mark.parametrize("form", [*DIVIDED_F, *WHOLE_F])
@pytest.mark.parametrize("called", [False, True])
def test_fortran(form: str, called: bool, tmp_path: Path) -> None:
    loop, cell = (DIVIDED_F | WHOLE_F)[form]
    routine = ROUTINE % (loop, cell) if called else ""
    nest = f"do j = 1, n\n{loop}\n{cell}\nend do\nend do"
    text = FORTRAN % {"routine": routine, "sweep": "call relax(color)" if called else nest}
    assert is_divided(tmp_path / "app.f90", text) is (form in DIVIDED_F)


def test_a_function_of_the_program_is_no_remainder(tmp_path: Path) -> None:
    nest = f"do j = 1, n\n{SECOND_F}\n{CELL_F}\nend do\nend do"
    assert not is_divided(tmp_path / "app.f90", FORTRAN % {"routine": OWN, "sweep": nest})
