"""Checks of error codes that print through the streams of C++ and end the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_sole_instances import compiles

PROGRAM = """#include <mpi.h>
#include <cstdlib>
#include <iostream>
static double a[1000], b[1000], w[1000];
static int n;
int main(int argc, char **argv)
{
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 10; step++) {
        MPI_Irecv(b, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request);
        MPI_Send(a, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
        if (MPI_Wait(&request, MPI_STATUS_IGNORE)) {
            // PRINTS
            exit(-1);
        }
        for (int i = 0; i < 1000; i++)
            w[i] = 2 * w[i] + i;
        for (int i = 0; i < 1000; i++)
            a[i] = w[i] + b[i];
    }
    std::cout << a[7] << n << std::endl;
    MPI_Finalize();
    return 0;
}
"""
CHECKS = {
    "a text": 'std::cerr << "failed";',
    "a line": 'std::cout << "failed at " << __LINE__ << std::endl;',
    "a sign": "std::clog << \"failed\" << '\\n' << std::flush;",
    "two": 'std::cerr << "failed"; std::cerr << std::endl;',
}
OTHERS = {
    "a variable": 'std::cerr << "failed" << rank << std::endl;',
    "what a call gives": 'std::cerr << "failed" << n++ << std::endl;',
    "a stream of the program's": 'more() << "failed";',
    "more than that": 'std::cerr << "failed", n++;',
}
LOOP = "        for (int i = 0; i < 1000; i++)\n            w[i]"


@pytest.mark.parametrize("prints", CHECKS.values(), ids=CHECKS)
def test_the_check_goes_with_the_wait(prints: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, {"// PRINTS": prints}))
    assert text.index(LOOP) < text.index("if (MPI_Wait(&request") < text.index("exit(-1)")
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("prints", OTHERS.values(), ids=OTHERS)
def test_what_does_more_asks_behind_the_call(prints: str, tmp_path: Path) -> None:
    more = "static int n;\nstatic std::ostream &more() { n++; return std::cerr; }"
    replaced = {"// PRINTS": prints, "static int n;": more}
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))
    assert "if (MPI_Wait" not in text and "imbrex_code = MPI_Wait(&request" in text
    assert text.index("if (imbrex_code)") < text.index(prints) < text.index(LOOP)
