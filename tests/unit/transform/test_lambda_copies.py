"""Lambdas that hold copies: they mean the same where they are called if nothing changes these."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_sole_instances import compiles

PROGRAM = """#include <mpi.h>
#include <vector>
static void note(const int &) {}
static void turn(int &) {}
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int nx = 64, ny = 40 + argc % 2;
    std::vector<double> u(9000), v(9000);
    auto at = [=](int i, int j) { return i * ny + j; };
    for (int step = 0; step < 9; step++) {
        MPI_Sendrecv(&u[nx * ny], ny, MPI_DOUBLE, (rank + 1) % size, 0, &u[0], ny, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= nx; i++)
            for (int j = 0; j < ny; j++)
                v[at(i, j)] = u[at(i - 1, j)] + u[at(i, j)];
        for (int i = 1; i <= nx; i++)
            for (int j = 0; j < ny; j++)
                u[i * ny + j] = v[i * ny + j];
    }
    MPI_Finalize();
    return 0;
}
"""
COPY = "[=](int i, int j) { return i * ny + j; }"
END = "    MPI_Finalize();\n"
GO: dict[str, dict[str, str]] = {
    "all": {},
    "one by name": {"[=]": "[ny]"},
    "some": {"[=]": "[nx, ny]"},
    "all but one": {"[=]": "[=, &nx]"},
    "one, the others by reference": {"[=]": "[&, ny]"},
    "a constant": {
        "int nx = 64, ny": "const int nx = 64, ny",
        END: f"    const int &other = ny;\n    note(other);\n{END}",
    },
    "all but what changes behind": {"[=]": "[=, &ny]", END: f"    ny++;\n{END}"},
    "it is read elsewhere": {END: f"    note(ny);\n    nx = ny;\n{END}"},
    "by reference, and it changes behind": {"[=]": "[&ny]", END: f"    ny++;\n{END}"},
}
STAY: dict[str, dict[str, str]] = {
    "it changes": {END: f"    ny++;\n{END}"},
    "one by name, which changes": {"[=]": "[ny]", END: f"    ny++;\n{END}"},
    "one of several, which changes": {"[=]": "[&, ny]", END: f"    ny++;\n{END}"},
    "it is set": {END: f"    ny = 3;\n{END}"},
    "its address is taken": {END: f"    MPI_Comm_size(MPI_COMM_WORLD, &ny);\n{END}"},
    "it has another name": {
        "    std::vector": "    int &other = ny;\n    other = 41;\n    std::vector"
    },
    "it is given away": {END: f"    turn(ny);\n{END}"},
    "it changes in a lambda": {END: f"    auto more = [&]() {{ ny++; }};\n    more();\n{END}"},
    "with a value of its own": {"[=]": "[ny = ny + 0]"},
    "a vector": {
        COPY: "[=](int i, int j) { return u[i * ny + j]; }",
        "v[at(i, j)]": "v[i * ny + j]",
        "u[at(i - 1, j)] + u[at(i, j)]": "at(i - 1, j) + at(i, j)",
    },
}
DIVIDED = "        for (int i = 2; i <= nx; i++)\n"


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_the_loop_is_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    assert DIVIDED in rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_the_loop_stays(replaced: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "main.cpp"
    path.write_text(changed(PROGRAM, replaced))
    compiles(path)
    assert DIVIDED not in rewritten(path, path.read_text())
