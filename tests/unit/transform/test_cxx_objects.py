"""Objects of C++: messages of methods that are rewritten, and those that must not be."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.in_place import IN_PLACE

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.rewrites.registry import REWRITES

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <array>
#include <vector>
%s
const int n = 1000;
struct Box;
static double *held;
void keep(Box *box);
double *get();
static void put(Box &box);
static void put(double *x, int k) { x[k] = 4.0; }
template <class T> static void fill(T &x) { x[2] = 1.0; }
struct Guard {
    double *p;
    ~Guard() { p[1] = 7.0; }
};
static Guard make(double *p) { return Guard{p}; }
struct Base {
    std::vector<double> w;
    double e[n];
    Base() : w(n) {}
    void first() { w[0] = 3.0; }
};
struct Box : Base {
    std::vector<double> u, v;
    std::array<double, n> f;
    double g[n];
    double &front;
    int m;
    Box *next;
    mutable double last[n];
    static int count;
    Box() : u(n), v(n), front(u[0]), m(n), next(nullptr) { held = u.data() + 3; }
    Box(const Box &o) = default;
    virtual ~Box() {}
    Box &operator=(const Box &o) { u = o.u; return *this; }
    double &operator()(int i) { return u[i]; }
    double &at(int i) { return u[i]; }
    void set(int i) { v[i] = 2.0; }
    void set(double x) { u[1] = x; }
    double get(int i) const { return u[i]; }
    double get(int i) { u[i] += 1.0; return u[i]; }
    static void put_in(Box *p) { p->u[3] = 1.0; }
    virtual void poke() { u[4] = 1.0; }
    template <class T> void fill_in(T x) { u[5] = x; }
    void mark() const { last[0] = 1.0; }
    void compute() { for (int i = 0; i < n; i++) v[i] = 0.5 * v[i] + 1.0; }
    double sum() const { double s = 0.0; for (double x : u) s += x; return s; }
    void go(int peer, Box &other, const std::vector<double> &given);
    %s
};
int Box::count;
static void put(Box &box) { box.u[7] = 3.0; }
void Box::go(int peer, Box &other, const std::vector<double> &given)
{
    MPI_Send(%s, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    %s
    compute();
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        Box box, other;
        box.go(1 - rank, other, other.v);
        other.go(1 - rank, box, box.u);
    }
    MPI_Finalize();
    return 0;
}
"""

