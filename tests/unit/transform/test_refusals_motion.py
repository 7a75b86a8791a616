"""Nonblocking calls that must stay where they are, each with the reason that is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

C_PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double a[N], b[N], c[N];
static MPI_Request shared;
extern void elsewhere(void);

static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
int main(int argc, char **argv)
{
    int rank, peer, flag = 0, k = 0;
    MPI_Request r = MPI_REQUEST_NULL, q[4], other = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    %s
    printf("%%d %%g %%d\\n", flag, a[0] + b[0] + c[0], k);
    MPI_Finalize();
    return 0;
}
"""


def send(request: str, buffer: str = "a", tag: str = "0", name: str = "MPI_Isend") -> str:
    return f"{name}({buffer}, N, MPI_DOUBLE, peer, {tag}, MPI_COMM_WORLD, {request});"


def receive(request: str, buffer: str = "b", tag: str = "0", peer: str = "peer") -> str:
    return f"MPI_Irecv({buffer}, N, MPI_DOUBLE, {peer}, {tag}, MPI_COMM_WORLD, {request});"


def wait(request: str, status: str = "MPI_STATUS_IGNORE") -> str:
    return f"MPI_Wait({request}, {status});"


WAITALL = "MPI_Waitall(2, q, MPI_STATUSES_IGNORE);"
SUM = "MPI_Iallreduce(&k, &flag, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);"

