"""What a `try` guards is read as a block where each of its handlers ends the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_sole_instances import compiles

PROGRAM = """#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <vector>
static void exchange(std::vector<double> &u, int n, int left, int right)
{
    MPI_Sendrecv(&u[n], 1, MPI_DOUBLE, right, 0, &u[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, left, 1, &u[n + 1], 1, MPI_DOUBLE, right, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void sweep(const std::vector<double> &u, std::vector<double> &v, int n)
{
    for (int i = 1; i <= n; i++)
        v[i] = 0.5 * (u[i - 1] + u[i + 1]);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0, done = 0;
    (void)done;
    try {
        int size, n = 100;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        if (size > 500)
            throw std::runtime_error("too many");
        std::vector<double> u(n + 2, 1.0 + rank), v(n + 2);
        for (int step = 0; step < 9; step++) {
            exchange(u, n, (rank + size - 1) % size, (rank + 1) % size);
            sweep(u, v, n);
            std::swap(u, v);
        }
        std::printf("%d %.15g\\n", rank, u[7]);
    } catch (const std::exception &e) {
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
"""
ENDS = "MPI_Abort(MPI_COMM_WORLD, 1);"
DIVIDED: dict[str, dict[str, str]] = {
    "as it is": {},
    "exit": {ENDS: "std::exit(1);"},
    "main returns": {ENDS: "return EXIT_FAILURE;"},
    "everything": {"catch (const std::exception &e)": "catch (...)", "e.what()": "1"},
    "two handlers": {
        "    MPI_Finalize": "    catch (...) {\n        abort();\n    }\n    MPI_Finalize"
    },
    "it says where": {ENDS: f"std::cerr << rank << std::endl;\n        {ENDS}"},
}
WHOLE: dict[str, dict[str, str]] = {
    "it goes on": {ENDS: "done = 1;"},
    "it goes on at times": {ENDS: f"if (rank == 0)\n            {ENDS}"},
    "it throws once more": {ENDS: "throw;"},
    "it finalizes": {ENDS: "MPI_Finalize();\n        return 1;"},
    "one goes on": {
        "    MPI_Finalize": "    catch (...) {\n        rank++;\n    }\n    MPI_Finalize"
    },
    "it jumps": {
        ENDS: f"if (rank)\n            goto out;\n        {ENDS}",
        "    MPI_F": "out:\n    MPI_F",
    },
    "a function of its own name": {
        ENDS: "more::terminate();",
        "int main": "namespace more {\nstatic void terminate() {}\n}\nint main",
    },
}


@pytest.mark.parametrize("replaced", DIVIDED.values(), ids=DIVIDED)
def test_its_calls_are_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))
    start, finish = (
        text.index("exchange_start(u, n"),
        text.index("exchange_finish(exchange_requests"),
    )
    assert start < text.index("sweep_interior(u, v, n);") < finish
    (tmp_path / "main.cpp").write_text(text)
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("replaced", WHOLE.values(), ids=WHOLE)
def test_it_stays_whole(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))
    assert "exchange(u, n, (rank" in text and "_start" not in text


BESIDE = """        double far = 0, near = 1;
        try {
            MPI_Sendrecv(&near, 1, MPI_DOUBLE, (rank + 1) % size, 7, &far, 1, MPI_DOUBLE,
                         (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            INSIDE
        } catch (...) {
            abort();
        }
        for (int i = 1; i <= n; i++)
            v[i] = 0.5 * v[i];
        u[3] += far;
"""


def test_nothing_moves_out_of_it(tmp_path: Path) -> None:
    step = "            exchange(u"
    replaced = {step: f"{BESIDE}{step}".replace("INSIDE", "rank += 0;")}
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))
    whole = text[text.index("far = 0") : text.index("abort")]
    assert "MPI_Sendrecv(&near" in whole or "MPI_Wait" in whole


def test_nothing_moves_over_what_throws(tmp_path: Path) -> None:
    step = "            exchange(u"
    thrown = "if (u[5] > 9)\n throw 1;\n            for (auto &x : v)\n x *= 2;"
    replaced = {step: f"{BESIDE}{step}".replace("INSIDE", thrown)}
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))
    before = text[text.index("far = 0") : text.index("throw 1")]
    assert "MPI_Sendrecv(&near" in before or "MPI_Wait" in before


FIRST = """        MPI_Sendrecv(&near, 1, MPI_DOUBLE, (rank + 1) % size, 8, &far, 1, MPI_DOUBLE,
                     (rank + size - 1) % size, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
"""


def test_one_that_is_passed_by_nothing(tmp_path: Path) -> None:
    """What a routine starts does not go beyond a `try` behind it."""
    step = "            exchange(u"
    beside = BESIDE.replace("        try {", f"{FIRST}        try {{", 1)
    replaced = {step: f"{beside}{step}".replace("INSIDE", "v[3] = 1;")}
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))
    before = text[text.index("far = 0") : text.index("try {", text.index("far = 0"))]
    assert "MPI_Sendrecv(&near" in before or "MPI_Wait" in before
