"""Fields as real codes of C++ have them: templates, std::array, arrays of vectors, accessors."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <array>
#include <utility>
#include <vector>
const int n = 1000;
static double b[n];
static double *held;
static void keep(double &x) { held = &x; }
static void work() { for (int i = 0; i < n; i++) b[i] = 0.5 * b[i] + 1.0; }
template <class T> class Field {
  public:
    Field(int nx, int ny) : nx_(nx), ny_(ny), data_((nx + 2) * (ny + 2)) {}
    T &operator()(int i, int j) { return data_[i + (nx_ + 2) * j]; }
    const T &operator()(int i, int j) const { return data_[i + (nx_ + 2) * j]; }
    T &at(int i) { return data_[i]; }
    T get(int i) const { return data_[i]; }
    T &counted(int i) { calls++; return data_[i]; }
    int nx() const { return nx_; }
    T *data() { return data_.data(); }
    void swap(Field &other) { data_.swap(other.data_); }
    void fill(T x) { for (int i = 0; i < nx_; i++) data_[i] = x; }
    int calls = 0;
  private:
    int nx_, ny_;
    std::vector<T> data_;
};
static double c[n];
template <class T> struct Linked { T *p = c; };
typedef std::array<std::vector<double>, 2> Two;
static void poke(Two &x) { x[0][3] = 1.0; }
template <class T> void put(T &x) { x.at(3) = 1.0; }
template <class T> void put_other(T &) { b[1] = 2.0; }
template <class T> void send_all(T *x) { MPI_Send(x, n, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD); }
template <class T> void receive_all(T *x)
{
    MPI_Recv(x, n, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
template <class A, class B> void both(A &x, B &y) { x.at(2) = y.at(1); }
class Halo {
  public:
    Halo()
    {
        for (int s = 0; s < 2; s++) {
            out_[s].resize(n);
            in_[s].resize(n);
            rows_[s].resize(n);
        }
    }
    void go(int peer, Field<double> &u, Field<double> &v, int side);
    std::array<std::vector<double>, 2> out_, in_;
    std::vector<double> rows_[2];
    std::array<double, n> flat_;
    std::array<std::array<double, n>, 3> deep_;
    std::array<int, 2> count_;
    double &operator[](int i) { return flat_[i]; }
    double *row(int s) { return rows_[s].data(); }
};
void Halo::go(int peer, Field<double> &u, Field<double> &v, int side)
{
    Two here, there;
    here[0].resize(n);
    there[0].resize(n);
    %s
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        Field<double> u(30, 30), v(30, 30);
        Halo halo;
        halo.go(1 - rank, u, %s, rank);
    }
    MPI_Finalize();
    return 0;
}
"""
SEND = "MPI_Send(%s, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); %s work();"
ALONE = "MPI_Send(%s, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); %s"

