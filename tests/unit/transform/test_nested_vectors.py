"""Vectors of vectors: their rows are told apart, and what may give one other memory is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <algorithm>
#include <utility>
#include <vector>
typedef std::vector<std::vector<double>> Rows;
const int n = 1000;
static double b[n], scale = 0.5;
static double *held;
static Rows *all;
static void work() { for (int i = 0; i < n; i++) b[i] = scale * b[i] + 1.0; }
static void poke(Rows &x) { x[0][3] = 1.0; }
static void grow(Rows &x) { x.push_back(std::vector<double>(n)); }
static void longer(Rows &x) { x[0].resize(2 * n); }
static void turn(Rows &x, Rows &y) { x.swap(y); }
static void look(const Rows &x) { scale = x[0][3]; }
static void poke_row(std::vector<double> &x) { x[3] = 1.0; }
static void poke_from(double *x) { x[3] = 1.0; }
static void poke_at(Rows &x, int k) { x[k][3] = 1.0; }
static double sum(Rows x) { double s = 0; for (int i = 0; i < n; i++) s += x[0][i]; return s; }
static double sum_row(std::vector<double> x) { return x[0] + x[n - 1]; }
static double look_row(const std::vector<double> &x) { return x[0] + x[n - 1]; }
static Rows &other(Rows &x, Rows &y, int k) { return k ? x : y; }
template <class T> void put(T &x) { x[0][3] = 1.0; }
struct Box {
    Rows in, out;
    std::vector<Rows> deep;
    void go(int peer, Rows &u, Rows &v, int side);
    void set() { out[0][3] = 1.0; }
    void set_at(int k) { out[k][3] = 1.0; }
};
void Box::go(int peer, Rows &u, Rows &v, int side)
{
    Rows here(4, std::vector<double>(n)), there(4, std::vector<double>(n, 1.0));
    %s
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        Rows u(4, std::vector<double>(n)), v(4, std::vector<double>(n));
        Box box;
        box.in.resize(4, std::vector<double>(n));
        box.out.resize(4, std::vector<double>(n));
        box.deep.resize(2, Rows(4, std::vector<double>(n)));
        box.go(1 - rank, u, %s, rank);
    }
    MPI_Finalize();
    return 0;
}
"""
SEND = "MPI_Send(%s, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); %s work();"

