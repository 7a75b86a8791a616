"""Lambdas count as what they do where they run: in an algorithm of the library, or where called."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_algorithms import PROGRAM
from tests.unit.transform.test_sole_instances import compiles

PASSED = {
    "each": "std::for_each(v.begin(), v.end(), [](double &x) { x *= 0.5; })",
    "each, by what is captured": "std::for_each(v.begin(), v.end(), [&](double x) { sum += x; })",
    "each, with a copy": "std::for_each(v.begin(), v.end(), [=](double &x) { x += step; })",
    "some of a class": "std::for_each(marks.begin(), marks.end(), [&](Mark &m) { m.x += sum; })",
    "one by one": "std::transform(u.begin(), u.end(), v.begin(), [](double x) { return x + 1; })",
    "two by two": (
        "std::transform(v.begin(), v.end(), u.begin(), v.begin(),\n"
        "                       [step](double a, const double &b) { return a + step * b; })"
    ),
    "with an object of the library": (
        "std::transform(v.begin(), v.end(), u.begin(), v.begin(), std::plus<double>())"
    ),
    "with one of any type": (
        "std::transform(v.begin(), v.end(), u.begin(), v.begin(), std::minus<>{})"
    ),
    "added up": (
        "sum = std::accumulate(v.begin(), v.end(), 0.0,\n"
        "                              [](double a, double x) { return a + x * x; })"
    ),
    "a class added up": (
        "sum = std::accumulate(marks.begin(), marks.end(), 0.0,\n"
        "                              [](double a, const Mark &m) { return a + m.x; })"
    ),
    "a product of its own": (
        "sum = std::inner_product(v.begin(), v.end(), u.begin(), 0.0, std::plus<>(),\n"
        "                                 [](double a, double b) { return a * b - 1; })"
    ),
    "the largest by size": (
        "sum = *std::max_element(v.begin(), v.end(),\n"
        "                                [](double a, double b) { return a * a < b * b; })"
    ),
    "made": "std::generate(v.begin(), v.end(), [&]() { return sum += 0.5; })",
    "counted": "sum += std::count_if(v.begin(), v.end(), [](double x) { return x > 1; })",
    "with more than one statement": (
        "std::for_each(v.begin(), v.end(), [&](double &x) {\n"
        "            double y = x;\n"
        "            for (int k = 0; k < 3; k++)\n"
        "                if (y > 1.0)\n"
        "                    y *= 0.5;\n"
        "            x = y;\n"
        "        })"
    ),
    "with what the program has": (
        "std::for_each(v.begin(), v.end(), [](double &x) { x = twice(x); })"
    ),
    "held": (
        "auto half = [](double &x) { x *= 0.5; };\n        std::for_each(v.begin(), v.end(), half)"
    ),
    "called": "auto work = [&]() { for (auto &x : v) x *= 0.5; };\n        work()",
    "called with a vector": (
        "auto work = [&](std::vector<double> &w) { for (auto &x : w) x += sum; };\n        work(v)"
    ),
    "called with numbers": (
        "auto work = [&](int k, double &x) { for (int i = 0; i < k; i++) v[i] += x; x = 0; };\n"
        "        work(5, sum)"
    ),
}
# What a lambda does to what is sent or received, and what is not read of one.
STAY = {
    "what comes in is set": "std::for_each(in.begin(), in.end(), [](double &x) { x = 1; })",
    "what comes in is read": "std::for_each(in.begin(), in.end(), [&](double x) { sum += x; })",
    "what comes in is captured": "std::for_each(v.begin(), v.end(), [&](double &x) { x = in[3]; })",
    "what comes in is set beside": (
        "std::for_each(v.begin(), v.end(), [&](double x) { in[2] = x; })"
    ),
    "what comes in is copied": (
        "std::for_each(v.begin(), v.end(), [in](double &x) { x = in[3]; })"
    ),
    "what comes in is made": "std::generate(in.begin(), in.end(), [&]() { return sum; })",
    "what comes in goes over": (
        "std::transform(in.begin(), in.end(), v.begin(), [](double x) { return x; })"
    ),
    "what comes in is second": (
        "std::transform(v.begin(), v.begin() + 9, in.begin(), v.begin(), std::plus<double>())"
    ),
    "a function sets what comes in": (
        "std::for_each(v.begin(), v.end(), [&](double x) { put(in, x); })"
    ),
    "one within one sets what comes in": (
        "std::for_each(v.begin(), v.end(), [&](double x) {\n"
        "            std::for_each(in.begin(), in.end(), [&](double &y) { y = x; });\n"
        "        })"
    ),
    "it talks": ("std::for_each(v.begin(), v.end(), [](double) { MPI_Barrier(MPI_COMM_WORLD); })"),
    "it calls what talks": "std::for_each(v.begin(), v.end(), [](double x) { talk(x); })",
    "it gives up": "std::for_each(v.begin(), v.end(), [](double x) { if (x > 9) throw 1; })",
    "the vector grows": (
        "std::for_each(u.begin(), u.begin() + 1, [&](double x) { in.push_back(x); })"
    ),
    "a copy that changes": (
        "std::for_each(v.begin(), v.end(), [k = 0](double &x) mutable { x = k++; })"
    ),
    "a function of the program's": "std::for_each(v.begin(), v.end(), talk)",
    "an object of the program's": "std::for_each(v.begin(), v.end(), Talking())",
    "called, and it sets what comes in": (
        "auto work = [&]() { for (auto &x : in) x = 1; };\n        work()"
    ),
    "called with what comes in": (
        "auto work = [&](std::vector<double> &w) { for (auto &x : w) x = 1; };\n        work(in)"
    ),
    "called with a part of what comes in": (
        "auto work = [&](double &x) { v[2] = x; };\n        work(in[3])"
    ),
    "called with what comes in, which grows": (
        "auto work = [&](std::vector<double> &w) { w.resize(99); };\n        work(in)"
    ),
    "held, with what comes in": (
        "auto half = [&](double &x) { x = in[1]; };\n"
        "        std::for_each(v.begin(), v.end(), half)"
    ),
}
MORE = """
#include <functional>
struct Mark { double x, y; };
static std::vector<Mark> marks(9);
static double twice(double x) { return 2 * x; }
static void put(std::vector<double> &w, double x) { w[1] = x; }
static void talk(double) { MPI_Barrier(MPI_COMM_WORLD); }
struct Talking { void operator()(double x) const { talk(x); } };
"""
USED = " (void)twice; (void)put; (void)talk; (void)Talking();"


def _rewritten(passed: str, path: Path) -> str:
    replaced = {"PASSED": passed, "// BEFORE": MORE, "// FRONT": USED}
    return rewritten(path, changed(PROGRAM, replaced))


@pytest.mark.parametrize("passed", PASSED.values(), ids=PASSED)
def test_it_is_passed(passed: str, tmp_path: Path) -> None:
    text = _rewritten(passed, tmp_path / "main.cpp")
    assert text.index("MPI_Irecv") < text.index(passed) < text.index("MPI_Wait")
    (tmp_path / "main.cpp").write_text(text)
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("passed", STAY.values(), ids=STAY)
def test_nothing_passes(passed: str, tmp_path: Path) -> None:
    text = _rewritten(passed, tmp_path / "main.cpp")
    last = passed.splitlines()[-1]
    assert "MPI_Wait" not in text or text.index("MPI_Wait") < text.rindex(last)


CALLED = """#include <mpi.h>
#include <cstdio>
#include <vector>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<double> u(1002), v(1002), w(1002);
    int first = 0;
    auto smooth = [&]() {
        for (int i = 1; i < 1001; i++)
            w[i] = 0.5 * w[i] + first;
    };
    CALLED
    for (int step = 0; step < 9; step++) {
        MPI_Sendrecv(&u[1000], 1, MPI_DOUBLE, (rank + 1) % size, 0, &u[0], 1, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        smooth();
        for (int i = 1; i < 1001; i++)
            v[i] = u[i - 1] + w[i];
        for (int i = 1; i < 1001; i++)
            u[i] = v[i];
    }
    std::printf("%d %.15g\\n", rank, u[7]);
    MPI_Finalize();
    return 0;
}
"""


def test_a_lambda_that_a_variable_holds(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", CALLED.replace("    CALLED\n", ""))
    assert text.index("MPI_Irecv") < text.index("        smooth();") < text.index("MPI_Wait")


KEPT = {
    "it is kept elsewhere": "auto other = smooth; other();",
    "it is referred to": "auto &other = smooth; other();",
}


@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_one_that_is_kept(kept: str, tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", CALLED.replace("CALLED", kept))
    assert "MPI_Wait" not in text or text.index("MPI_Wait") < text.index("        smooth();")


LATER = """    std::vector<double> out(1002);
    auto put = [&](int) { out[0] = u[0] + 1; };
    std::vector<int> each(3);
    KEPT
