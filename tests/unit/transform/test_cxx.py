"""C++ as far as calls, plain arrays and vectors go: what is rewritten, and what must not be."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from imbrex.transform.engine import Options, transform
from imbrex.transform.readers.c_source import HEADERS

PROGRAM = """#include <mpi.h>
#include <vector>
#include <cstdio>
const int n = 1000;
static double a[n], b[n], c[n];
static double *held = c;
static void work(double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
static void set(double &x) { x = 3.0; }
static void keep(double &x) { held = &x; }
struct Cell { double &inner; };
%s
int main(int argc, char **argv)
{
    int rank, m = n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    %s
    std::printf("%%g %%g %%g %%d\\n", a[1], b[2], held[0], m);
    MPI_Finalize();
    return 0;
}
"""
SEND = "MPI_Send(a, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);"
RECV = "MPI_Recv(v.data(), n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"

# name: (top-level code, code in main, whether the call is rewritten, part of its reason)
CASES = {
    "a plain array": ("", SEND + " work(b);", True, "1 computing statement"),
    "in a namespace": (
        "namespace part { static void go(int peer) { " + SEND + " work(b); } }",
        "part::go(peer);",
        True,
        "1 computing statement",
    ),
    "a local reference": (
        "",
        "double &x = a[3]; " + SEND + " x = 2.0; work(b);",
        False,
        "may be set",
    ),
    "a reference parameter": ("", SEND + " set(a[2]); work(b);", False, "may be set"),
    "a pointer made of a reference": (
        "",
        "keep(a[5]); " + SEND + " held[0] = 2.0; work(b);",
        False,
        "may be set",
    ),
    "a reference to a number of elements": (
        "",
        "int &k = m; work(b); k = 5; MPI_Send(a, m, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);",
        False,
        "may be used or set",
    ),
    "a reference in a structure": (
        "",
        "Cell cell{a[4]}; " + SEND + " cell.inner = 2.0; work(b);",
        False,
        "",
    ),
    "a lambda": ("", SEND + " auto f = [&] { a[0] = 1.0; }; f(); work(b);", False, ""),
    "a range-based loop": ("", SEND + " for (double &x : a) x = 1.0; work(b);", False, ""),
    "a method": (
        "struct Box { double *p; void put() { p[0] = 1.0; } };",
        "Box box{a}; " + SEND + " box.put(); work(b);",
        False,
        "",
    ),
    "a vector's memory": ("", "std::vector<double> v(n); " + RECV + " work(b);", False, "data"),
    "an exception": ("", SEND + " if (m > 2000) throw 1; work(b);", False, ""),
    "new memory": (
        "",
        "double *p = new double[n]; " + SEND + " p[0] = 1; work(b);",
        True,
        "1 computing statement",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top, code, rewritten, reason = CASES[name]
    path = Path("case.cpp")
    monkeypatch.chdir(tmp_path)
    path.write_text(PROGRAM % (top, code))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    (decision,) = outcome.decisions
    assert (decision.decision == "rewritten") is rewritten, decision.reason
    assert reason in decision.reason.text + " ".join(decision.details)
    if rewritten:
        compile_both(path, outcome.after["case.cpp"])


def compile_both(path: Path, after: bytes) -> None:
    """No new warnings from either compiler, where it is installed."""
    for compiler in filter(shutil.which, ("g++", "clang++")):
        counts = []
        for data in (path.read_bytes(), after):
            Path("one.cpp").write_bytes(data)
            answer = subprocess.run(
                [
                    compiler,
                    "-Wall",
                    "-Wextra",
                    "-fsyntax-only",
                    "-idirafter",
                    str(HEADERS),
                    "one.cpp",
                ],
                capture_output=True,
                text=True,
            )
            assert answer.returncode == 0, answer.stderr
            counts.append(answer.stderr.count("warning:"))
        assert counts[1] <= counts[0]
