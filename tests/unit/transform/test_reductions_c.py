"""Loops of C that take a maximum, a minimum or a sum: divided where no order of values shows.

Each form that goes stands beside some in which an order, a value that is no number, or the sign of
a zero would show.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define NX 64
#define NY 40
static double u[NX + 2][NY + 2], v[NX + 2][NY + 2];
static int up, down;
%(above)s

static void exchange(void)
{
    MPI_Sendrecv(&u[NX][1], NY, MPI_DOUBLE, down, 1, &u[0][1], NY, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    %(exchange)s
    MPI_Sendrecv(&u[1][1], NY, MPI_DOUBLE, up, 2, &u[NX + 1][1], NY, MPI_DOUBLE, down, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    double all = 0.0;
    %(declared)s
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 1; i <= NX; i++)
        for (int j = 1; j <= NY; j++)
            u[i][j] = (7 * i + 3 * j + 5 * rank) %% 11;
    for (int t = 0; t < 30; t++) {
        exchange();
        %(first)s
        for (int i = 1; i <= NX; i++) {
            for (int j = 1; j <= NY; j++) {
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                %(body)s
            }
        }
        %(last)s
        for (int i = 1; i <= NX; i++)
            for (int j = 1; j <= NY; j++)
                u[i][j] = v[i][j];
        if (all < 1e-9)
            break;
    }
    double mine = 0;
    for (int i = 1; i <= NX; i++)
        for (int j = 1; j <= NY; j++)
            mine += u[i][j] * (1 + i %% 3);
    printf("%%d %%.17g %%.17g\\n", rank, mine, all);
    MPI_Finalize();
    return 0;
}
"""
USUAL = {
    "above": "",
    "declared": "double diff;",
    "exchange": "",
    "first": "diff = 0.0;",
    "last": "all += diff;",
    "body": "double d = fabs(v[i][j] - u[i][j]); if (d > diff) diff = d;",
}
WHOLE = {"declared": "int diff;", "first": "diff = 0;"}
MAX = "#define MAX(a, b) ((a) > (b) ? (a) : (b))"
D = "double d = fabs(v[i][j] - u[i][j]); "
GOES: dict[str, dict[str, str]] = {
    "a maximum": {},
    "the other way round": {"body": D + "if (diff < d) { diff = d; }"},
    "fmax": {"body": D + "diff = fmax(diff, d);"},
    "fmax of an expression": {"body": "diff = fmax(fabs(v[i][j] - u[i][j]), diff);"},
    "a choice": {"body": D + "diff = d > diff ? d : diff;"},
    "a macro": {"above": MAX, "body": D + "diff = MAX(d, diff);"},
    "a minimum": {"first": "diff = 1e30;", "body": D + "if (d < diff) diff = d;"},
    "declared behind the exchange": {"declared": "", "first": "double diff = 0.0;"},
    "integers": {**WHOLE, "body": "int d = i - 3 * j; if (d > diff) diff = d;"},
    "a sum of integers": {**WHOLE, "body": "diff += i - 3 * j;"},
    "of file scope": {"declared": "", "above": "static double diff;"},
    "of all ranks": {"last": "MPI_Allreduce(&diff, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);"},
}
STAYS: dict[str, dict[str, str]] = {
    "zeros with signs": {"body": "double d = v[i][j] - u[i][j]; if (d > diff) diff = d;"},
    "a choice that takes no number": {"body": D + "diff = diff > d ? diff : d;"},
    "a macro that takes no number": {"above": MAX, "body": D + "diff = MAX(diff, d);"},
    "a function of its own": {
        "above": "static double abs1(double x) { return -x; }\n#define labs abs1",
        "body": "double d = labs(v[i][j] - u[i][j]); if (d > diff) diff = d;",
    },
    "set once more": {"body": D + "d -= 1.0; if (d > diff) diff = d;"},
    "another value is taken": {"body": D + "if (d > diff) diff = d + 1.0;"},
    "another is compared": {"body": D + "double e = fabs(u[i][j]); if (e > diff) diff = d;"},
    "where it was": {"body": D + "if (d > diff) { diff = d; all = i; }"},
    "counted else": {"body": D + "if (d > diff) diff = d; else all += 1.0;"},
    "read in the loop": {"body": D + "if (d > diff) diff = d; v[i][j] += diff;"},
    "a maximum and a minimum": {"body": D + "if (d > diff) diff = d; if (d < diff) diff = d;"},
    "a maximum and a sum": {"body": D + "if (d > diff) diff = d; diff += d;"},
    "set in the loop": {"body": D + "if (j == 1) diff = 0.0; if (d > diff) diff = d;"},
    "through a pointer": {
        "declared": "double diff, *p = &diff;",
        "body": D + "if (d > diff) diff = d; *p *= 0.5;",
    },
    "through a pointer of file scope": {
        "above": "static double *p;",
        "first": "diff = 0.0; p = &diff;",
        "body": D + "if (d > diff) diff = d; v[i][j] += *p;",
    },
    "volatile": {"declared": "volatile double diff;"},
    "sent by the exchange": {
        "declared": "",
        "above": "static double diff;",
        "exchange": "MPI_Bcast(&diff, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);",
    },
    "left early": {"body": D + "if (d > diff) diff = d; if (d > 1e9) break;"},
    "a difference that changes it": {"body": "diff = fmax(diff, fabs(diff - u[i][j]));"},
}
SUMS = {
    "a sum": {"body": "diff += v[i][j];"},
    "a difference": {"body": "diff -= v[i][j];"},
    "written out": {"body": "diff = diff + v[i][j] * v[i][j];"},
    "of file scope": {"declared": "", "above": "static double diff;", "body": "diff += v[i][j];"},
}


def run(changes: dict[str, str], folder: Path, *, allowed: bool = False) -> tuple[str, Outcome]:
    path = folder / "residual.c"
    path.write_text(PROGRAM % {**USUAL, **changes})
    outcome = transform([path], Options(reassociation=allowed))
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode(), outcome


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    text, _ = run(GOES[name], tmp_path)
    names = ["exchange_start(", "i = 2; i <= NX - 1", "exchange_finish(", "i += NX <= 1"]
    last = [text.rindex(part) for part in names]
    assert last == sorted(last)
    assert text.index("diff = ", text.index("int main(")) < last[1]


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    text, _ = run(STAYS[name], tmp_path)
    assert "NX - 1" not in text


@pytest.mark.parametrize("name", SUMS)
def test_sums_where_it_is_allowed(name: str, tmp_path: Path) -> None:
    text, outcome = run(SUMS[name], tmp_path)
    assert "NX - 1" not in text
    said = [detail for decision in outcome.decisions for detail in decision.details]
    assert any("the sum `diff` would be rounded in another order" in detail for detail in said)
    text, _ = run(SUMS[name], tmp_path, allowed=True)
    assert "i = 2; i <= NX - 1" in text
