"""Requests that outlive a routine, and exchanges that were split by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

C_PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 100
typedef struct { int n; MPI_Request one, some[4], *many; } Halo;
static double a[N], b[N], c[N];
static MPI_Request shared, pair[2];
static Halo left, right;
static int peer;
extern void elsewhere(void);
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
%s
int main(int argc, char **argv)
{
    MPI_Request r;
    int flag = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &peer);
    peer = 1 - peer;
    left.many = malloc(4 * sizeof *left.many);
    %s
    work(c);
    printf("%%g %%d\\n", a[0] + b[0] + c[0], flag);
    MPI_Finalize();
    return 0;
}
"""


def send(request: str, buffer: str = "a") -> str:
    return f"MPI_Isend({buffer}, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, {request});"


def receive(request: str, buffer: str = "b") -> str:
    return f"MPI_Irecv({buffer}, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, {request});"


def wait(request: str) -> str:
    return f"MPI_Wait({request}, MPI_STATUS_IGNORE);"


def begin(request: str, parameters: str = "void") -> str:
    return f"static void begin({parameters}) {{ {send(request)} }}\n"


def end(request: str, parameters: str = "void", rest: str = "") -> str:
    return f"static void end({parameters}) {{ {wait(request)} {rest} }}\n"


# name: (routines, code in main); what completes is moved behind `work(c)`
C_MOVED: dict[str, tuple[str, str]] = {
    "a global": ("", f"{send('&shared')} {wait('&shared')}"),
    "a member": ("", f"{send('&left.one')} {wait('&left.one')}"),
    "an element of a member": ("", f"{send('&left.some[2]')} {wait('&left.some[2]')}"),
    "allocated": ("", f"{send('left.many + 1')} {wait('left.many + 1')}"),
    "tested once": ("", f"{send('&r')} MPI_Test(&r, &flag, MPI_STATUS_IGNORE); {wait('&r')}"),
    "asked for": ("", f"{send('&r')} if (r != MPI_REQUEST_NULL) {wait('&r')}"),
    "two routines, a global": (begin("&shared") + end("&shared"), "begin(); end();"),
    "two routines, a structure": (
        begin("&h->one", "Halo *h") + end("&h->one", "Halo *h"),
        "begin(&left); end(&left);",
    ),
    "two routines, an argument": (
        begin("x", "MPI_Request *x") + end("x", "MPI_Request *x"),
        "begin(&r); end(&r);",
    ),
    "one that returns an error code": (
        begin("&shared") + f"static int end(void) {{ return {wait('&shared')} }}\n",
        "begin(); flag = end();",
    ),
    "one that starts and one that waits in another": (
        begin("&shared") + end("&shared") + "static void outer(void) { end(); }\n",
        "begin(); outer();",
    ),
    "a loop of waits": (
        "",
        f"{send('&pair[0]')} {receive('&pair[1]')} "
        f"for (int i = 0; i < 2; i++) {{ {wait('&pair[i]')} }}",
    ),
    "a loop that waits for any": (
        "",
        f"{send('&pair[0]')} {receive('&pair[1]')} for (int i = 0; i < 2; i++) "
        "{ int k; MPI_Waitany(2, pair, &k, MPI_STATUS_IGNORE); }",
    ),
    "all are preset": (
        "",
        "for (int i = 0; i < 2; i++) pair[i] = MPI_REQUEST_NULL; "
        f"{send('&pair[flag]')} MPI_Waitall(flag + 1, pair, MPI_STATUSES_IGNORE);",
    ),
}