# Of each, the buffer and what uses it before work that could be passed.
REFUSED = {
    "the row": ("here[0].data()", "here[0][3] = 1.0;"),
    "its first element's address": ("&here[0][0]", "here[0].back() = 1.0;"),
    "any row": ("here[0].data()", "here[side][3] = 1.0;"),
    "any that is sent": ("here[side].data()", "here[1][3] = 1.0;"),
    "another name of the row": ("here[0].data()", "auto &r = here[0]; r[3] = 1.0;"),
    "another name of any": ("here[1].data()", "auto &r = here[side]; side = 0; r[3] = 1.0;"),
    "another name of all": ("here[0].data()", "Rows &r = here; r[0][3] = 1.0;"),
    "one of two": ("here[0].data()", "Rows &r = other(here, there, side); r[0][3] = 1.0;"),
    "one of two at once": ("here[0].data()", "other(here, there, side)[0][3] = 1.0;"),
    "a loop over the rows": ("here[0].data()", "for (auto &row : here) row[3] = 1.0;"),
    "a loop over the elements": (
        "here[0].data()",
        "for (auto &row : here) for (double &x : row) x = 1.0;",
    ),
    "an iterator": ("here[0].data()", "(*here.begin())[3] = 1.0;"),
    "an iterator of the row": ("here[0].data()", "*here[0].begin() = 1.0;"),
    "the first row": ("here[0].data()", "here.front()[3] = 1.0;"),
    "the last row": ("here[0].data()", "here.back()[3] = 1.0;"),
    "a checked row": ("here[0].data()", "here.at(0)[3] = 1.0;"),
    "a checked element": ("here[0].data()", "here[0].at(3) = 1.0;"),
    "a pointer to the rows": ("here[0].data()", "here.data()[0][3] = 1.0;"),
    "the address of a row": ("here[0].data()", "std::vector<double> *r = &here[0]; (*r)[3] = 1.0;"),
    "the address of all": ("here[0].data()", "Rows *r = &here; (*r)[0][3] = 1.0;"),
    "a kept address": ("here[0].data()", "all = &here; (*all)[0][3] = 1.0;"),
    "a pointer into a row": ("here[0].data()", "double *p = here[0].data(); p[2] = 1.0;"),
    "a pointer to any element": ("here[0].data()", "double *p = &here[side][2]; *p = 1.0;"),
    "a reference to an element": ("here[0].data()", "double &r = here[0][2]; r = 2.0;"),
    "a kept pointer": ("here[0].data()", "held = here[0].data(); held[3] = 2.0;"),
    "a longer row": ("here[0].data()", "here[0].resize(2 * n);"),
    "a row more": ("here[0].data()", "here.push_back(std::vector<double>(n));"),
    "fewer rows": ("here[0].data()", "here.resize(1);"),
    "no rows": ("here[0].data()", "here.clear();"),
    "a row removed": ("here[0].data()", "here.erase(here.begin());"),
    "a row assigned": ("here[0].data()", "here[0] = there[0];"),
    "a row moved": ("here[0].data()", "there[1] = std::move(here[0]); there[1][3] = 1.0;"),
    "rows exchanged": ("here[0].data()", "here[0].swap(here[1]); here[1][3] = 1.0;"),
    "rows exchanged by the library": (
        "here[0].data()",
        "std::swap(here[0], there[1]); there[1][3] = 1.0;",
    ),
    "rows turned": (
        "here[0].data()",
        "std::rotate(here.begin(), here.begin() + 1, here.end()); here[3][3] = 1.0;",
    ),
    "all assigned": ("here[0].data()", "here = there;"),
    "all moved": (
        "here[0].data()",
        "double *p = here[0].data(); there = std::move(here); p[3] = 1.0; held = p;",
    ),
    "all exchanged": ("here[0].data()", "here.swap(there); there[0][3] = 1.0;"),
    "all exchanged by the library": (
        "here[0].data()",
        "std::swap(here, there); there[0][3] = 1.0;",
    ),
    "made of what was moved": (
        "here[0].data()",
        "Rows more(std::move(here)); more[0][3] = 1.0;",
    ),
    "a function": ("here[0].data()", "poke(here);"),
    "a function of a row": ("here[0].data()", "poke_row(here[0]);"),
    "a function of any row": ("here[0].data()", "poke_row(here[side]);"),
    "a function of the row's elements": ("here[0].data()", "poke_from(here[0].data());"),
    "a function of some elements": ("here[0].data()", "poke_from(&here[0][2]);"),
    "a function of any's elements": ("here[0].data()", "poke_from(here[side].data());"),
    "a function with the row's number": ("here[0].data()", "poke_at(here, 0);"),
    "a function with any number": ("here[0].data()", "poke_at(here, side);"),
    "a function template": ("here[0].data()", "put(here);"),
    "a function that adds rows": ("here[0].data()", "grow(here);"),
    "a function with a longer row": ("here[0].data()", "longer(here);"),
    "a function that exchanges": ("here[0].data()", "turn(here, there); there[0][3] = 1.0;"),
    "a lambda": ("here[0].data()", "auto f = [&](int i) { here[i][3] = 1.0; }; f(0);"),
    "what is given": ("u[0].data()", "u[0][3] = 1.0;"),
    "what is given to a function": ("u[0].data()", "poke(u);"),
    "a member": ("out[0].data()", "out[0][3] = 1.0;"),
    "a member by a method": ("out[0].data()", "set();"),
    "a member by a number": ("out[0].data()", "set_at(side);"),
    "a member of another object": ("out[0].data()", "Box &o = *this; o.out[0][3] = 1.0;"),
    "members exchanged": ("out[0].data()", "in.swap(out); in[0][3] = 1.0;"),
    "three levels": ("deep[0][1].data()", "deep[0][1][3] = 1.0;"),
    "any of three levels": ("deep[0][1].data()", "deep[side][1][3] = 1.0;"),
    "two of three levels": ("deep[0][1].data()", "Rows &r = deep[0]; r[1][3] = 1.0;"),
    "two of three given": ("deep[0][1].data()", "poke_at(deep[0], 1);"),
    "two of three exchanged": ("deep[0][1].data()", "deep[0].swap(there); there[1][3] = 1.0;"),
    "vectors of bits": (
        "here[0].data()",
        "std::vector<std::vector<bool>> f(3); f.resize(4); here[0][1] = f.size();",
    ),
}
REWRITTEN = {
    "nothing": ("here[0].data()", ""),
    "another row": ("here[0].data()", "here[1][3] = 1.0;"),
    "another name of another": ("here[0].data()", "auto &r = here[1]; r[3] = 1.0;"),
    "other rows": ("here[0].data()", "there[0][3] = 1.0; there[side][4] = 2.0;"),
    "a read": ("here[0].data()", "b[3] = here[0][3] + here[side][2];"),
    "numbers of rows": ("here[0].data()", "b[3] = here.size() + here[0].size();"),
    "a function that reads": ("here[0].data()", "b[2] = look_row(here[0]);"),
    "a function of others": ("here[0].data()", "poke(there);"),
    "a function of another row": ("here[0].data()", "poke_row(here[1]);"),
    "a function of another row's elements": ("here[0].data()", "poke_from(&here[1][0]);"),
    "a function with another number": ("here[0].data()", "poke_at(here, 1);"),
    "a given one beside": ("here[0].data()", "poke(u);"),
    "two that are given": ("u[0].data()", "v[0][3] = 1.0;"),
    "a member": ("out[0].data()", "out[1][3] = 1.0; in[0][3] = 2.0;"),
    "another member": ("out[0].data()", "u[0][3] = 1.0;"),
    "three levels": ("deep[0][1].data()", "deep[1][1][3] = 1.0;"),
    "three levels given": ("deep[0][1].data()", "poke_at(deep[0], 2); poke_row(deep[0][0]);"),
    "the last of three levels": ("deep[0][1].data()", "deep[0][2][3] = 1.0;"),
}

