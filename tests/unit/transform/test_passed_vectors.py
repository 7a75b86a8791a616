"""Elements of vectors that a function which only returns one is given by reference."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_sole_instances import compiles

PROGRAM = """#include <mpi.h>
#include <cstdio>
#include <vector>
class Domain {
public:
    Domain(int nx, int ny) : nx_(nx), ny_(ny), u_((nx + 2) * (ny + 2)), v_((nx + 2) * (ny + 2))
    {
        for (int k = 0; k < (nx + 2) * (ny + 2); k++)
            u_[k] = k % 7;
    }
    void exchange(int left, int right)
    {
        MPI_Sendrecv(&at(u_, 0, ny_), nx_ + 2, MPI_DOUBLE, right, 0, &at(u_, 0, 0), nx_ + 2,
                     MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&at(u_, 0, 1), nx_ + 2, MPI_DOUBLE, left, 1, &at(u_, 0, ny_ + 1), nx_ + 2,
                     MPI_DOUBLE, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    void sweep()
    {
        for (int j = 1; j <= ny_; j++)
            for (int i = 1; i <= nx_; i++)
                at(v_, i, j) = 0.5 * (at(u_, i, j - 1) + at(u_, i, j + 1));
    }
    void turn() { u_.swap(v_); }
    double sum() const { return u_[nx_ + 5]; }
private:
    double &at(std::vector<double> &f, int i, int j) { return f[j * (nx_ + 2) + i]; }
    int nx_, ny_;
    std::vector<double> u_, v_;
};
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {
        Domain d(40, 30);
        for (int step = 0; step < 9; step++) {
            d.exchange((rank + size - 1) % size, (rank + 1) % size);
            d.sweep();
            d.turn();
        }
        std::printf("%d %.15g\\n", rank, d.sum());
    }
    MPI_Finalize();
    return 0;
}
"""
NEXT = "(rank + size - 1) % size, (rank + 1) % size"
AT = "double &at(std::vector<double> &f, int i, int j) { return f[j * (nx_ + 2) + i]; }"
READ = "0.5 * (at(u_, i, j - 1) + at(u_, i, j + 1))"
DIVIDED: dict[str, dict[str, str]] = {
    "as it is": {},
    "static, with the width": {
        AT: "static double &at_(std::vector<double> &f, int w, int i, int j)\n"
        "    { return f[j * w + i]; }",
        "at(u_, ": "at_(u_, nx_ + 2, ",
        "at(v_, ": "at_(v_, nx_ + 2, ",
    },
    "one that only reads": {
        AT: f"{AT}\n    double of(const std::vector<double> &f, int i, int j) const\n"
        "    { return f[j * (nx_ + 2) + i]; }",
        READ: "0.5 * (of(u_, i, j - 1) + of(u_, i, j + 1))",
    },
    "one that gives an address": {
        AT: f"{AT}\n    double *row(std::vector<double> &f, int j) {{ return &f[j * (nx_ + 2)]; }}",
        "&at(u_, 0, 0)": "row(u_, 0)",
    },
}
WHOLE: dict[str, dict[str, str]] = {
    "two rows away": {
        READ: "0.5 * (at(u_, i, j - 1) + at(u_, i, j + 1) + at(u_, nx_ - i, ny_ + 1))"
    },
    "the rows are exchanged": {
        AT: "double &at(std::vector<double> &f, int i, int j)\n"
        "    { return f[(j > 2 ? 0 : j) * (nx_ + 2) + i]; }"
    },
    "of both": {
        AT: "double &at(std::vector<double> &f, int i, int j)\n"
        "    { return (j > 2 ? f : u_)[j * (nx_ + 2) + i]; }"
    },
    "it grows": {
        AT: "double &at(std::vector<double> &f, int i, int j)\n"
        "    { return f.resize(2000), f[j * (nx_ + 2) + i]; }"
    },
}


@pytest.mark.parametrize("replaced", DIVIDED.values(), ids=DIVIDED)
def test_it_is_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))
    assert text.index("d.sweep_interior()") < text.index("d.exchange_finish(")
    assert "j = 2; j <= ny_ - 1" in text
    (tmp_path / "main.cpp").write_text(text)
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("replaced", WHOLE.values(), ids=WHOLE)
def test_it_stays_whole(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "sweep_interior" not in rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))


def test_a_parameter_with_two_things_between_angles(tmp_path: Path) -> None:
    made = f"    {{\n        const std::array<int, 2> to{{{NEXT}}};\n        Domain"
    replaced = {
        "#include <vector>": "#include <array>\n#include <vector>",
        "void exchange(int left, int right)": "void exchange(const std::array<int, 2> &to)",
        "right, 0, &at": "to[1], 0, &at",
        "left, 0, MPI": "to[0], 0, MPI",
        "left, 1, &at": "to[0], 1, &at",
        "right, 1, MPI": "to[1], 1, MPI",
        "    {\n        Domain": made,
        f"d.exchange({NEXT});": "d.exchange(to);",
    }
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, replaced))
    assert "exchange_start(const std::array<int, 2> &to, MPI_Request *imbrex_requests)" in text
    (tmp_path / "main.cpp").write_text(text)
    compiles(tmp_path / "main.cpp")
