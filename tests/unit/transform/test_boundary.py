"""Loop nests that must not be divided, and texts of the headers of those that are."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block as ModelBlock
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.options import Options
from imbrex.transform.text.loop_headers import read_header
from imbrex.transform.text.terms import difference, shifted

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 100
static double u[N + 2][N + 2], v[N + 2][N + 2], w[N + 2], total;
static double *p = &u[0][0];
static void set(double *x) { for (int i = 0; i < N; i++) x[i] += 1.0; }
int main(int argc, char **argv)
{
    int rank, up, down, i = 0, n = N;
    unsigned m = N;
    double s = 0.0, last = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    up = down = 1 - rank;
    MPI_Sendrecv(&u[1][1], N, MPI_DOUBLE, up, 0, &u[N + 1][1], N, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    %s
    printf("%%g %%g %%g %%d %%u %%g %%g\\n", s, total, last, i + n, m, *p, v[3][4]);
    set(w);
    MPI_Finalize();
    return 0;
}
"""
ROWS = "for (int i = 1; i <= N; i++) for (int j = 1; j <= N; j++) "

# name: (code behind the exchange, part of the reason; empty where no division is proposed at all)
REFUSED = {
    "each point from its neighbour's new value": (
        ROWS + "u[i][j] = u[i - 1][j] + u[i + 1][j];",
        "depend on each other through `u`",
    ),
    "a sum over iterations": (ROWS + "s += u[i + 1][j];", "the sum `s` would be"),
    "a sum in a global variable": (ROWS + "total += u[i + 1][j];", "the sum `total` would be"),
    "random numbers": (ROWS + "v[i][j] = u[i + 1][j] * drand48();", "`drand48` carries a value"),
    "the last value is used": (ROWS + "{ last = u[i + 1][j]; v[i][j] = last; }", "`last` carries"),
    "a value from the iteration before": (
        ROWS + "{ v[i][j] = s + u[i + 1][j]; s = u[i + 1][j]; }",
        "`s` carries a value",
    ),
    "a scalar that is set in a branch": (
        ROWS + "{ if (i > 3) s = 2.0; v[i][j] = s * u[i + 1][j]; }",
        "`s` carries a value",
    ),
    "iterations meet in a column": (
        "for (int j = 1; j <= N; j++) for (int i = 1; i <= N; i++) w[j] = u[i + 1][j] + w[j];",
        "depend on each other through `w`",
    ),
    "a store through a pointer": (ROWS + "p[j] = u[i + 1][j];", ""),
    "an index of an index": (ROWS + "w[(int)v[i][j]] = u[i + 1][j];", "depend on each other"),
    "a step of two": ("for (int i = 2; i <= N; i += 2) v[i][1] = u[i + 1][1];", "count by one"),
    "an unsigned bound": (
        "for (unsigned k = rank + 1; k <= m; k++) v[k][1] = u[k + 1][1];",
        "counts without a sign",
    ),
    "a jump out": (
        ROWS + "{ if (v[i][j] > 3.0) break; v[i][j] = u[i + 1][j]; }",
        "may leave by break",
    ),
    "the index is used afterwards": (
        "for (i = 1; i <= N; i++) v[i][1] = u[i + 1][1];",
        "`i` carries a value",
    ),
    "a parallel loop": (
        "\n#pragma omp parallel for ordered\n" + ROWS + "v[i][j] = u[i + 1][j];",
        "a directive belongs to the loop",
    ),
    "a directive on an inner loop": (
        "for (int i = 1; i <= N; i++) {\n#pragma omp simd linear(j)\n"
        "for (int j = 1; j <= N; j++) v[i][j] = u[i + 1][j]; }",
        "a directive belongs to the loop",
    ),
    "a message in the loop": (
        ROWS + "{ v[i][j] = u[i + 1][j]; MPI_Barrier(MPI_COMM_WORLD); }",
        "MPI_Barrier",
    ),
    "output in the loop": (ROWS + '{ v[i][j] = u[i + 1][j]; printf("."); }', "printf"),
    "a bound that the loop changes": (
        "for (int i = 1; i <= n; i++) { v[i][1] = u[i + 1][1]; if (v[i][1] > 9.0) n = 50; }",
        "",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, reason = REFUSED[name]
    path = Path("case.c")
    monkeypatch.chdir(tmp_path)
    path.write_text(PROGRAM % code)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    assert not any("boundary-first" in d.rewrites for d in outcome.decisions)
    details = [line for d in outcome.decisions for line in d.details if "boundary" in line]
    assert any(reason in line for line in details) if reason else not details


def test_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program of the refusals with a loop that may be divided: the refusals are not void."""
    path = Path("case.c")
    monkeypatch.chdir(tmp_path)
    path.write_text(PROGRAM % (ROWS + "{ s = u[i + 1][j]; v[i][j] = s; }").replace("%g\\n", ""))
    path.write_text(path.read_text().replace('%g\\n", s,', '\\n",').replace("%g", ""))
    outcome = transform([path], Options())
    assert any("boundary-first" in d.rewrites for d in outcome.decisions), outcome.decisions


FORTRAN = """      program main
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 100)
      double precision u(0:n+1, 0:n+1), v(n, n)
      common /f/ u, v
      integer i, j, ierr, status(MPI_STATUS_SIZE)
      call mpi_init(ierr)
      call mpi_sendrecv(u(1, n), n, MPI_DOUBLE_PRECISION, 0, 1,
     &                  u(1, 0), n, MPI_DOUBLE_PRECISION, 0, 1,
     &                  MPI_COMM_WORLD, status, ierr)
%s
      print *, v(1, 1)
      call mpi_finalize(ierr)
      end
"""
FORTRAN_LOOPS = {
    "divided": (
        """      do j = 1, n
         do i = 1, n
            v(i, j) = u(i, j - 1)
         end do
      end do""",
        "",
    ),
    "labels": (
        """      do j = 1, n
         do 10 i = 1, n
            v(i, j) = u(i, j - 1)
   10    continue
      end do""",
        "",
    ),
    "a directive": (
        """!$omp parallel do ordered
      do j = 1, n
         do i = 1, n
            v(i, j) = u(i, j - 1)
         end do
      end do
!$omp end parallel do""",
        "a directive belongs to the loop",
    ),
}


@pytest.mark.parametrize("name", FORTRAN_LOOPS)
def test_fortran(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loops, reason = FORTRAN_LOOPS[name]
    monkeypatch.chdir(tmp_path)
    Path("case.f").write_text(FORTRAN % loops)
    outcome = transform([Path("case.f")], Options())
    assert not outcome.skipped
    details = [line for d in outcome.decisions for line in d.details if "boundary" in line]
    assert any("boundary-first" in d.rewrites for d in outcome.decisions) is (not reason)
    assert any(reason in line for line in details), details


@pytest.mark.parametrize("cut", [(1, 1), (1, 0), (0, 1)])
@pytest.mark.parametrize("high", range(-1, 5))
def test_header_covers_all(cut: tuple[int, int], high: int) -> None:
    """Interior and boundary together are the loop, each index once, also of short loops."""
    header = read_header(*c_loop(f"for (int i = 0; i <= {high}; i++)"))
    assert header is not None
    inner = iterations(header.inner(cut))
    for always in (True, False):
        ends = iterations(header.ends(cut, ["1"] if always else []))
        whole = list(range(high + 1))
        if always:
            assert ends == whole
        else:
            assert sorted(inner + ends) == whole
            assert not set(inner) & set(ends)


def iterations(header: str) -> list[int]:
    """What a C header counts, by a translation into Python."""
    first, test, step = header.removeprefix("for (").removesuffix(")").split(";")
    i = int(python(first.split("=", 1)[1], 0))
    found = []
    for _ in itertools.repeat(None, 20):
        compare, limit = test.strip().removeprefix("i ").split(" ", 1)
        bound = int(python(limit, i))
        if not (i <= bound if compare == "<=" else i < bound):
            return found
        found.append(i)
        i += 1 if step.strip() == "i++" else int(python(step.split("+=")[1], i))
    raise AssertionError("the loop does not end")


def python(text: str, i: int) -> object:
    text = text.strip().removeprefix("(").removesuffix(")") if "?" in text else text
    if "?" in text:
        condition, rest = text.split("?", 1)
        yes, no = rest.split(":", 1)
        text = f"({yes}) if ({condition.replace('||', ' or ')}) else ({no})"
    return eval(text.strip(), {"i": i})


def c_loop(text: str) -> tuple[SourceFile, Statement]:
    data = (text + " x();").encode()
    loop = Statement(Kind.LOOP, 0, len(data), 1, 1, code_start=0)
    loop.blocks = [ModelBlock([], len(text), len(data))]
    return SourceFile(Path("x.c"), "x.c", data, Language.C), loop


def test_terms() -> None:
    assert shifted("n - 1", 1) == "n"
    assert shifted("n", -2) == "n - 2"
    assert shifted("a ? b : c", 1) == "(a ? b : c) + 1"
    assert shifted("(p->n * m) - 1", 1) == "(p->n * m)"
    assert shifted("(a ? b : c) - (d)", 1) == "((a ? b : c) - (d)) + 1"
    assert difference("n - 1", "0") == "n - 1"
    assert difference("hi", "lo + 1") == "hi - (lo + 1)"


# The layer of `u` that the message fills, and whether the nest may be divided in front of it.
LAYERS = {"ny + 1": True, "0": True, "ny + 2": False, "-1": False, "nx": False}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_beyond_the_row_is_another_row(layer: str) -> None:
    """Loops that run show that sizes are positive, not that an index stays in its dimension."""
    path = Path(__file__).parent / "cases" / "middle.c"
    text = path.read_text()
    changed = text.replace("u[at(b, i, ny + 1, k)] =", f"u[at(b, i, {layer}, k)] =")
    assert (changed == text) == (layer == "ny + 1")
    outcome = transform([path], Options(contents={path: changed.encode()}))
    rewrites = {name for decision in outcome.decisions for name in decision.rewrites}
    assert ("boundary-first" in rewrites) == LAYERS[layer]


def test_named_only_where_it_makes_room(tmp_path: Path) -> None:
    source = tmp_path / "apart.c"
    source.write_text(
        """#include <mpi.h>
enum { N = 4000 };
static double u[N + 2], v[N + 2], w[N + 2];
int main(int argc, char **argv)
{
    int other, mine = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &other);
    other = 1 - other;
    MPI_Sendrecv(&u[N], 1, MPI_DOUBLE, other, 1, &u[0], 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= N; i++)
        v[i] = u[i - 1] + u[i];
    for (int i = 1; i <= N; i++)
        mine += v[i] > 1.0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 1; i <= N; i++)
        w[i] = 0.5 * v[i];
    w[0] = all;
    MPI_Finalize();
    return 0;
}
"""
    )
    exchange, reduction = transform([source], Options()).decisions
    assert exchange.rewrites == ["boundary-first", "nonblocking"]
    assert reduction.rewrites == ["collectives"]
    assert not any("boundary-first" in line for line in reduction.details)
