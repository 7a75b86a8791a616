"""Persistent requests: their waits move, as far as the memory is known that they are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASES = Path(__file__).parent / "cases"
IN_C = (CASES / "persistent.c").read_text()
APART = (CASES / "restarted.c").read_text()

STARTS = "        MPI_Startall(8, req);\n"
WAIT = "        MPI_Waitall(8, req, MPI_STATUSES_IGNORE);\n"
LOOP = "    for (step = 0; step < 12; step++) {\n"
LAST = "MPI_COMM_WORLD, &req[7]);\n"
MAIN = "int main("
INTERIOR = "for (i = 2; i <= nx - 1; i++)\n            for (j = 2;"
SWAP = "{ double *t = u; u = v; v = t; }\n"

GOES = {
    "as it is": {},
    "started one by one": {STARTS: "        for (i = 0; i < 8; i++) MPI_Start(&req[i]);\n"},
    "in two parts": {
        STARTS: "        MPI_Startall(4, &req[0]);\n        MPI_Startall(4, &req[4]);\n"
    },
    "synchronous sends": {"MPI_Send_init": "MPI_Ssend_init"},
    "pointers that are exchanged before": {
        "    MPI_Recv_init(&AT(u, 0, 1)": SWAP + "    MPI_Recv_init(&AT(u, 0, 1)"
    },
}

# None of these lets the interior run before the messages of the grid have come.
STAYS = {
    "pointers are exchanged": {"        if (step % 5": SWAP + "        if (step % 5"},
    "pointers are exchanged once": {LOOP: SWAP + LOOP},
    "sizes change": {
        "        if (step % 5": "        if (step == 7) ny = 20;\n        if (step % 5"
    },
    "sizes change through a pointer": {
        "    for (i = 0; i < nx + 2": "    int *width = &nx;\n    for (i = 0; i < nx + 2",
        LOOP: LOOP + "        if (step == 9) *width = 20;\n",
    },
    "made anew elsewhere": {
        STARTS: "        MPI_Request_free(&req[0]);\n        MPI_Recv_init(&AT(u, step % 3, 1), ny,"
        " MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &req[0]);\n" + STARTS
    },
    "a ready send": {"MPI_Send_init": "MPI_Rsend_init"},
    "a buffered send": {"MPI_Send_init": "MPI_Bsend_init"},
    "handles that are copied": {
        WAIT: "        MPI_Request other[8];\n"
        "        for (i = 0; i < 8; i++) other[i] = req[7 - i];\n" + WAIT.replace("req", "other")
    },
    "a test": {
        WAIT: "        int flag = 0;\n        while (!flag)\n            "
        "MPI_Testall(8, req, &flag, MPI_STATUSES_IGNORE);\n"
    },
    "a wait for any": {
        WAIT: "        for (i = 0; i < 8; i++)\n            "
        "MPI_Waitany(8, req, &j, MPI_STATUS_IGNORE);\n"
    },
    "a look at one": {
        WAIT: "        int flag;\n"
        "        MPI_Request_get_status(req[0], &flag, MPI_STATUS_IGNORE);\n" + WAIT
    },
    "a routine that is not seen": {
        MAIN: "void elsewhere(MPI_Request *r);\n" + MAIN,
        STARTS: STARTS + "        elsewhere(req);\n",
    },
    "the same handle of another start": {
        LOOP: "    MPI_Request_free(&req[0]);\n" + LOOP,
        STARTS: "        MPI_Irecv(&AT(u, 0, 1), ny, MPI_DOUBLE, down, 1,"
        " MPI_COMM_WORLD, &req[0]);\n"
        "        MPI_Startall(7, &req[1]);\n",
    },
    "partitioned": {
        LAST: LAST + "    MPI_Psend_init(v, 1, 1, MPI_DOUBLE, right, 9, MPI_COMM_WORLD,"
        " MPI_INFO_NULL, &req[7]);\n"
    },
}


def rewritten(text: str, path: Path) -> str:
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped
    return outcome.after[str(path)].decode()


@pytest.mark.parametrize("replaced", GOES.values(), ids=GOES)
def test_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(changed(IN_C, replaced), tmp_path / "case.c")
    assert INTERIOR in text
    assert text.index(INTERIOR) < text.index("MPI_Waitall(2, req,")


@pytest.mark.parametrize("replaced", STAYS.values(), ids=STAYS)
def test_whole(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(changed(IN_C, replaced), tmp_path / "case.c")
    assert INTERIOR not in text


WHERE = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 500
static double w[N + 2], v[N + 2], x[N + 2];
static int lo = 5;
static MPI_Request r[4];
static void make(MPI_Request *q, int rank)
{
    MPI_Recv_init(&w[lo], 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Send_init(&w[N - 3], 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[1]);
}
static void shift(void)
{
    lo = 0;
}
int main(int argc, char **argv)
{
    int rank, i, step;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 0; i < N + 2; i++)
        w[i] = v[i] = x[i] = i % 7 + rank;
    make(r, rank);
    (void)sum;
    for (step = 0; step < 6; step++) {
        (void)step;
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (i = lo + 1; i < N - 5; i++)
            v[i] = 0.5 * (w[i - 1] + w[i]);
        for (i = lo + 1; i < N - 5; i++)
            w[i] = v[i];
        (void)sum;
    }
    for (i = 0; i < N + 2; i++)
        sum += w[i] + 3 * x[i];
    printf("%.12f\\n", sum);
    MPI_Finalize();
    return 0;
}
"""
BEHIND = "    make(r, rank);\n"
LATE = "            w[i] = v[i];\n"
GIVEN = "make(MPI_Request *q, int rank)\n{\n"
KEPT = {
    "nothing sets it": {},
    "set before": {BEHIND: "    shift();\n" + BEHIND},
    "passed": {GIVEN: GIVEN.replace("int rank", "int lo, int rank"), "r, rank": "r, lo, rank"},
}
MAY_CHANGE = {
    "set": {BEHIND: BEHIND + "    lo = 0;\n"},
    "set by a routine": {BEHIND: BEHIND + "    shift();\n"},
    "set by a routine later": {LATE: LATE + "        if (step == 2) shift();\n"},
    "set by a routine that makes them": {
        BEHIND: "    outer(rank);\n",
        "int main(": "static void outer(int rank)\n{\n    make(r, rank);\n    lo = 0;\n}\n"
        "int main(",
    },
    "read": {BEHIND: BEHIND + '    sscanf("0", "%d", &lo);\n'},
    "received": {
        BEHIND: "    MPI_Request one;\n"
        "    MPI_Recv_init(&lo, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &one);\n" + BEHIND,
        LATE: LATE + "        if (step == 2) MPI_Start(&one);\n",
    },
    "in another branch of a loop": {
        BEHIND: "",
        "        MPI_Startall": "        if (step == 0)\n            make(r, rank);\n"
        "        else if (step == 3)\n            lo = 0;\n        MPI_Startall",
    },
    "through a pointer": {
        BEHIND: BEHIND + "    int *q = &lo;\n",
        LATE: LATE + "        if (step == 1) *q = 0;\n",
    },
    "by a pointer to a routine": {
        BEHIND: BEHIND + "    void (*f)(void) = shift;\n",
        LATE: LATE + "        if (step == 1) f();\n",
    },
    "in the loop": {"step++": "step++, lo = 0"},
    "the argument is not": {
        GIVEN: GIVEN.replace("int rank", "int at, int rank") + "    lo = 0;\n",
        "&w[lo]": "&w[at]",
        "r, rank": "r, lo, rank",
    },
    "by a pointer of its own": {
        "&w[lo]": "m",
        GIVEN: GIVEN + "    double *m = rank ? &w[lo] : x;\n",
    },
}


