"""Arrays of pointers whose elements each own an allocation, and those where that is not so."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.analysed import Analysis
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <stdlib.h>
#include <string.h>
static double *noted, pool[400];
struct grid { double *face[4]; int n; };
static double *array(int n)
{
    double *new = malloc(n * sizeof(double));
    if (!new)
        exit(3);
    return new;
}
static double *cleared(int n)
{
    double *new = array(n);
    memset(new, 0, n * sizeof(double));
    return new;
}
static double *lent(double *it) { return noted = it; }
static double *lending(int n)
{
    double *new = malloc(n * sizeof(double));
    lent(new);
    return new;
}
static double *always_one(int n)
{
    static double *kept;
    if (!kept)
        kept = malloc(n * sizeof(double));
    return kept;
}
static double *written_down(int n)
{
    double *new = malloc(n * sizeof(double));
    noted = new;
    return new;
}
extern void elsewhere(double **);
static void use(struct grid *g)
{
    for (int i = 0; i < g->n; i++)
        g->face[0][i] += g->face[1][i];
}
int main(void)
{
    struct grid g, h;
    double *p;
    g.n = h.n = 10;
    %s
    use(&g);
    use(&h);
    return 0;
}
"""
EACH = "for (int f = 0; f < 4; f++)\ng.face[f] = malloc(80);\n"

# name: (code, whether each element surely has memory of its own)
SLOTS = {
    "in a loop": (EACH, True),
    "one by one": ("g.face[0] = malloc(80); g.face[1] = calloc(10, 8);", True),
    "by a routine of the program": ("for (int f = 0; f < 4; f++) g.face[f] = array(10);", True),
    "by a routine that calls one": ("for (int f = 0; f < 4; f++) g.face[f] = cleared(9);", True),
    "given back and set anew": (EACH + "free(g.face[0]); g.face[0] = malloc(160);", True),
    "of two structures": (EACH + "for (int f = 0; f < 4; f++) h.face[f] = malloc(80);", True),
    "set to null": (EACH + "g.face[3] = NULL;", True),
    "read by another pointer": (EACH + "p = g.face[0]; p[0] = 1.0;", True),
    "parts of one allocation": (
        "p = malloc(320); for (int f = 0; f < 4; f++) g.face[f] = p + 10 * f;",
        False,
    ),
    "one allocation twice": ("g.face[0] = g.face[1] = malloc(80);", False),
    "one element twice": (EACH + "g.face[1] = g.face[0];", False),
    "exchanged": (EACH + "p = g.face[0]; g.face[0] = g.face[1]; g.face[1] = p;", True),
    "exchanged with another structure's": (
        EACH + "p = g.face[0]; g.face[0] = h.face[1]; h.face[1] = p;",
        True,
    ),
    "not all exchanged": (EACH + "p = g.face[0]; g.face[0] = g.face[1]; g.face[2] = p;", False),
    "exchanged with what another pointer names": (
        EACH + "p = g.face[0]; g.face[0] = noted; noted = p;",
        False,
    ),
    "a part of an array": (EACH + "g.face[2] = pool + 20;", False),
    "another structure's": (EACH + "h.face[0] = g.face[1];", False),
    "copied with the structure": (EACH + "h = g;", False),
    "copied in a declaration": (EACH + "struct grid other = g; use(&other);", False),
    "copied as bytes": (EACH + "memcpy(&h, &g, sizeof g);", False),
    "the elements copied": (EACH + "memcpy(h.face, g.face, sizeof g.face);", False),
    "an element's address": (EACH + "double **e = &g.face[1]; *e = g.face[0];", False),
    "as a pointer to pointers": (EACH + "double **e = g.face; e[1] = e[0];", False),
    "given to code that is not seen": (EACH + "elsewhere(g.face);", False),
    "by a routine that keeps one": (
        "for (int f = 0; f < 4; f++) g.face[f] = always_one(9);",
        False,
    ),
    "by a routine that notes it": (
        "for (int f = 0; f < 4; f++) g.face[f] = written_down(9);\ng.face[1] = noted;",
        False,
    ),
    "by a routine that gives it to another": (
        "for (int f = 0; f < 4; f++) g.face[f] = lending(9);\ng.face[1] = noted;",
        False,
    ),
    "in a condition": (EACH + "g.face[1] = g.n > 3 ? malloc(80) : g.face[0];", False),
    "in a list": ("p = malloc(80); struct grid l = {{p, p}, 3}; use(&l);", False),
}


@pytest.mark.parametrize("name", SLOTS)
def test_slots(name: str, tmp_path: Path) -> None:
    code, own = SLOTS[name]
    path = tmp_path / "case.c"
    path.write_text(PROGRAM % code)
    found = Analysis([path], Options())
    assert not found.program.skipped, found.program.skipped
    assert ("field:grid.face" in found.footprints.aliases.slotted) is own


# Two variables that one routine allocates for: whether they never name the same memory.
APART = {
    "allocated each time": ("g.face[0] = array(9); p = array(9);", True),
    "cleared each time": ("g.face[0] = cleared(9); p = cleared(9);", True),
    "always one": ("g.face[0] = always_one(9); p = always_one(9);", False),
    "one given on": ("g.face[0] = array(9); p = g.face[0];", False),
    "one kept by a global": ("g.face[0] = written_down(9); p = noted;", False),
    "one kept by what is called": ("g.face[0] = lending(9); p = noted;", False),
}


@pytest.mark.parametrize("name", APART)
def test_allocated_by_a_routine(name: str, tmp_path: Path) -> None:
    code, apart = APART[name]
    path = tmp_path / "case.c"
    path.write_text(PROGRAM % code)
    found = Analysis([path], Options())
    aliases = found.footprints.aliases
    (key,) = (k for k, v in found.program.variables.items() if v.name == "p")
    assert aliases.objects(key, True).isdisjoint(aliases.objects("field:grid.face", True)) is apart


SHIFTED = """#include <mpi.h>
#include <stdio.h>
static double a[100], b[100];
static int n = 50;
int main(int argc, char **argv)
{{
    int rank;
    {declared}
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {p}[0] = a;
    {p}[1] = a + argc;
    MPI_Recv(&{p}[0][1], 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 2; i < n; i++)
        b[i] = {used} + i;
    printf("%g\\n", b[2]);
    MPI_Finalize();
    return 0;
}}
"""


@pytest.mark.parametrize("used", ["{p}[1][0]", "{p}[i % 2][0]", "{p}[rank][0]", "*{p}[1]"])
@pytest.mark.parametrize(
    ("declared", "p"), [("double *p[2];", "p"), ("struct { double *q[2]; } s;", "s.q")]
)
def test_elements_may_be_parts_of_one_array(
    declared: str, p: str, used: str, tmp_path: Path
) -> None:
    """Element 0 of the second is element 1 of the first: indices alone say nothing."""
    path = tmp_path / "case.c"
    path.write_text(SHIFTED.format(declared=declared, p=p, used=used.format(p=p)))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    assert outcome.after == outcome.before
    path.write_text(SHIFTED.format(declared=declared, p=p, used=f"{p}[0][0]"))
    moved = transform([path], Options())
    assert (moved.after != moved.before) is (p == "p")  # of fields it is not known
