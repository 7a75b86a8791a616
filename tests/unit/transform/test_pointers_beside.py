"""Local pointers beside the vectors and arrays that they are set from: one memory, two names."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import rewritten
from tests.unit.transform.test_sole_instances import compiles

PROGRAM = """#include <mpi.h>
#include <cstdio>
#include <utility>
#include <vector>

TYPES
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int nx = 60 + argc, ny = 40 + argc;
    const int up = (rank + 1) % size, down = (rank + size - 1) % size;
    std::vector<double> u((nx + 2) * ny), v((nx + 2) * ny);
    for (int i = 0; i < (nx + 2) * ny; i++)
        u[i] = 0.1 * i + rank;
    FRONT
    for (int step = 0; step < 9; step++) {
        MPI_Sendrecv(&u[nx * ny], ny, MPI_DOUBLE, up, 0, &u[0], ny,
                     MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        INSIDE
        for (int i = 1; i <= nx; i++)
            for (int j = 0; j < ny; j++)
                q[i * ny + j] = 0.5 * (p[(i - 1) * ny + j] + p[i * ny + j]);
        for (int i = 1; i <= nx; i++)
            for (int j = 0; j < ny; j++)
                p[i * ny + j] = q[i * ny + j];
    }
    double sum = 0.0, all;
    for (int i = 0; i < (nx + 2) * ny; i++)
        sum += u[i];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%.12e\\n", all);
    MPI_Finalize();
    return 0;
}
"""
TYPES = """static void grow(std::vector<double> &x) { x.resize(2 * x.size()); }
struct Field { std::vector<double> u = std::vector<double>(9999); };
static double a[100][50];
static void turn(std::vector<double> &x, std::vector<double> &y) { std::swap(x, y); }
"""
BOTH = "double *p = u.data(), *q = v.data();"
SHIFTED = {
    "q[i * ny + j]": "q[(i - 1) * ny + j]",
    "p[(i - 1) * ny + j] + p[i * ny + j]": "p[(i - 2) * ny + j] + p[(i - 1) * ny + j]",
    "p[i * ny + j] = ": "p[(i - 1) * ny + j] = ",
}
# name: (in front of the loop, in front of the messages, behind them, parts that differ)
Parts = tuple[str, str, str, dict[str, str]]
BY_F = {"&u[nx * ny]": "&f->u[nx * ny]", "&u[0]": "&f->u[0]"}
OBJECTS = "Field x, y, *f = &x;"
OF_F = "double *p = f->u.data(), *q = v.data();"
GO: dict[str, Parts] = {
    "of a member": (OBJECTS, OF_F, "", BY_F),
    "behind the messages": ("", "", BOTH, {}),
    "in front of them": ("", BOTH, "", {}),
    "in front of the loop": (BOTH, "", "", {}),
    "messages by pointers": ("", BOTH, "", {"&u[nx * ny]": "&p[nx * ny]", "&u[0]": "p"}),
    "one message by a pointer": ("", BOTH, "", {"&u[nx * ny]": "p + nx * ny"}),
    "of an element": ("", "", "double *p = &u[0];\n        double *q = &v[0];", {}),
    "restricted": (
        "",
        "",
        "double *__restrict__ p = u.data();\n        double *__restrict__ q = v.data();",
        {},
    ),
    "constant": (
        "",
        "",
        "const double *p = u.data();\n        auto *const q = v.data();",
        {"p[i * ny + j] = q": "u[i * ny + j] = q"},
    ),
    "of a later line": ("", "", "double *p = u.data() + ny, *q = &v[ny];", SHIFTED),
    "messages from a later line": (
        "",
        "double *p = u.data() + ny, *q = &v[ny];",
        "",
        {**SHIFTED, "&u[nx * ny]": "&p[(nx - 1) * ny]"},
    ),
    "exchanged behind their last use": ("", "", BOTH, {"    }\n    double sum": "TURN"}),
}
STAY: dict[str, Parts] = {
    "exchanged in front": (f"{BOTH} std::swap(u, v);", "", "", {}),
    "exchanged in front by a method": (f"{BOTH} u.swap(v);", "", "", {}),
    "exchanged in front by the other's method": (f"{BOTH} v.swap(u);", "", "", {}),
    "exchanged in front by a function": (f"{BOTH} turn(u, v);", "", "", {}),
    "exchanged in front by a pointer": (f"{BOTH} auto *r = &u; r->swap(v);", "", "", {}),
    "exchanged with another one": (
        f"{BOTH} std::vector<double> w((nx + 2) * ny); w.swap(u);",
        "",
        "",
        {},
    ),
    "given away": (f"{BOTH} auto w = v; w = std::move(u); u.resize(9999);", "", "", {}),
    "given away for good": (f"{BOTH} auto w = v; w = std::move(u);", "", "", {}),
    "another object": (OBJECTS, f"{OF_F} f = step % 2 ? &x : &y;", "", BY_F),
    "another line": (
        "int k = 0;",
        "double *p = &u[k * ny], *q = v.data(); k = step;",
        "",
        {"&u[0]": "&u[k * ny]"},
    ),
    "set again": ("", "", f"{BOTH} if (step % 2) p = v.data();", {}),
    "exchanged behind them": ("", "", f"{BOTH} std::swap(u, v);", {}),
    "exchanged by a method": ("", "", f"{BOTH} u.swap(v);", {}),
    "exchanged by a function": ("", "", f"{BOTH} turn(u, v);", {}),
    "exchanged by a reference": ("auto &r = u;", "", f"{BOTH} r.swap(v);", {}),
    "exchanged by a pointer": ("auto *r = &u;", "", f"{BOTH} r->swap(v);", {}),
    "exchanged by a lambda": ("auto t = [&]() { u.swap(v); };", "", f"{BOTH} t();", {}),
    "exchanged in each step": (BOTH, "std::swap(u, v);", "", {}),
    "other memory": ("", "", f"{BOTH} u.resize(2 * u.size());", {}),
    "other memory by a function": ("", "", f"{BOTH} grow(u);", {}),
    "its address is known": ("", "", f"{BOTH} double **r = &p; *r += step;", {}),
    "one of two": ("", "", "double *p = step % 2 ? v.data() : u.data(), *q = v.data();", {}),
    "of one vector": ("", "", "double *p = u.data(), *q = u.data();", {}),
    "another index": ("int k = 0;", "", "double *p = &u[k], *q = v.data(); k = step;", {}),
    "a later element": ("", "", "double *p = u.data() + 1, *q = v.data();", {}),
    "a later element of the messages": (
        "",
        "double *p = u.data() + ny, *q = v.data();",
        "",
        {"&u[0]": "&p[ny]"},
    ),
}
DIVIDED = "        for (int i = 2; i <= nx; i++)\n"


def text_of(parts: Parts, folder: Path) -> str:
    front, before, behind, replaced = parts
    text = PROGRAM.replace("FRONT", front).replace("INSIDE", behind).replace("TYPES", TYPES)
    text = text.replace("        MPI_Sendrecv", f"        {before}\n        MPI_Sendrecv")
    for old, new in replaced.items():
        assert old in text, old
        text = text.replace(
            old, "        std::swap(u, v);\n    }\n    double sum" if new == "TURN" else new
        )
    return rewritten(folder / "main.cpp", text)


@pytest.mark.parametrize("name", GO)
def test_it_is_divided(name: str, tmp_path: Path) -> None:
    text = text_of(GO[name], tmp_path)
    assert DIVIDED in text and text.index(DIVIDED) < text.index("MPI_Wait")
    (tmp_path / "main.cpp").write_text(text)
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("name", STAY)
def test_it_stays(name: str, tmp_path: Path) -> None:
    assert DIVIDED not in text_of(STAY[name], tmp_path)


def test_elements_of_several_rows(tmp_path: Path) -> None:
    """A pointer into an array of two dimensions may get from one row to the next."""
    loop = "for (int i = 0; i < 99; i++) v[i] += p[i];"
    text = text_of(
        ("", "", f"double *p = &a[0][0], *q = v.data(); {loop}", {"&u[0]": "a[1]"}), tmp_path
    )
    assert text.index("MPI_Wait(&imbrex_requests[0]") < text.index(loop)
