"""Buffers that must stay shared by several messages, each with the reason that is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

C = """#include <mpi.h>
#include <stdio.h>
#include <string.h>
#define N 100
static double u[N][N], *kept;
extern void elsewhere(double *);
static void keep(double *x) { kept = x; }
static double first(const double *x) { return x[0]; }
static void exchange(int left, int right, double scale)
{
    int i;
    %s buf[N];
    %s
    for (i = 0; i < N; i++)
        buf[i] = u[i][1];
    MPI_Send(buf, N, MPI_DOUBLE, left, 1, MPI_COMM_WORLD);
    %s
    MPI_Send(buf, N, MPI_DOUBLE, right, 2, MPI_COMM_WORLD);
    %s
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    exchange(0, 0, argc);
    printf("%%g %%g\\n", u[3][4], first(u[0]));
    keep(u[1]);
    MPI_Finalize();
    return 0;
}
"""
FILL = "for (i = 0; i < N; i++) buf[i] = scale * u[i][2];"

# name: (storage, code before, code between, code behind, part of the reason)
REFUSED_C = {
    "part is filled anew": ("double", "", FILL.replace("N;", "N / 2;"), "", "not all of what"),
    "nothing is filled anew": ("double", "", "", "", "one message at a time"),
    "half keeps the value": (
        "double",
        "",
        "for (i = 0; i < N - 1; i++) buf[i] = scale * u[i][2];",
        "",
        "more is read of it",
    ),
    "filled under a condition": (
        "double",
        "",
        "for (i = 0; i < N; i++) if (u[i][0] > 0.0) buf[i] = scale;",
        "",
        "not all of what is set",
    ),
    "every second element": (
        "double",
        "",
        "for (i = 0; i < N / 2; i++) buf[2 * i] = scale;",
        "",
        "not all of what is set",
    ),
    "updated from the first message": (
        "double",
        "",
        "for (i = 0; i < N; i++) buf[i] = buf[i] * scale;",
        "",
        "one message at a time",
    ),
    "filled by a routine": ("double", "", "memset(buf, 0, sizeof buf);", "", "not all of what"),
    "of unknown size": ("static double *p; double", "", FILL, "p = buf;", "its address is"),
    "its address is kept": ("double", "keep(buf);", FILL, "", "its address is"),
    "passed to an unknown routine": ("double", "elsewhere(buf);", FILL, "", "its address is known"),
    "read before it is filled": (
        "double",
        "u[0][0] = buf[0];",
        FILL,
        "",
        "holds values from elsewhere",
    ),
    "through a pointer": ("double", "double *p = buf;", FILL, "p[0] = 1.0;", "its address is"),
}


@pytest.mark.parametrize("name", REFUSED_C)
def test_refused_c(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *code, reason = REFUSED_C[name]
    check(Path("case.c"), C % tuple(code), reason, tmp_path, monkeypatch)


def check(
    path: Path, text: str, reason: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    assert not any("private-buffers" in d.rewrites for d in outcome.decisions)
    details = [line for d in outcome.decisions for line in d.details if "private" in line]
    details += [d.reason.text for d in outcome.decisions]
    assert any(reason in line for line in details), (reason, details)


SHARED_C = {
    # name: (declaration at file scope, what main calls, whether it is separated)
    "used here alone": ("static double buf[N];", "", True),
    "global, used here alone": ("double buf[N];", "", True),
    "read elsewhere": ("static double buf[N];", 'printf("%g", buf[3]);', False),
    "passed elsewhere": ("static double buf[N];", "first(buf);", False),
    "large": ("static double buf[N * 1000];", "", False),
}


@pytest.mark.parametrize("name", SHARED_C)
def test_shared_c(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An array that outlives its routine gets a copy only if no other routine knows it."""
    declaration, code, done = SHARED_C[name]
    text = (C % ("", "", FILL, "")).replace(" buf[N];", "", 1)
    text = text.replace("static void exchange", f"{declaration}\nstatic void exchange")
    monkeypatch.chdir(tmp_path)
    Path("case.c").write_text(text.replace("keep(u[1]);", f"keep(u[1]); {code}"))
    outcome = transform([Path("case.c")], Options())
    assert any("private-buffers" in d.rewrites for d in outcome.decisions) is done
    assert ("static double buf2[100];" in outcome.after["case.c"].decode()) is done