def moves(text: str, path: Path) -> bool:
    """Whether the first loop, or a part of it, runs before the wait."""
    after = rewritten(text, path)
    return after.index("v[i] = 0.5") < after.index("MPI_Waitall(2, r")


@pytest.mark.parametrize("replaced", KEPT.values(), ids=KEPT)
def test_sections(replaced: dict[str, str], tmp_path: Path) -> None:
    assert moves(changed(WHERE, replaced), tmp_path / "case.c")


@pytest.mark.parametrize("replaced", MAY_CHANGE.values(), ids=MAY_CHANGE)
def test_no_sections(replaced: dict[str, str], tmp_path: Path) -> None:
    assert not moves(changed(WHERE, replaced), tmp_path / "case.c")


SIDES = "double *sw, double *se, double *rw, double *re"


def as_arguments() -> dict[str, str]:
    """The grid is the main program's own, and passed to the routines."""
    return {
        "static double *u, *v;\n": "",
        "setup(int rank": "setup(double *u, int rank",
        "exchange(void)": "exchange(double *u)",
        "sweep(void)": "sweep(double *u, double *v)",
        "copy(void)": "copy(double *u, double *v)",
        "sum = 0.0, total;": "sum = 0.0, total, u[2500], v[2500];",
        "setup(rank": "setup(u, rank",
        "exchange();": "exchange(u);",
        "sweep();": "sweep(u, v);",
        "copy();": "copy(u, v);",
        "    u = malloc((nx + 2) * (ny + 2) * sizeof(double));\n": "",
        "    v = malloc((nx + 2) * (ny + 2) * sizeof(double));\n": "",
        "    free(u);\n    free(v);\n": "",
    }


