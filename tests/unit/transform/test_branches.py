"""Waits that an `if` stops: which go into its branches and behind it, and which stay in front."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.transform.in_place import IN_PLACE

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import HEADERS

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double a[N], b[N], c[N];
static double *p = a;
static void work(double *x)
{
    for (int i = 1; i < N; i++)
        x[i] = 0.5 * x[i] + x[i - 1];
}
static int step(int peer, int n)
{
    MPI_Status status;
    status.MPI_TAG = 0;
    MPI_Recv(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, %s);
    %s
    work(b);
    return status.MPI_TAG + n;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int found = step(0, argc);
    printf("%%d %%g %%g %%g %%g\\n", found, a[1], b[2], c[3], *p);
    MPI_Finalize();
    return 0;
}
"""
IGNORE = "MPI_STATUS_IGNORE"

# name: (the status, the code that stops the wait, waits in the text; 0: nothing is rewritten)
CASES = {
    "a use in a branch": (IGNORE, "if (n > 3) { c[1] = a[2]; }", 2),
    "a use in both": (IGNORE, "if (n > 3) { work(c); c[1] = a[2]; } else { a[2] = n; }", 3),
    "a return in a branch": (IGNORE, "if (n > 3) { work(c); return 1; }", 2),
    "output in a branch": (IGNORE, 'if (n > 3) { puts("far"); }', 2),
    "a barrier in a branch": (IGNORE, "if (n > 3) { MPI_Barrier(MPI_COMM_WORLD); }", 2),
    "a use deep in a branch": (IGNORE, "if (n > 3) { if (n > 4) { c[1] = a[2]; } }", 2),
    "a use in the condition": (IGNORE, "if (a[1] > 3.0) { c[1] = 2.0; }", 0),
    "a call in the condition": (IGNORE, "if (step(0, n - 1) > n) { c[1] = a[2]; }", 0),
    "a branch without braces": (IGNORE, "if (n > 3) c[1] = a[2];", 0),
    "a status that is read": ("&status", "if (n > 3) { c[1] = a[2]; }", 0),
    "a use behind it": (IGNORE, "if (n > 3) { c[1] = a[2]; } c[2] = a[3];", 0),
    "a pointer in a branch": (IGNORE, "if (n > 3) { c[1] = *p; }", 2),
    "a use in the else alone": (IGNORE, "if (n > 3) { c[1] = n; } else { c[1] = a[2]; }", 2),
}


@pytest.mark.parametrize("name", CASES)
def test_branches(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *code, waits = CASES[name]
    monkeypatch.chdir(tmp_path)
    path = Path("case.c")
    path.write_text(PROGRAM % tuple(code))
    outcome = transform([path], Options(rewrites=IN_PLACE))
    after = outcome.after["case.c"].decode()
    assert after.count("MPI_Wait(") == waits
    assert (outcome.after != outcome.before) is (waits > 0)
    again = transform([path], Options(rewrites=IN_PLACE, contents={path: outcome.after["case.c"]}))
    assert again.after == again.before
    if waits and shutil.which("gcc"):
        path.write_text(after)
        command = ["gcc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        subprocess.run([*command, "-idirafter", str(HEADERS), str(path)], check=True)