def test_separated_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same program with a buffer that may be separated: the refusals are not void."""
    monkeypatch.chdir(tmp_path)
    Path("case.c").write_text(C % ("double", "", FILL, ""))
    outcome = transform([Path("case.c")], Options())
    assert any("private-buffers" in d.rewrites for d in outcome.decisions)


# name: (`left` and `right` in main, condition of each receive, its source, whether it is done)
NOBODY = "rank > 0 ? rank - 1 : MPI_PROC_NULL"
RANKS_C = {
    "perhaps nobody": (NOBODY, "", "%s", False),
    "of a grid": ("neighbour(rank)", "", "%s", False),
    "nobody among other ranks": (NOBODY, "", "(%s + 1) %% 2", True),
    "where there is somebody": (NOBODY, "if (%s != MPI_PROC_NULL) {", "%s", True),
    "where there is somebody else": (NOBODY, "if (other != MPI_PROC_NULL) {", "%s", False),
    "always somebody": ("1 - rank", "", "%s", True),
}
RECEIVING = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double u[N][N];
static int neighbour(int rank)
{
    int from, to;
    %s
    return from;
}
static void exchange(int left, int right, int other)
{
    double buf[N];
    %s
        MPI_Recv(buf, N, MPI_DOUBLE, %s, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            u[i][1] = u[i][1] + 0.5 * buf[i] * i;
    %s
    for (int i = 0; i < N; i++)
        u[i][5] = u[i][6] + 0.5 * u[i][4];
    %s
        MPI_Recv(buf, N, MPI_DOUBLE, %s, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            u[i][2] = u[i][2] + 0.5 * buf[i] * i;
    %s
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange(%s, %s, 1);
    printf("%%g %%d\\n", u[3][4], neighbour(rank));
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("name", RANKS_C)
def test_receives_from_nobody(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A receive from MPI_PROC_NULL leaves the last message in a buffer, which a copy does not."""
    rank, guard, source, done = RANKS_C[name]
    shift = "MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &from, &to);"
    words = [shift if "neighbour" in rank else "from = to = rank;"]
    for variable in ("left", "right"):
        begin = guard % variable if "%s" in guard else guard
        words += [begin, source % variable, "}" if guard else ""]
    monkeypatch.chdir(tmp_path)
    Path("case.c").write_text(RECEIVING % (*words, rank, rank))
    outcome = transform([Path("case.c")], Options())
    assert not outcome.skipped, outcome.skipped
    assert any("private-buffers" in d.rewrites for d in outcome.decisions) is done
    told = [line for d in outcome.decisions for line in d.details]
    assert any("leaves what it held" in line for line in told) is not done, told


FORTRAN = """      subroutine exch(u, left, right)
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 100)
      double precision u(n, n), buf(n), other(n)
      integer left, right, i, ierr
%s
      do i = 1, n
         buf(i) = 0.5d0 * u(i, 1)
      end do
      call mpi_send(buf, n, MPI_DOUBLE_PRECISION, left, 1,
     &              MPI_COMM_WORLD, ierr)
%s
      do i = 1, n
         buf(i) = 0.5d0 * u(i, 2)
      end do
      call mpi_send(buf, n, MPI_DOUBLE_PRECISION, right, 2,
     &              MPI_COMM_WORLD, ierr)
      end
      program main
      implicit none
      double precision u(100, 100)
      integer ierr
      call mpi_init(ierr)
      u = 1.0d0
      call exch(u, 0, 0)
      call mpi_finalize(ierr)
      end
"""
REFUSED_FORTRAN = {
    "equivalent": ("      equivalence (buf, other)", "", "EQUIVALENCE"),
}


