"""Local pointers that name what the caller's objects hold: told apart where they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <utility>
#include <vector>
struct Field {{
    std::vector<double> v = std::vector<double>(400), w = std::vector<double>(400);
    double *other = nullptr;
    double *data() {{ return v.data(); }}
    void work() {{ for (int i = 0; i < 400; i++) {{ w[i] += 2 * v[i]; v[i] = w[i] + i; }} }}
}};
static double *kept;
void begin(Field &f, Field &g, int k, int peer, MPI_Request *r)
{{
    {pointer}
    MPI_Irecv(u, 100, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, r);
    MPI_Isend(f.w.data(), 1, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, r + 1);
}}
int main(int argc, char **argv)
{{
    int rank;
    MPI_Request r[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Field a, b, c;
    a.other = b.data();
    for (int step = 0; step < 10; step++) {{
        {work};
        begin({given}, c, step % 2, 1 - rank, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        b.v[0] += a.v[0];
    }}
    MPI_Finalize();
    return b.v[3] + b.v[99] + c.v[3] > 7;
}}
"""
NAMES = {
    "of a method": "double *u = f.data();",
    "constant": "double *const u = f.v.data();",
    "of an element": "auto *u = &f.v[0];",
    "moved": "double *u = f.data() + 3;",
    "of a pointer": "double *p = f.data(), *u = p + k;",
    "in a block": "double *u = &f.v[2 * k];\n    if (k) u[300] = 1;",
}
OTHERS = {
    "it is set again": "double *u = f.data();\n    if (k) u = g.data();",
    "it steps": "double *u = f.data();\n    u++;\n    if (k) u = g.data();",
    "it is set before": "double *u;\n    u = k ? f.data() : g.data();",
    "it may be one of two": "double *u = k ? f.data() : g.data();",
    "its address is known": "double *u = f.data(), **p = &u;\n    *p = g.data();",
    "another reference": "double *u = f.data();\n    double *&p = u;\n    p = g.data();",
    "the vectors are exchanged": "double *u = f.data();\n    f.v.swap(g.v);",
    "exchanged before": "std::swap(f.v, g.v);\n    double *u = f.data();",
    "of another object": "double *u = g.data();",
    "a pointer to another": "double *u = f.other;",
    "of a pointer that is set": "Field *p = &f;\n    double *u = p->data();\n    p = &g;",
    "of one of two objects": "Field *p = k ? &f : &g;\n    double *u = p->data();",
    "a global pointer": "if (k) kept = g.data();\n    double *u = kept ? kept : f.data();",
}


def moves(tmp_path: Path, pointer: str, work: str = "b.work()", given: str = "a") -> bool:
    """Whether the call that starts the messages goes ahead of the work."""
    path = tmp_path / "p.cpp"
    path.write_text(PROGRAM.format(pointer=pointer, work=work, given=given))
    found = transform([path], Options())
    assert not found.skipped
    (after,) = found.after.values()
    main = after[after.index(b"int main") :]
    at = main.index(work.encode())
    again = transform([path], Options(contents={path: after}))
    assert list(again.after.values()) == [after]
    return 0 < main.index(b"begin(") < at


@pytest.mark.parametrize("name", NAMES)
def test_another_object_is_computed_meanwhile(name: str, tmp_path: Path) -> None:
    assert moves(tmp_path, NAMES[name])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("work", "given"), [("a.work()", "a"), ("Field &m = a; m.work()", "a"), ("b.work()", "b")]
)
def test_the_same_object_is_not(name: str, work: str, given: str, tmp_path: Path) -> None:
    assert not moves(tmp_path, NAMES[name], work, given)


@pytest.mark.parametrize("name", OTHERS)
def test_what_may_name_the_other_object(name: str, tmp_path: Path) -> None:
    pointer = OTHERS[name]
    work = "c.work()" if "g" in pointer.replace("begin", "") else "b.work()"
    assert not moves(tmp_path, pointer, work)


SLABS = """#include <mpi.h>
#include <stdlib.h>
typedef struct {{ int nx, ny; double *u, *w; }} slab;
static double *make(int n) {{ return calloc(n, sizeof(double)); }}
static void work(slab *d)
{{
    for (int i = 0; i < 400; i++) {{ d->w[i] += 2 * d->u[i]; d->u[i] = d->w[i]; }}
}}
static void begin(slab *d, int peer, MPI_Request *r)
{{
    {pointer}
    MPI_Irecv(u, 100, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, r);
}}
int main(int argc, char **argv)
{{
    int rank;
    MPI_Request r[2];
    slab a, b;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a.u = make(400); a.w = make(400); b.u = make(400); b.w = make(400);
    {before}
    for (int step = 0; step < 10; step++) {{
        work(&b);
        begin(&a, 1 - rank, r);
        MPI_Isend(a.w, 100, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, r + 1);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        b.u[0] += a.u[0];
    }}
    MPI_Finalize();
    return b.u[3] > 7;
}}
"""


@pytest.mark.parametrize(
    ("pointer", "before"),
    [
        ("double *u = d->u;", "b.u = a.u;"),
        ("double *u = d->u;", "b.w = a.u + 20;"),
        ("double *u = d->u; d->u = d->w; d->w = u; u = d->u;", ""),
    ],
)
def test_structures_that_share_memory(pointer: str, before: str, tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text(SLABS.format(pointer=pointer, before=before))
    found = transform([path], Options())
    assert not found.skipped
    (after,) = found.after.values()
    main = after[after.index(b"int main") :]
    assert main.index(b"work(&b)") < main.index(b"begin(&a")
