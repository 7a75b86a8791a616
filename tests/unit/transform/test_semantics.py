"""What of MPI's semantics and of each language must hold: each call, mode and kind of source.

A table of small programs, with what must stand in the rewritten text, or why nothing is rewritten.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.transform.in_place import IN_PLACE

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

C = """#include <mpi.h>
#include <stdio.h>
#define N 100
static int a[N], b[4 * N], c[N], counts[4], places[4];
static void work(int *x)
{
    for (int i = 1; i < N; i++)
        x[i] = x[i] / 2 + x[i - 1];
}
int main(int argc, char **argv)
{
    int rank, peer, n = 0;
    MPI_Status status;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    peer = rank == 0 ? MPI_PROC_NULL : rank - 1;
    work(a);
    %s
    work(c);
    %s
    printf("%%d %%d %%d %%d\\n", a[1], b[2], c[3], n);
    MPI_Finalize();
    return 0;
}
"""
WORLD = "MPI_COMM_WORLD"
SENT = "a, N, MPI_INT"
GOT = "b, N, MPI_INT"
OPERATION = "a, b, N, MPI_INT, MPI_SUM"

# name: (the call, what follows the work, what the call becomes)
CALLS = {
    "MPI_Send": (f"MPI_Send({SENT}, peer, 0, {WORLD});", "", "MPI_Isend("),
    "MPI_Ssend": (f"MPI_Ssend({SENT}, peer, 0, {WORLD});", "", "MPI_Issend("),
    "MPI_Rsend": (f"MPI_Rsend({SENT}, peer, 0, {WORLD});", "", "MPI_Irsend("),
    "MPI_Recv": (f"MPI_Recv({GOT}, peer, 0, {WORLD}, MPI_STATUS_IGNORE);", "", "MPI_Irecv("),
    "MPI_Recv with a status that is read behind the work": (
        f"MPI_Recv({GOT}, 1 - peer, 0, {WORLD}, &status);",
        "n = status.MPI_TAG;",
        "MPI_Wait(&imbrex_request, &status);",
    ),
    "MPI_Recv whose count is asked for": (
        f"MPI_Recv({GOT}, peer, 0, {WORLD}, &status);",
        "MPI_Get_count(&status, MPI_INT, &n);",
        "MPI_Wait(&imbrex_request, &status);",
    ),
    "MPI_Bcast": (f"MPI_Bcast({GOT}, 0, {WORLD});", "", "MPI_Ibcast("),
    "MPI_Gather": (f"MPI_Gather({SENT}, {GOT}, 0, {WORLD});", "", "MPI_Igather("),
    "MPI_Gatherv": (
        f"MPI_Gatherv({SENT}, b, counts, places, MPI_INT, 0, {WORLD});",
        "",
        "MPI_Igatherv(",
    ),
    "MPI_Scatter": (f"MPI_Scatter(b, N, MPI_INT, {SENT}, 0, {WORLD});", "", "MPI_Iscatter("),
    "MPI_Scatterv": (
        f"MPI_Scatterv(b, counts, places, MPI_INT, {SENT}, 0, {WORLD});",
        "",
        "MPI_Iscatterv(",
    ),
    "MPI_Allgather": (f"MPI_Allgather({SENT}, {GOT}, {WORLD});", "", "MPI_Iallgather("),
    "MPI_Allgatherv": (
        f"MPI_Allgatherv({SENT}, b, counts, places, MPI_INT, {WORLD});",
        "",
        "MPI_Iallgatherv(",
    ),
    "MPI_Alltoall": (f"MPI_Alltoall({SENT}, {GOT}, {WORLD});", "", "MPI_Ialltoall("),
    "MPI_Alltoallv": (
        f"MPI_Alltoallv(a, counts, places, MPI_INT, b, counts, places, MPI_INT, {WORLD});",
        "",
        "MPI_Ialltoallv(",
    ),
    "MPI_Reduce": (f"MPI_Reduce({OPERATION}, 0, {WORLD});", "", "MPI_Ireduce("),
    "MPI_Allreduce": (f"MPI_Allreduce({OPERATION}, {WORLD});", "", "MPI_Iallreduce("),
    "another communicator": (f"MPI_Send({SENT}, peer, 0, comm);", "", "comm, &imbrex_request"),
}


@pytest.mark.parametrize("name", CALLS)
def test_c_call(name: str, tmp_path: Path) -> None:
    """The mode stays; the wait is behind the work and before what uses the result."""
    call, behind, wanted = CALLS[name]
    after = rewritten(tmp_path / "case.c", C % (call, behind))
    assert wanted in after
    main = after[after.index("int main") :]
    assert main.index("work(c)") < main.index("MPI_Wait(")
    if behind:
        assert main.index("MPI_Wait(") < main.index(behind)
    if name == "MPI_Rsend":
        assert main.index("work(a)") < main.index("MPI_Irsend(")


def rewritten(path: Path, text: str) -> str:
    path.write_text(text)
    outcome = transform([path], Options(rewrites=IN_PLACE))
    assert not outcome.skipped, outcome.skipped
    assert "rewritten" in {d.decision for d in outcome.decisions}, [
        (d.reason.text, d.details) for d in outcome.decisions
    ]
    return outcome.after[str(path)].decode()


# name: (in the place of the call, behind the work, part of a reason)
KEPT = {
    "a communicator that is freed": (
        f"MPI_Send({SENT}, peer, 0, comm); MPI_Comm_free(&comm);",
        "",
        "MPI_Comm_free",
    ),
    "a datatype that is freed": (
        "MPI_Datatype t; MPI_Type_contiguous(2, MPI_INT, &t); MPI_Type_commit(&t); "
        "MPI_Send(a, 1, t, peer, 0, comm); MPI_Type_free(&t);",
        "",
        "MPI_Type_free",
    ),
    "a buffer for buffered sends": (
        f"MPI_Send({SENT}, peer, 0, comm); MPI_Buffer_attach(c, 9);",
        "",
        "MPI_Buffer_attach",
    ),
    "another error handler": (
        f"MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); MPI_Send({SENT}, peer, 0, comm); "
        'puts("sent");',
        "",
        "puts",
    ),
    "a request that MPI_Waitany completes": (
        f"MPI_Request r[2]; MPI_Irecv({GOT}, peer, 0, comm, &r[0]); MPI_Isend({SENT}, peer, 0, "
        "comm, &r[1]); MPI_Waitany(2, r, &n, &status);",
        "MPI_Wait(&r[1 - n], &status);",
        "",
    ),
    "a request that MPI_Waitsome completes": (
        f"MPI_Request r[2]; int w[2]; MPI_Status s[2]; MPI_Irecv({GOT}, peer, 0, comm, &r[0]); "
        f"MPI_Isend({SENT}, peer, 0, comm, &r[1]); MPI_Waitsome(2, r, &n, w, s);",
        "MPI_Waitall(2, r, s);",
        "",
    ),
    "a request that MPI_Testsome completes": (
        f"MPI_Request r[2]; int w[2]; MPI_Status s[2]; MPI_Irecv({GOT}, peer, 0, comm, &r[0]); "
        f"MPI_Isend({SENT}, peer, 0, comm, &r[1]); MPI_Testsome(2, r, &n, w, s);",
        "MPI_Waitall(2, r, s);",
        "",
    ),
    "statuses of MPI_Waitall that are read": (
        f"MPI_Request r[2]; MPI_Status s[2]; MPI_Irecv({GOT}, peer, 0, comm, &r[0]); "
        f"MPI_Isend({SENT}, peer, 0, comm, &r[1]); MPI_Waitall(2, r, s); n = s[0].MPI_TAG;",
        "",
        "",
    ),
    "a persistent ready send": (
        f"MPI_Request r; MPI_Rsend_init({SENT}, peer, 0, comm, &r); MPI_Start(&r); "
        "MPI_Wait(&r, &status);",
        "",
        "",
    ),
    "a receive whose count decides": (
        f"MPI_Recv({GOT}, peer, 0, comm, &status); MPI_Get_count(&status, MPI_INT, &n); c[0] = n;",
        "",
        "no computation in the window",
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_c_kept(name: str, tmp_path: Path) -> None:
    """Waits stay where they are: nothing of what they complete moves over the work."""
    call, behind, reason = KEPT[name]
    path = tmp_path / "case.c"
    path.write_text((C % (call, behind)).replace("    work(a);\n", ""))
    outcome = transform([path], Options(rewrites=IN_PLACE))
    assert not outcome.skipped
    told = [line for d in outcome.decisions for line in (d.reason.text, *d.details)]
    assert outcome.after == outcome.before, told
    assert any(reason in line for line in told) or not reason, told


FREE = """module fields
  implicit none
  integer, parameter :: n = 100
  integer :: shared(n)
  type :: cell
    integer :: values(n)
    integer :: peer
  end type cell
