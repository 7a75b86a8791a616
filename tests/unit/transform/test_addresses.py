"""What a pointer may point to where it comes from a number, a list of initial values or a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

C = """#include <mpi.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define N 100
static double a[N], b[N], c[N], d[N];
struct fields { double *u, *v; };
struct holder { uintptr_t at; };
union either { double *p; uintptr_t at; };
static int flag;
static _Atomic int shared;
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
%s
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    double *q = d;
    %s
    MPI_Send(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    work(c);
    %s
    work(c);
    printf("%%g %%g %%g %%g\\n", a[1], b[2], c[1], d[1]);
    MPI_Finalize();
    return 0;
}
"""
# name: (top-level code, code in front of the send), after which `q` points into its buffer
POINTERS = {
    "a number": ("", "uintptr_t u = (uintptr_t)a; q = (double *)(u + 8);"),
    "a number at once": ("", "q = (double *)((uintptr_t)a + 8);"),
    "a number that is rounded": (
        "",
        "uintptr_t u = (uintptr_t)a; q = (double *)((u + 63) & ~(uintptr_t)63);",
    ),
    "rounded up": ("", "q = (double *)(((size_t)a + 64 - 1) / 64 * 64);"),
    "rounded up, by a mask": ("", "q = (double *)(((uintptr_t)a + 63) & ~(uintptr_t)63);"),
    "rounded up, to what a variable says": (
        "",
        "int n = 8 * rank + 8; q = (double *)(((size_t)a + n - 1) / n * n);",
    ),
    "a pointer that was rounded up": (
        "struct place { double *at; int align; };",
        "struct place w = {a, 8}; struct place *v = &w;\n"
        "v->at = (double *)(((size_t)v->at + (size_t)v->align * 8 - 1) / ((size_t)v->align * 8)"
        " * ((size_t)v->align * 8)); q = v->at;",
    ),
    "to a multiple in a wide variable": (
        "struct algorithm { int align; };",
        "struct algorithm g = {8}; size_t n; n = g.align * sizeof(double);\n"
        "q = (double *)((((size_t)a + n - 1) / n) * n);",
    ),
    # What only looks like it: the result is the address of something else.
    "to a multiple that is an address": (
        "",
        "size_t n = (size_t)a; q = (double *)(((size_t)d + n - 1) / n * n);",
    ),
    "to a multiple that is an address by another name": (
        "",
        "size_t n = 8, *m = &n; *m = (size_t)a; q = (double *)(((size_t)d + n - 1) / n * n);",
    ),
    "to a multiple that becomes an address": (
        "",
        "size_t n = 8; if (rank < 9) n = (size_t)a; q = (double *)(((size_t)d + n - 1) / n * n);",
    ),
    "to a multiple that grows to an address": (
        "",
        "size_t n = 8; n += (size_t)a - 8; q = (double *)(((size_t)d + n - 1) / n * n);",
    ),
    "to a multiple that half an address makes": (
        "",
        "size_t n = 2 * ((size_t)a / 2); q = (double *)(((size_t)d + n - 1) / n * n);",
    ),
    "to a multiple of another number": (
        "",
        "int n = 8; size_t f = (size_t)a / 8; q = (double *)(((size_t)d + n - 1) / n * f);",
    ),
    "moved by a distance": (
        "",
        "size_t far = (size_t)a - (size_t)d; q = (double *)(((size_t)d + far + 7) / 8 * 8);",
    ),
    "moved by a distance, behind": (
        "",
        "size_t far = (size_t)a - (size_t)d; q = (double *)(((size_t)d + 7) / 8 * 8 + far);",
    ),
    "two addresses": ("", "q = (double *)(((size_t)d + ((size_t)a - (size_t)d) + 7) / 8 * 8);"),
    "a mask that is an address": (
        "",
        "size_t n = ~(size_t)a + 1; q = (double *)(((size_t)d + n - 1) & -n);",
    ),
    "half an address": (
        "",
        "size_t u = (size_t)a; q = (double *)(u & ~(size_t)0xffffffff"
        " | (unsigned)(((size_t)a + 7) / 8 * 8));",
    ),
    "the number of what is rounded": (
        "",
        "size_t u = ((size_t)a + 7) / 8 * 8; q = (double *)u;",
    ),
    "the number of a pointer that was rounded": (
        "",
        "size_t u = (size_t)(double *)(((size_t)a + 7) / 8 * 8); q = (double *)(u + 16);",
    ),
    "in a function": (
        "static double *up(double *x, int n) { return (double *)(((size_t)x + n - 1) / n * n); }",
        "q = up(a, 16);",
    ),
    "a choice of two": (
        "",
        "q = (double *)(((size_t)(peer < 9 ? a : c) + 15) / 16 * 16);",
    ),
    "a number that is passed": (
        "static double *at(unsigned long u) { return (double *)u; }",
        "q = at((unsigned long)a);",
    ),
    "a number of the program": ("static uintptr_t u = (uintptr_t)a;", "q = (double *)u;"),
    "a number in a field": ("static struct holder h = {(uintptr_t)a};", "q = (double *)h.at;"),
    "bytes of a pointer": (
        "",
        "double *o = a; uintptr_t u; memcpy(&u, &o, sizeof u); q = (double *)u;",
    ),
    "a union": ("", "union either e; e.p = a; q = (double *)e.at;"),
    "a structure": ("", "struct fields f = {c, a}, g; g.v = d; q = f.v;"),
    "a structure, by names": ("", "struct fields f = {.v = a}, g; g.v = d; q = f.v;"),
    "a structure of the program": ("static struct fields f = {c, a}, g;", "g.v = d; q = f.v;"),
    "structures of the program": (
        "static struct fields f[2] = {{c, d}, {c, a}};",
        "f[0].v = d; q = f[1].v;",
    ),
    "a structure as a value": (
        "",
        "struct fields f, g; g.v = d; f = (struct fields){c, a}; q = f.v;",
    ),
    "a list as a value": ("", "double **pp = (double *[]){c, a}; q = pp[1];"),
    "a choice, moved": ("", "q = (peer < 9 ? a : c) + 3;"),
    "an argument without a name": (
        "static double *get(int n, ...) { va_list l; va_start(l, n); double *r = d;"
        " r = va_arg(l, double *); va_end(l); return r; }",
        "q = get(1, a);",
    ),
}


def waits_before(tmp_path: Path, text: str, place: str, suffix: str = ".c") -> bool:
    """Whether the send is complete where `place` stands."""
    path = tmp_path / f"case{suffix}"
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after.get(str(path), text.encode()).decode()
    if "MPI_Isend" not in after:
        return True
    assert after.index("MPI_Isend") < after.index(place)
    return after.index("MPI_Wait(") < after.index(place)


@pytest.mark.parametrize("name", POINTERS)
def test_pointer(name: str, tmp_path: Path) -> None:
    place = "for (int i = 0; i < 20; i++) q[i] = i;"
    assert waits_before(tmp_path, C % (*POINTERS[name], place), place)


def test_other_memory(tmp_path: Path) -> None:
    """A pointer to something else does not end the window."""
    place = "for (int i = 0; i < 20; i++) q[i] = i;"
    text = C % ("", "struct fields f = {c, d}; uintptr_t u = (uintptr_t)c; q = f.v;", place)
    assert not waits_before(tmp_path, text, place)


# Rounding up a pointer of one array: the number goes nowhere else.
ROUNDED = [
    "q = (double *)(((size_t)d + 63) / 64 * 64);",
    "q = (double *)((((size_t)(d) + (64) - 1) / (64)) * (64));",
    "q = (double *)(((uintptr_t)d + 63) & ~(uintptr_t)63);",
    "q = (double *)(((uintptr_t)d + 64) & -64);",
    "int n = 8 * rank + 8; q = (double *)((((size_t)(d) + (n)-1) / (n)) * (n));",
    "int n = 8 * rank + 8; q = (double *)(((size_t)d + (size_t)n * sizeof(double) - 1)"
    " / ((size_t)n * sizeof(double)) * ((size_t)n * sizeof(double)));",
    "size_t n; n = 8 * (rank + 1); q = (double *)((((size_t)d + n - 1) / n) * n);",
    "size_t n = rank + 1, m = 64; q = (double *)((((size_t)d + m - 1) / m) * m), n = 2;",
    "int n = 1 << (rank + 3); q = (double *)(((uintptr_t)d + (n - 1)) & ~(n - 1));",
]


@pytest.mark.parametrize("rounded", ROUNDED)
def test_rounded_up(rounded: str, tmp_path: Path) -> None:
    """It points into the array that was rounded, though other addresses become numbers."""
    place = "for (int i = 0; i < 20; i++) q[i] = i;"
    other = "static uintptr_t kept; kept = (uintptr_t)c;"
    own = "double *o = (double *)(((size_t)a + 15) / 16 * 16); sink(o);"
    top = "static double sum; static void sink(double *x) { sum += x[0]; }"
    text = C % (top, f"{other} {own} {rounded}", place)
    assert not waits_before(tmp_path, text, place)


def test_cast_in_cxx(tmp_path: Path) -> None:
    place = "for (int i = 0; i < 20; i++) q[i] = i;"
    text = C % ("", "float *f = reinterpret_cast<float *>(a); q = (double *)f;", place)
    text = text.replace("#include <stdatomic.h>\n", "").replace("_Atomic ", "")
    assert waits_before(tmp_path, text, place, ".cpp")


@pytest.mark.parametrize("place", ["shared = 1;", "shared++;", "*(volatile int *)&flag = 1;"])
def test_ordered_accesses(place: str, tmp_path: Path) -> None:
    """Other threads or devices may see in which order they come."""
    assert waits_before(tmp_path, C % ("", "", place), place)


@pytest.mark.parametrize(
    "place",
    [
        "__atomic_store_n((long *)&a[3], 7, __ATOMIC_SEQ_CST);",
        "c[3] = __atomic_fetch_add((long *)&a[3], 7, __ATOMIC_SEQ_CST);",
        "c[3] = sizeof(double[put()]);",
        "{ int z __attribute__((cleanup(end))) = 3; c[3] = z; }",
        "{ __attribute__((cleanup(end))) int z = 3; c[3] = z; }",
        "{ AUTO int z = 3; c[3] = z; }",
    ],
)
def test_hidden_effects(place: str, tmp_path: Path) -> None:
    top = (
        "#define AUTO __attribute__((cleanup(end)))\n"
        "static int put(void) { a[3] = 7; return 3; }static void end(int *x) { (void)x; a[3] = 7; }"
    )
    assert waits_before(tmp_path, C % (top, "", place), place)


def test_end_of_a_variable(tmp_path: Path) -> None:
    """The wait stays in the block at whose end its function runs."""
    end = "static void end(int *x) { (void)x; a[3] = 7; }"
    text = C % (end, "{ __attribute__((cleanup(end))) int z = 3; c[3] = z;", "} c[2] = 1;")
    assert waits_before(tmp_path, text, "} c[2]")


def test_an_attribute_without_effect(tmp_path: Path) -> None:
    place = "{ __attribute__((unused)) int z = 3; c[3] = z; }"
    assert not waits_before(tmp_path, C % ("", "", place), place)


OPERATION = """static void mine(void *in, void *io, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++)
        ((double *)io)[i] += ((double *)in)[i];
    a[5] += 1;
}"""
MAKE = "MPI_Op op; MPI_Op_create(mine, 1, &op); double x = rank, y;"


@pytest.mark.parametrize("operation", ["op", "MPI_SUM"])
def test_reduction(operation: str, tmp_path: Path) -> None:
    """A reduction runs the function of the program's operation."""
    place = f"MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, {operation}, MPI_COMM_WORLD);"
    text = C % (OPERATION, MAKE, place)
    assert waits_before(tmp_path, text, place) is (operation == "op")


def test_nonblocking_reduction(tmp_path: Path) -> None:
    """Its wait stays in front of what uses the memory that the operation sets."""
    call = (
        "MPI_Request r; MPI_Iallreduce(&x, &y, 1, MPI_DOUBLE, op, MPI_COMM_WORLD, &r);"
        "MPI_Wait(&r, MPI_STATUS_IGNORE); for (int i = 0; i < N; i++) d[i] += a[i];"
    )
    path = tmp_path / "case.c"
    path.write_text(C % (OPERATION, MAKE, call))
    decisions = transform([path], Options()).decisions
    assert [
        d.decision for d in decisions if d.site.call.name in ("MPI_Iallreduce", "MPI_Wait")
    ] == [
        "refused",
        "refused",
    ]