@pytest.mark.parametrize("name", REFUSED_FORTRAN)
def test_refused_fortran(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *code, reason = REFUSED_FORTRAN[name]
    check(Path("case.f"), FORTRAN % tuple(code), reason, tmp_path, monkeypatch)


COMMON = {
    # name: (its extent in the main program, what that does with it, the reason for none)
    "not used elsewhere": ("n", "", ""),
    "used elsewhere": ("n", "      u = buf(1)\n", "later calls may see"),
    "laid out in two ways": ("100", "", "two ways"),
}


@pytest.mark.parametrize("name", COMMON)
def test_common(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A buffer in COMMON gets a copy, unless another routine uses it."""
    extent, code, reason = COMMON[name]
    monkeypatch.chdir(tmp_path)
    text = FORTRAN % ("      common /shared/ buf", "")
    ahead, main = text.split("      program main\n      implicit none\n")
    declared = (
        "      program main\n      implicit none\n      integer n\n      parameter (n = 100)\n"
        f"      double precision buf({extent})\n      common /shared/ buf\n"
    )
    main = main.replace("      call exch", f"{code}      call exch")
    Path("case.f").write_text(ahead + declared + main)
    outcome = transform([Path("case.f")], Options())
    assert any("private-buffers" in d.rewrites for d in outcome.decisions) is (not reason)
    told = [line for d in outcome.decisions for line in (d.reason.text, *d.details)]
    assert any(reason in line for line in told)


def test_left_where_messages_are_only_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packing is too short to hide a message behind, whatever the language."""
    monkeypatch.chdir(tmp_path)
    Path("case.f").write_text((FORTRAN % ("", "")).replace("0.5d0 * u", "u"))
    outcome = transform([Path("case.f")], Options())
    assert outcome.after == outcome.before


def test_separated_fortran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("case.f").write_text(FORTRAN % ("", ""))
    outcome = transform([Path("case.f")], Options())
    assert any("private-buffers" in d.rewrites for d in outcome.decisions)


PIPE = """#include <mpi.h>
#include <stdio.h>
#define N 10000
static double field[N], out[N], large[10 * N], small[100], two[100][100];
static void fill(double *x, int n, int k)
{
    for (int i = 0; i < n; i++)
        x[i] = field[i %% N] + x[i / 2] / k;
}
int main(int argc, char **argv)
{
    int rank, n = N;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = n - rank;
    %s
    printf("%%g %%g %%g %%g\\n", out[1], large[3], small[2], two[1][1]);
    MPI_Finalize();
    return 0;
}
"""
LOOP = "for (int k = 1; k < 6; k++) {\n        fill(%s, %s, k);\n        "
SEND = "MPI_Send(%s, %s, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);\n    }"
PIPES = {
    # name: (code in main, whether a copy is sent, what is said)
    "large": (LOOP % ("out", "N") + SEND % ("out", "N"), True, "is sent from a copy"),
    "small": (LOOP % ("small", "100") + SEND % ("small", "100"), False, ""),
    "too large": (LOOP % ("large", "N") + SEND % ("large", "10 * N"), False, "the stack holds"),
    "a part": (LOOP % ("out", "N") + SEND % ("&out[1]", "N - 1"), False, "not a whole array"),
    "of unknown size": (LOOP % ("out", "N") + SEND % ("out", "n"), False, "not all of it"),
    "two dimensions": (LOOP % ("two[0]", "N") + SEND % ("two", "N"), False, "one loop copies"),
    "no braces": (
        "for (int k = 0; k < 6; k++)\n        " + (SEND % ("out", "N")).replace("\n    }", ""),
        False,
        "in braces",
    ),
    "not in a loop": (
        "fill(out, N, 1);\n    " + SEND.replace("\n    }", "") % ("out", "N"),
        False,
        "",
    ),
    "a window as it is": (
        LOOP % ("out", "N") + (SEND % ("out", "N")).replace("\n    }", "\n fill(large, N, k); }"),
        False,
        "",
    ),
    "synchronous": (
        LOOP % ("out", "N") + (SEND % ("out", "N")).replace("Send", "Ssend"),
        False,
        "",
    ),
}


@pytest.mark.parametrize("name", PIPES)
def test_sent_from_a_copy(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, done, reason = PIPES[name]
    monkeypatch.chdir(tmp_path)
    Path("case.c").write_text(PIPE % code)
    outcome = transform([Path("case.c")], Options())
    assert (b"_sent" in outcome.after["case.c"]) is done
    told = [line for d in outcome.decisions for line in d.details if "copy" in line]
    assert any(reason in line for line in told) if reason else not told
