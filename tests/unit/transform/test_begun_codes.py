"""Variables for error codes that begin with another value: what asks for them first may run."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

C = """#include <mpi.h>
static double a[1000], b[1000], w[1000], sum;
%(file)s
int main(int argc, char **argv)
{
    int rank, size;
    %(routine)s
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int t = 0; t < 5; t++) {
        MPI_Sendrecv(a, 1000, MPI_DOUBLE, (rank + 1) %% size, 0, b, 1000, MPI_DOUBLE,
                     (rank + size - 1) %% size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (state != MPI_SUCCESS)
            sum += b[0];
        for (int i = 0; i < 1000; i++)
            w[i] = 2 * w[i] + i;
        %(set)s
        sum += b[1];
    }
    MPI_Finalize();
    return sum > 9.0;
}
"""
FORTRAN = """module flags
  implicit none
  integer :: state, other
  double precision :: a(1000), b(1000), w(1000), total
%(module)s
end module flags
program main
  use mpi
  use flags
  implicit none
  integer :: rank, ierr, t, i
%(routine)s
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  do t = 1, 5
    call MPI_Sendrecv(a, 1000, MPI_DOUBLE_PRECISION, 1 - rank, 0, b, 1000, MPI_DOUBLE_PRECISION, &
        1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    if (%(code)s /= MPI_SUCCESS) total = total + b(1)
    do i = 1, 1000
      w(i) = 2 * w(i) + i
    end do
    call MPI_Barrier(MPI_COMM_WORLD, %(code)s)
    total = total + b(2)
  end do
  print *, rank, total, w(4)
  call MPI_Finalize(ierr)
end program main
"""
BARRIER = "state = MPI_Barrier(MPI_COMM_WORLD);"
PLAIN_C = {"file": "", "routine": "", "set": BARRIER}
PLAIN_FORTRAN = {"module": "", "routine": "", "code": "state"}
SUCCESS = [
    ("p.c", {"file": "static int state;"}),
    ("p.c", {"file": "static int state = MPI_SUCCESS;"}),
    ("p.c", {"file": "int state = 0, turns = 5;"}),
    ("p.c", {"file": "static int state; // state = 5"}),
    ("p.c", {"routine": "int state = 0;"}),
    ("p.c", {"file": "int other(void) { int state = 5; return state; }", "routine": "int state;"}),
    ("p.c", {"routine": "static int state = MPI_SUCCESS;"}),
    ("p.c", {"routine": "int state;", "set": "MPI_Barrier(MPI_COMM_WORLD); state = MPI_SUCCESS;"}),
    ("p.cpp", {"routine": "int state{0};"}),
    ("p.cpp", {"file": "static int state{};"}),
    ("p.f90", {}),
    ("p.f90", {"module": "  data other /5/"}),
    ("p.f90", {"routine": "  integer :: local = 0", "code": "local"}),
    ("p.f90", {"code": "ierr"}),
]
BEGUN = [
    ("p.c", {"file": "static int state = 5;"}),
    ("p.c", {"file": "int turns = 0, state = -1;"}),
    (
        "p.c",
        {
            "file": "static int state = 5;",
            "set": "MPI_Barrier(MPI_COMM_WORLD); state = MPI_SUCCESS;",
        },
    ),
    ("p.c", {"routine": "int state = 5;"}),
    ("p.c", {"routine": "static int state = 5;"}),
    ("p.cpp", {"routine": "int state{5};"}),
    ("p.cpp", {"routine": "int state(5);"}),
    ("p.cpp", {"file": "static int state{5};"}),
    ("p.f90", {"module": "  data state /5/"}),
    ("p.f90", {"module": "  data &\n    other, state /5, 6/"}),
    ("p.f90", {"routine": "  integer :: local = 5", "code": "local"}),
    ("p.f90", {"routine": "  integer local /5/", "code": "local"}),
]


def passes_the_question(tmp_path: Path, name: str, changes: dict[str, str]) -> bool:
    """Whether what has come is awaited behind the line that uses it where the code is another."""
    file = tmp_path / name
    plain, text = (PLAIN_FORTRAN, FORTRAN) if name.endswith("f90") else (PLAIN_C, C)
    file.write_text(text % {**plain, **changes})
    outcome = transform([file], Options())
    after = outcome.after[str(file)].decode().lower()
    if "mpi_wait" not in after:
        return False
    return after.index("mpi_wait") > after.index(
        "!= mpi_success" if "!= mpi" in after else "/= mpi"
    )


@pytest.mark.parametrize(("name", "changes"), SUCCESS, ids=str)
def test_what_is_always_success_is_passed(
    tmp_path: Path, name: str, changes: dict[str, str]
) -> None:
    assert passes_the_question(tmp_path, name, changes)


def test_a_header_may_give_it_its_value(tmp_path: Path) -> None:
    (tmp_path / "flags.h").write_text("static int state = 5;\n")
    assert not passes_the_question(tmp_path, "p.c", {"file": '#include "flags.h"'})


@pytest.mark.parametrize(("name", "changes"), BEGUN, ids=str)
def test_what_begins_otherwise_is_not(tmp_path: Path, name: str, changes: dict[str, str]) -> None:
    assert not passes_the_question(tmp_path, name, changes)