# Of each, what reads what was received before work that could be passed.
READ = {
    "an element": "scale = here[0][3];",
    "any element": "scale = here[side][3];",
    "a copy of the row": "std::vector<double> c = here[0]; scale = c[3];",
    "a copy of a row that is assigned": "there[0] = here[0];",
    "a copy of all": "Rows c = here; scale = c[0][3];",
    "a copy of all that is assigned": "there = here;",
    "a row that is added elsewhere": "there.push_back(here[0]);",
    "a copy for a function": "scale = sum(here);",
    "a copy of a row for a function": "scale = sum_row(here[0]);",
    "a function": "look(here);",
    "a function with a row": "scale = look_row(here[0]);",
    "a loop over the rows": "for (const auto &row : here) scale += row[3];",
    "copies of the rows": "for (auto row : here) scale += row[3];",
    "an algorithm": "scale = *std::max_element(here[0].begin(), here[0].end());",
    "a comparison": "scale = here[0] == there[0];",
    "a structure with it": "struct Held { Rows r; } h{here}; scale = h.r[0][3];",
}
READ_ELSEWHERE = {
    "another row": "scale = here[1][3];",
    "a copy of another row": "scale = look_row(here[1]);",
    "another name of another row": "auto &r = here[1]; scale = r[3];",
    "other rows": "look(there);",
}
RECEIVE = (
    "MPI_Recv(here[0].data(), n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); "
    "%s work();"
)


def outcome_of(tmp_path: Path, code: str, passed: str = "v"):  # type: ignore[no-untyped-def]
    path = tmp_path / "case.cpp"
    path.write_text(PROGRAM % (code, passed))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return next(d for d in outcome.decisions if d.site.routine.name == "Box::go")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    decision = outcome_of(tmp_path, SEND % REFUSED[name])
    assert decision.decision != "rewritten", decision.details


@pytest.mark.parametrize("name", REWRITTEN)
def test_rewritten(name: str, tmp_path: Path) -> None:
    decision = outcome_of(tmp_path, SEND % REWRITTEN[name])
    assert decision.decision == "rewritten", decision.reason


@pytest.mark.parametrize("name", READ)
def test_read(name: str, tmp_path: Path) -> None:
    decision = outcome_of(tmp_path, RECEIVE % READ[name])
    assert decision.decision != "rewritten", decision.details


@pytest.mark.parametrize("name", READ_ELSEWHERE)
def test_read_elsewhere(name: str, tmp_path: Path) -> None:
    decision = outcome_of(tmp_path, RECEIVE % READ_ELSEWHERE[name])
    assert decision.decision == "rewritten", decision.reason


@pytest.mark.parametrize("passed", ["v", "u"])
def test_two_references_may_be_one(tmp_path: Path, passed: str) -> None:
    """They name two, if each call passes two."""
    decision = outcome_of(tmp_path, SEND % ("u[0].data()", "v[0][3] = 3.0;"), passed)
    assert (decision.decision == "rewritten") is (passed == "v"), decision.reason
