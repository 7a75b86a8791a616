"""Templates that communicate: their instances are read, and their text stays if it has several."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

PROGRAM = """#include <mpi.h>
#include <vector>
template <typename T> MPI_Datatype type_of();
template <> MPI_Datatype type_of<double>() {{ return MPI_DOUBLE; }}
template <> MPI_Datatype type_of<float>() {{ return MPI_FLOAT; }}
template <typename T> struct Field {{
    std::vector<T> v = std::vector<T>(400), w = std::vector<T>(400);
    void work() {{ for (int i = 0; i < 400; i++) {{ w[i] += 2 * v[i]; v[i] = w[i] + i; }} }}
}};
template <typename T> struct Halo {{
    MPI_Request r[2];
    {kind}void begin(Field<T> &f, int peer)
    {{
        T *u = f.v.data();
        MPI_Irecv(u, 100, type_of<T>(), peer, sizeof(T), MPI_COMM_WORLD, &r[0]);
        MPI_Isend(u + 200, 100, type_of<T>(), peer, sizeof(T), MPI_COMM_WORLD, &r[1]);
    }}
    void end() {{ MPI_Waitall(2, r, MPI_STATUSES_IGNORE); }}
}};
{behind}
int main(int argc, char **argv)
{{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int peer = 1 - rank;
    Field<double> a, b;
    Field<float> c;
    {objects}
    for (int step = 0; step < 10; step++) {{
        {work};
        {begin};
        {end};
    }}
    {after}
    MPI_Finalize();
    return a.v[3] + b.v[99] + c.v[3] > 7;
}}
"""
PLAIN = {
    "kind": "",
    "behind": "",
    "objects": "Halo<double> h; Halo<float> g;",
    "work": "a.work()",
    "begin": "g.begin(c, peer)",
    "end": "g.end()",
    "after": "h.begin(a, peer); h.end();",
}
MOVES: dict[str, dict[str, str]] = {
    "another instance": {},
    "one instance": {"objects": "Halo<float> g;", "after": ""},
    "another object of the class": {"begin": "h.begin(b, peer)", "end": "h.end()"},
}
STAYS: dict[str, dict[str, str]] = {
    "the same object": {"begin": "h.begin(a, peer)", "end": "h.end()"},
    "another name of it": {"work": "Field<float> &d = c; d.work()"},
    "of one of two": {
        "objects": "Halo<double> h; Halo<float> g; Field<float> d; Field<float> &e = rank ? c : d;",
        "work": "e.work()",
    },
    "a virtual method": {"kind": "virtual "},
    "it also computes": {
        "behind": "template <class T> void both(Halo<T> &h, Field<T> &f, Field<T> &o, int p)"
        " { h.begin(f, p); o.v[250] = 1; }",
        "work": "b.work()",
        "begin": "both(h, a, b, peer)",
        "end": "h.end()",
    },
}


def outcome(tmp_path: Path, changes: dict[str, str]) -> Outcome:
    path = tmp_path / "p.cpp"
    path.write_text(PROGRAM.format(**{**PLAIN, **changes}))
    found = transform([path], Options(flags=["-std=c++17"]))
    assert not found.skipped, found.skipped
    return found


def moves(found: Outcome, changes: dict[str, str]) -> bool:
    given = {**PLAIN, **changes}
    (after,) = found.after.values()
    (before,) = found.before.values()
    (path,) = found.after
    head = after.index(b"int main")
    assert after[:head] == before[:head]  # the templates stay
    again = transform([Path(path)], Options(flags=["-std=c++17"], contents={Path(path): after}))
    assert list(again.after.values()) == [after]
    main = after[head:]
    return main.index(given["begin"].encode()) < main.index(given["work"].split(";")[-1].encode())


@pytest.mark.parametrize("name", MOVES)
def test_what_an_instance_starts_goes_ahead(name: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, MOVES[name])
    assert moves(found, MOVES[name]), [str(d.reason) for d in found.decisions]
    lines = [d.site.call.line for d in found.decisions if d.site.call.name == "MPI_Irecv"]
    assert len(lines) == 1  # one call of all instances


@pytest.mark.parametrize("name", STAYS)
def test_it_stays_where_it_is(name: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, STAYS[name])
    assert not moves(found, STAYS[name])


@pytest.mark.parametrize("several", [True, False])
def test_an_instance_is_rewritten_where_it_is_the_only_one(several: bool, tmp_path: Path) -> None:
    """A specialization is a text of its own."""
    body = """{ for (int i = 0; i < 1000; i++) w[i] = w[i] * 2 + i;
    MPI_Sendrecv(a, 500, MPI_DOUBLE, peer, 0, a + 500, 500, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 1000; i++) w[i] = w[i] * 3 + i; }
"""
    head = "template <class T> void one(T *a, T *w, int peer)"
    text = f"""#include <mpi.h>
#include <vector>
{head} {body}
template <class T> void two(T *a, T *w, int peer);
template <> void two(double *a, double *w, int peer) {body}
void three(double *a, double *w, int peer) {body}
void never(float *a) {{ {"one(a, a, 0);" if several else ""} }}
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<double> u(1000), v(1000);
    for (int s = 0; s < 10; s++) {{
        one(u.data(), v.data(), 1 - rank);
        two(u.data(), v.data(), 1 - rank);
        three(u.data(), v.data(), 1 - rank);
    }}
    MPI_Finalize();
    return v[7] > 3;
}}
"""
    path = tmp_path / "p.cpp"
    path.write_text(text)
    found = transform([path], Options())
    (after,) = found.after.values()
    parts = [
        after[after.index(name) :] for name in (b"void one", b"void two(double", b"void three")
    ]
    texts = [part[: part.index(b"\n}") if b"\n}" in part else None] for part in parts]
    one, two, three = (text[: text.index(b"* 3 + i")] for text in texts)
    assert (b"MPI_Isend" in one) is not several
    assert b"MPI_Isend" in two and b"MPI_Isend" in three


@pytest.mark.parametrize(
    ("method", "seen"),
    [
        ("void one()", True),
        ("Sender()", False),
        ("void operator()(int)", False),
        ("template <class U> void one(U)", True),
    ],
)
def test_what_a_library_may_call_unnamed_counts_as_unseen(
    method: str, seen: bool, tmp_path: Path
) -> None:
    """An instance of it that is read says nothing of one that only a library names."""
    call = {"Sender()": "", "void operator()(int)": "s(3);"}.get(method, "s.one();")
    if "class U" in method:
        call = "s.one(3);"
    path = tmp_path / "p.cpp"
    path.write_text(f"""#include <mpi.h>
template <class T> struct Sender {{
    T x[9];
    {method} {{ MPI_Send(x, 9, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD); }}
}};
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    Sender<double> s;
    {call}
    MPI_Finalize();
}}
""")
    program = read_program([path], Options())
    assert bool(program.hidden_calls()) is not seen
