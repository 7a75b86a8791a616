"""Templates with one instance: divided as other code, in the text of the template."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import HEADERS

PROGRAM = """#include <mpi.h>
#include <cstdio>
#include <vector>
{above}
template <class T> struct mpi_type;
template <> struct mpi_type<double> {{ static MPI_Datatype get() {get} }};
template <> struct mpi_type<float> {{ static MPI_Datatype get() {{ return MPI_FLOAT; }} }};
template <{keyword} T> class Grid {{
  public:
    Grid(int nx, int ny) : nx_(nx), ny_(ny), data_((nx + 2) * ny) {{}}
    {member}
    T &operator()(int i, int j) {{ return data_[i * ny_ + j]; }}
    const T &operator()(int i, int j) const {{ return data_[i * ny_ + j]; }}
    T *row(int i) {{ return data_.data() + i * ny_; }}
    int nx() const {{ return nx_; }}
    int ny() const {{ return ny_; }}
  private:
    int nx_, ny_;
    std::vector<T> data_;
}};
template <class T> class Halo {{
  public:
    Halo(int lo, int hi) : lo_(lo), hi_(hi) {{}}
    {kind}void exchange(Grid<T> &a) {{
        MPI_Sendrecv(a.row(a.nx()), a.ny(), {type}, hi_, 0, a.row(0), a.ny(), {type}, lo_, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(a.row(1), a.ny(), {type}, lo_, 1, a.row(a.nx() + 1), a.ny(), {type}, hi_, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }}
    int lo_, hi_;
}};
template <class T> void swap_rows(Grid<T> &a, int lo, int hi) {{
    MPI_Sendrecv(a.row(a.nx()), a.ny(), {type}, hi, 0, a.row(0), a.ny(), {type}, lo, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(a.row(1), a.ny(), {type}, lo, 1, a.row(a.nx() + 1), a.ny(), {type}, hi, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}}
{before}
template <{parameters}> {lead}void relax({given}const Grid<T> &u, Grid<T> &v) {{
    for (int i = 1; i <= u.nx(); i++)
        for (int j = 1; j < u.ny() - 1; j++)
            v(i, j) = (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1)) / 4;
}}
{behind}
int {main}(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {{
        const int lo = (rank + size - 1) % size, hi = (rank + 1) % size;
        Grid<{real}> u(20, 30), v(20, 30);
        Halo<{real}> halo(lo, hi);
        for (int i = 1; i <= 20; i++)
            for (int j = 0; j < 30; j++)
                u(i, j) = i + 2 * j + rank;
        for (int step = 0; step < 9; step++) {{
            {exchange};
            {relax};
            halo.exchange(v);
            {back};
        }}
        std::printf("%g\\n", (double)u(3, 4));
    }}
    MPI_Finalize();
    return 0;
}}
"""
PLAIN = {
    "above": "",
    "keyword": "class",
    "get": "{ return MPI_DOUBLE; }",
    "member": "",
    "kind": "",
    "type": "mpi_type<T>::get()",
    "before": "",
    "parameters": "class T",
    "lead": "",
    "given": "",
    "behind": "",
    "main": "main",
    "real": "double",
    "exchange": "halo.exchange(u)",
    "relax": "relax(u, v)",
    "back": "relax(v, u)",
}
FUNCTION = {"exchange": "swap_rows(u, lo, hi)"}
GOES: dict[str, dict[str, str]] = {
    "as it is": {},
    "typename": {"keyword": "typename"},
    "a name for the type": {"above": "using real = double;", "real": "real"},
    "a constant": {"type": "MPI_DOUBLE"},
    "declared ahead": {"above": "template <class T> class Grid;\ntemplate <class T> class Halo;"},
    "a function that is specialized": {
        "above": "template <class T> MPI_Datatype type_of();\n"
        "template <> inline MPI_Datatype type_of<double>() { return MPI_DOUBLE; }",
        "type": "type_of<T>()",
    },
    "a function": {
        "above": "static inline MPI_Datatype real_type() { return MPI_DOUBLE; }",
        "type": "real_type()",
    },
    "a function template": FUNCTION,
    "the call says the type": {"relax": "relax<double>(u, v)", "back": "relax <double> (v, u)"},
    "static": {"lead": "static "},
    "inline": {"lead": "inline "},
    "in a namespace": {
        "before": "namespace physics {",
        "behind": "}",
        "relax": "physics::relax(u, v)",
        "back": "physics::relax(v, u)",
    },
    "a template that is never instantiated": {
        "behind": "template <class U> void other(Grid<U> &a) { Halo<U>(0, 0).exchange(a); }"
    },
    "a number too": {
        "parameters": "class T, int K",
        "relax": "relax<double, 3>(u, v)",
        "back": "relax<double, 3>(v, u)",
        "given": "",
    },
}
STAYS: dict[str, dict[str, str]] = {
    "another instance": {
        "behind": "void other(Grid<float> &a) { Halo<float> h(0, 0); h.exchange(a); }"
    },
    "another instance by another name": {
        "above": "typedef float small;",
        "behind": "void other(Grid<small> &a) { Halo<small> h(0, 0); h.exchange(a); }",
    },
    "a class that is instantiated as another": {"behind": "template class Halo<float>;"},
    "the class of the argument is": {
        "behind": "void other(Grid<float> &a) { Halo<double> h(0, 0); a(1, 1) = h.lo_; }\n"
        "template <class T> void more(Halo<T> &h) { h.lo_++; }\n"
        "void third(Halo<float> &h) { more(h); }",
    },
    "no main routine": {"main": "run"},
    "virtual": {"kind": "virtual "},
    "a type that is counted": {"above": "static int n;", "get": "{ n++; return MPI_DOUBLE; }"},
    "a type that another may be": {
        "above": "static int n;",
        "get": "{ return n ? MPI_DOUBLE : MPI_FLOAT; }",
    },
}
STAYS |= {
    "what the library finds by its name": {
        "behind": "template <class T> void swap(Grid<T> &a, Grid<T> &b) {\n"
        "    MPI_Barrier(MPI_COMM_WORLD); a(1, 1) = b(1, 1); }",
    },
    "an operator": {
        "behind": "template <class T> bool operator<(Grid<T> &a, Grid<T> &b) {\n"
        "    MPI_Barrier(MPI_COMM_WORLD); return a(1, 1) < b(1, 1); }",
    },
    "a lambda of an instance": {
        "above": "#include <algorithm>",
        "member": "void talk() { std::for_each(data_.begin(), data_.end(),\n"
        "        [](T &) { MPI_Barrier(MPI_COMM_WORLD); }); }",
        "exchange": "if (step == 99)\n u.talk();\n halo.exchange(u)",
    },
    "an operator of an instance that is not read": {
        "member": "Grid &operator<<(T x) { data_[0] = x; return *this; }",
        "exchange": "if (step == 99)\n u << 1.0;\n halo.exchange(u)",
    },
    "a destructor of a class that is declared ahead": {
        "above": "template <class T> class Grid;\nstatic double seen;",
        "member": "~Grid() { seen += data_[0]; MPI_Barrier(MPI_COMM_WORLD); }",
    },
    "another template with code that is not read": {
        "behind": "template <class T> struct Watch { virtual ~Watch() {}\n"
        "    virtual void look(Grid<T> &a) { a(1, 1) = 0; } };\nstatic Watch<double> watch;",
    },
}
BY_NAME: dict[str, dict[str, str]] = {
    "a method is instantiated": {"behind": "template void Halo<double>::exchange(Grid<double> &);"},
    "a method is specialized": {
        "behind": "template <> void Halo<float>::exchange(Grid<float> &) {}"
    },
    "a function is instantiated": {
        **FUNCTION,
        "behind": "template void swap_rows<double>(Grid<double> &, int, int);",
    },
    "a function is specialized": {
        **FUNCTION,
        "behind": "template <> void swap_rows(Grid<float> &, int, int) {}",
    },
}
BY_NAME |= {
    "a function has a default": {
        "behind": "template <class T, class U = int> void swap_all(Grid<T> &a, int lo, int hi) {\n"
        "    MPI_Sendrecv(a.row(a.nx()), a.ny(), MPI_DOUBLE, hi, 0, a.row(0), a.ny(), MPI_DOUBLE,\n"
        "                 lo, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }",
        "exchange": "swap_all(u, lo, hi)",
    },
}
LOOPS_STAY: dict[str, dict[str, str]] = {
    "two instances": {
        "behind": "void other(Grid<float> &a, Grid<float> &b) { relax(a, b); }",
        "type": "MPI_DOUBLE",
    },
    "declared ahead": {
        "before": "template <class T>\nvoid relax(const Grid<T> &u, Grid<T> &v);",
    },
    "a default": {"parameters": "class T, class U = std::vector<int>"},
}


def transformed(changes: dict[str, str], folder: Path) -> str:
    path = folder / "program.cpp"
    text = PROGRAM.format(**{**PLAIN, **changes})
    path.write_text(text)
    compiles(path)
    outcome = transform([path], Options(flags=["-std=c++17"]))
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(path)]
    again = transform([path], Options(flags=["-std=c++17"], contents={path: after}))
    assert again.after[str(path)] == after
    path.write_bytes(after)
    compiles(path)
    return after.decode()


def compiles(path: Path) -> None:
    command = ["c++", "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-function"]
    done = subprocess.run([*command, f"-I{HEADERS}", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    after = transformed(GOES[name], tmp_path)
    assert after.count("int i = 2; i <= (u.nx()) - 1") == 1
    assert "halo.exchange_start(v, " in after and "halo.exchange_finish(" in after
    one, called = ("swap_rows", "swap_rows_start(") if "exchange" in GOES[name] else ("", "")
    assert called in after and (not one or f"{one}(u, lo, hi)" not in after)


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    after = transformed(STAYS[name], tmp_path)
    assert "exchange_start" not in after and "relax_interior" not in after


@pytest.mark.parametrize("name", BY_NAME)
def test_what_is_named_elsewhere_stays(name: str, tmp_path: Path) -> None:
    after = transformed(BY_NAME[name], tmp_path)
    assert ("exchange_start" if "method" in name else "_start(u") not in after


@pytest.mark.parametrize(
    "changes",
    [
        {"main": "run"},
        {
            "behind": "template <class T> struct Start { T a[9], b[9]; Start(int peer) {\n"
            "    MPI_Sendrecv(a, 4, MPI_DOUBLE, peer, 0, a + 4, 4, MPI_DOUBLE, peer, 0,\n"
            "                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
            "    for (int i = 0; i < 9; i++) b[i] = i; } };",
            "exchange": "Start<double> s(lo)",
        },
    ],
)
def test_no_call_is_replaced(changes: dict[str, str], tmp_path: Path) -> None:
    """In a template whose other instances are not known, and in a constructor."""
    after = transformed(changes, tmp_path)
    if "behind" in changes:
        after = after[after.index("struct Start") : after.index("int main")]
    assert "MPI_Isend" not in after


@pytest.mark.parametrize("name", LOOPS_STAY)
def test_loops_stay(name: str, tmp_path: Path) -> None:
    after = transformed(LOOPS_STAY[name], tmp_path)
    assert "_interior" not in after
