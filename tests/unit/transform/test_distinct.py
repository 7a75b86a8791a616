"""Pointers that never hold one object: pairs that are exchanged, arrays that structures own."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.analysed import Analysis
from imbrex.transform.options import Options

SWAP = """#include <stdlib.h>
%s
static void step(double *u, double *unew)
{
    for (int i = 1; i < 9; i++)
        unew[i] = u[i - 1] + u[i + 1];
}
int main(void)
{
    double *u = calloc(10, 8), *unew = calloc(10, 8);
    void (*run)(double *, double *) = step;
    for (int s = 0; s < 5; s++) {
        run(u, unew);
        %s
    }
    %s
    return 0;
}
"""
EXCHANGE = "double *t = u; u = unew; unew = t;"

# name: (top-level code, code in the loop, code behind it, whether the pair is distinct)
SWAPS = {
    "exchanged": ("", EXCHANGE, "", True),
    "not exchanged": ("", "", "", True),
    "in another order": ("", "double *t = u; u = unew; t = u; unew = t;", "", False),
    "one is lost": ("", "double *t = u; u = unew; (void)t;", "", False),
    "both set to one": ("", EXCHANGE, "u = unew;", False),
    "also called with one array": ("", EXCHANGE, "step(u, u);", False),
    "an address taken": ("", EXCHANGE, "double **p = &u; *p = unew;", False),
    "moved inside an array": ("", EXCHANGE, "u = u + 1;", False),
    "a third pointer to one of them": ("", EXCHANGE, "double *w = u; step(w, unew);", False),
    "two of the three steps": ("", EXCHANGE, "double *t = u; unew = t;", False),
    "through a function": (
        "static void swap(double **a, double **b) { double *t = *a; *a = *b; *b = t; }",
        "swap(&u, &unew);",
        "",
        True,
    ),
    "in a branch": ("", "if (s % 2) { " + EXCHANGE + " }", "", True),
    "counted up": ("", EXCHANGE, "u++;", False),
    "set anew": ("", EXCHANGE, "u = malloc(80);", False),
    "one array in two parts": ("", EXCHANGE, "double *p = unew + 1; step(p, unew);", False),
    "handed to code that is not seen": (
        "extern void take(void (*)(double *, double *));",
        EXCHANGE,
        "take(step);",
        False,
    ),
}


def analysis(tmp_path: Path, text: str) -> Analysis:
    path = tmp_path / "case.c"
    path.write_text(text)
    found = Analysis([path], Options())
    assert not found.program.skipped, found.program.skipped
    return found


@pytest.mark.parametrize("name", SWAPS)
def test_pairs(name: str, tmp_path: Path) -> None:
    *code, distinct = SWAPS[name]
    found = analysis(tmp_path, SWAP % tuple(code))
    routine = found.program.routines["step"]
    aliases = found.footprints.aliases
    if name == "not exchanged":  # what they may point to says it already
        left, right = (aliases.objects(key, True) for key in routine.parameters)
        assert not left & right
        return
    assert (frozenset(routine.parameters) in aliases.distinct) is distinct


DECLARED = """#include <stdlib.h>
static double get(double *u, double *unew) { return u[1] + unew[2]; }
int main(void)
{
    double *u%s, *unew, *t;
    %s
    unew = calloc(10, 8);
    t = u;
    u = unew;
    unew = t;
    return get(u, unew) > 1.0;
}
"""
# name: (value in the declaration, statement, whether the pair is distinct)
DECLARATIONS = {
    "set later": ("", "u = calloc(10, 8);", True),
    "set at once": (" = calloc(10, 8)", "", True),
    "set at once and moved": (" = calloc(10, 8)", "u++;", False),
    "set at once and later": (" = calloc(10, 8)", "u = calloc(20, 8);", False),
    "no memory at first": (" = NULL", "u = calloc(10, 8);", True),
}


@pytest.mark.parametrize("name", DECLARATIONS)
def test_declarations(name: str, tmp_path: Path) -> None:
    *code, distinct = DECLARATIONS[name]
    found = analysis(tmp_path, DECLARED % tuple(code))
    pair = frozenset(found.program.routines["get"].parameters)
    assert (pair in found.footprints.aliases.distinct) is distinct


OWNERS = """#include <stdlib.h>
#include <string.h>
struct field { double *send, *recv; int n; };
static void make(struct field *f)
{
    f->send = malloc(80);
    f->recv = malloc(80);
}
%s
int main(void)
{
    struct field u, v;
    make(&u);
    make(&v);
    %s
    return 0;
}
"""
# name: (top-level code, code in main, whether `send` is each structure's own)
OWNED = {
    "allocated by one routine": ("", "", True),
    "read by another pointer": ("", "double *p = u.send; p[0] = v.send[1];", True),
    "set to the other's": ("", "u.send = v.send;", False),
    "through a local pointer": ("", "double *p = v.send; u.send = p;", False),
    "copied as a whole": ("", "u = v;", False),
    "copied in a declaration": ("", "struct field w = u; w.send[0] = 1.0;", False),
    "passed by value": (
        "static double get(struct field f) { return f.send[0]; }",
        "return get(u) > 1.0;",
        False,
    ),
    "copied by memcpy": ("", "memcpy(&u, &v, sizeof u);", False),
    "set through a pointer to the field": (
        "static void set(double **p, double *x) { *p = x; }",
        "set(&u.send, v.recv);",
        False,
    ),
}


@pytest.mark.parametrize("name", OWNED)
def test_owned(name: str, tmp_path: Path) -> None:
    top, inside, owned = OWNED[name]
    found = analysis(tmp_path, OWNERS % (top, inside))
    assert ("field:field.send" in found.footprints.aliases.owned) is owned


LITERALS = """#include <stdlib.h>
struct field { double *send, *recv; int n; };
static int first(const int *v) { return v[0]; }
static long last(const long *v) { return v[1]; }
static double of(double **v) { return v[0][1]; }
static int get(struct field *f) { return %s > 1; }
int main(void)
{
    struct field u = {malloc(80), malloc(80), 10};
    return get(&u);
}
"""
# name: (what a routine does with its structure, whether others may know of its members then)
MADE_KNOWN = {
    "a number in a literal": ("first((int[]){f->n, 2})", False),
    "the address of a literal with a number": ("first(&(int){f->n})", False),
    "what a member points to": ("last((long[]){1, f->recv[0] > 0.5})", False),
    "an address in a literal": ("of((double *[]){f->send})", True),
    "an address as a number": ("last((long[]){1, (long)f->send})", True),
}


@pytest.mark.parametrize("name", MADE_KNOWN)
def test_compound_literals(name: str, tmp_path: Path) -> None:
    code, known = MADE_KNOWN[name]
    aliases = analysis(tmp_path, LITERALS % code).footprints.aliases
    heap = {item for item in aliases.escaped if item.startswith(("heap:", "field:"))}
    assert bool(heap) is known


LEVELS = """#include <mpi.h>
#include <stdlib.h>
%s
static void allocate(int n)
{
    u = malloc(n * sizeof(double));
    unew = malloc(n * sizeof(double));
}
static void advance(void)
{
    double *t = u;
    u = unew;
    unew = t;
}
static double get(double *a, double *b) { return a[1] + b[2]; }
%s
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    allocate(20);
    for (int s = 0; s < 5; s++)
        advance();
    %s
    return get(u, unew) > 1.0;
}
"""
STATIC, GLOBAL = "static double *u, *unew;", "double *u, *unew;"
# name: (declaration, top-level code, code in main, whether the pair is distinct)
FILE_SCOPE = {
    "of one file": (STATIC, "", "", True),
    "known to other files": (GLOBAL, "", "", True),
    "of one file, beside a call that is not seen": (STATIC, "void other(void);", "other();", True),
    "known to a call that is not seen": (GLOBAL, "void other(void);", "other();", False),
    "known to a call through a pointer": (
        GLOBAL,
        "extern void (*other)(void);",
        "other();",
        False,
    ),
    "exchanged by a call through a pointer": (
        GLOBAL,
        "static void (*other)(void) = advance;",
        "other();",
        True,
    ),
    "one is set to the other in another routine": (
        STATIC,
        "static void lose(void) { u = unew; }",
        "lose();",
        False,
    ),
    "set once more in another routine": (
        STATIC,
        "static void again(void) { u = malloc(80); }",
        "again();",
        False,
    ),
    "moved in another routine": (STATIC, "static void move(void) { u++; }", "move();", False),
    "exchanged by a function": (
        STATIC,
        "static void swap(double **a, double **b) { double *t = *a; *a = *b; *b = t; }",
        "swap(&u, &unew);",
        True,
    ),
    "an address is passed": (
        STATIC,
        "static void other(double **a, double **b) { *a = *b; }",
        "other(&u, &unew);",
        False,
    ),
    "a part of the other": (STATIC, "static void part(void) { unew = u + 9; }", "part();", False),
    "an array at first": (
        "static double a[20]; static double *u = a, *unew = a;",
        "",
        "",
        False,
    ),
    "one of them local": (
        STATIC,
        "static void mine(void) { double *v = malloc(9), *t = u; u = v; v = t; v[0] = 1.0; }",
        "mine();",
        False,
    ),
}


@pytest.mark.parametrize("name", FILE_SCOPE)
def test_file_scope(name: str, tmp_path: Path) -> None:
    *code, distinct = FILE_SCOPE[name]
    found = analysis(tmp_path, LEVELS % tuple(code))
    names = {key: v.name for key, v in found.program.variables.items()}
    pair = frozenset(key for key, name in names.items() if name in ("u", "unew"))
    assert len(pair) == 2
    assert (pair in found.footprints.aliases.distinct) is distinct
