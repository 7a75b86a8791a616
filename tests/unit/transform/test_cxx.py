"""C++ as far as calls, plain arrays and vectors go: what is rewritten, and what must not be."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import HEADERS

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <vector>
#include <cstdio>
const int n = 1000;
static double a[n], b[n], c[n];
static double *held = c;
static void work(double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
static void set(double &x) { x = 3.0; }
static void keep(double &x) { held = &x; }
struct Cell { double &inner; };
%s
int main(int argc, char **argv)
{
    int rank, m = n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    %s
    std::printf("%%g %%g %%g %%d\\n", a[1], b[2], held[0], m);
    MPI_Finalize();
    return 0;
}
"""
SEND = "MPI_Send(a, n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);"
RECV = "MPI_Recv(v.data(), n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
SEND_V = "MPI_Send(v.data(), n, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);"

# name: (top-level code, code in main, whether the call is rewritten, part of its reason)
CASES = {
    "a plain array": ("", SEND + " work(b);", True, "1 computing statement"),
    "in a namespace": (
        "namespace part { static void go(int peer) { " + SEND + " work(b); } }",
        "part::go(peer);",
        True,
        "1 computing statement",
    ),
    "a local reference": (
        "",
        "double &x = a[3]; " + SEND + " x = 2.0; work(b);",
        False,
        "may be set",
    ),
    "a reference parameter": ("", SEND + " set(a[2]); work(b);", False, "`a` is set"),
    "a pointer made of a reference": (
        "",
        "keep(a[5]); " + SEND + " held[0] = 2.0; work(b);",
        False,
        "may be set",
    ),
    "a reference to a number of elements": (
        "",
        "int &k = m; work(b); k = 5; MPI_Send(a, m, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);",
        False,
        "may be used or set",
    ),
    "a reference in a structure": (
        "",
        "Cell cell{a[4]}; " + SEND + " cell.inner = 2.0; work(b);",
        False,
        "",
    ),
    "a lambda": ("", SEND + " auto f = [&] { a[0] = 1.0; }; f(); work(b);", False, ""),
    "a range-based loop": (
        "",
        SEND + " for (double &x : a) x = 1.0; work(b);",
        False,
        "`a` is set",
    ),
    "a range-based loop over another": (
        "",
        SEND + " for (double &x : b) x = 0.5 * x;",
        True,
        "1 computing statement",
    ),
    "a method": (
        "struct Box { double *p; void put() { p[0] = 1.0; } };",
        "Box box{a}; " + SEND + " box.put(); work(b);",
        False,
        "",
    ),
    "a vector's memory": (
        "",
        "std::vector<double> v(n); " + RECV + " work(b); a[1] = v[1];",
        True,
        "`v` is used",
    ),
    "a vector's first element": (
        "",
        "std::vector<double> v(n); work(&v[0]); " + SEND.replace("a,", "&v[0],") + " work(b);",
        True,
        "1 computing statement",
    ),
    "a vector that grows": (
        "",
        "std::vector<double> v(n); " + SEND_V + " v.push_back(1.0); work(b);",
        False,
        "`v.push_back` may move its elements",
    ),
    "another vector that grows": (
        "",
        "std::vector<double> v(n), w; " + SEND_V + " w.resize(5); work(b);",
        False,
        "`w.resize` may move its elements",
    ),
    "a vector that a callee resizes": (
        "static void grow(std::vector<double> &v) { v.resize(2 * n); }",
        "std::vector<double> v(n); " + SEND_V + " grow(v); work(b);",
        False,
        "may move its elements",
    ),
    "a vector that a callee sets": (
        "static void fill(std::vector<double> &v) { for (double &x : v) x = 1.0; }",
        "std::vector<double> v(n); " + SEND_V + " fill(v); work(b);",
        False,
        "`v` is set",
    ),
    "a vector that a callee reads": (
        "static void take(const std::vector<double> &v) { for (double x : v) b[0] += x; work(b); }",
        "std::vector<double> v(n); " + SEND_V + " take(v);",
        True,
        "1 computing statement",
    ),
    "a pointer into a vector": (
        "",
        "std::vector<double> v(n); double *p = v.data() + 3; " + SEND_V + " *p = 2.0; work(b);",
        False,
        "may be set through `p`",
    ),
    "a reference to an element": (
        "",
        "std::vector<double> v(n); double &x = v[2]; " + SEND_V + " x = 2.0; work(b);",
        False,
        "may be",
    ),
    "a reference to a vector": (
        "",
        "std::vector<double> v(n); auto &r = v; " + SEND_V + " r[2] = 2.0; work(b);",
        False,
        "",
    ),
    "memory that was another vector's": (
        "",
        "std::vector<double> v(n); double *p = v.data(); std::vector<double> w(std::move(v)); "
        + SEND_V.replace("v.", "w.")
        + " p[0] = 2.0; work(b);",
        False,
        "may be set",
    ),
    "two vectors exchanged in a callee": (
        "static void turn(std::vector<double> &x, std::vector<double> &y) { x.swap(y); }",
        "std::vector<double> v(n), w(n); double *p = w.data(); turn(v, w); "
        + SEND_V
        + " p[0] = 2.0; work(b);",
        False,
        "may be set",
    ),
    "a vector in a block": (
        "",
        "{ std::vector<double> v(n); work(b); work(v.data()); " + SEND_V + " } work(b);",
        False,
        "the end of the block",
    ),
    "checked access": (
        "",
        "std::vector<double> v(n); " + SEND_V + " v.at(3) = 2.0; work(b);",
        False,
        "`v` is set",
    ),
    "a loop over the vector": (
        "",
        "std::vector<double> v(n); " + SEND_V + " for (double &x : v) x = 1.0; work(b);",
        False,
        "`v` is set",
    ),
    "a loop over another vector": (
        "",
        "std::vector<double> v(n), w(n); " + SEND_V + " for (double &x : w) x = 1.0; b[0] = w[1];",
        True,
        "1 computing statement",
    ),
    "an object that ends in a block": (
        "struct Last { ~Last() { a[3] = 7.0; } };",
        "{ Last last; " + SEND + " } work(b);",
        False,
        "",
    ),
    "an object that a reference keeps": (
        "struct Last { ~Last() { a[3] = 7.0; } }; static Last make() { return Last(); }",
        "{ const Last &last = make(); (void)last; " + SEND + " } work(b);",
        False,
        "",
    ),
    "an object that ends with a loop": (
        "struct Last { ~Last() { a[3] = 7.0; } };",
        "for (Last last; m > 0; m = 0) { " + SEND + " } work(b);",
        False,
        "",
    ),
    "an object that ends with a condition": (
        "struct Last { ~Last() { a[3] = 7.0; } };",
        "if (Last last; m > 0) { " + SEND + " } work(b);",
        False,
        "",
    ),
    "an object without an end": (
        "struct Pair { double x, y; };",
        "{ Pair pair = {1.0, 2.0}; b[1] = pair.x; " + SEND + " } work(b);",
        True,
        "1 computing statement",
    ),
    "a vector of bits": (
        "",
        "std::vector<bool> v(n); " + SEND + " v[0] = true; work(b);",
        False,
        "",
    ),
    "a pointer set in a method": (
        "struct Box { void put() { held = a; } };",
        "Box box; box.put(); " + SEND + " held[0] = 2.0; work(b);",
        False,
        "may be set through `held`",
    ),
    "a pointer set in a try block": (
        "",
        "double *p = b; try { p = a; } catch (int) { } " + SEND + " p[0] = 2.0; work(b);",
        False,
        "may be set through `p`",
    ),
    "a pointer set in a lambda": (
        "",
        "double *p = b; auto f = [&] { p = a; }; f(); " + SEND + " p[0] = 2.0; work(b);",
        False,
        "may be set through `p`",
    ),
    "an exception": ("", SEND + " if (m > 2000) throw 1; work(b);", False, ""),
    "memory that is given back": (
        "",
        "double *p = new double[n]; work(p); " + SEND.replace("a,", "p,") + " delete[] p; work(b);",
        False,
        "`p` is set",
    ),
    "an object that is given back": (
        "struct Last { ~Last() { a[3] = 7.0; } };",
        "Last *last = new Last; " + SEND + " delete last; work(b);",
        False,
        "a construct that is not analysed",
    ),
    "a reference that a function returns": (
        "static double &at(int i) { return a[i]; }",
        "double *p = &at(3); " + SEND + " *p = 2.0; work(b);",
        False,
        "`a` may be set through `p`",
    ),
    "a pointer set in a constructor's list": (
        "struct Box { double *p; Box() : p(a) {} };",
        "Box box; if (m > 5) box.p = b; " + SEND + " box.p[0] = 2.0; work(b);",
        False,
        "`a` may be set through `p`",
    ),
    "a static member through an object": (
        "struct Box { static double v[n]; int k; }; double Box::v[n];",
        "Box box; " + SEND.replace("a,", "Box::v,") + " box.v[1] = 2.0; work(b);",
        False,
        "`v` is set",
    ),
    "an object that a method keeps": (
        "static double *kept; struct Box { double v[n]; void keep() { kept = v; } };",
        "Box box; box.keep(); " + SEND.replace("a,", "box.v,") + " kept[1] = 2.0; work(b);",
        False,
        "`v` may be set through `kept`",
    ),
    "memory from the program's own operator": (
        "void *operator new[](std::size_t k) { a[k > 0 ? 3 : 4] = 7.0; return c; }",
        SEND + " double *p = new double[n]; work(b); (void)p;",
        False,
        "`a` is set",
    ),
    "a value for new memory": (
        "",
        "double **p = new double *(a); " + SEND + " (*p)[0] = 2.0; work(b);",
        False,
        "",
    ),
    "new memory": (
        "",
        "double *p = new double[n]; " + SEND + " p[0] = 1; work(b);",
        True,
        "1 computing statement",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top, code, rewritten, reason = CASES[name]
    path = Path("case.cpp")
    monkeypatch.chdir(tmp_path)
    path.write_text(PROGRAM % (top, code))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    (decision,) = outcome.decisions
    assert (decision.decision == "rewritten") is rewritten, decision.reason
    assert reason in decision.reason.text + " ".join(decision.details)
    if rewritten:
        compile_both(path, outcome.after["case.cpp"])


def compile_both(path: Path, after: bytes) -> None:
    """No new warnings from either compiler, where it is installed."""
    for compiler in filter(shutil.which, ("g++", "clang++")):
        counts = []
        for data in (path.read_bytes(), after):
            Path("one.cpp").write_bytes(data)
            answer = subprocess.run(
                [
                    compiler,
                    "-Wall",
                    "-Wextra",
                    "-fsyntax-only",
                    "-idirafter",
                    str(HEADERS),
                    "one.cpp",
                ],
                capture_output=True,
                text=True,
            )
            assert answer.returncode == 0, answer.stderr
            counts.append(answer.stderr.count("warning:"))
        assert counts[1] <= counts[0]


def test_calls_in_virtual_methods_of_templates_are_told(tmp_path: Path) -> None:
    """Or a user would read of no call at all."""
    source = tmp_path / "halo.cpp"
    source.write_text(
        "#include <mpi.h>\n"
        "template <class T> struct Halo {\n"
        "    T in[10];\n"
        "    MPI_Request request;\n"
        "    virtual void start(int from) {\n"
        "        MPI_Irecv(in, 10, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &request);\n"
        "    }\n"
        "    virtual void finish() { MPI_Wait(&request, MPI_STATUS_IGNORE); }\n"
        "};\n"
        "int main() { Halo<double> h; h.start(0); h.finish(); }\n"
    )
    outcome = transform([source], Options())
    told = [(d.site.call.line, d.site.call.name, d.decision) for d in outcome.decisions]
    assert told == [(6, "MPI_Irecv", "refused")] * 2 + [(8, "MPI_Wait", "refused")] * 2
    first = outcome.decisions[0]
    assert first.reason.text == "it is in a virtual method, which is not analysed"
    assert (first.site.routine.name, first.reason.location.line) == ("Halo::start", 5)


UNREAD = """#include <mpi.h>
static double a[9], b[9];
template <class T> void all(T *x) { MPI_Bcast(x, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void one(int to)
{
    auto send = [&] { MPI_Send(a, 9, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD); };
    send();
    try {
        MPI_Send(b, 9, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
    } catch (int) {
    }
    MPI_Send(a, 9, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
}
int main() { one(1); all(b); }
"""


def test_a_call_by_a_pointer_to_a_method_is_told_as_such(tmp_path: Path) -> None:
    above = "struct Mesh { double &x(int); }; typedef double &(Mesh::*Field)(int);"
    loop = "for (int i = 0; i < n; i++) b[i] = (mesh.*field)(i);"
    path = tmp_path / "program.cpp"
    path.write_text(
        PROGRAM % (above, f"Mesh mesh; Field field = &Mesh::x; if (rank) {{ {loop} {SEND} }}")
    )
    (decision,) = transform([path], Options()).decisions
    told = [decision.reason.text, *decision.details]
    assert any("a call through a pointer" in line for line in told), told
    assert not any("the call of  " in line for line in told)


def test_each_call_is_a_site_wherever_it_stands(tmp_path: Path) -> None:
    """With what hides it, and the line where that begins; each once."""
    source = tmp_path / "unread.cpp"
    source.write_text(UNREAD)
    outcome = transform([source], Options())
    told = [
        (d.site.call.line, d.site.call.name, d.site.routine.name, d.reason.text[:22])
        for d in outcome.decisions
    ]
    assert told == [
        (3, "MPI_Bcast", "all<double>", "a call that may match "),
        (6, "MPI_Send", "one", "it is in a lambda, whi"),
        (7, "MPI_Barrier", "one", "it is in a lambda, whi"),
        (10, "MPI_Send", "one", "it is in a try block, "),
        (13, "MPI_Send", "one", told[-1][3]),
    ]
    assert [d.reason.location.line for d in outcome.decisions[:4]] == [6, 6, 6, 9]


HIDDEN_MATCH = """#include <mpi.h>
static double a[9], b[900];
static float c[9];
template <class T> void other(T *x) { MPI_Bcast(x, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void work() { for (int i = 0; i < 900; i++) b[i] = 0.5 * b[i] + 1.0; }
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Bcast(a, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        work();
    } else {
        %s;
    }
    MPI_Finalize();
    return (int)b[0];
}
void never() { other(c); }
"""


@pytest.mark.parametrize("hidden", [True, False])
def test_a_collective_stays_that_hidden_code_may_match(tmp_path: Path, hidden: bool) -> None:
    """A nonblocking collective is matched by no blocking one, as in a template's instances."""
    plain = "MPI_Bcast(a, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD)"
    source = tmp_path / "match.cpp"
    text = HIDDEN_MATCH % ("other(a)" if hidden else plain)
    if not hidden:
        text = text.replace("template <class T>", "//").replace("void never", "//")
    source.write_text(text)
    outcome = transform([source], Options())
    (first,) = (d for d in outcome.decisions if d.site.call.line == 12)
    assert (first.decision == "rewritten") is not hidden, first.reason


def test_narrowing_of_which_compilers_only_warn(tmp_path: Path) -> None:
    source = tmp_path / "narrow.cpp"
    narrow = "long few = argc; int counts[] = {few}; (void)counts; "
    source.write_text(PROGRAM % ("", narrow + SEND + " work(b);"))
    outcome = transform([source], Options())
    assert [d.decision for d in outcome.decisions] == ["rewritten"]
