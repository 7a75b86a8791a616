"""Algorithms of the C++ library count as loops over the elements that they go through."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_sole_instances import compiles

PROGRAM = """#include <mpi.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <vector>
// BEFORE
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int n = 60 + argc;
    double plain[9] = {0}, sum = 0;
    std::array<double, 9> some{};
    std::vector<double> u(n), v(n), in(9), out(9);
    // FRONT
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < 9; i++)
            out[i] = u[i];
        MPI_Sendrecv(out.data(), 9, MPI_DOUBLE, (rank + 1) % size, 0, in.data(), 9, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        PASSED;
        for (int i = 0; i < n; i++)
            v[i] = 0.5 * v[i] + plain[i % 9];
        for (int i = 0; i < 9; i++)
            u[i] = 0.5 * in[i] + sum + plain[i] + some[i] + v[i];
    }
    std::printf("%d %.15g %.15g\\n", rank, u[3], u[n - 1]);
    MPI_Finalize();
    return 0;
}
"""
FILLED = "std::fill(v.begin(), v.end(), 0.5 * step)"
GO = {
    "filled": FILLED,
    "filled by a number of another type": "std::fill(v.begin(), v.end(), 0)",
    "filled by number": "std::fill_n(v.begin(), 4, 1.0)",
    "numbered": "std::iota(v.begin(), v.end(), step)",
    "a part": "std::fill(v.begin() + 2, v.end() - 3, 1.0)",
    "copied": "std::copy(out.begin(), out.end(), v.begin() + step)",
    "copied by number": "std::copy_n(u.cbegin(), 9, v.begin())",
    "copied to an array": "std::copy(u.begin(), u.begin() + 9, plain)",
    "copied from an array": "std::copy(plain, plain + 9, v.begin())",
    "copied from an array by its ends": "std::copy(std::begin(plain), std::end(plain), &v[1])",
    "copied to a std::array": "std::copy_n(u.begin(), 9, some.begin())",
    "copied to a part of one": "std::copy(u.begin(), u.begin() + 4, some.begin() + 3)",
    "by the ends that functions give": "std::fill(std::begin(v), std::end(v), 1.0)",
    "added up": "sum = std::accumulate(u.begin(), u.end(), 0.0)",
    "a product": "sum += std::inner_product(u.begin(), u.end(), v.begin(), 0.0)",
    "the largest": "sum = *std::max_element(u.begin(), u.end())",
    "sorted": "std::sort(v.begin(), v.end())",
    "exchanged": "std::swap_ranges(v.begin(), v.begin() + 9, plain)",
}
# What is sent or received is touched, or more may happen than the call tells.
STAY = {
    "what comes in is read": "std::copy(in.begin(), in.end(), v.begin())",
    "what comes in is added up": "sum = std::accumulate(in.begin(), in.end(), 0.0)",
    "its largest": "sum = *std::max_element(in.begin(), in.end())",
    "what comes in is set": "std::fill(in.begin() + 1, in.end(), 0.0)",
    "what comes in is read through a pointer": "std::copy(in.data(), in.data() + 9, plain)",
    "what comes in is sorted": "std::sort(in.begin(), in.end())",
    "what comes in is exchanged": "std::swap_ranges(v.begin(), v.begin() + 9, in.begin())",
    "a function of the program": "sum = std::accumulate(u.begin(), u.end(), 0.0, add)",
    "an order of the program": "std::sort(v.begin(), v.end(), less)",
    "a function of the program's": "more::copy(u.begin(), u.end(), v.begin())",
    "an iterator is left": "auto end = std::copy(u.begin(), u.begin() + 9, v.begin()); *end = 1",
    "an iterator is kept": "kept = v.begin(); std::fill(kept, v.end(), 1.0)",
    "the vector grows": "std::copy(u.begin(), u.begin() + 1, std::back_inserter(v))",
    "elements that are objects": "std::fill(marks.begin(), marks.end(), 2.0)",
    "the elements compare by themselves": "std::sort(marks.begin(), marks.end())",
}
MORE = {
    "// BEFORE": """
static std::vector<double>::iterator kept;
static double add(double a, double b) { MPI_Barrier(MPI_COMM_WORLD); return a + b; }
static bool less(double a, double b) { MPI_Barrier(MPI_COMM_WORLD); return a < b; }
struct Mark {
    double x;
    Mark(double given = 0) : x(given) { MPI_Barrier(MPI_COMM_WORLD); }
    bool operator<(const Mark &other) const { return add(x, 1) < other.x; }
};
static std::vector<Mark> marks(9);
namespace more {
template <class I> void copy(I first, I last, I to)
{
    MPI_Barrier(MPI_COMM_WORLD);
    while (first != last)
        *to++ = *first++;
}
}
"""
}


@pytest.mark.parametrize("passed", GO.values(), ids=GO)
def test_it_is_passed(passed: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, {"PASSED": passed}))
    assert text.index("MPI_Irecv") < text.index(passed) < text.index("MPI_Wait")
    (tmp_path / "main.cpp").write_text(text)
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("passed", STAY.values(), ids=STAY)
def test_nothing_passes(passed: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, {"PASSED": passed, **MORE}))
    assert "MPI_Wait" not in text or text.index("MPI_Wait") < text.index(passed)


def test_what_is_beside_is_passed_too(tmp_path: Path) -> None:
    """It is not what stands beside the calls that keeps the others."""
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, {"PASSED": FILLED, **MORE}))
    assert text.index("MPI_Irecv") < text.index(FILLED) < text.index("MPI_Wait")


ELSEWHERE = {
    "filled": "std::fill(in.begin(), in.end(), 0.0);",
    "copied": "std::copy(in.begin(), in.begin() + 3, plain);",
    "added up": "sum = std::accumulate(in.begin(), in.end(), 0.0);",
}


@pytest.mark.parametrize("done", ELSEWHERE.values(), ids=ELSEWHERE)
def test_the_elements_stay_the_vectors_own(done: str, tmp_path: Path) -> None:
    """No iterator is left: a function that is not read may not set what comes in."""
    given = {"PASSED": "other(plain)", "// FRONT": done}
    unread = "static double w; void other(double *p) { std::fill_n(p, 9, w); w++; }"
    text = rewritten(tmp_path / "main.cpp", changed(PROGRAM, {**given, "// BEFORE": unread}))
    assert text.index("MPI_Irecv") < text.index("other(plain);") < text.index("MPI_Wait")


def test_requests_are_left_to_what_follows_them(tmp_path: Path) -> None:
    """Handles that are copied may be waited for by another name."""
    source = PROGRAM.replace("PASSED", FILLED).replace(
        "        MPI_Sendrecv",
        "        std::copy(some_.begin(), some_.end(), others.begin());\n        MPI_Sendrecv",
    )
    named = "static std::vector<MPI_Request> some_(2), others(2);"
    text = rewritten(tmp_path / "main.cpp", changed(source, {"// BEFORE": named}))
    assert text.index("others.begin()") < text.index("MPI_Isend(")
