"""Error codes that a variable takes: that nothing reads, or that are always MPI_SUCCESS."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
static double a[1000], b[1000];
static int kept;
void work(int *code);
void unseen(void);
int main(int argc, char **argv)
{
    int n = 0, me, ierr;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    %s
    for (int i = 0; i < 1000; i++)
        b[i] = 2.0 * i;
    for (int i = 0; i < 1000; i++)
        b[i] += a[i] + n;
    %s
    MPI_Finalize();
    return b[2] > 1.0;
}
"""
RECV = "MPI_Recv(a, 9, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
RETURNED = "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);"
BCAST = "MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);"


def after(call: str, later: str, tmp_path: Path) -> str:
    path = tmp_path / "p.c"
    path.write_text(PROGRAM % (call, later))
    outcome = transform([path], Options())
    text = outcome.after[str(path)]
    return "" if text == outcome.before[str(path)] else text.decode()


def test_the_start_sets_the_variable(tmp_path: Path) -> None:
    text = after(f"ierr = {RECV}", "", tmp_path)
    assert "    ierr = MPI_Irecv(a, 9," in text
    assert "    MPI_Wait(&imbrex_request, MPI_STATUS_IGNORE);" in text


def test_collectives_too(tmp_path: Path) -> None:
    assert "ierr = MPI_Ibcast(&n, 1," in after(f"ierr = {BCAST}", "", tmp_path)


@pytest.mark.parametrize(
    ("call", "later"),
    [
        (f"{RETURNED} ierr = {RECV}", "if (ierr) return 1;"),
        (f"{RETURNED} ierr = {RECV}", "kept = ierr;"),
        (f"ierr = {RECV}", "unseen(); if (ierr) return 1;"),
        (f"ierr = {RECV}", "if (ierr) return 1; ierr = me;"),
        (f"ierr = {RECV}", "ierr += me; if (ierr) return 1;"),
        (f"ierr = {RECV}", "work(&ierr);"),
        (f"int more = me + {RECV}", ""),
        (f"n = ierr = {RECV}", ""),
        (f"b[0] = {RECV}", ""),
        (f"if ((ierr = {RECV[:-1]}) != 0 || me) return 1;", ""),
        (f"if ((ierr = {RECV[:-1]}) != 0) return 1;", "if (me) ierr = n;"),
    ],
)
def test_one_that_may_be_read_stays(call: str, later: str, tmp_path: Path) -> None:
    assert after(call, later, tmp_path) == ""


@pytest.mark.parametrize(
    "check",
    [
        "if (ierr) return 1;",
        "if (ierr != MPI_SUCCESS) { MPI_Abort(MPI_COMM_WORLD, ierr); }",
        "if (MPI_SUCCESS != ierr) return 1;",
        "if (ierr == MPI_SUCCESS) { kept = 1; } else { return 1; }",
        "kept = ierr;",
    ],
)
def test_a_check_that_never_fails_is_passed(check: str, tmp_path: Path) -> None:
    """It stays behind the start; the wait goes on to where the data are used."""
    text = after(f"ierr = {RECV} {check}", "", tmp_path)
    assert "ierr = MPI_Irecv(a, 9," in text
    assert text.index("if (" if "if" in check else "kept = ierr") < text.index("b[i] = 2.0")
    assert text.index("b[i] = 2.0") < text.index("MPI_Wait(")


EXISTING = """#include <mpi.h>
static double a[1000], b[1000];
int main(int argc, char **argv)
{
    int ierr, me;
    MPI_Request r;
    %s
    MPI_Irecv(a, 9, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &r);
    ierr = MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (ierr != MPI_SUCCESS)
        return 1;
    for (int i = 0; i < 1000; i++)
        b[i] = 2.0 * i;
    MPI_Finalize();
    return b[2] + a[3] > 1.0;
}
"""


@pytest.mark.parametrize(
    ("first", "moves"),
    [("ierr = MPI_Init(&argc, &argv);", True), ("MPI_Init(&argc, &argv);", False)],
)
def test_a_wait_passes_its_check_if_the_code_was_set_before(
    first: str, moves: bool, tmp_path: Path
) -> None:
    path = tmp_path / "p.c"
    path.write_text(EXISTING % first)
    text = transform([path], Options()).after[str(path)].decode()
    assert (text.index("b[i] = 2.0") < text.index("ierr = MPI_Wait")) is moves


COUNTED = """#include <mpi.h>
static double a[1000], b[1000];
int main(int argc, char **argv)
{
    int ierr, n = 0;
    MPI_Request r[2];
    ierr = MPI_Init(&argc, &argv);
    ierr = MPI_Irecv(a, 9, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &r[n++]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    if (%s)
        return 1;
    for (int i = 0; i < 1000; i++)
        b[i] = 2.0 * i;
    MPI_Finalize();
    return b[2] + a[3] > 1.0;
}
"""


@pytest.mark.parametrize(("asked", "moves"), [("ierr", True), ("n", False)])
def test_a_call_that_counts_its_requests_gives_a_code_too(
    asked: str, moves: bool, tmp_path: Path
) -> None:
    """What it counts is no code."""
    path = tmp_path / "p.c"
    path.write_text(COUNTED % asked)
    text = transform([path], Options()).after[str(path)].decode()
    assert (text.index("b[i] = 2.0") < text.index("MPI_Wait(")) is moves


# What follows is the end of the program: what stands there goes into a routine of its own.
INSIDE = "print *, b(2)\n  call mpi_finalize(ierr)\n  contains\n  subroutine s\n"
ALLOCATION = """  double precision, allocatable :: c(:)
  allocate(c(3), stat=ierr)
  end subroutine s
  subroutine t
  integer :: ierr"""
FORTRAN = """program p
  implicit none
  include 'mpif.h'
  integer :: ierr, me, i
  double precision :: a(1000), b(1000)
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, me, ierr)
  call mpi_recv(a, 9, mpi_double_precision, 1 - me, 0, mpi_comm_world, mpi_status_ignore, ierr)
  if (ierr /= mpi_success) stop 1
  do i = 1, 1000
    b(i) = 2.0d0 * i
  end do
  b(1) = b(2) + a(3)
  %s
  print *, b(1)
  call mpi_finalize(ierr)
%send program p
"""


@pytest.mark.parametrize(
    ("later", "moves"),
    [
        ("", True),
        ("ierr = mpi_success", True),
        ("ierr = me", False),
        ("allocate(c(3), stat=ierr)", False),
        ("call mpi_file_close(i, ierr)", False),
        ("call mpi_errhandler_set(mpi_comm_world, mpi_errors_return, ierr)", False),
        ("call mpi_get_count(me, count=ierr)", False),
        # Another variable of this name, and this variable by another name.
        (f"{INSIDE}  integer :: ierr\n{ALLOCATION}", True),
        (f"{INSIDE}{ALLOCATION}", False),
        ("associate (code => ierr)\n  code = me\n  end associate", False),
        ("if (me > 0) read (5, *, iostat=ierr) me", False),
    ],
)
def test_fortran(later: str, moves: bool, tmp_path: Path) -> None:
    path = tmp_path / "p.f90"
    path.write_text(FORTRAN % (later, "  end subroutine t\n" if INSIDE in later else ""))
    text = transform([path], Options()).after[str(path)].decode()
    assert ("mpi_irecv" in text) is moves
    if moves:
        assert text.index("stop 1") < text.index("2.0d0 * i") < text.index("call mpi_wait(")
