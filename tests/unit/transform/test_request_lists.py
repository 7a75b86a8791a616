"""Requests in a local vector that `push_back` fills, and vectors and pointers that halves share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import rewritten

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
#define N 40
static int low, high;
static double u[N + 2], v[N + 2], other[N];
static std::vector<MPI_Request> shared;
static MPI_Request last;
{above}
static void exchange({parameters})
{{
    {declare}
    {first}
    MPI_Irecv({in0}, 1, MPI_DOUBLE, low, 0, MPI_COMM_WORLD, {request});
    {push}
    MPI_Irecv({in1}, 1, MPI_DOUBLE, high, 1, MPI_COMM_WORLD, {request});
    {push}
    {pack}
    MPI_Isend({out0}, 1, MPI_DOUBLE, low, 1, MPI_COMM_WORLD, {request});
    {push}
    MPI_Isend({out1}, 1, MPI_DOUBLE, high, 0, MPI_COMM_WORLD, {request});
    {push}
    {wait}
    {behind}
}}
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &low);
    high = low + 1;
    low--;
    {objects}
    for (int k = 0; k < 5; k++) {{
        {call}
        for (int i = 1; i <= N; i++)
            v[i] = u[i - 1] + u[i + 1];
        for (int i = 1; i <= N; i++)
            u[i] = v[i];
    }}
    std::printf("%g\\n", u[3] + other[0]);
    MPI_Finalize();
    return 0;
}}
"""
PLAIN = {
    "above": "",
    "parameters": "",
    "declare": "std::vector<MPI_Request> q; MPI_Request t;",
    "first": "",
    "in0": "&u[0]",
    "in1": "&u[N + 1]",
    "out0": "&u[1]",
    "out1": "&u[N]",
    "request": "&t",
    "push": "q.push_back(t);",
    "pack": "",
    "wait": "MPI_Waitall((int)q.size(), q.data(), MPI_STATUSES_IGNORE);",
    "behind": "",
    "objects": "",
    "call": "exchange();",
}
BUFFERS = {
    "in0": "&in[0]",
    "in1": "&in[1]",
    "out0": "&out[0]",
    "out1": "&out[1]",
    "pack": "out[0] = u[1]; out[1] = u[N];",
    "behind": "if (low >= 0) u[0] = in[0]; u[N + 1] = in[1];",
}
LIST = "std::vector<MPI_Request> q; MPI_Request t; "
GOES: dict[str, dict[str, str]] = {
    "as usual": {},
    "the caller's": {
        "parameters": "std::vector<MPI_Request> &q",
        "declare": "MPI_Request t;",
        "objects": "std::vector<MPI_Request> own;",
        "call": "exchange(own);",
    },
    "reserved and emptied": {"first": "q.reserve(4);", "behind": "q.clear();"},
    "reserved for as many as there are objects": {
        "above": "struct Side { std::vector<double> in; };\nstatic std::vector<Side> sides;",
        "first": "q.reserve(2 * sides.size());",
    },
    "emplaced": {"push": "q.emplace_back(t);"},
    "begun with none": {"declare": "std::vector<MPI_Request> q(0); MPI_Request t;"},
    "begun with some": {
        "declare": "std::vector<MPI_Request> q(2, MPI_REQUEST_NULL); MPI_Request t;"
    },
    "begun in braces": {"declare": "std::vector<MPI_Request> q{}; MPI_Request t;"},
    "asked whether it is empty": {
        "wait": "if (!q.empty()) MPI_Waitall(q.size(), &q[0], MPI_STATUSES_IGNORE);"
    },
    "waited for one by one": {
        "wait": "for (size_t i = 0; i < q.size(); i++) MPI_Wait(&q[i], MPI_STATUS_IGNORE);"
    },
    "started in place": {
        "push": "q.push_back(MPI_REQUEST_NULL); "
        "MPI_Isend(&other[1], 1, MPI_DOUBLE, high, 3, MPI_COMM_WORLD, &q.back());"
    },
    "made in place": {
        "push": "q.emplace_back(); "
        "MPI_Isend(&other[1], 1, MPI_DOUBLE, high, 3, MPI_COMM_WORLD, &q.back());"
    },
    "made and pushed": {
        "push": "q.push_back(MPI_Request()); "
        "MPI_Isend(&other[1], 1, MPI_DOUBLE, high, 3, MPI_COMM_WORLD, &q.back()); "
        "q.push_back(MPI_Request{});"
    },
    "pushed in a condition": {"push": "if (low >= 0 || high > 0) q.push_back(t);"},
    "local vectors as buffers": {
        **BUFFERS,
        "declare": LIST + "std::vector<double> in(2), out(2);",
    },
    "vectors of a size that is given": {
        **BUFFERS,
        "parameters": "int n",
        "declare": LIST + "std::vector<double> in(n), out(n, 0.0);",
        "call": "exchange(2);",
    },
    "allocated buffers": {
        **BUFFERS,
        "declare": LIST + "double *in = (double *)malloc(16), *out = (double *)malloc(16);",
        "behind": BUFFERS["behind"] + " free(in); free(out);",
    },
    "allocated requests": {
        "declare": "MPI_Request *q = new MPI_Request[4]; int n = 0;",
        "request": "&q[n++]",
        "push": "",
        "wait": "MPI_Waitall(n, q, MPI_STATUSES_IGNORE);",
        "behind": "delete[] q;",
    },
}
STAYS: dict[str, dict[str, str]] = {
    "it outlives the routine": {"declare": "static std::vector<MPI_Request> q; MPI_Request t;"},
    "a global one": {"push": "shared.push_back(t);", "declare": "auto &q = shared; MPI_Request t;"},
    "copied": {"wait": "auto z = q; MPI_Waitall(z.size(), z.data(), MPI_STATUSES_IGNORE);"},
    "exchanged with another": {
        "wait": "std::vector<MPI_Request> z; z.swap(q); "
        "MPI_Waitall(z.size(), z.data(), MPI_STATUSES_IGNORE);"
    },
    "another name of it": {
        "wait": "auto &z = q; MPI_Waitall(z.size(), z.data(), MPI_STATUSES_IGNORE);"
    },
    "a pointer to its elements": {
        "wait": "MPI_Request *z = q.data(); MPI_Waitall(q.size(), z, MPI_STATUSES_IGNORE);"
    },
    "passed on": {
        "above": "static void wait(std::vector<MPI_Request> &q) "
        "{ MPI_Waitall(q.size(), q.data(), MPI_STATUSES_IGNORE); }",
        "wait": "wait(q);",
    },
    "in a lambda": {
        "wait": "auto f = [&]() { MPI_Waitall(q.size(), q.data(), MPI_STATUSES_IGNORE); }; f();"
    },
    "under a try": {
        "wait": "try { MPI_Waitall(q.size(), q.data(), MPI_STATUSES_IGNORE); } catch (...) { }"
    },
    "a handle of another routine": {
        "above": "static void begin() "
        "{ MPI_Isend(other, 1, MPI_DOUBLE, high, 5, MPI_COMM_WORLD, &last); }",
        "push": "q.push_back(last);",
        "call": "begin(); exchange();",
    },
    "a handle that is read from it": {"wait": "t = q[0]; MPI_Wait(&t, MPI_STATUS_IGNORE);"},
    "its elements are erased": {
        "wait": "q.erase(q.begin()); MPI_Waitall(q.size(), q.data(), MPI_STATUSES_IGNORE);"
    },
    "a buffer is used between": {"call": "exchange(); std::swap(u[0], u[N / 2]);"},
    "a return ahead of the wait": {"wait": "if (low > 5) return; " + PLAIN["wait"]},
    "it is asked whether all are there": {
        "wait": "int done = 0; while (!done) "
        "MPI_Testall(q.size(), q.data(), &done, MPI_STATUSES_IGNORE);"
    },
    "a pointer to a local array": {
        **BUFFERS,
        "declare": LIST + "double room[4] = {0.0}; double *in = room, *out = room + 2;",
    },
    "a pointer to a local vector": {
        **BUFFERS,
        "declare": LIST + "std::vector<double> room(4); double *in = &room[0], *out = &room[2];",
    },
    "a pointer into a vector that is declared with it": {
        **BUFFERS,
        "declare": LIST + "std::vector<double> in(2), out(2); double *p = in.data();",
        "in0": "p",
    },
    "the size of a vector that is declared with it": {
        **BUFFERS,
        "declare": LIST + "std::vector<double> in(2), out(2); int n = (int)in.size();",
        "first": "other[0] = n;",
    },
    "a vector that is a copy of another": {
        **BUFFERS,
        "declare": LIST + "std::vector<double> out(2), in(out);",
    },
    "a global pointer to a local array": {
        **BUFFERS,
        "above": "static double *in, *out;",
        "declare": LIST + "double room[4] = {0.0};",
        "first": "in = room; out = room + 2;",
    },
    "a pointer to a parameter": {
        **BUFFERS,
        "parameters": "double x, double y",
        "declare": LIST + "double *in = &x, *out = other; in[0] = y;",
        "call": "exchange(0.0, 1.0);",
        "in1": "&last_one",
        "above": "static double last_one;",
        "behind": "u[0] = in[0];",
    },
    "a pointer whose address is kept": {
        **BUFFERS,
        "above": "static double **where;",
        "declare": LIST + "double *in = (double *)malloc(16), *out = (double *)malloc(16);",
        "first": "where = &in;",
    },
    "requests in memory that is kept": {
        "declare": "static MPI_Request *room; if (!room) room = new MPI_Request[4]; "
        "MPI_Request *q = room; int n = 0;",
        "request": "&q[n++]",
        "push": "",
        "wait": "MPI_Waitall(n, q, MPI_STATUSES_IGNORE);",
    },
}


