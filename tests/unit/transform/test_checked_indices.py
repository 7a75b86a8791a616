"""`u.at(i)` is the element where what it throws ends the program, as nothing catches it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_sole_instances import compiles

from imbrex.transform.analysed import Analysis
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>
// BEFORE
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int n = 60 + argc;
    std::vector<double> u(n + 2), v(n + 2);
    // FRONT
    for (int step = 0; step < 9; step++) {
        MPI_Sendrecv(&u.at(n), 1, MPI_DOUBLE, (rank + 1) % size, 0, &u.at(0), 1, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= n; i++)
            v.at(i) = 0.5 * (u.at(i - 1) + u.at(i));
        for (int i = 1; i <= n; i++)
            u.at(i) = v.at(i);
    }
    std::printf("%d %.15g\\n", rank, u.at(n));
    MPI_Finalize();
    return 0;
}
"""
GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "messages from the first one": {"&u.at(0)": "&u.front()"},
    "messages of the data": {"&u.at(0)": "u.data()", "&u.at(n)": "&u[n]"},
    "some without a check": {"u.at(i - 1)": "u[i - 1]"},
    "std::array": {"std::vector<double> u(n + 2), v(n + 2);": "std::array<double, 99> u{}, v{};"},
}
STAY: dict[str, dict[str, str]] = {
    "caught": {"// FRONT": "try { v.at(0) = 1.0; } catch (...) { }"},
    "caught elsewhere": {
        "// BEFORE": "double get(double *p) try { return *p; } catch (...) { throw; }"
    },
    "told of": {"// FRONT": "std::set_terminate([]() { std::_Exit(0); });"},
    "code that is not seen": {"// BEFORE": "void more();", "// FRONT": "more();"},
    "no main": {"int main": "int run"},
}
DIVIDED = "        for (int i = 2; i <= n; i++)\n"


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_it_is_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))
    assert DIVIDED in text and text.index(DIVIDED) < text.index("MPI_Wait")
    (tmp_path / "main.cpp").write_text(text)
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_it_stays(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))
    assert DIVIDED not in text


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_without_checks_it_is_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    text = re.sub(r"\b([uv])\.at\(([^()]*)\)", r"\1[\2]", changed(PROGRAM, replaced))
    assert DIVIDED in rewritten(tmp_path / "main.cpp", text)


def test_checks_of_codes_stay_read_as_they_are(tmp_path: Path) -> None:
    """Neither is undone by the other: codes come back here, and exceptions are caught."""
    text = """#include <mpi.h>
#include <cstdlib>
#include <vector>
#define CHECK(call) do { int e = (call); if (e != MPI_SUCCESS) std::abort(); } while (0)
int main()
{
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    std::vector<double> u(9);
    for (int i = 0; i < 9; i++)
        u.at(i) = 2.0;
    CHECK(MPI_Barrier(MPI_COMM_WORLD));
    try {
        u.at(3) = 1.0;
    } catch (...) {
    }
    MPI_Finalize();
}
"""
    path = tmp_path / "p.cpp"
    path.write_text(text)
    (source,) = Analysis([path], Options()).program.files.values()
    assert not source.checked
    path.write_text(
        text.replace("    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);\n", "")
    )
    (source,) = Analysis([path], Options()).program.files.values()
    assert source.checked