# name: (routines, code in main, part of the reason); nothing may be moved
C_REFUSED: dict[str, tuple[str, str, str]] = {
    "the buffer is used behind it": (
        begin("&shared") + end("&shared"),
        "begin(); end(); work(a);",
        "`a` is set",
    ),
    "the buffer of another start of the same request": (
        begin("&shared") + end("&shared"),
        f"begin(); end(); {send('&shared', 'c')} end();",
        "`shared` is set",
    ),
    "the buffer is an argument of the start": (
        begin("&shared", "double *a") + end("&shared"),
        "begin(c); end();",
        "`c` is set",
    ),
    "what is received is unpacked": (
        f"static void begin(void) {{ {receive('&shared')} }}\n"
        + end("&shared", rest="c[3] = b[3];"),
        "begin(); end();",
        "`c` is used or set",
    ),
    "code that is not seen": (
        begin("&shared") + end("&shared"),
        "elsewhere(); begin(); end();",
        "outlives its routine, and not all is seen",
    ),
    "a request that is set to another": (
        begin("&shared") + end("&shared"),
        "begin(); shared = pair[1]; end();",
        "otherwise than in a start or a wait",
    ),
    "a request that is handed on": (
        "static void keep(MPI_Request *x) { shared = *x; *x = shared; }\n",
        f"{send('&r')} keep(&r); {wait('&r')}",
        "otherwise than in a start or a wait",
    ),
    "a structure that is copied": (
        begin("&h->one", "Halo *h") + end("&h->one", "Halo *h"),
        "begin(&left); right = left; end(&right);",
        "the request is not a variable",
    ),
    "memory that is copied": (
        begin("&shared") + end("&shared"),
        "begin(); memcpy(&shared, &pair[0], sizeof shared); end();",
        "the request is not a variable",
    ),
    "a request by value": (
        begin("&shared") + f"static void end(MPI_Request x) {{ {wait('&x')} }}\n",
        "begin(); end(shared);",
        "the request is not a variable",
    ),
    "a persistent request": (
        f"static void begin(void) {{ MPI_Start(&shared); {send('&shared')} }}\n" + end("&shared"),
        "MPI_Send_init(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &shared); begin(); end();",
        "passed to MPI_",
    ),
    "no start": (end("&shared"), "end();", "no start of this request"),
    "it starts the next message": (
        begin("&shared") + end("&shared", rest=send("&pair[0]", "c")),
        "begin(); end();",
        "cannot be",
    ),
    "output": (
        begin("&shared") + end("&shared", rest='printf("done\\n");'),
        "begin(); end();",
        "printf",
    ),
    "any source": (
        f"static void begin(void) {{ {receive('&shared').replace('peer', 'MPI_ANY_SOURCE')} }}\n"
        + end("&shared"),
        "work(c); MPI_Barrier(MPI_COMM_WORLD); begin(); end(); b[0] = 1.0; work(b);",
        "MPI_Barrier",
    ),
    "a ready send": (
        begin("&shared").replace("Isend", "Irsend") + end("&shared"),
        "work(c); begin(); end(); a[0] = 1.0;",
        "ready send",
    ),
    "threads": (
        begin("&shared") + end("&shared"),
        "elsewhere(); flag = MPI_THREAD_MULTIPLE; begin(); end();",
        "MPI_THREAD_MULTIPLE",
    ),
    "a barrier behind it": (
        begin("&shared") + end("&shared"),
        "begin(); end(); MPI_Barrier(MPI_COMM_WORLD);",
        "MPI_Barrier",
    ),
    "another start of its channel": (
        begin("&shared") + end("&shared"),
        f"work(c); {send('&pair[1]', 'c')} begin(); end(); a[1] = 1.0; {wait('&pair[1]')}",
        "message may have to stay ahead",
    ),
    "the loop needs what it receives": (
        "",
        f"{receive('&pair[0]')} for (int i = 0; i < 1; i++) "
        "{ int k; MPI_Waitany(1, pair, &k, MPI_STATUS_IGNORE); c[k] = b[k]; }",
        "`c` is used or set",
    ),
}

F_PROGRAM = """      module held
      integer own(2)
      end module

      program main
      use held
      implicit none
      include 'mpif.h'
      double precision a(100), b(100), c(100), g(100)
      integer peer, ierr, r(2)
      common /field/ g
      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, peer, ierr)
      peer = 1 - peer
%s
      call work(c)
      print *, a(1), b(1), c(1), g(1)
      call mpi_finalize(ierr)
      end

      subroutine work(x)
      double precision x(*)
      integer i
      do 10 i = 1, 100
   10 x(i) = 0.5d0 * x(i)
      end

      subroutine start(x, peer, k)
      use held
      implicit none
      include 'mpif.h'
      double precision x(100), g(100)
      integer peer, ierr, k(2), h(2)
      common /handles/ h
      common /field/ g
      call mpi_isend(%s, 100, mpi_double_precision, peer, 0,
     &  mpi_comm_world, %s(1), ierr)
      end

      subroutine finish(k)
      use held
      implicit none
      include 'mpif.h'
      integer ierr, k(2), h(2)
      common /handles/ h
      call mpi_wait(%s(1), mpi_status_ignore, ierr)
      end
"""
LAST = """
      subroutine last(x)
      double precision x(100)
      integer none(2)
      call finish(none)
      call work(x)
      end
"""
HALVES = "      call start(a, peer, r)\n      call finish(r)\n"
# name: (code in main, buffer, request of the start, request of the wait)
F_MOVED = {
    "in common": (HALVES, "x", "h", "h"),
    "in a module": (HALVES, "x", "own", "own"),
    "an argument": (HALVES, "x", "k", "k"),
    "a buffer in common": (HALVES, "g", "h", "h"),
}
# the same, and part of the reason
F_REFUSED = {
    "the buffer is used": (HALVES + "      call work(a)\n", "x", "h", "h", "`a` is"),
    "the buffer in common is used": (HALVES + "      call work(g)\n", "g", "h", "h", "`g` is"),
    "another request": (HALVES, "x", "h", "own", "no start of this request"),
    "the request is set": (
        "      call start(a, peer, r)\n      r(1) = 3\n      call finish(r)\n",
        "x",
        "k",
        "k",
        "otherwise than in a start or a wait",
    ),
    "a dummy argument is the buffer": (
        "      call start(c, peer, r)\n      call last(c)\n",
        "x",
        "h",
        "h",
        "`x` is",
    ),
}


def text_of(source: Path, **options: bool) -> tuple[str, Outcome]:
    outcome = transform([source], Options(rewrites=frozenset({"motion"}), **options))
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(source)].decode(), outcome


