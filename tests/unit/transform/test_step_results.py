"""Steps that return what their loops gather, or do something in front of these: divided, or whole.

The value of the interior goes on in the boundary; what is done once stays with the part that runs
last.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define N 60
static double u[N + 2][N + 2], v[N + 2][N + 2], total, seen;
static int up, down, rank, rounds, wanted = 1;
%(above)s
static void exchange(void)
{
    MPI_Sendrecv(&u[N][1], N, MPI_DOUBLE, down, 1, &u[0][1], N, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[1][1], N, MPI_DOUBLE, up, 2, &u[N + 1][1], N, MPI_DOUBLE, down, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
%(lead)s step(%(parameters)s)
{
    %(before)s
    for (int i = 1; i <= N; i++) {
        for (int j = 1; j <= N; j++) {
            double d = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) - u[i][j];
            v[i][j] = u[i][j] + d;
            %(body)s
        }
    }
    %(behind)s
}
static void turn(void)
{
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            u[i][j] = v[i][j];
}
%(below)s
int main(int argc, char **argv)
{
    int size;
    double res = 0.0, all = 0.0, other = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            u[i][j] = (7 * i + 3 * j + 5 * rank) %% 11;
    for (int t = 0; t < 20; t++) {
        exchange();
        %(call)s
        turn();
        total += res + (double)rounds;
    }
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            seen += u[i][j] * (1 + i %% 3);
    MPI_Reduce(&total, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    printf("%%d %%.17g %%.17g %%.17g %%d\\n", rank, all, seen, other, rounds);
    MPI_Finalize();
    return 0;
}
"""
USUAL = {
    "above": "",
    "lead": "static double",
    "parameters": "void",
    "before": "double most = 0.0;",
    "body": "if (fabs(d) > most) most = fabs(d);",
    "behind": "return most;",
    "below": "",
    "call": "res = step();",
}
SUM = {"body": "most += d;"}
COUNT = {
    "lead": "static int",
    "before": "int most = 0;",
    "body": "if (d > 0.5) most++; most += d < 0.1;",
}
GOES: dict[str, dict[str, str]] = {
    "as usual": {},
    "declared there": {"call": "double r = step(); res = r;"},
    "a constant": {"call": "const double r = step(); res = r;"},
    "declared beside others": {"call": "double r = step(), x; x = r; res = x;"},
    "added": {"call": "res += step();"},
    "with more around it": {"call": "res = 0.5 * res; other = 2.0 * step() * 0.5; res = other;"},
    "on the line of the exchange": {"call": "exchange(); res = step(); other += res; turn();"},
    "all in one line": {"call": "{ exchange(); rounds++; res = step(); seen += res; }"},
    "not wanted": {"call": "step();"},
    "cast to nothing": {"lead": "double", "call": "step();"},
    "returned by its caller": {
        "below": "static double go(void) { exchange(); return step(); }",
        "call": "res = go();",
    },
    "set in front": {"before": "double most; most = 0.0;"},
    "set twice": {"before": "double most = 1.0; most = most - 1.0;"},
    "a first value from elsewhere": {"before": "double most = total;"},
    "one declaration of several": {"before": "double x = 1.0, most = 0.0; (void)x;"},
    "with parameters": {
        "parameters": "double a, int n",
        "body": "if (fabs(d) > most) most = fabs(d);",
        "behind": "return a * most + n;",
        "call": "res = step(0.5, 2);",
    },
    "a function of it": {"behind": "return sqrt(most);"},
    "another type": {"lead": "static int", "behind": "return most > 1.0;"},
    "also kept": {"behind": "seen = most; return most;"},
    "only kept": {"lead": "static void", "behind": "seen = most;", "call": "step(); res = seen;"},
    "given out": {
        "lead": "static void",
        "parameters": "double *out",
        "behind": "*out = most;",
        "call": "step(&res);",
    },
    "over all ranks": {
        "behind": "double every; MPI_Allreduce(&most, &every, 1, MPI_DOUBLE, MPI_MAX, "
        "MPI_COMM_WORLD); return every;"
    },
    "a count": {**COUNT, "body": "most += d < 0.1;"},
    "nothing gathered": {"before": "", "body": "", "behind": "return 0.0;"},
    "copied back": {
        "behind": "for (int i = 1; i <= N; i++)\n for (int j = 1; j <= N; j++)\n"
        "u[i][j] = v[i][j];\n return most;"
    },
    "a counter in front": {"before": "rounds++;\n double most = 0.0;"},
    "a counter on the same line": {"before": "rounds++; double most = 0.0; rounds += 2;"},
    "a clock": {
        "before": "double t0 = MPI_Wtime();\n double most = 0.0;",
        "behind": "wanted = MPI_Wtime() - t0 > -1.0; return most;",
    },
    "a condition in front": {"before": "double most = 0.0; if (rank == 0) rounds += 3;"},
    "a comment behind": {"behind": "rounds++; // once\n return most; /* the largest */"},
    "a name that is taken": {
        "before": "double imbrex_most = 1.0, most = 0.0;",
        "behind": "return most * imbrex_most;",
    },
    "a name that its caller has": {"call": "double imbrex_most = step(); res = imbrex_most;"},
    "a prototype": {"above": "static double step(void);"},
    "not static": {"lead": "double", "above": "double step(void);"},
}
STAYS: dict[str, dict[str, str]] = {
    "a sum": SUM,
    "a sum that is also given out": {**SUM, "behind": "seen = most; return most;"},
    "used in the loops": {"body": "if (fabs(d) > most) most = fabs(d); v[i][j] += most;"},
    "a maximum with a sign": {"body": "if (d > most) most = d;"},
    "two of them": {
        "before": "double most = 0.0, sum = 0.0;",
        "body": "if (fabs(d) > most) most = fabs(d); sum += d;",
        "behind": "return most + sum;",
    },
    "not wanted behind": {"lead": "static void", "behind": "", "call": "step();"},
    "the last value": {"body": "most = d;"},
    "its address is known": {
        "before": "double most = 0.0, *p = &most;",
        "body": "if (fabs(d) > most) most = fabs(d); v[i][j] += *p;",
    },
    "its address is known behind": {
        "before": "double most = 0.0; double *p = &most;",
        "behind": "*p += 1.0; return most;",
    },
    "kept from call to call": {"before": "static double most;"},
    "a return in between": {"behind": "if (most > 1e9) return 0.0; return most;"},
    "a return in front": {"before": "double most = 0.0; if (wanted > 5) return 0.0;"},
    "a counter that the loops read": {
        "before": "rounds++; double most = 0.0;",
        "body": "v[i][j] += rounds;",
        "behind": "return most;",
    },
    "a counter that a local reads": {
        "before": "rounds++; double most = 0.0; int n = rounds;",
        "body": "v[i][j] += n;",
        "behind": "return most;",
    },
    "what comes is read in front": {
        "before": "double most = 0.0, first = u[0][1];",
        "body": "v[i][j] += first;",
        "behind": "return most;",
    },
    "what comes is kept in front, for the loops": {
        "before": "double most = 0.0; seen = u[0][1];",
        "body": "v[i][j] += seen;",
        "behind": "return most;",
    },
    "the field is set in front": {"before": "double most = 0.0; u[5][5] = 1.0;"},
    "a message in front": {"before": "double most = 0.0; MPI_Barrier(MPI_COMM_WORLD);"},
    "unknown code in front": {
        "above": "void elsewhere(void);",
        "before": "double most = 0.0; elsewhere();",
    },
    "only sometimes": {"call": "if (wanted && step() > 1.0) res = 1.0;"},
    "only in one branch": {"call": "res = wanted ? step() : 0.0;"},
    "an argument with an effect": {
        "parameters": "int n",
        "body": "v[i][j] += n;",
        "behind": "return most;",
        "call": "res = step(rounds++);",
    },
    "an argument that is set there": {
        "parameters": "int n",
        "body": "v[i][j] += n;",
        "behind": "return most;",
        "call": "int n; res = step(n = 3);",
    },
    "two calls": {"call": "res = step() + step();"},
    "through a pointer": {"call": "double (*f)(void) = step; res = f();"},
    "a local array for what is behind": {
        "before": "double most = 0.0, w[N + 2] = {0.0};",
        "body": "w[i] = d;",
        "behind": "return most + w[3];",
    },
    "a macro around it": {"above": "#define GO(r) r = step()", "call": "GO(res);"},
    "memory of its own behind": {"behind": "static int n; n++; return most + n;"},
}


