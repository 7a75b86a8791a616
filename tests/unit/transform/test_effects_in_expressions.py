"""Code that an expression of C++ runs without a plain call of it: no wait may pass what it sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>
static double a[1000], b[1000];
static int touch() {{ a[0] += 1.0; return 3; }}
{top}
int main(int argc, char **argv)
{{
    int rank, x = 0;
    std::vector<int> v(9, 1);
    {before}
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(a, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
    {statement}
    for (int i = 0; i < 1000; i++)
        b[i] = i;
    MPI_Finalize();
    return x + v[0];
}}
"""
MEMBER = """struct S { int k = touch(); };
struct T { S s; int z; };
static int take(S q) { return q.k; }
static int takes(const S &q) { return q.k; }"""
DECLARED = """static int g(int k);
static int g(int k = touch());
static int g(int k) { return k; }"""
MADE = "struct S { int k = touch(); int z; S() { z = 1; } };"
GIVEN = "struct S { int z; S(int q = touch()) { z = q; } };"
ENDS = "struct D { ~D() { touch(); } };"
METHODS = """struct S {
    int k = 1;
    int m(int q = touch()) { return q; }
    static int of(int q = touch()) { return q; }
    int operator()(int q = touch()) { return q; }
    S &at(int) { return *this; }
    S &seen(int);
    operator int() const { return touch(); }
    S &operator+=(int) { touch(); return *this; }
    int operator-() const { return touch(); }
    int operator[](int) const { return touch(); }
    S *operator->() { touch(); return this; }
};"""
COPIED = """struct S {
    int k = 1;
    S() {}
    S(const S &o) : k(o.k) { touch(); }
    S &operator=(const S &o) { k = o.k; touch(); return *this; }
};
struct H { S s; int z = 0; };"""
TAKEN = """struct W { int k; W(int q) : k(q) { touch(); } };
struct H { W w; int z; };
struct Q { double r; int z; };
struct C { operator double() const { return touch(); } };"""
HELD = """static std::vector<int> held(9);
static std::vector<int> &get(int) { return held; }"""

# What stands outside of main, at its beginning, and behind the message.
TOUCHING = [
    ("static void g(int k = touch()) { b[2] = k; }", "", "g();"),
    ("static int g(int k, int j = touch() + 1) { return k + j; }", "", "x = g(2);"),
    (DECLARED, "", "x = g();"),
    ("template <class T> static int g(T t, int k = touch()) { return k + t; }", "", "x = g(1);"),
    *((MEMBER, "", statement) for statement in ("x = S{}.k;", "x = T{}.z;", "S u = {}; x = u.k;")),
    *(
        (MEMBER, "", f"x = {name}({given});")
        for name in ("take", "takes")
        for given in ("{}", "S{}")
    ),
    (MEMBER, "", "T t = {{}, 1}; x = t.z;"),
    (MEMBER, "S t{};", "t = {}; x = t.k;"),
    (MADE, "", "S t; x = t.z;"),
    (MADE, "", "x = S().z;"),
    (GIVEN, "", "S t; x = t.z;"),
    (GIVEN, "", "S t{}; x = t.z;"),
    (GIVEN, "", "x = S().z;"),
    (ENDS, "", "{ D d; x = 1; }"),
    (ENDS, "std::unique_ptr<D> p(new D);", "p.reset();"),
    (ENDS, "std::vector<D> p(2);", "p.pop_back();"),
    *((METHODS, "S w;", f"x = {step};") for step in ("w.m()", "S::of()", "w()", "w", "v[w]", "-w")),
    *((METHODS, "S w;", f"x = {step}.k;") for step in ("w.at(touch())", "w.seen(touch())")),
    *((METHODS, "S w;", step) for step in ("w += 1;", "x = w[1];", "x = w->k;", "x = (w += 1).k;")),
    *((HELD, "", f"x = get(touch()){step};") for step in (".size()", "[1]", ".at(1)")),
    (HELD, "", "get(touch())[1] = 4;"),
    (HELD, "", "std::vector<int> &r = get(touch()); r[0] = 1;"),
    (COPIED, "H h, g;", "g = h;"),
    (COPIED, "H h;", "H g = h; x = g.z;"),
    (COPIED, "S s;", "H g{s, 2}; x = g.z;"),
    (COPIED, "std::vector<H> hs(2);", "for (auto each : hs) x += each.z;"),
    (COPIED, "H hs[2];", "for (H each : hs) x += each.z;"),
    *((TAKEN, "C c;", f"{made} = {{c, 1}}; x = 1;") for made in ("double r[2]", "Q q")),
    *(
        (TAKEN, "C c;", f"{made}; x = 1;")
        for made in ("double r{c}", "Q q{.r = c}", "x = Q{c, 1}.z")
    ),
    *((TAKEN, "", f"{made} = {{1, 2}}; x = 1;") for made in ("W w[2]", "H h")),
    ("", "", "auto [p, q] = std::make_pair(touch(), 1); x = p + q;"),
    ("", "", "switch (int k = touch(); k) { case 1: x = 1; }"),
    ("", "", "if (int k = touch(); k) x = 1;"),
    ("", "", "for (int k = touch(); int q : v) x = k + q;"),
    ("", "", "x = std::max(touch(), 2);"),
    ("", "", "x = std::vector<int>(touch(), 7).size();"),
    ("", "", "std::generate(v.begin(), v.end(), touch);"),
    ("", "", "std::fill(v.begin(), v.begin() + touch(), 2);"),
    ("", "", "for (int k = 0; k < 3; k += touch()) x = k;"),
]
# The same where nothing is run, or nothing that the message has.
QUIET = [
    ("static void g(int k = 3) { b[2] = k; }", "", "g();"),
    ("struct S { int k = 3; double z = 0.5; };", "", "x = S{}.k;"),
    ("static int g(int k, int j = 1) { return k + j; }", "", "x = g(2);"),
    *((TAKEN, "", f"{made}; x = 1;") for made in ("Q q{1.0, 1}", "double r[2] = {1.0, 2}")),
    (TAKEN, "Q p, q{1.0, 2};", "p = q; x = p.z;"),
    ("", "", "switch (x) { case 1: x = 2; }"),
    ("", "", "for (int q : v) x += q;"),
    (TAKEN, "Q qs[2];", "for (Q each : qs) x += each.z;"),
]


def test_ends_before_what_an_expression_runs(tmp_path: Path) -> None:
    source = tmp_path / "effects.cpp"
    for top, before, statement in TOUCHING + QUIET:
        source.write_text(PROGRAM.format(top=top, before=before, statement=statement))
        text = transform([source], Options(flags=["-std=c++20"])).after[str(source)].decode()
        run = text.index(statement.split(";")[0], text.index("MPI_Comm_rank"))
        wait = text.find("MPI_Wait(")
        ends_behind = wait > run
        assert ends_behind is ((top, before, statement) in QUIET), (top, statement, text)