# name: (code in main, part of a reason that must be given)
C_REFUSED: dict[str, tuple[str, str]] = {
    "the buffer is set before the start": (
        f"work(a); {send('&r')} {wait('&r')} work(a);",
        "`a` is used or set",
    ),
    "the buffer is read behind the wait": (
        f"work(b); {receive('&r')} {wait('&r')} work(b);",
        "`b` is used or set",
    ),
    "a send buffer is set behind the wait": (
        f"work(a); {send('&r')} {wait('&r')} a[3] = 1.0; work(c);",
        "`a` is set",
    ),
    "a status that is read": (
        f"work(b); {receive('&r')} {wait('&r', '&status')} k = status.MPI_TAG; work(c);",
        "`status` is used or set",
    ),
    "a request that is global": (
        f"elsewhere(); work(a); {send('&shared')} {wait('&shared')} work(c);",
        "outlives its routine, and not all is seen: elsewhere",
    ),
    "a request that is copied": (
        f"work(a); {send('&r')} other = r; {wait('&r')} {wait('&other')} work(c);",
        "otherwise than in a start or a wait",
    ),
    "a request that is freed elsewhere": (
        f"work(a); {send('&r')} MPI_Request_free(&r); {wait('&r')} work(c);",
        "passed to MPI_Request_free",
    ),
    "a request without a start": (f"{wait('&r')} work(c);", "no start of this request"),
    "a request that is set otherwise": (
        f"r = other; {wait('&r')} work(c);",
        "otherwise than in a start or a wait",
    ),
    "some of the requests are not known": (
        f"work(a); {send('&q[0]')} q[1] = shared; {WAITALL} work(c);",
        "otherwise than in a start or a wait",
    ),
    "an error code that is checked": (
        f"work(a); {send('&r')} if ({wait('&r')[:-1]}) return 1; work(c);",
        "its error code is checked",
    ),
    "an error code of a start": (
        f"work(c); if ({send('&r')[:-1]}) return 1; {wait('&r')} a[1] = 2.0;",
        "its error code is checked",
    ),
    "any source": (
        f"work(c); MPI_Barrier(MPI_COMM_WORLD); {receive('&r', peer='MPI_ANY_SOURCE')} {wait('&r')}"
        " work(b);",
        "MPI_Barrier",
    ),
    "any tag": (
        f"work(c); MPI_Barrier(MPI_COMM_WORLD); {receive('&r', tag='MPI_ANY_TAG')} {wait('&r')}"
        " work(b);",
        "MPI_Barrier",
    ),
    "another receive of the channel": (
        f"work(c); {receive('&r', 'c')} {receive('&other')} {wait('&r')} work(c); "
        f"{wait('&other')} work(b);",
        "another receive that may take the same message",
    ),
    "another send of the channel": (
        f"work(c); {send('&r', 'c')} {send('&other')} {wait('&r')} work(c); "
        f"{wait('&other')} work(a);",
        "another send, whose message may have to stay ahead",
    ),
    "a ready send": (
        f"work(c); {send('&r', name='MPI_Irsend')} {wait('&r')} a[0] = 1.0;",
        "a ready send must not start early",
    ),
    "another collective": (
        f"work(c); MPI_Bcast(&flag, 1, MPI_INT, 0, MPI_COMM_WORLD); {SUM} {wait('&r')} k = flag;",
        "MPI_Bcast: another collective",
    ),
    "two nonblocking collectives": (
        "MPI_Ibcast(c, N, MPI_DOUBLE, 0, MPI_COMM_WORLD, &other); work(a); "
        f"MPI_Ibarrier(MPI_COMM_WORLD, &r); {wait('&other')} work(c); {wait('&r')}",
        "MPI_Ibarrier",
    ),
    "the same request": (
        f"{send('&r')} {wait('&r')} {send('&r', 'b')} {wait('&r')} work(b); a[1] = 1.0;",
        "`r` is",
    ),
    "an unknown call behind the wait": (
        f"work(a); {send('&r')} {wait('&r')} elsewhere(); work(c);",
        "elsewhere",
    ),
    "an unknown call before the start": (
        f"work(c); elsewhere(); {send('&r')} {wait('&r')} a[2] = 1.0;",
        "elsewhere",
    ),
    "output behind the wait": (
        f'work(a); {send("&r")} {wait("&r")} printf("sent\\n"); work(c);',
        "printf",
    ),
    "a barrier behind the wait": (
        f"work(a); {send('&r')} {wait('&r')} MPI_Barrier(MPI_COMM_WORLD); work(c);",
        "MPI_Barrier",
    ),
    "a condition that changes": (
        f"work(a); {send('&r')} if (k == 0) {{ {wait('&r')} }} k = 1; work(c);",
        "`k` is",
    ),
    "a return behind the wait": (
        f"work(a); {send('&r')} {wait('&r')} if (rank > 7) return 1; work(c);",
        "control may leave",
    ),
    "a goto": (
        f"work(a); {send('&r')} {wait('&r')} if (k > 7) goto out; work(c); out: k = 2;",
        "goto",
    ),
    "a wait from a macro": (
        f"work(a); {send('&r')}\n#define DONE {wait('&r')}\nDONE work(c);",
        "DONE",
    ),
    "the end of the block where the buffer lives": (
        f"{{ double t[N]; work(t); {send('&r', 't')} {wait('&r')} }} work(c);",
        "the end of the block",
    ),
    "the end of a loop": (
        f"for (k = 0; k < 3; k++) {{ work(a); {send('&r')} {wait('&r')} }} work(c);",
        "the end of the block",
    ),
    "threads": (
        f"elsewhere(); k = MPI_THREAD_MULTIPLE; work(c); {send('&r')} {wait('&r')} a[1] = 1.0;",
        "MPI_THREAD_MULTIPLE",
    ),
    "a probe: timing may matter": (
        f"MPI_Iprobe(peer, 3, MPI_COMM_WORLD, &flag, &status); work(b); {receive('&r')} "
        f"{wait('&r')} MPI_Send(a, N, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD); work(c);",
        "the program uses MPI_Iprobe",
    ),
    "a barrier without data": (
        f"work(c); MPI_Ibarrier(MPI_COMM_WORLD, &r); {wait('&r')} work(c);",
        "passed to MPI_Ibarrier",
    ),
}

F_PROGRAM = """      program main
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 100)
      double precision a(n), b(n), c(n), e(10, 10)
      integer rank, peer, ierr, i, k, r, q(4), other
      integer status(MPI_STATUS_SIZE), pair(2)
%s
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      peer = 1 - rank
%s
      call MPI_FINALIZE(ierr)
      end

      subroutine work(x)
      double precision x(*)
      integer i
      do 10 i = 1, 100
   10 x(i) = 0.5d0 * x(i)
      end

      subroutine keep(request)
      integer request
      request = request
      end
"""
F_SEND = (
    "      call MPI_ISEND(a, n, MPI_DOUBLE_PRECISION, peer, 0,\n     &  MPI_COMM_WORLD, r, ierr)\n"
)
F_RECV = F_SEND.replace("MPI_ISEND(a", "MPI_IRECV(b")
F_WAIT = "      call MPI_WAIT(r, MPI_STATUS_IGNORE, ierr)\n"
WORK_A, WORK_C = "      call work(a)\n", "      call work(c)\n"

