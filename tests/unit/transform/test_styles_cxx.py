"""One program in the styles that C++ is written in: what is divided does not depend on them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.transform.replacing import rewritten
from tests.unit.transform.test_sole_instances import compiles

PROGRAM = """#include <mpi.h>
#include <cstdio>
#include <vector>

class Field
{
public:
    Field(int nx, int ny) : nx_(nx), ny_(ny), u_((nx + 2) * (ny + 2)), v_((nx + 2) * (ny + 2)) {}

    double &operator()(int i, int j) { return u_[i * (ny_ + 2) + j]; }
    double &at(int i, int j) { return u_[i * (ny_ + 2) + j]; }

    void exchange(int up, int down)
    {
        MPI_Sendrecv(&at(nx_, 1), ny_, MPI_DOUBLE, up, 0, &at(0, 1), ny_, MPI_DOUBLE, down, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&at(1, 1), ny_, MPI_DOUBLE, down, 1, &at(nx_ + 1, 1), ny_, MPI_DOUBLE, up, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    void sweep()
    {
        const int w = ny_ + 2;
        for (int i = 1; i <= nx_; i++) {
            for (int j = 1; j <= ny_; j++) {
                v_[i * w + j] = u_[(i - 1) * w + j] + u_[(i + 1) * w + j];
            }
        }
    }

    void update()
    {
        for (int i = 1; i <= nx_; i++) {
            for (int j = 1; j <= ny_; j++) {
                u_[i * (ny_ + 2) + j] = v_[i * (ny_ + 2) + j];
            }
        }
    }

    double sum() const
    {
        double s = 0.0;
        for (int i = 1; i <= nx_; i++)
            for (int j = 1; j <= ny_; j++)
                s += u_[i * (ny_ + 2) + j];
        return s;
    }

private:
    int nx_, ny_;
    std::vector<double> u_, v_;
};

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {
        Field f(60, 40);
        for (int i = 0; i < 62; i++)
            for (int j = 0; j < 42; j++)
                f(i, j) = 0.1 * i + j + rank;
        for (int t = 0; t < 10; t++) {
            f.exchange((rank + 1) % size, (rank + size - 1) % size);
            f.sweep();
            f.update();
        }
        double s = f.sum(), all;
        MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            std::printf("%.12e\\n", all);
    }
    MPI_Finalize();
    return 0;
}
"""
Style = Callable[[str], str]
WIDTH = "        const int w = ny_ + 2;\n"


def one(*pairs: tuple[str, str]) -> Style:
    def apply(text: str) -> str:
        for old, new in pairs:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text

    return apply


GO: dict[str, Style] = {
    "as it is": lambda text: text,
    "lines of DOS": lambda text: text.replace("\n", "\r\n"),
    "braces behind": lambda text: re.sub(r"\n *\{", " {", text),
    "comments behind": lambda text: re.sub(r"(?m);$", "; // done", text),
    "a structure": lambda text: text.replace("class Field", "struct Field").replace(
        "public:\n", ""
    ),
    "this": lambda text: re.sub(r"\b([uv]_)\[", r"this->\1[", text),
    "elements of this": one(
        ("u_[(i - 1) * w + j] + u_[(i + 1) * w + j]", "(*this)(i - 1, j) + (*this)(i + 1, j)")
    ),
    "messages of this": lambda text: re.sub(r"(?<=[( ])&at(?=\((?!int))", "&(*this)", text),
    "references": one(
        (WIDTH, f"{WIDTH}        const auto &u = u_;\n        auto &v = v_;\n"),
        ("v_[i * w + j] = u_[(i - 1) * w + j] + u_[(", "v[i * w + j] = u[(i - 1) * w + j] + u[("),
    ),
}


@pytest.mark.parametrize("style", GO.values(), ids=GO)
def test_it_is_divided(style: Style, tmp_path: Path) -> None:
    path = tmp_path / "main.cpp"
    text = rewritten(path, style(PROGRAM))
    assert re.search(r"exchange_start\(.*exchange_req.*\)", text)
    assert text.index("f.exchange_start(") < text.index("f.sweep_interior(")
    path.write_text(text)
    compiles(path)