SPLIT = {
    "as it is": {},
    "its arguments": as_arguments(),
    "what is sent and received is another routine's": {
        **as_arguments(),
        "double *u, int rank": f"double *u, {SIDES}, int rank",
        "setup(u, rank": "setup(u, sw, se, rw, re, rank",
        "exchange(double *u)": f"exchange(double *u, {SIDES})",
        "exchange(u);": "exchange(u, sw, se, rw, re);",
        "static double sw[64], se[64], rw[64], re[64];\n": "",
        "u[2500], ": "sw[64], se[64], rw[64], re[64], u[2500], ",
    },
    "handles that are passed": {
        "static MPI_Request req[8];\n": "",
        "setup(int rank": "setup(MPI_Request *req, int rank",
        "setup(rank": "setup(req, rank",
        "exchange(void)": "exchange(MPI_Request *req)",
        "exchange();": "exchange(req);",
        "    double sum": "    MPI_Request req[8];\n    double sum",
    },
}
UNSPLIT = {
    "pointers are exchanged": {"        copy();": "        " + SWAP.rstrip()},
    "sizes change": {"        copy();": "        copy();\n        if (step == 3) ny = 30;"},
    "the wait is elsewhere": {
        "    MPI_Waitall(nreq, req, MPI_STATUSES_IGNORE);\n": "",
        "exchange();": "exchange();\n        MPI_Waitall(nreq, req, MPI_STATUSES_IGNORE);",
    },
    "a ready send": {"MPI_Send_init": "MPI_Rsend_init"},
    "partitioned": {
        "    nreq = 0;\n": "    MPI_Psend_init(v, 1, 1, MPI_DOUBLE, right, 9, MPI_COMM_WORLD,"
        " MPI_INFO_NULL, &req[0]);\n    nreq = 0;\n"
    },
}


@pytest.mark.parametrize("replaced", SPLIT.values(), ids=SPLIT)
def test_split(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(changed(APART, replaced), tmp_path / "case.c")
    assert text.index("sweep_interior(", text.index("main(")) < text.rindex("exchange_finish(")
    assert "for (i = 2; i <= nx - 1; i++)\n        for (j = 2; j <= ny - 1; j++)" in text


@pytest.mark.parametrize("replaced", UNSPLIT.values(), ids=UNSPLIT)
def test_not_split(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "sweep_interior" not in rewritten(changed(APART, replaced), tmp_path / "case.c")


def test_a_buffer_of_the_caller_is_in_use(tmp_path: Path) -> None:
    """What the main program sets between the exchange and the sweep stays behind the messages."""
    behind = {"sweep(u, v);": "u[3] = 7.0;\n        sweep(u, v);"}
    text = rewritten(changed(changed(APART, as_arguments()), behind), tmp_path / "case.c")
    assert text.rindex("exchange") < text.index("u[3] = 7.0;")


def test_sends_of_one_request_stay_apart(tmp_path: Path) -> None:
    """A request is not started anew before it is waited for."""
    send = "MPI_Send_init(x, 9, MPI_DOUBLE, 1 - rank, 8, MPI_COMM_WORLD, &one);\n"
    again = "        MPI_Start(&one);\n        MPI_Wait(&one, MPI_STATUS_IGNORE);\n"
    work = "        for (i = 0; i < N; i++)\n            v[i] += 1;\n"
    replaced = {
        BEHIND: BEHIND + "    MPI_Request one;\n    " + send,
        "        MPI_Startall": again + work + again + work + "        MPI_Startall",
    }
    text = rewritten(changed(WHERE, replaced), tmp_path / "case.c")
    lines = [line.strip() for line in text.splitlines()]
    order = [line for line in lines if line.startswith(("MPI_Start(", "MPI_Wait("))]
    assert order == ["MPI_Start(&one);", "MPI_Wait(&one, MPI_STATUS_IGNORE);"] * 2


FORTRAN = """\
module store
  implicit none
  integer :: r(2)
end module
subroutine solve
  use store
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 400
  double precision :: u(0:n+1)
  integer :: ierr, rank, i, step
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  u = rank
  call setup(u, rank)
  do step = 1, 6
     do i = 1, n
        u(i) = 0.5d0*u(i) + 1.0d0
     end do
     call begin
     call MPI_Send(u(1), 1, MPI_DOUBLE_PRECISION, 1-rank, 5, MPI_COMM_WORLD, ierr)
     call MPI_Recv(u(n), 1, MPI_DOUBLE_PRECISION, 1-rank, 5, MPI_COMM_WORLD, &
          MPI_STATUS_IGNORE, ierr)
     call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
  end do
  print *, sum(u)
end subroutine
program main
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
  call solve
  call MPI_Finalize(ierr)
end program
subroutine setup(a, rank)
  use store
  implicit none
  include 'mpif.h'
  double precision :: a(0:401)
  integer :: ierr, rank
  call MPI_Recv_init(a(0), 1, MPI_DOUBLE_PRECISION, 1-rank, 1, MPI_COMM_WORLD, r(1), ierr)
  call MPI_Send_init(a(200), 1, MPI_DOUBLE_PRECISION, 1-rank, 1, MPI_COMM_WORLD, r(2), ierr)
end subroutine
subroutine begin
  use store
  implicit none
  include 'mpif.h'
  integer :: ierr
  call MPI_Startall(2, r, ierr)
end subroutine
"""


@pytest.mark.parametrize("part", ["subroutine solve", "program main"])
def test_what_a_routine_starts_is_set_ahead_of_it(part: str, tmp_path: Path) -> None:
    """Arrays that are local where the start is called count as what it sends."""
    text = FORTRAN
    if part == "program main":
        text = text[: text.index("program main")] + text[text.index("subroutine setup") :]
        text = text.replace("subroutine solve", part).replace("end subroutine", "end program", 1)
    after = rewritten(text, tmp_path / "case.f90")
    assert after.rindex("0.5d0*u(i)") < after.index("call begin")