# name: (declarations, code, part of a reason that must be given)
F_REFUSED: dict[str, tuple[str, str, str]] = {
    "the buffer is used": ("", WORK_A + F_SEND + F_WAIT + WORK_A, "`a` is"),
    "an error code that is read": (
        "",
        WORK_A + F_SEND + F_WAIT + "      if (ierr .ne. 0) ierr = 1\n" + WORK_C,
        "the error code may be checked",
    ),
    "a request in an equivalence": (
        "      equivalence (r, k)\n",
        WORK_A + F_SEND + F_WAIT + WORK_C,
        "EQUIVALENCE",
    ),
    "a request that a pointer may name": (
        "      target r\n      integer, pointer :: p\n",
        "      p => r\n" + WORK_A + F_SEND + F_WAIT + WORK_C,
        "is a pointer, a target or of a derived type",
    ),
    "a request that is handed on": (
        "",
        WORK_A + F_SEND + "      call keep(r)\n" + F_WAIT + WORK_C,
        "otherwise than in a start or a wait",
    ),
    "a request that is copied": (
        "",
        WORK_A + F_SEND + "      other = r\n" + F_WAIT + WORK_C,
        "otherwise than in a start or a wait",
    ),
    "a label between": (
        "",
        WORK_A + F_SEND + F_WAIT + "  20  k = 1\n" + WORK_C,
        "label 20",
    ),
    "a go to": (
        "",
        WORK_A + F_SEND + F_WAIT + "      if (k .eq. 3) go to 30\n" + WORK_C + "  30  k = 1\n",
        "GO TO",
    ),
    "input or output": (
        "",
        WORK_A + F_SEND + F_WAIT + "      print *, 1\n" + WORK_C,
        "input or output",
    ),
    "a section that is copied": (
        "",
        WORK_C + F_SEND.replace("a, n", "e(3, 1:10), 10") + F_WAIT + "      e(3, 3) = 1.0d0\n",
        "noncontiguous",
    ),
    "the status is read": (
        "",
        "      call work(b)\n"
        + F_RECV
        + F_WAIT.replace("MPI_STATUS_IGNORE", "status")
        + "      k = status(MPI_TAG)\n"
        + WORK_C,
        "`status` is",
    ),
}


def answer(source: Path) -> tuple[Outcome, list[str]]:
    """The outcome and all that is said; the file must stay as it is."""
    outcome = transform([source], Options(rewrites=frozenset({"motion"})))
    assert not outcome.skipped
    assert outcome.decisions
    told = [text for d in outcome.decisions for text in (d.reason.text, *d.details)]
    assert outcome.after == outcome.before, told
    return outcome, told


@pytest.mark.parametrize("name", C_REFUSED)
def test_c(name: str, tmp_path: Path, same_reasons: Callable[[str, Outcome], None]) -> None:
    body, reason = C_REFUSED[name]
    source = tmp_path / "program.c"
    source.write_text(C_PROGRAM % body)
    outcome, told = answer(source)
    assert any(reason in text for text in told), told
    same_reasons(name, outcome)


@pytest.mark.parametrize("name", F_REFUSED)
def test_fortran(name: str, tmp_path: Path, same_reasons: Callable[[str, Outcome], None]) -> None:
    declarations, body, reason = F_REFUSED[name]
    source = tmp_path / "program.f"
    source.write_text(F_PROGRAM % (declarations, body))
    outcome, told = answer(source)
    assert any(reason.lower() in text.lower() for text in told), told
    same_reasons(name, outcome)


def test_the_frames_alone_are_rewritten(tmp_path: Path) -> None:
    """The refusals above are due to what they plant."""
    source = tmp_path / "program.c"
    source.write_text(C_PROGRAM % f"work(a); {send('&r')} {wait('&r')} work(c);")
    text = transform([source], Options(rewrites=frozenset({"motion"}))).after[str(source)]
    assert b"work(c);\n    MPI_Wait" in text.replace(b"work(c); ", b"work(c);\n    ")
    source = tmp_path / "program.f"
    source.write_text(F_PROGRAM % ("", WORK_A + F_SEND + F_WAIT + WORK_C))
    text = transform([source], Options(rewrites=frozenset({"motion"}))).after[str(source)]
    assert text.index(b"work(c)") < text.index(b"MPI_WAIT(r")