# Of each, the buffer and what uses it before work that could be passed.
REFUSED = {
    "the operator of a template": ("u.data()", "u(3, 4) = 1.0;"),
    "another operator's element": ("&u(0, 0)", "u(3, 4) = 1.0;"),
    "a method that returns a reference": ("u.data()", "u.at(3) = 1.0;"),
    "a method that does more": ("u.data()", "u.counted(3) = 1.0;"),
    "a reference that is kept": ("u.data()", "keep(u.at(3)); held[0] = 2.0;"),
    "a pointer to an element": ("u.data()", "double *p = &u(2, 2); p[1] = 2.0;"),
    "a reference to an element": ("u.data()", "double &r = u(2, 2); r = 2.0;"),
    "a method of the template": ("u.data()", "u.fill(2.0);"),
    "a function template": ("u.data()", "put(u);"),
    "one with two": ("u.data()", "both(u, v);"),
    "one that receives": ("u.data()", "receive_all(u.data());"),
    "vectors exchanged": ("u.data()", "u.swap(v);"),
    "objects exchanged": ("u.data()", "std::swap(u, v);"),
    "an object assigned": ("u.data()", "u = v;"),
    "the element of a std::array": ("flat_.data()", "flat_[3] = 1.0;"),
    "its first element": ("flat_.data()", "flat_.front() = 1.0;"),
    "its last element": ("&flat_[0]", "flat_.back() = 1.0;"),
    "a std::array that is filled": ("flat_.data()", "flat_.fill(1.0);"),
    "checked access": ("flat_.data()", "flat_.at(3) = 1.0;"),
    "an iterator": ("flat_.data()", "*flat_.begin() = 1.0;"),
    "a loop over it": ("flat_.data()", "for (double &x : flat_) x = 1.0;"),
    "a pointer into it": ("flat_.data()", "double *p = flat_.data(); p[2] = 1.0;"),
    "the class's own operator": ("flat_.data()", "(*this)[3] = 1.0;"),
    "a row of a std::array": ("deep_[1].data()", "deep_[1][4] = 1.0;"),
    "any row": ("deep_[1].data()", "deep_[side][4] = 1.0;"),
    "a vector in an array": ("out_[0].data()", "out_[0][3] = 1.0;"),
    "any vector in an array": ("out_[0].data()", "out_[side][3] = 1.0;"),
    "any that is sent": ("out_[side].data()", "out_[1][3] = 1.0;"),
    "a vector in an array that is resized": ("out_[0].data()", "out_[1].resize(5);"),
    "another name of one": ("out_[0].data()", "auto &r = out_[0]; r[3] = 1.0;"),
    "another name of any": (
        "out_[1].data()",
        "auto &r = out_[side]; side = 0; r[3] = 1.0;",
    ),
    "two arrays of vectors exchanged": ("out_[0].data()", "out_.swap(in_); in_[0][3] = 1.0;"),
    "an array of vectors assigned": ("out_[0].data()", "out_ = in_;"),
    "a vector of a C array": ("rows_[1].data()", "rows_[1][3] = 1.0;"),
    "its address by a method": ("row(1)", "rows_[1][3] = 1.0;"),
    "written by the method's address": ("rows_[1].data()", "row(1)[3] = 1.0;"),
    "arrays of vectors moved": (
        "here[0].data()",
        "double *p = there[0].data(); here = std::move(there); p[3] = 1.0; held = p;",
    ),
    "a loop over an array of vectors": ("here[0].data()", "for (auto &x : here) x[3] = 1.0;"),
    "another name of an array of vectors": ("here[0].data()", "auto &r = here; r[0][3] = 1.0;"),
    "a function with an array of vectors": ("here[0].data()", "poke(here);"),
    "a lambda": ("u.data()", "auto f = [&](int i) -> double & { return u.at(i); }; f(3) = 1.0;"),
    "what a template sets": ("c", "Linked<double> linked; linked.p[2] = 1.0;"),
    "a structure of an array of requests": (
        "u.data()",
        "std::array<MPI_Request, 2> r, q; r.fill(MPI_REQUEST_NULL); "
        "MPI_Irecv(u.data(), n, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &r[0]); q = r; "
        "MPI_Waitall(2, q.data(), MPI_STATUSES_IGNORE);",
    ),
}
REWRITTEN = {
    "nothing": ("u.data()", ""),
    "another object": ("u.data()", "v(3, 4) = 1.0;"),
    "another object's method": ("u.data()", "v.fill(1.0);"),
    "a read": ("u.data()", "b[3] = u(3, 4) + u.get(2) + u.nx();"),
    "a function template with another": ("u.data()", "put(v); put_other(u);"),
    "one that reads": ("u.data()", "both(v, u);"),
    "another std::array": ("flat_.data()", "deep_[0][1] = 1.0; count_[1] = 3;"),
    "another vector in the array": ("out_[0].data()", "out_[1][3] = 1.0;"),
    "another vector of a C array": ("rows_[0].data()", "rows_[1][3] = 1.0;"),
    "another name of another": ("out_[0].data()", "auto &r = out_[1]; r[3] = 1.0;"),
    "another array of vectors": ("out_[0].data()", "in_[0][3] = 1.0; rows_[0][1] = 2.0;"),
    "a row by a method": ("out_[0].data()", "row(1)[3] = 1.0;"),
}


def outcome_of(tmp_path: Path, code: str, passed: str = "v"):  # type: ignore[no-untyped-def]
    path = tmp_path / "case.cpp"
    path.write_text(PROGRAM % (code, passed))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return next(d for d in outcome.decisions if d.site.routine.name == "Halo::go")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    decision = outcome_of(tmp_path, SEND % REFUSED[name])
    assert decision.decision != "rewritten", decision.details


@pytest.mark.parametrize("name", REWRITTEN)
def test_rewritten(name: str, tmp_path: Path) -> None:
    decision = outcome_of(tmp_path, SEND % REWRITTEN[name])
    assert decision.decision == "rewritten", decision.reason


@pytest.mark.parametrize("passed", ["v", "u"])
def test_two_references_may_be_one_object(tmp_path: Path, passed: str) -> None:
    """They name two, if each call passes two."""
    decision = outcome_of(tmp_path, SEND % ("u.data()", "v.at(2) = 3.0;"), passed)
    assert (decision.decision == "rewritten") is (passed == "v"), decision.reason


OVERLOADS = """#include <mpi.h>
#include "put.h"
static double a[9], b[900];
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Send(a, 9, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    put(%s);
    for (int i = 0; i < 900; i++) b[i] = 0.5 * b[i] + 1.0;
    MPI_Finalize();
    return 0;
}
"""


def test_functions_of_one_name_in_a_header_are_not_taken_for_one(tmp_path: Path) -> None:
    header = "static inline void put(int k) { (void)k; }\n"
    (tmp_path / "put.h").write_text(header)
    path = tmp_path / "case.cpp"
    path.write_text(OVERLOADS % "3")
    (decision,) = transform([path], Options()).decisions
    assert decision.decision == "rewritten", decision.reason
    (tmp_path / "put.h").write_text(header + "static inline void put(double *p) { p[0] = 3; }\n")
    path.write_text(OVERLOADS % "a")
    (decision,) = transform([path], Options()).decisions
    assert decision.decision != "rewritten"
    assert "two functions are called put" in decision.reason.text
