"""Routines around MPI that must not be split, and what is written where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double u[N + 2], v[N], w[N], t;
static int count = N;
%s
static void exchange(double *f, int up, int down)
{
    %s
    MPI_Sendrecv(&f[1], 1, MPI_DOUBLE, up, 0, &f[N + 1], 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    %s
}
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
int main(int argc, char **argv)
{
    int rank;
    void (*hook)(double *, int, int) = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    %s
    if (hook)
        hook(u, 0, 0);
    printf("%%d %%g %%g %%g %%g\\n", count, u[N + 1], v[0], w[3], t);
    MPI_Finalize();
    return 0;
}
"""
CALL = "exchange(u, 1 - rank, 1 - rank);"

# name: (top level, before the message, behind it, in main, whether it is split)
CASES = {
    "independent work": ("", "", "", CALL + " work(v);", True),
    "work on what is sent": ("", "", "", CALL + " work(u);", True),
    "a value behind the message": ("", "", "t = f[N + 1];", CALL + " work(v);", True),
    "a value that is needed": ("", "", "t = f[N + 1];", CALL + " w[N / 2] = t; work(w);", False),
    "its address is taken": ("", "", "", CALL + " hook = exchange; work(v);", False),
    "called in a condition": ("", "", "", "if (rank < 2) " + CALL + " work(v);", True),
    "a return in it": ("", "if (f[N + 1] < 0) return;", "", CALL + " work(v);", False),
    "output in it": ("", 'printf("x");', "", CALL + " work(v);", False),
    "a barrier in it": ("", "MPI_Barrier(MPI_COMM_WORLD);", "", CALL + " work(v);", False),
    "a number from start to finish": (
        "",
        "double s = f[2]; f[1] = s; s += 1.0;",
        "t = s + f[N + 1];",
        CALL + " work(v);",
        True,
    ),
    "a number that the work changes": (
        "",
        "int n = count;",
        "for (int i = 0; i < n; i++) w[i] = f[N + 1];",
        CALL + " for (int i = 0; i < N; i++) { v[i] = 2.0 * v[i]; count = i / 2; }",
        False,
    ),
    "a number of a number that the work changes": (
        "",
        "int n = count; int m = 2 * n;",
        "for (int i = 0; i < m; i++) w[i / 2] = f[N + 1];",
        CALL + " for (int i = 0; i < N; i++) { v[i] = 2.0 * v[i]; count = i / 2; }",
        False,
    ),
    "a number that the work before it changes": (
        "",
        "int n = count; f[1] = n;",
        "",
        "for (int i = 0; i < N; i++) { v[i] = 2.0 * v[i]; count = i / 2; } " + CALL,
        False,
    ),
    "a number that stays": (
        "",
        "int n = count;",
        "for (int i = 0; i < n; i++) w[i] = f[N + 1];",
        CALL + " work(v);",
        True,
    ),
    "its names are taken": (
        "static void exchange_start(void) { t = 1.0; }",
        "",
        "",
        CALL + " work(v); exchange_start();",
        False,
    ),
    "the work changes the number of elements": (
        "",
        "",
        "for (int i = 0; i < count; i++) w[i] = f[N + 1];",
        CALL + " work(v); count = 3;",
        True,  # before `count` changes
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_split(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *code, split = CASES[name]
    path = Path("case.c")
    monkeypatch.chdir(tmp_path)
    path.write_text(PROGRAM % tuple(code))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    assert any("wrappers" in d.rewrites for d in outcome.decisions) is split
    after = outcome.after["case.c"].decode()
    assert ("exchange_finish" in after) is split
    if split:
        main = after[after.index("int main") :]
        start = main.index("exchange_start(")
        assert main.index("work", start) < main.index("exchange_finish(")
    again = transform([path], Options(contents={path: outcome.after["case.c"]}))
    assert again.after == again.before


# What is told at the calls of a wrapper that stays whole although its callers compute.
WHOLE = {
    "a value that is needed": "behind its call `w` is used or set (case.c:25)",
    "a return in it": "control may leave by return (case.c:9)",
    "output in it": "the call of printf (case.c:9)",
    "a barrier in it": "the call of MPI_Barrier (case.c:9)",
}


# The datatype, what the callers do behind the call, and whether the message is the reason.
ELEMENTS = (
    ("face", "for (int i = 2; i < N; i++) w[i] = u[i] + u[i + 1];", True),
    ("MPI_DOUBLE", "for (int i = 0; i < N; i++) w[i] = u[N + 1];", False),
    ("face", "for (int i = 2; i < N; i++) w[i] = u[index[i]];", False),
)


@pytest.mark.parametrize(("datatype", "behind", "told"), ELEMENTS)
def test_elements_of_a_message_that_are_not_known(
    datatype: str, behind: str, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told where more would be possible if they were, not where what is behind them is unknown."""
    monkeypatch.chdir(tmp_path)
    outside = "static int index[N];\nextern MPI_Datatype face;"
    text = PROGRAM % (outside, "", "", CALL + behind)
    Path("case.c").write_text(text.replace("MPI_DOUBLE", datatype))
    (decision,) = transform([Path("case.c")], Options()).decisions
    assert decision.decision == "nothing-to-gain"
    reason = str(decision.obstacle)
    assert "behind its call `u` is used or set" in reason
    assert ("and which elements of it the message has is not known" in reason) is told


def test_a_counted_request_is_not_the_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a routine that is taken apart with it where the elements of its messages are known."""
    monkeypatch.chdir(tmp_path)
    count = "MPI_Request r[2];\n    int n = 0;"
    received = "MPI_Irecv(&f[N + 1], 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &r[n++]);"
    sent = "MPI_Isend(&f[1], 1, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &r[n++]);"
    wait = "MPI_Waitall(n, r, MPI_STATUSES_IGNORE);"
    begin = PROGRAM.index("    MPI_Sendrecv")
    end = PROGRAM.index("%s", begin)
    text = PROGRAM[:begin] + f"    {received}\n    {sent}\n    {wait}\n    " + PROGRAM[end:]
    for datatype, known in (("MPI_DOUBLE", True), ("face", False)):
        code = text % ("extern MPI_Datatype face;", count, "", CALL + ELEMENTS[0][1])
        Path("case.c").write_text(code.replace("MPI_DOUBLE", datatype))
        for decision in transform([Path("case.c")], Options()).decisions:
            assert (decision.decision == "rewritten") is known
            told = "which elements of it the message has" in str(decision.obstacle)
            assert told is not known


@pytest.mark.parametrize("name", WHOLE)
def test_why_it_stays_whole(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path("case.c")
    monkeypatch.chdir(tmp_path)
    path.write_text(PROGRAM % tuple(CASES[name][:-1]))
    told = [d for o in transform([path], Options()).decisions for d in o.details]
    told = [detail for detail in told if detail.startswith("wrappers")]
    assert set(told) == ({f"wrappers: not done, because {WHOLE[name]}"} if WHOLE[name] else set())


def test_callers_in_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller's file gets the prototypes behind its includes."""
    monkeypatch.chdir(tmp_path)
    text = PROGRAM % ("", "", "", CALL + " work(v);")
    first = text.index("static void exchange")
    middle = text.index("static void work")
    Path("a.c").write_text(
        "#include <mpi.h>\n#define N 100\n" + text[first:middle].replace("static ", "")
    )
    Path("b.c").write_text(
        text[:first] + "void exchange(double *f, int up, int down);\n" + text[middle:]
    )
    outcome = transform([Path("a.c"), Path("b.c")], Options())
    caller = outcome.after["b.c"].decode()
    assert caller.index("#include <stdio.h>") < caller.index("void exchange_start(double *f")
    assert caller.index("void exchange_finish(") < caller.index("#define N")
    assert "void exchange_start(double *f" in outcome.after["a.c"].decode()


def test_an_argument_with_a_side_effect(tmp_path: Path) -> None:
    """It would stand in the start and in the finish, and happen twice."""
    path = tmp_path / "case.c"
    path.write_text(PROGRAM % ("", "", "", "exchange(u, 1 - rank, count++);\n    work(w);"))
    outcome = transform([path], Options())
    assert b"exchange_start" not in outcome.after[str(path)]
    told = [line for d in outcome.decisions for line in d.details]
    assert any("an argument has side effects" in line for line in told), told


COPIED = """module halo
   use mpi
   implicit none
contains
   subroutine exchange(a, n, peer)
      integer, intent(in) :: n, peer
      real(8), intent(inout) :: a(0:n)
      integer :: ierr
      call MPI_Sendrecv(a(n), 1, MPI_REAL8, peer, 1, a(0), 1, MPI_REAL8, peer, 1, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
   end subroutine exchange
end module halo
program main
   use halo
   implicit none
   integer, parameter :: n = 200
   real(8) :: g(0:n, 0:n), w(n)
   integer :: ierr, i
   call MPI_Init(ierr)
   g = 1
   w = 0
   call exchange(%s, n, 0)
   do i = 1, n
      w(i) = w(i) + 0.5d0*i
   end do
   print *, sum(g), sum(w)
   call MPI_Finalize(ierr)
end program main
"""


@pytest.mark.parametrize(
    ("argument", "done"), [("g(:, 2)", True), ("g(2, :)", False), ("g(0:n:2, 2)", False)]
)
def test_a_section_that_is_copied(argument: str, done: bool, tmp_path: Path) -> None:
    """Start and finish would each get a temporary copy, gone while the message is under way."""
    path = tmp_path / "case.f90"
    path.write_text(COPIED % argument)
    outcome = transform([path], Options())
    assert ("call exchange_start(" in outcome.after[str(path)].decode()) is done
    told = [line for d in outcome.decisions for line in d.details]
    assert any("a noncontiguous section becomes" in line for line in told) is not done, told


def test_two_calls_on_one_line_end_the_search(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(
        """#include <mpi.h>
#define N 1000
static double a[N], b[N], c[N];
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
static void ex(double *x, double *y, int peer)
{
    MPI_Sendrecv(x, N, MPI_DOUBLE, peer, 0, y, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        y[i] += x[i];
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 3; k++) { work(a); ex(a, b, 1 - rank); work(c); ex(c, b, 1 - rank); }
    MPI_Finalize();
    return 0;
}
"""
    )
    transform([path], Options())
