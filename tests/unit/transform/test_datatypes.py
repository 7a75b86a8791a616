"""Layouts of datatypes that a program makes: where they are known, and where they must not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.analysed import Analysis
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

C = """#include <mpi.h>
#include <stdlib.h>
#define NX 30
#define NY 20
static double u[NY + 2][NX + 2], w[NY + 2][NX + 2];
%s
int main(int argc, char **argv)
{
    int nx = NX, ny = NY, rank;
    MPI_Datatype column%s;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    %s
    MPI_Type_commit(&column);
    %s
    MPI_Send(&u[1][1], 1, column, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(&u[1][0], 1, column, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 1; j <= NY; j++)
        for (int i = 2; i < NX; i++)
            w[j][i] = 0.5 * (u[j][i - 1] + u[j][i + 1]);
    MPI_Finalize();
    return 0;
}
"""
MAKE = "MPI_Type_vector(NY, 1, NX + 2, MPI_DOUBLE, &column);"
SIZED = "MPI_Type_vector(ny, 1, nx + 2, MPI_DOUBLE, &column);"
SHARED = "static int mx, my;"
SET = "mx = nx + 2; my = atoi(argv[1]); MPI_Type_vector(my, 1, mx, MPI_DOUBLE, &column);"
SENDER = """static void pass(MPI_Datatype t)
{
    %s
    MPI_Send(&u[1][1], 1, t, 1, 7, MPI_COMM_WORLD);
}
"""

# name: (top-level code, initial value, how it is made, what follows, handles with a known layout)
HANDLES = {
    "a constant vector": ("", "", MAKE, "", {"column"}),
    "no handle at first": ("", " = MPI_DATATYPE_NULL", MAKE, "", {"column"}),
    "sizes that stay": ("", "", SIZED, "", {"column"}),
    "a size that changes later": ("", "", SIZED, "nx = nx + 1;", set()),
    "a size whose address is kept": ("", "", SIZED, "int *p = &nx; *p = 3;", set()),
    "a size that a message sets": (
        "",
        "",
        SIZED,
        "MPI_Recv(&nx, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        set(),
    ),
    "another handle at first": ("", " = MPI_INT", MAKE, "", set()),
    "sizes that routines share": (
        SHARED,
        "",
        SET,
        "",
        {"column"},
    ),
    "shared sizes that a message sets before": (
        SHARED,
        "",
        SET.replace(";", "; MPI_Bcast(&mx, 1, MPI_INT, 0, MPI_COMM_WORLD);", 1),
        "",
        {"column"},
    ),
    "shared sizes that change later": (
        SHARED,
        "",
        SET,
        "mx++;",
        set(),
    ),
    "shared sizes that another routine changes": (
        SHARED + " static void less(void) { mx--; }",
        "",
        SET,
        "less();",
        set(),
    ),
    "shared sizes that a pointer changes": (
        SHARED + " static int *q;",
        "",
        SET,
        "q = &mx; *q = 3;",
        set(),
    ),
    "shared sizes that a message sets later": (
        SHARED,
        "",
        SET,
        "MPI_Bcast(&mx, 1, MPI_INT, 0, MPI_COMM_WORLD);",
        set(),
    ),
    "shared sizes that change with the time": (
        SHARED,
        "",
        SET,
        "for (int t = 0; t < 3; t++) mx += t;",
        set(),
    ),
    "made in two ways": (
        "",
        "",
        f"if (rank) {MAKE} else MPI_Type_contiguous(NY, MPI_DOUBLE, &column);",
        "",
        set(),
    ),
    "set to another": ("", "", MAKE, "column = MPI_INT;", set()),
    "a copy of another": (
        "int MPI_Type_dup(MPI_Datatype, MPI_Datatype *);",
        "",
        MAKE,
        "MPI_Type_dup(MPI_INT, &column);",
        set(),
    ),
    "its address is kept": ("", "", MAKE, "MPI_Datatype *p = &column; *p = MPI_INT;", set()),
    "set by a routine": (
        "static void set(MPI_Datatype *t) { *t = MPI_INT; }",
        "",
        MAKE,
        "set(&column);",
        set(),
    ),
    "made of a type that is not MPI's": (
        "static MPI_Datatype other;",
        "",
        MAKE.replace("MPI_DOUBLE", "other"),
        "",
        set(),
    ),
    "passed": (SENDER % "", "", MAKE, "pass(column);", {"column", "t"}),
    "passed and set there": (SENDER % "t = MPI_INT;", "", MAKE, "pass(column);", {"column"}),
    "passed, but its sizes are not": (
        SENDER % "",
        "",
        "MPI_Type_vector(rank, 1, NX + 2, MPI_DOUBLE, &column);",
        "pass(column);",
        {"column"},
    ),
    "passed with its sizes": (
        (SENDER % "").replace("MPI_Datatype t", "MPI_Datatype t, int n"),
        "",
        "MPI_Type_vector(rank, 1, NX + 2, MPI_DOUBLE, &column);",
        "pass(column, rank);",
        {"column", "t"},
    ),
    "passed with a size that is changed there": (
        (SENDER % "n++;").replace("MPI_Datatype t", "MPI_Datatype t, int n"),
        "",
        "MPI_Type_vector(rank, 1, NX + 2, MPI_DOUBLE, &column);",
        "pass(column, rank);",
        {"column"},
    ),
    "two types passed": (SENDER % "", "", MAKE, "pass(column); pass(MPI_DOUBLE);", {"column"}),
    "passed through a pointer": (
        SENDER % "",
        "",
        MAKE,
        "void (*f)(MPI_Datatype) = pass; f(MPI_INT); pass(column);",
        {"column"},
    ),
}


def handles(path: Path) -> set[str]:
    program = Analysis([path], Options()).program
    assert not program.skipped, program.skipped
    return {program.variables[key].name for key in program.layouts}


@pytest.mark.parametrize("name", HANDLES)
def test_layouts(name: str, tmp_path: Path) -> None:
    *code, known = HANDLES[name]
    path = tmp_path / "case.c"
    path.write_text(C % tuple(code))
    assert handles(path) == known


def test_without_the_main_program_nothing_is_known(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text((C % ("", "", MAKE, "")).replace("main(int", "other(int"))
    assert handles(path) == set()


# name: (what makes the type, what is received with it, whether computation on the interior passes)
MESSAGES = {
    "a column": (MAKE, "&u[1][0], 1, column", True),
    "two columns: where the second begins is not known": (MAKE, "&u[1][0], 2, column", False),
    "a stride that is not the array's": (
        MAKE.replace("NX + 2", "NX + 1"),
        "&u[1][0], 1, column",
        False,
    ),
    "blocks that go on in the next row": (
        MAKE.replace("NY, 1", "NY, 2"),
        "&u[1][NX + 1], 1, column",
        False,
    ),
    "elements of another type": (MAKE.replace("DOUBLE", "INT"), "&u[1][0], 1, column", False),
    "a column of the interior": (MAKE, "&u[1][5], 1, column", False),
    "a row of one piece": (
        "MPI_Type_contiguous(NX, MPI_DOUBLE, &column);",
        "&u[0][1], 1, column",
        True,
    ),
    "a row into the interior": (
        "MPI_Type_contiguous(NX, MPI_DOUBLE, &column);",
        "&u[1][1], 1, column",
        False,
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name: str, tmp_path: Path) -> None:
    make, received, passes = MESSAGES[name]
    path = tmp_path / "case.c"
    text = (C % ("", "", make, "")).replace("&u[1][0], 1, column", received)
    path.write_text(text)
    outcome = transform([path], Options(rewrites=frozenset({"nonblocking"})))
    (receive,) = (d for d in outcome.decisions if d.site.call.name == "MPI_Recv")
    assert (receive.decision == "rewritten") is passes


FORTRAN = """program columns
  use mpi
  implicit none
  integer, parameter :: nx = 30, ny = 20
  double precision :: u(0:nx+1, 0:ny+1)
  integer :: row, n, ierr%s
  call mpi_init(ierr)
  n = nx + 2
  call mpi_type_vector(ny, 1, %s, mpi_double_precision, row, ierr)
  call mpi_type_commit(row, ierr)
  %s
  call mpi_send(u(1,1), 1, row, 0, 0, mpi_comm_world, ierr)
  call mpi_finalize(ierr)
contains
%s
end program columns
"""
SET = """  subroutine set(t)
    integer :: t
    %s
  end subroutine set"""
ROWS = {
    "constants": ("", "nx + 2", "", "", {"row"}),
    "a size that is set from inside": ("", "n", "", SET % "n = 3", set()),
    "a size that nothing inside names": ("", "n", "", SET % "m = 3", {"row"}),
    "set": ("", "nx + 2", "row = mpi_integer", "", set()),
    "shares its memory": (
        "\n  integer :: other\n  equivalence (row, other)",
        "nx + 2",
        "",
        "",
        set(),
    ),
    "passed and only used": (
        "",
        "nx + 2",
        "call set(row)",
        SET % "call mpi_send(u(1,1), 1, t, 0, 0, mpi_comm_world, ierr)",
        {"row", "t"},
    ),
    "passed and set": ("", "nx + 2", "call set(row)", SET % "t = mpi_integer", set()),
    "set by a call that is not seen": ("", "nx + 2", "call unseen(row)", "", set()),
}


@pytest.mark.parametrize("name", ROWS)
def test_fortran(name: str, tmp_path: Path) -> None:
    *code, known = ROWS[name]
    path = tmp_path / "case.f90"
    path.write_text(FORTRAN % tuple(code))
    assert handles(path) == known


ALONE = FORTRAN[: FORTRAN.index("contains")] + "end program columns\n"
# A size is a variable: what follows where the type is made, and whether it keeps its value.
SIZES = {
    "used": ("n", "print *, u(1,1)", True),
    "read": ("n", "read (*,*) n", False),
    "asked of a file": ("n", "inquire(file='x', number=n)", False),
    "set by a call that is not seen": ("n", "call unseen(n)", False),
    "set by a call of the name of a function in C": ("n", "call random(n)", False),
    "broadcast": ("n", "call mpi_bcast(n, 1, mpi_integer, 0, mpi_comm_world, ierr)", False),
    "set": ("n", "n = 5", False),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_in_fortran(name: str, tmp_path: Path) -> None:
    size, behind, known = SIZES[name]
    path = tmp_path / "case.f90"
    path.write_text(ALONE % ("", size, behind))
    assert handles(path) == ({"row"} if known else set())


def test_a_namelist_may_set_a_size(tmp_path: Path) -> None:
    path = tmp_path / "case.f90"
    path.write_text(ALONE % ("\n  namelist /sizes/ n", "n", "read (*, sizes)"))
    assert handles(path) == set()
