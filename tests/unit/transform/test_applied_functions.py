"""Functions and objects of the program that algorithms apply count as the calls that they make."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_algorithms import PROGRAM
from tests.unit.transform.test_sole_instances import compiles

EACH = "std::for_each(v.begin(), v.end(), {})"
MARKS = "std::for_each(marks.begin(), marks.end(), {})"
ONE_BY_ONE = "std::transform(u.begin(), u.end(), v.begin(), {})"
GO = {
    "a function": ONE_BY_ONE.format("twice"),
    "its address": ONE_BY_ONE.format("&twice"),
    "one of two numbers": "std::transform(v.begin(), v.end(), u.begin(), v.begin(), mean)",
    "an instance of a template": ONE_BY_ONE.format("half<double>"),
    "one that sets what it is given": EACH.format("grow"),
    "one of a class": MARKS.format("move"),
    "one of a class by value": "sum += std::count_if(marks.begin(), marks.end(), is_far)",
    "one that adds up": "sum = std::accumulate(marks.begin(), marks.end(), 0.0, add_place)",
    "one that compares": "sum = *std::max_element(v.begin(), v.end(), is_shorter)",
    "an order": "std::sort(v.begin(), v.end(), is_shorter)",
    "one that makes": "std::generate(v.begin(), v.end(), next)",
    "a loop over numbers": "for (float x : v) sum += x",
    "a loop over a class": "for (Mark m : marks) sum += m.x",
    "a loop that refers to a class": "for (const auto &m : marks) sum += m.x",
    "an object": ONE_BY_ONE.format("Scale{0.5, 1.0}"),
    "an object that a variable holds": (
        "const Scale scale{0.5, 1.0};\n        " + ONE_BY_ONE.format("scale")
    ),
    "an object that holds nothing": "std::sort(v.begin(), v.end(), Longer())",
    "an object of two numbers": (
        "std::transform(v.begin(), v.end(), u.begin(), v.begin(), Axpy{0.5})"
    ),
}
# They do something with what is sent or received, or more than their text says.
STAY = {
    "what comes in is given": "std::for_each(in.begin(), in.end(), grow)",
    "what comes in is read": "std::transform(in.begin(), in.end(), v.begin(), twice)",
    "what comes in is set": "std::generate(in.begin(), in.end(), next)",
    "a function talks": EACH.format("talk"),
    "it calls what talks": ONE_BY_ONE.format("ask"),
    "it sets what comes in": EACH.format("put"),
    "it gives up": EACH.format("check"),
    "its source is not there": ONE_BY_ONE.format("unseen"),
    "which one is not known": ONE_BY_ONE.format("(step % 2 ? twice : half<double>)"),
    "a pointer to one": "double (*f)(double) = ask;\n        " + ONE_BY_ONE.format("f"),
    "one that the library holds": (
        "std::function<double(double)> g = ask;\n        " + ONE_BY_ONE.format("g")
    ),
    "an object talks": EACH.format("Talking()"),
    "an object reads what comes in": ONE_BY_ONE.format("Reading()"),
    "an object that holds an address": ONE_BY_ONE.format("Pointing{in.data()}"),
    "an object that is made by code": ONE_BY_ONE.format("Made(1.0)"),
    "an object with two operators": ONE_BY_ONE.format("Twofold()"),
    "an object that changes": "std::generate(v.begin(), v.end(), Counting{0})",
    "an object of a base class": ONE_BY_ONE.format("Derived()"),
    "an object whose operator is a template": ONE_BY_ONE.format("Any()"),
}
# What converts an element, or the value of a function, may be code of the program.
CONVERTED = {
    "a class to a number": MARKS.format("talk_not"),
    "a class to a number, in a lambda": MARKS.format("[&](double x) { sum += x; }"),
    "a class to a number that is bound": MARKS.format("[&](const double &x) { sum += x; }"),
    "a number to a class": EACH.format("take"),
    "a number to a class, in a lambda": EACH.format("[&](const Made &m) { sum += m.f; }"),
    "a number to a class by value": EACH.format("[&](Made m) { sum += m.f; }"),
    "a value to a class": (
        "sum = std::accumulate(v.begin(), v.end(), 0.0,\n"
        "                              [](const Made &a, double x) { return a.f + x; })"
    ),
    "a class to a number, for the library": (
        "sum = std::accumulate(marks.begin(), marks.end(), 0.0, std::plus<double>())"
    ),
    "what a function returns": ONE_BY_ONE.format("make"),
    "what an object returns": ONE_BY_ONE.format("Making()"),
    "another class": MARKS.format("other"),
    "a class to the number of a loop": "for (double x : marks) sum += x",
    "a class to a number that a loop binds": "for (const double &x : marks) sum += x",
    "a class in an array": "for (double x : fixed) sum += x",
    "a number to the class of a loop": "for (Made m : v) sum += m.f",
    "a number to a class that a loop binds": "for (const Made &m : v) sum += m.f",
    "a number in an array": "for (const Made &m : plain) sum += m.f",
    "a number in a std::array": "for (const Made m : some) sum += m.f",
}
MORE = """
#include <functional>
static std::vector<double> *came;
static double place = 0;
struct Mark {
    double x, y;
    operator double() const { MPI_Barrier(MPI_COMM_WORLD); return x; }
};
struct Made {
    double f;
    Made(double given) : f(given) { MPI_Barrier(MPI_COMM_WORLD); }
    double operator()(double x) const { return f * x; }
    operator double() const { MPI_Barrier(MPI_COMM_WORLD); return f; }
};
struct Other {
    double z;
    Other(const Mark &m) : z(m.x) { MPI_Barrier(MPI_COMM_WORLD); }
};
static std::vector<Mark> marks(9);
static Mark fixed[9];
double unseen(double x);
static double twice(double x) { return 2 * x; }
static double mean(double a, const double &b) { return 0.5 * (a + b); }
template <class T> static T half(T x) { return x / 2; }
static void grow(double &x) { x *= 1.5; }
static void move(Mark &m) { m.x += m.y; }
static bool is_far(Mark m) { return m.x > 3; }
static double add_place(double a, const Mark &m) { return a + m.x; }
static bool is_shorter(double a, double b) { return a * a < b * b; }
static double next() { return place += 0.5; }
static void talk(double) { MPI_Barrier(MPI_COMM_WORLD); }
static double ask(double x) { talk(x); return x; }
static void put(double x) { (*came)[1] = x; }
static void check(double x) { if (x > 1e9) throw 1; }
static void talk_not(double x) { place += x; }
static void take(const Made &m) { place += m.f; }
static void other(const Other &o) { place += o.z; }
static Made make(double x) { return Made(x); }
struct Scale {
    double f, g;
    double operator()(double x) const { return f * x + g; }
};
struct Axpy {
    double a;
    double operator()(const double &x, double y) const { return a * x + y; }
};
struct Longer { bool operator()(double a, double b) const { return a > b; } };
struct Talking { void operator()(double x) const { talk(x); } };
struct Reading { double operator()(double x) const { return x + (*came)[2]; } };
struct Pointing {
    const double *p;
    double operator()(double x) const { return x + p[3]; }
};
struct Twofold {
    double operator()(double x) const { talk(x); return x; }
    double operator()(int x) const { return x; }
};
struct Counting {
    int k;
    double operator()() { return k++; }
};
struct Base { double operator()(double x) const { talk(x); return x; } };
struct Derived : Base {};
struct Any { template <class T> T operator()(T x) const { talk(x); return x; } };
struct Making { Made operator()(double x) const { return Made(x); } };
"""
USED = """came = &in;
    (void)twice; (void)mean; (void)grow; (void)move; (void)is_far; (void)add_place;
    (void)is_shorter; (void)next; (void)ask; (void)put; (void)check; (void)talk_not; (void)take;
    (void)other; (void)make; (void)came;
"""


def _rewritten(passed: str, path: Path) -> str:
    replaced = {"PASSED": passed, "// BEFORE": MORE, "// FRONT": USED}
    return rewritten(path, changed(PROGRAM, replaced))


@pytest.mark.parametrize("passed", GO.values(), ids=GO)
def test_it_is_passed(passed: str, tmp_path: Path) -> None:
    text = _rewritten(passed, tmp_path / "main.cpp")
    last = passed.splitlines()[-1]
    assert text.index("MPI_Irecv") < text.index(last) < text.index("MPI_Wait")
    (tmp_path / "main.cpp").write_text(text)
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("passed", (STAY | CONVERTED).values(), ids=STAY | CONVERTED)
def test_nothing_passes(passed: str, tmp_path: Path) -> None:
    text = _rewritten(passed, tmp_path / "main.cpp")
    last = passed.splitlines()[-1]
    assert "MPI_Wait" not in text or text.index("MPI_Wait") < text.rindex(last)
