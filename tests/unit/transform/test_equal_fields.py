"""Which fields of structures all objects have alike, by what sets them and where that is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.derived import Derived
from imbrex.transform.analysis.equal_objects import find_equal
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.known_libraries import known_functions, libraries_of
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

PROGRAM = """#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <time.h>
typedef struct grid {
    int n, m;
    double *u;
} grid;
typedef struct {
    int size;
} ranks;
static int width = 4, calls;
%(extra)s
static void init(grid *g, int n, const ranks *r)
{
    %(head)s
    g->n = n;
    g->m = %(value)s;
    %(tail)s
}
static void setup(grid *a, grid *b, const ranks *r)
{
    init(a, 9, r);
    init(b, 9, r);
}
int main(int argc, char **argv)
{
    %(objects)s
    ranks r = {argc};
    int k = argc;
    %(front)s
    init(&a, k, &r);
    %(between)s
    init(&b, k, &r);
    %(behind)s
    return a.n + b.m;
}
"""
BOTH, N, M, NONE = {"n", "m"}, {"n"}, {"m"}, set[str]()
# name: (what is put in, the fields that are alike)
CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "as it is": ({}, BOTH),
    "another argument by then": ({"between": "k++;"}, NONE),
    "what it reads by then": ({"value": "width + n", "between": "width = 7;"}, NONE),
    "what it reads, before": ({"value": "width + n", "front": "width = 7;"}, BOTH),
    "what it reads through a pointer": ({"value": "r->size", "between": "r.size = 2;"}, NONE),
    "what others read": ({"between": "calls = 7;"}, BOTH),
    "counted": ({"value": "calls++"}, NONE),
    "by the time": ({"value": "n + (int)time(NULL)"}, NONE),
    "by what was asked for": ({"value": 'n + (getenv("N") != NULL)'}, NONE),
    "at random": ({"value": "n + rand()"}, NONE),
    "by a function that is known": ({"value": "n + (int)sqrt(n)"}, BOTH),
    "by one of the program": (
        {"extra": "static int two(int n) { return 2 * n; }", "value": "two(n)"},
        BOTH,
    ),
    "by one that counts": (
        {"extra": "static int two(int n) { return n + calls++; }", "value": "two(n)"},
        NONE,
    ),
    "by one at random": (
        {"extra": "static int two(int n) { return n + rand(); }", "value": "two(n)"},
        NONE,
    ),
    "by where the object is": (
        {"extra": "static grid *first;", "value": "g == first ? n : 2", "front": "first = &a;"},
        NONE,
    ),
    "of what it has set": ({"value": "g->n + 1"}, BOTH),
    "of what it has not set": ({"head": "g->m = g->n;", "value": "3"}, NONE),
    "of itself": ({"value": "g->m + n"}, NONE),
    "set behind": ({"behind": "a.m = 3;"}, N),
    "set in front": ({"front": "a.m = 3;"}, N),
    "set through a pointer": ({"behind": "int *p = &a.m; *p = 3;"}, N),
    "copied from the other": ({"behind": "a.m = b.m;"}, BOTH),
    "copied twice": ({"behind": "a.m = 2 * b.m;"}, N),
    "another field of the other": ({"behind": "a.m = b.n;"}, N),
    "copied as a whole": ({"behind": "a = b;"}, NONE),
    "in a loop": ({"front": "for (int i = 0; i < 2; i++, k++) {", "behind": "}"}, NONE),
    "in an if": ({"front": "if (argc > 1) {", "behind": "}"}, BOTH),
    "one in an if": ({"between": "if (argc > 1)"}, NONE),
    "a third one whose sizes are not asked for": (
        {"objects": "grid a, b, c;", "behind": "c.u = a.u;"},
        BOTH,
    ),
    "a third one, made so as well": (
        {"objects": "grid a, b, c;", "behind": "init(&c, k, &r);"},
        BOTH,
    ),
    "a third one of other sizes": (
        {"objects": "grid a, b, c;", "behind": "init(&c, 7, &r);"},
        NONE,
    ),
    "a third one that begins with zeros": (
        {"objects": "grid a, b; static grid c;", "behind": "k = c.n + c.m;"},
        NONE,
    ),
    "a third one that gets zeros": (
        {"objects": "grid a, b, c;", "behind": "memset(&c, 0, sizeof c);\n    k = c.n + c.m;"},
        NONE,
    ),
    "an array that begins with zeros": (
        {"objects": "grid a, b; static grid c[2];", "behind": "k = c[1].n + c[0].m;"},
        NONE,
    ),
    "allocated ones that begin with zeros": (
        {"behind": "grid *p = calloc(1, sizeof(grid)); k = p->n + p->m;"},
        NONE,
    ),
    "an array of them whose sizes are not asked for": (
        {"objects": "grid a, b, c[2];", "behind": "c[0].u = a.u;"},
        BOTH,
    ),
    "one in another structure": (
        {
            "extra": "typedef struct { grid g; int k; } level;\nstatic level fine;",
            "behind": "k = fine.g.n;",
        },
        NONE,
    ),
    "allocated ones": ({"behind": "grid *p = calloc(1, sizeof(grid)); p->u = a.u;"}, NONE),
    "pointers to them": ({"behind": "grid *p = &a; p->u = b.u;"}, BOTH),
    "pointers to them, given": ({"behind": "grid *p = &b; init(p, k, &r);"}, NONE),
    "objects that begin with zeros": ({"objects": "static grid a, b;"}, NONE),
    "of which one is read before": (
        {"objects": "static grid a, b;", "front": "calls = a.n;"},
        NONE,
    ),
    "called by its address": (
        {"behind": "void (*f)(grid *, int, const ranks *) = init; f(&a, 3, &r);"},
        NONE,
    ),
    "called elsewhere as well": ({"behind": "setup(&a, &b, &r);"}, NONE),
    "a doubtful end": ({"head": "if (n > 7) return;"}, BOTH),
}


@pytest.mark.parametrize("name", CASES)
def test_equal(name: str, tmp_path: Path) -> None:
    changes, expected = CASES[name]
    blank = dict.fromkeys(("extra", "head", "tail", "front", "between", "behind"), "")
    text = PROGRAM % {**blank, "value": "n + 1", "objects": "grid a, b;", **changes}
    if "setup(" not in changes.get("behind", ""):
        text = text[: text.index("static void setup")] + text[text.index("int main") :]
    path = tmp_path / "objects.c"
    path.write_text(text)
    program = read_program([path], Options())
    libraries = libraries_of(program)
    aliases = Aliases(program, known_functions(program, libraries))
    found = find_equal(Derived(program, Footprints(program, aliases, libraries)))
    assert {key.removeprefix("field:grid.") for key in found} == expected