contains
  subroutine work(x)
    integer, intent(inout) :: x(:)
    integer :: i
    do i = 2, size(x)
      x(i) = x(i) / 2 + x(i - 1)
    end do
  end subroutine work
end module fields

program main
  %s
  use fields
  implicit none
  %s
  integer :: rank, peer, ierr
  integer :: c(n)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = rank - 1
  c = 1
  %s
  call MPI_Finalize(ierr)
end program main
"""
PLAIN = "MPI_INTEGER, peer, 0, MPI_COMM_WORLD, ierr)"
# name: (the interface, declarations, statements, what must stand in the text; empty: not rewritten)
FORTRAN = {
    "an array with use mpi": (
        "use mpi",
        "integer :: a(100)",
        f"a = 2\n  call MPI_Send(a, n, {PLAIN}\n  call work(c)",
        r"call MPI_Isend\(a, n, MPI_INTEGER, peer, 0, MPI_COMM_WORLD, imbrex_request, ierr\)",
    ),
    "mpi_f08": (
        "use mpi_f08",
        "integer :: a(100)",
        "a = 2\n  call MPI_Send(a, n, MPI_INTEGER, peer, 0, MPI_COMM_WORLD)\n  call work(c)",
        r"type\(MPI_Request\) :: imbrex_request",
    ),
    "mpi_f08 fences": (
        "use mpi_f08",
        "integer :: a(100)",
        "a = 2\n  call MPI_Send(a, n, MPI_INTEGER, peer, 0, MPI_COMM_WORLD)\n  call work(c)",
        r"MPI_F_SYNC_REG\(a\)",
    ),
    "mpi_f08 fences, with error codes": (
        "use mpi_f08",
        "integer :: a(100)",
        f"a = 2\n  call MPI_Send(a, n, {PLAIN}\n  call work(c)",
        r"MPI_F_SYNC_REG\(a\)",
    ),
    "a variable of a module": (
        "use mpi",
        "",
        f"shared = 2\n  call MPI_Send(shared, n, {PLAIN}\n  call work(c)",
        r"MPI_Isend\(shared, ",
    ),
    "an allocatable array": (
        "use mpi",
        "integer, allocatable :: a(:)",
        f"allocate(a(n))\n  a = 2\n  call MPI_Send(a, n, {PLAIN}\n  call work(c)\n  deallocate(a)",
        r"MPI_Isend\(a, ",
    ),
    "an allocatable array that is freed first": (
        "use mpi",
        "integer, allocatable :: a(:)",
        f"allocate(a(n))\n  call MPI_Send(a, n, {PLAIN}\n  deallocate(a)\n  call work(c)",
        "",
    ),
    "a component of a derived type": (
        "use mpi",
        "type(cell) :: x",
        f"call MPI_Send(x%values, n, {PLAIN}\n  call work(c)",
        r"MPI_Isend\(x%values, ",
    ),
    "array syntax in the window": (
        "use mpi",
        "integer :: a(100)",
        f"a = 2\n  call MPI_Send(a, n, {PLAIN}\n  c = c * 2 + cshift(c, 1)",
        r"MPI_Isend\(a, ",
    ),
    "a section of an array that is set": (
        "use mpi",
        "integer :: a(100)",
        f"a = 2\n  call MPI_Send(a(1:50), 50, {PLAIN}\n  a(50:100) = c(1:51)\n  call work(c)",
        "",
    ),
    "another section that is set": (
        "use mpi",
        "integer :: a(100)",
        f"a = 2\n  call MPI_Send(a(1:50), 50, {PLAIN}\n  a(51:100) = c(1:50) * 2\n  call work(c)",
        r"MPI_Isend\(a\(1:50\), ",
    ),
    "a pointer": (
        "use mpi",
        "integer, target :: a(100)\n  integer, pointer :: p(:)",
        f"p => a\n  call MPI_Send(a, n, {PLAIN}\n  p(3) = 4\n  call work(c)",
        "",
    ),
    "a continued call": (
        "use mpi",
        "integer :: a(100)",
        "a = 2\n  call MPI_Send(a, & ! the buffer\n    n, MPI_INTEGER, &\n    & peer, 0, "
        "MPI_COMM_WORLD, ierr)\n  call work(c)",
        r"MPI_Isend\(a, n, ",
    ),
    "upper case": (
        "use mpi",
        "integer :: a(100)",
        f"a = 2\n  CALL MPI_SEND(a, n, {PLAIN}\n  CALL work(c)",
        r"CALL MPI_ISEND\(a, ",
    ),
}


@pytest.mark.parametrize("name", FORTRAN)
def test_fortran(name: str, tmp_path: Path) -> None:
    interface, declarations, code, wanted = FORTRAN[name]
    path = tmp_path / "case.f90"
    text = FREE % (interface, declarations, code)
    if wanted:
        after = rewritten(path, text)
        assert re.search(wanted, after), after
        assert max(map(len, after.splitlines())) <= 132
        return
    path.write_text(text)
    outcome = transform([path], Options(rewrites=IN_PLACE))
    assert not outcome.skipped, outcome.skipped
    assert outcome.after == outcome.before


CONTAINED = """program main
  use mpi
  implicit none
  integer, parameter :: n = 100
  integer :: a(n), c(n), ierr, i
  call MPI_Init(ierr)
  c = 1
  a = 2
  call MPI_Send(a, n, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierr)
  call step
  do i = 2, n
    c(i) = c(i) + c(i - 1)
  end do
  print *, c(n)
  call MPI_Finalize(ierr)
contains
  subroutine step
    integer :: i
    do i = 2, n
      %s(i) = c(i) + i
    end do
  end subroutine step
end program main
"""


@pytest.mark.parametrize("array", ["c", "a"])
def test_contained(array: str, tmp_path: Path) -> None:
    """What a contained procedure does with its host's variables counts at its calls."""
    path = tmp_path / "case.f90"
    path.write_text(CONTAINED % array)
    after = transform([path], Options()).after[str(path)].decode()
    assert ("MPI_Isend" in after) is (array == "c")
    if array == "c":
        assert after.index("call step") < after.index("MPI_Wait")