@pytest.mark.parametrize("name", C_MOVED)
def test_c_moved(name: str, tmp_path: Path) -> None:
    routines, body = C_MOVED[name]
    source = tmp_path / "p.c"
    source.write_text(C_PROGRAM % (routines, body))
    text, outcome = text_of(source)
    main = text[text.index("int main") :]
    ends = [main.rindex(callee) for callee in ("end(", "outer(", "MPI_Wait") if callee in main]
    assert main.index("work(c)") < max(ends), [str(d.reason) for d in outcome.decisions]
    again = transform([source], Options(contents={source: text.encode()}))
    assert again.after[str(source)].decode() == text


@pytest.mark.parametrize("name", C_REFUSED)
def test_c_refused(name: str, tmp_path: Path, same_reasons: Callable[[str, Outcome], None]) -> None:
    routines, body, reason = C_REFUSED[name]
    source = tmp_path / "p.c"
    source.write_text(C_PROGRAM % (routines, body))
    _, outcome = text_of(source)
    told = [text for d in outcome.decisions for text in (d.reason.text, *d.details)]
    assert outcome.before == outcome.after, told
    assert any(reason in text for text in told), told
    same_reasons(name, outcome)


@pytest.mark.parametrize("name", F_MOVED)
def test_fortran_moved(name: str, tmp_path: Path) -> None:
    source = tmp_path / "p.f"
    source.write_text(F_PROGRAM % F_MOVED[name])
    text, outcome = text_of(source)
    told = [str(d.reason) for d in outcome.decisions]
    assert text.index("call work(c)") < text.index("call finish"), told
    named = name != "a buffer in common"  # the compiler must not keep `a` in registers
    assert ("call mpi_get_address(a, imbrex_address, ierr)" in text) is named


@pytest.mark.parametrize("name", F_REFUSED)
def test_fortran_refused(
    name: str, tmp_path: Path, same_reasons: Callable[[str, Outcome], None]
) -> None:
    *parts, reason = F_REFUSED[name]
    source = tmp_path / "p.f"
    source.write_text(F_PROGRAM % tuple(parts) + (LAST if "call last" in parts[0] else ""))
    _, outcome = text_of(source)
    told = [text for d in outcome.decisions for text in (d.reason.text, *d.details)]
    assert outcome.before == outcome.after, told
    assert any(reason in text for text in told), told
    same_reasons(name, outcome)


FLAGGED = """#include <mpi.h>
#define BEGIN 1
static double a[100], b[100];
static MPI_Request request;
static void exchange(int me, %s)
{
    %s
        MPI_Isend(a, 100, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    exchange(me, %s);
    exchange(me, %s);
    for (int i = 0; i < 100; i++)
        b[i] = i;
    MPI_Finalize();
    return b[3] > a[1];
}
"""


@pytest.mark.parametrize(
    ("parts", "moves"),
    [
        (("int phase", "if (phase == BEGIN)", "BEGIN", "2"), True),
        (("int start", "if (start)", "1", "0"), True),
        (("int end", "if (!end)", "0", "1"), True),
        (("int end", "if (end != 1)", "0", "1"), True),
        (("int end", "if (end != 1)", "me", "1"), True),
        (("int end", "if (end != 1)", "0", "me"), False),
        (("int end", "end = me; if (end != 1)", "0", "1"), False),
        (("int end", "int *p = &end; *p = me; if (end != 1)", "0", "1"), False),
    ],
)
def test_one_routine_with_a_flag(parts: tuple[str, ...], moves: bool, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(FLAGGED % parts)
    text, outcome = text_of(source)
    told = [str(d.reason) for d in outcome.decisions]
    assert (text.index("b[i] = i") < text.index(f"exchange(me, {parts[-1]})")) is moves, told


F_FLAGGED = """program p
  implicit none
  include 'mpif.h'
  double precision :: a(100), b(100)
  integer :: me, e, request, i
  common /kept/ request
  call mpi_init(e)
  call mpi_comm_rank(mpi_comm_world, me, e)
  call exchange(a, 1 - me, .true.)
  call exchange(a, 1 - me, .false.)
  do i = 1, 100
    b(i) = i
  end do
  print *, a(1), b(3)
  call mpi_finalize(e)
end program p
subroutine exchange(a, other, start)
  implicit none
  include 'mpif.h'
  double precision :: a(100)
  integer :: other, e, request
  logical :: start
  common /kept/ request
  %s
  if (start) then
    call mpi_isend(a, 100, mpi_double_precision, other, 0, mpi_comm_world, request, e)
  else
    call mpi_wait(request, mpi_status_ignore, e)
  end if
end subroutine exchange
"""


@pytest.mark.parametrize(("first", "moves"), [("", True), ("start = other == 0", False)])
def test_one_subroutine_with_a_flag(first: str, moves: bool, tmp_path: Path) -> None:
    source = tmp_path / "p.f90"
    source.write_text(F_FLAGGED % first)
    text, _ = text_of(source)
    assert (text.index("b(i) = i") < text.index("call exchange(a, 1 - me, .false.)")) is moves
