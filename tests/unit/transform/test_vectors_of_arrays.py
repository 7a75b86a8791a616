"""Vectors whose elements are std::array of numbers: each is one element, as a structure is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.beside_exchange import first_wait, text_with
from tests.unit.transform.replacing import changed, rewritten

TYPES = """typedef std::array<double, 4> Cell;
static void poke(Cell &c) { c[3] = 7.0; }"""
USES = {
    "an element": ("", "sum += y[999][1];"),
    "by its address": ("double *e = &y[999][0];", "e[1] = 3.0;"),
    "by its data": ("double *e = y[999].data();", "sum += e[1];"),
    "by data of the vector": ("double *e = y.data()->data();", "sum += e[3997];"),
    "by an array": ("Cell *e = y.data();", "sum += e[999][1];"),
    "by a reference": ("Cell &e = y[999];", "e[1] = 5.0;"),
    "by a routine": ("", "poke(y[999]);"),
    "by each of all": ("", "for (auto &c : y) sum += c[1];"),
    "by each of it": ("", "for (double d : y[999]) sum += d;"),
    "the last": ("", "sum += y.back().back();"),
    "filled": ("", "y[999].fill(2.0);"),
    "copied": ("", "Cell c = y[999]; sum += c[1];"),
    "set as a whole": ("", "y[999] = z[3];"),
    "exchanged": ("", "std::swap(y[999], z[3]);"),
    "by an address in another one": (
        "std::vector<std::array<double *, 2>> held(3);\n    held[1][0] = y[999].data();",
        "*held[1][0] = 2.0;",
    ),
    "one that is not known": ("int k = size;", "sum += y[k][1];"),
}
OTHERS = {
    "another vector": ("", "z[999][1] = 2.0;"),
    "another vector, as a whole": ("", "z[3] = z[4];"),
    "another element": ("", "y[998][1] = 2.0;"),
    "another element, as a whole": ("", "y[998] = y[997];"),
}
STENCIL = """#include <mpi.h>
#include <array>
#include <vector>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int nx = 60 + argc, ny = 40 + argc;
    std::vector<std::array<double, 4>> u((nx + 2) * ny), v((nx + 2) * ny);
    for (int step = 0; step < 9; step++) {
        MPI_Sendrecv(&u[nx * ny], 4 * ny, MPI_DOUBLE, (rank + 1) % size, 0, &u[0], 4 * ny,
                     MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= nx; i++)
            for (int j = 0; j < ny; j++)
                for (int k = 0; k < 4; k++)
                    v[i * ny + j][k] = u[(i - 1) * ny + j][k] + u[i * ny + j][k];
        for (int i = 1; i <= nx; i++)
            for (int j = 0; j < ny; j++)
                u[i * ny + j] = v[i * ny + j];
    }
    MPI_Finalize();
    return 0;
}
"""
GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "by data": {"&u[nx * ny]": "u[nx * ny].data()", "&u[0]": "u[0].data()"},
    "in bytes": {"4 * ny": "32 * ny", "MPI_DOUBLE": "MPI_BYTE"},
}
STAY: dict[str, dict[str, str]] = {
    "more than a line": {"4 * ny": "5 * ny"},
    "a part of an element": {"4 * ny": "4 * ny + 1"},
    "pointers": {"std::array<double, 4>": "std::array<double *, 4>", "+ u[i * ny + j][k]": ""},
}
DIVIDED = "        for (int i = 2; i <= nx; i++)\n"


@pytest.mark.parametrize(("front", "there"), USES.values(), ids=USES)
def test_the_message_is_awaited_in_front(front: str, there: str, tmp_path: Path) -> None:
    text = text_with(tmp_path, TYPES, front, there)
    assert first_wait(text) < text.index(there)


@pytest.mark.parametrize(("front", "there"), OTHERS.values(), ids=OTHERS)
def test_the_messages_are_awaited_behind(front: str, there: str, tmp_path: Path) -> None:
    text = text_with(tmp_path, TYPES, front, there)
    assert first_wait(text) > text.index(there)


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_the_loop_is_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    assert DIVIDED in rewritten(tmp_path / "main.cpp", changed(STENCIL, replaced))


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_the_loop_stays(replaced: dict[str, str], tmp_path: Path) -> None:
    assert DIVIDED not in rewritten(tmp_path / "main.cpp", changed(STENCIL, replaced))