def split(tmp_path: Path, changes: dict[str, str]) -> bytes:
    path = tmp_path / "program.cpp"
    path.write_text(PROGRAM.format(**{**PLAIN, **changes}).replace("; ", ";\n    "))
    return transform([path], Options()).after[str(path)]


@pytest.mark.parametrize("name", GOES)
def test_the_routine_is_split(name: str, tmp_path: Path) -> None:
    text = split(tmp_path, GOES[name])
    assert b"exchange_start(" in text and b"exchange_finish(" in text


@pytest.mark.parametrize("name", STAYS)
def test_the_routine_stays_whole(name: str, tmp_path: Path) -> None:
    assert b"exchange_start(" not in split(tmp_path, STAYS[name])


def test_the_vectors_are_the_callers(tmp_path: Path) -> None:
    text = split(tmp_path, GOES["local vectors as buffers"]).decode()
    head = text[: text.index("exchange_finish(")]
    assert "q.clear();" in head and "in = std::vector<double>(2);" in head
    assert "std::vector<MPI_Request> &q" in text and "std::vector<double> &in" in text
    assert "std::vector<double> exchange_in;" in text.partition("int main")[2]


ELEMENTS = """#include <mpi.h>
#include <cstdio>
#include <vector>
const int N = 400;
double in[N], more[N], out[N], u[N], v[N];
void exchange(int peer)
{
    std::vector<MPI_Request> q;
    MPI_Request one;
    MPI_Irecv(more, N, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD, &one);
    q.push_back(one);
    MPI_Irecv(in, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &one);
    q.push_back(one);
    q.push_back(MPI_REQUEST_NULL);
    MPI_Isend(out, N, MPI_DOUBLE, peer, 8, MPI_COMM_WORLD, &q.back());
    MPI_Isend(u, 10, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &one);
    q.push_back(one);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = 0.5 * v[i] + in[i];
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Wait(&q[2], MPI_STATUS_IGNORE);
    MPI_Wait(&q[3], MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; i++)
        exchange(1 - rank);
    std::printf("%g %g\\n", v[3], more[3]);
    MPI_Finalize();
    return 0;
}
"""


def test_any_element_may_hold_what_a_variable_gives(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "elements.cpp", ELEMENTS)
    assert text.index("MPI_Wait(&q[1]") < text.index("v[i] = 0.5")
    other = rewritten(tmp_path / "elements.cpp", ELEMENTS.replace("+ in[i]", "+ 0.25"))
    assert other.index("MPI_Wait(&q[1]") > other.index("v[i] = 0.5")