def divided(fields: dict[str, str], folder: Path, *, reassociation: bool = False) -> list[str]:
    """The program before and after; nothing where its step is not divided."""
    source = folder / "program.c"
    source.write_text(PROGRAM % {**USUAL, **fields})
    outcome = transform([source], Options(reassociation=reassociation))
    before, after = (side[str(source)].decode() for side in (outcome.before, outcome.after))
    return [before, after] if "step_interior(" in after else []


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    texts = divided(GOES[name], tmp_path)
    assert texts
    if shutil.which("mpicc") is None:
        return
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.c").write_text(text)
        flags = ["-Wall", "-Werror", "-Wno-unused-variable", "-Wno-unused-function"]
        made = subprocess.run(
            ["mpicc", *flags, "-fsyntax-only", f"{tmp_path}/{number}.c"],
            capture_output=True,
            text=True,
        )
        assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    assert not divided(STAYS[name], tmp_path)


def test_a_sum_goes_where_its_order_is_free(tmp_path: Path) -> None:
    assert divided(SUM, tmp_path, reassociation=True)


def test_what_shares_the_line_of_an_exchange_stays(tmp_path: Path) -> None:
    row = "for (int i = 1; i <= N; i++)\n v[3][i] += 1.0;\n"
    call = f"{row} exchange(); rounds++; wanted++;\n {row} res = v[3][3];"
    source = tmp_path / "program.c"
    source.write_text(PROGRAM % {**USUAL, "call": call})
    after = transform([source], Options()).after[str(source)].decode()
    assert "exchange_start(exchange_requests);" in after
    assert "rounds++; wanted++;" in after