HEADERS = {"std::f": "functional", "std::memcpy": "cstring", "std::iota": "numeric"} | {
    "std::fill": "algorithm",
    "std::swap": "utility",
}
# What stands between the message and work beside which it could be under way: (buffer, code).
REFUSED = {
    "resize": ("u.data()", "u.resize(5);"),
    "another vector is resized": ("u.data()", "w.resize(5);"),
    "swap": ("u.data()", "u.swap(v);"),
    "std::swap": ("u.data()", "std::swap(u, v);"),
    "assignment": ("u.data()", "u = v;"),
    "moved from": ("&u[0]", "v = std::move(u);"),
    "an iterator": ("u.data()", "*u.begin() = 1.0;"),
    "std::fill with an iterator kept": (
        "u.data()",
        "auto first = u.begin(); std::fill(first, u.end(), 0.0);",
    ),
    "a loop over the vector": ("u.data()", "for (double &x : u) x = 1.0;"),
    "a reference to an element": ("u.data()", "double &r = u[3]; r = 2.0;"),
    "a reference to the vector": ("u.data()", "std::vector<double> &r = u; r[3] = 2.0;"),
    "a pointer to an element": ("u.data()", "double *p = &u[0]; p[2] = 1.0;"),
    "the elements by their address": ("u.data()", "*u.data() = 1.0;"),
    "the last element": ("u.data()", "u.back() = 1.0;"),
    "checked access": ("u.data()", "u.at(2) = 1.0;"),
    "another object of the class": ("u.data()", "other.u[2] = 1.0;"),
    "a pointer to the object": ("u.data()", "Box *p = this; p->u[1] = 2.0;"),
    "an object that a member points to": ("u.data()", "next->u[1] = 2.0;"),
    "a virtual method": ("u.data()", "poke();"),
    "a virtual method of an object": ("u.data()", "other.poke();"),
    "a lambda": ("u.data()", "auto f = [this] { u[0] = 1.0; }; f();"),
    "a lambda with all by reference": ("u.data()", "auto f = [&] { u[0] = 1.0; }; f();"),
    "std::function": ("u.data()", "std::function<void()> f = [this] { u[0] = 1.0; }; f();"),
    "a function with a reference": ("u.data()", "put(*this);"),
    "a function with a pointer": ("u.data()", "put(u.data(), 3);"),
    "a pointer to a member": ("u.data()", "auto p = &Box::u; (this->*p)[0] = 1.0;"),
    "a pointer to a method": ("u.data()", "void (Box::*f)(double) = &Box::set; (this->*f)(1.0);"),
    "an overloaded method": ("u.data()", "set(2.0);"),
    "the method that is not const": ("u.data()", "v[0] = get(3);"),
    "a static method": ("u.data()", "put_in(this);"),
    "an operator": ("u.data()", "(*this)(3) = 1.0;"),
    "a method's reference": ("u.data()", "at(3) = 1.0;"),
    "a method of a base class": ("w.data()", "first();"),
    "a method of a base class, of an object": ("w.data()", "other.first();"),
    "a method template": ("u.data()", "fill_in(1.0);"),
    "a function template": ("u.data()", "fill(u);"),
    "a destructor": ("u.data()", "{ Guard guard{u.data()}; v[1] = guard.p[2]; }"),
    "the destructor of what is returned": ("u.data()", "make(u.data());"),
    "an object assigned": ("u.data()", "*this = other;"),
    "an object constructed": ("u.data()", "Box copy(*this); v[0] = copy.v[1];"),
    "a pointer that a constructor kept": ("u.data()", "held[2] = 1.0;"),
    "a reference member": ("u.data()", "front = 1.0;"),
    "a mutable member": ("last", "mark();"),
    "an array member": ("g", "g[3] = 1.0;"),
    "an array member of another object": ("g", "other.g[3] = 1.0;"),
    "an array member of a base class": ("e", "other.e[3] = 1.0;"),
    "std::array": ("f.data()", "f[2] = 1.0;"),
    "std::array, by a reference": ("&f[0]", "auto &r = f; r[2] = 1.0;"),
    "memcpy": ("u.data()", "std::memcpy(u.data(), v.data(), 80);"),
    "a cast away of const": ("u.data()", "const_cast<double &>(given[1]) = 1.0;"),
    "a vector given": ("given.data()", "v[1] = 1.0;"),
    "an exception": ("u.data()", "if (m > 5) throw 1;"),
    "a try block": ("u.data()", "try { v[0] = 1.0; } catch (...) { u[1] = 2.0; }"),
    "memory that is given back": ("u.data()", "delete next;"),
    "an object made anew": ("u.data()", "next = new Box;"),
    "a placement": ("u.data()", "std::vector<double>(n).swap(u);"),
    "a vector of the vector's iterators": (
        "u.data()",
        "std::vector<double> x(u.begin(), u.end());",
    ),
    "an object that a lambda gives away": (
        "g",
        "auto f = [this] { keep(this); }; f(); double *p = ::get(); p[1] = 1.0;",
    ),
    "a goto": ("u.data()", "if (m > 5) goto end; v[0] = 1.0; end:"),
}
# `compute` goes in front of what sets the buffer, which stays behind the wait.
REWRITTEN = {
    "nothing": ("u.data()", ""),
    "std::fill": ("u.data()", "std::fill(u.begin(), u.end(), 0.0);"),
    "std::iota": ("u.data()", "std::iota(u.begin(), u.end(), 0.0);"),
    "another vector": ("u.data()", "v[3] = 1.0;"),
    "another vector of the base class": ("u.data()", "first();"),
    "the overloaded method of another vector": ("u.data()", "set(2);"),
    "a const method": ("u.data()", "v[0] = sum();"),
    "another array": ("g", "e[3] = 1.0;"),
    "a read": ("u.data()", "v[0] = u[3];"),
    "a loop over another vector": ("u.data()", "for (double &x : v) x = 1.0;"),
    "a reference to another vector": ("u.data()", "std::vector<double> &r = v; r[3] = 2.0;"),
    "elements by their first": ("&u[0]", "v[1] = 2.0;"),
    "a vector of an object that is always another one": ("u.data()", "other.u[2] = 1.0;"),
    "a method of a base class, of always another one": ("w.data()", "other.first();"),
}