"""
RUN_LATER = {
    "given to an algorithm that is not read": "std::partition(each.begin(), each.end(), PUT);",
    "kept as a function": "std::function<void(int)> later = put;",
    "given to a function of the program's": "run(put);",
}


@pytest.mark.parametrize("kept", RUN_LATER.values(), ids=RUN_LATER)
def test_what_runs_elsewhere_may_be_anything(kept: str, tmp_path: Path) -> None:
    """What such a lambda names is known to code that is not read."""
    kept = kept.replace("PUT", "[&](int k) { put(k); return true; }")
    source = changed(
        CALLED,
        {
            "    CALLED\n": LATER.replace("KEPT", kept),
            "        smooth();\n": "        other();\n",
            "#include <vector>": "#include <algorithm>\n#include <functional>\n#include <vector>\n"
            "static std::function<void(int)> held;\n"
            "template <class F> static void run(F f) { held = f; }\n"
            "void other() { if (held) held(1); }\nvoid some() { run([](int) {}); }",
        },
    )
    text = rewritten(tmp_path / "main.cpp", source)
    assert "MPI_Wait" not in text or text.index("MPI_Wait") < text.index("        other();")


WRAPPED = """static void exchange(std::vector<double> &u, int next, int last)
{
    MPI_Sendrecv(&u[1000], 1, MPI_DOUBLE, next, 0, &u[0], 1, MPI_DOUBLE, last, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
int main("""


def test_an_exchange_in_a_lambda_stays_whole(tmp_path: Path) -> None:
    """The statement that calls the lambda is no call of what the lambda calls."""
    source = changed(
        CALLED,
        {
            "int main(": WRAPPED,
            "    CALLED\n": "    auto halo = [&]() { exchange(u, (rank + 1) % size, rank); };\n",
            "        MPI_Sendrecv(&u[1000], 1, MPI_DOUBLE, (rank + 1) % size, 0, &u[0], 1, "
            "MPI_DOUBLE,\n                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, "
            "MPI_STATUS_IGNORE);\n": "        halo();\n",
        },
    )
    assert "exchange_start" not in rewritten(tmp_path / "main.cpp", source)
