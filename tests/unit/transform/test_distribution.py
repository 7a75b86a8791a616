"""Loops that must not be distributed, each beside one that is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 100
static double a[N + 2], b[N + 2], c[N + 2], u[N + 2][N + 2], total;
static double *p = a;
static double next(void) { return total += 1.0; }
int main(int argc, char **argv)
{
    int rank, peer, n = N;
    double s = 0.0, t = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    %s
    printf("%%g %%g %%g %%g %%d %%g\\n", a[1], b[2], c[3], total, n, *p);
    MPI_Finalize();
    return 0;
}
"""
SEND = "\nMPI_Send(a, N + 2, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);"
RECEIVE = "MPI_Recv(a, N + 2, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
LOOP = "for (int i = 1; i <= N; i++) {\n"
PRODUCED = "a[i] = 2.0 * i + rank;\n"
OTHER = "b[i] = b[i] + c[i];\n}"

# name: (code, part of the reason; empty where no division is proposed at all)
REFUSED = {
    "what is sent needs the rest of the iteration before": (
        LOOP + "a[i] = b[i - 1];\n" + OTHER + SEND,
        "depend on each other",
    ),
    "the rest is above and changes what is sent": (
        LOOP + "b[i] = b[i] + c[i];\na[i] = b[i];\n}" + SEND,
        "depend on each other",
    ),
    "the rest reads what is sent before it is set": (
        LOOP + PRODUCED + "b[i] = b[i] + a[i + 1];\n}" + SEND,
        "depend on each other",
    ),
    "both parts draw random numbers": (
        LOOP + "a[i] = rand();\nb[i] = b[i] + c[i] * rand();\n}" + SEND,
        "depend on each other",
    ),
    "a loop downward turns the order around": (
        "for (int i = N; i >= 1; i--) {\n" + PRODUCED + "b[i] = c[i] + a[i - 1];\n}" + SEND,
        "depend on each other",
    ),
    "a step of two with neighbours": (
        "for (int i = 1; i <= N; i += 2) {\n" + PRODUCED + "b[i] = c[i] + a[i - 1];\n}" + SEND,
        "depend on each other",
    ),
    "a sum through both parts": (
        LOOP + "a[i] = s;\ns = s + c[i] * b[i];\nb[i] = s;\n}" + SEND + "total = s;",
        "depend on each other",
    ),
    "a scalar that a branch sets": (
        LOOP + "if (c[i] > 1.0) s = c[i];\na[i] = s;\nb[i] = b[i] * s;\n}" + SEND,
        "depend on each other",
    ),
    "a value that is changed meanwhile": (
        LOOP + "s = a[i];\na[i] = s * 2.0;\nb[i] = b[i] + s;\n}" + SEND,
        "depend on each other",
    ),
    "an element that is not known": (
        LOOP + "a[(int)c[i]] = 1.0;\nb[i] = b[i] + a[i];\n}" + SEND,
        "depend on each other",
    ),
    "a pointer to what is sent": (
        LOOP + PRODUCED + "b[i] = b[i] + *p;\n}" + SEND,
        "depend on each other",
    ),
    "a call with an effect in both": (
        LOOP + "a[i] = next();\nb[i] = b[i] + next();\n}" + SEND,
        "depend on each other",
    ),
    "a continue": (
        LOOP + PRODUCED + "if (c[i] > 1.0) continue;\n" + OTHER + SEND,
        "leave by continue",
    ),
    "a break": (LOOP + PRODUCED + "if (c[i] > 1.0) break;\n" + OTHER + SEND, "leave by break"),
    "output": (LOOP + PRODUCED + 'printf(".");\n' + OTHER + SEND, "printf"),
    "a message": (
        LOOP + PRODUCED + "MPI_Barrier(MPI_COMM_WORLD);\n" + OTHER + SEND,
        "the call of MPI_Barrier",
    ),
    "a bound that changes": (
        "for (int i = 1; i <= n; i++) {\n" + PRODUCED + "if (c[i] > 9.0) n = 5;\n" + OTHER + SEND,
        "",
    ),
    "a directive": ("\n#pragma omp simd\n" + LOOP + PRODUCED + OTHER + SEND, "directive"),
    "two statements on a line": (
        LOOP + "a[i] = 2.0 * i; b[i] = b[i] + c[i];\n}" + SEND,
        "shares its line",
    ),
    "only copies are left": (LOOP + PRODUCED + "b[i] = c[i];\n}" + SEND, ""),
    "a loop that is not counted": (
        "int i = 0; while (i < N) {\n" + PRODUCED + "i++;\n" + OTHER + SEND,
        "",
    ),
    "a consumer that the rest waits for": (
        RECEIVE + LOOP + "b[i] = a[i] + 1.0;\nc[i] = b[i - 1] * 2.0;\n}",
        "depend on each other",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, prepared: Callable[[str, str], tuple[bool, list[str]]]) -> None:
    code, reason = REFUSED[name]
    done, details = prepared(PROGRAM % code, "loop-distribution")
    assert not done
    assert any(reason in line for line in details) if reason else not details


DONE = {
    "apart": LOOP + PRODUCED + OTHER + SEND,
    "the rest uses what is sent": LOOP + PRODUCED + "b[i] = c[i] * a[i];\n}" + SEND,
    "also that of iterations before": LOOP + PRODUCED + "b[i] = c[i] * a[i - 1];\n}" + SEND,
    "a scalar that both use": (
        LOOP + "s = c[i] * i;\na[i] = s;\nb[i] = b[i] * s + c[i];\n}" + SEND
    ),
    "two loops deep": (
        LOOP
        + "for (int j = 1; j <= N; j++) {\na[j] = i + j;\nu[i][j] = u[i][j - 1] + c[j];\n}\n}"
        + SEND
    ),
    "the rest of a consumer": (
        RECEIVE + LOOP + "b[i] = a[i] + 1.0;\nc[i] = c[i - 1] * c[i + 1];\n}"
    ),
}


@pytest.mark.parametrize("name", DONE)
def test_distributed(name: str, prepared: Callable[[str, str], tuple[bool, list[str]]]) -> None:
    done, details = prepared(PROGRAM % DONE[name], "loop-distribution")
    assert done, details


FORTRAN = """      program main
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 100)
      double precision a(n), b(n), c(n)
      common /f/ a, b, c
      integer i, ierr
%s
      call mpi_send(a, n, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD,
     &              ierr)
      print *, a(1), b(2)
      end
"""
FORTRAN_LOOPS = {
    "divided": ("      do i = 1, n\n%s      end do", ""),
    "a label": ("      do 10 i = 1, n\n%s   10 continue", ""),
    "a directive": ("!$omp parallel do\n      do i = 1, n\n%s      end do", "directive"),
    "no unit step": ("      do i = n, 2, -1\n%s      end do", "depend on each other"),
}
BODY = "         a(i) = i * 2.0d0\n         b(i) = c(i) + a(%s)\n"


@pytest.mark.parametrize("name", FORTRAN_LOOPS)
def test_fortran(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, reason = FORTRAN_LOOPS[name]
    monkeypatch.chdir(tmp_path)
    body = BODY % ("i - 1" if "step" in name else "i")
    Path("case.f").write_text(FORTRAN % (loop % body))
    outcome = transform([Path("case.f")], Options())
    assert not outcome.skipped
    details = [line for d in outcome.decisions for line in d.details if "distribution" in line]
    assert any("loop-distribution" in d.rewrites for d in outcome.decisions) is (not reason)
    assert any(reason in line for line in details), details