def outcome_of(  # type: ignore[no-untyped-def]
    tmp_path: Path,
    buffer: str,
    code: str,
    members: str = "",
    *,
    same: bool = False,
    rewrites: frozenset[str] = IN_PLACE,
):
    """`same`: one call passes the object that it is called on."""
    path = tmp_path / "case.cpp"
    headers = [f"#include <{name}>" for identifier, name in HEADERS.items() if identifier in code]
    text = PROGRAM % ("\n".join(headers), members, buffer, code)
    path.write_text(
        text.replace("other.go(1 - rank, box,", "other.go(1 - rank, other,") if same else text
    )
    outcome = transform([path], Options(rewrites=rewrites))
    assert not outcome.skipped, outcome.skipped
    return next(d for d in outcome.decisions if d.site.call.name == "MPI_Send")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    # Split, two calls of the method have their messages under way together.
    whole = IN_PLACE - {"wrappers"}
    same = "another object" in name or "of an" in name
    decision = outcome_of(tmp_path, *REFUSED[name], same=same, rewrites=whole)
    assert decision.decision != "rewritten", decision.details


@pytest.mark.parametrize("name", REWRITTEN)
def test_rewritten(name: str, tmp_path: Path) -> None:
    decision = outcome_of(tmp_path, *REWRITTEN[name], rewrites=frozenset(REWRITES))
    assert decision.decision == "rewritten", decision.reason


HEADER = """#include <mpi.h>
#include <vector>
class Halo {
  public:
    Halo();
    void begin(int peer);
    void end();
    void work();
  private:
    std::vector<double> in_, out_, v_;
    std::vector<MPI_Request> requests_;
};
"""
MADE = """#include "halo.hpp"
Halo::Halo() : in_(10), out_(10), v_(1000), requests_(2, MPI_REQUEST_NULL) {}
void Halo::work() { for (int i = 0; i < 1000; i++) v_[i] = 0.5 * v_[i] + 1.0; }
"""
EXCHANGED = """#include "halo.hpp"
void Halo::begin(int peer)
{
    MPI_Irecv(in_.data(), 10, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests_[0]);
    MPI_Isend(out_.data(), 10, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests_[1]);
}
void Halo::end() { MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE); }
"""
MAIN = """#include "halo.hpp"
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        Halo halo;
        halo.begin(1 - rank);
        halo.end();
        halo.work();
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("whole", [True, False])
def test_a_class_in_several_files(tmp_path: Path, whole: bool) -> None:
    """Its constructor may keep requests, where it is not among the files."""
    (tmp_path / "halo.hpp").write_text(HEADER)
    texts = {"made.cpp": MADE, "exchanged.cpp": EXCHANGED, "main.cpp": MAIN}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    given = [tmp_path / name for name in texts if whole or name != "made.cpp"]
    outcome = transform(given, Options())
    moved = {d.site.call.name for d in outcome.decisions if d.decision == "rewritten"}
    assert moved == ({"MPI_Waitall", "Halo::end"} if whole else set())
