"""Collectives that bring the next iteration's data, and loops in which they must stay.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 64
static double table[N], other[N], fixed[N];
static int steps = 4, limit = 4, turn, wide = N;
int unknown(void);
static void multiply(double *c, const double *p)
{
    for (int i = 0; i < N; i++)
        c[i] = 0.5 * c[i] + p[i] * p[N - 1 - i];
}
static void spoil(double *c, double *p)
{
    for (int i = 0; i < N; i++)
        c[i] = 0.5 * c[i] + p[i]--;
}
static void change(double *c, const double *p)
{
    for (int i = 0; i < N; i++)
        table[i] += c[i] + p[i];
}
static void shorten(const double *c)
{
    for (int i = 0; i < N; i++)
        limit -= c[i] > 1.0e9;
}
static void fill(double *p, const double *from, int k)
{
    for (int i = 0; i < N; i++)
        p[i] = from[i] + k;
}
static void fill_in_turn(double *p)
{
    turn++;
    for (int i = 0; i < N; i++)
        p[i] = table[i] + turn;
}
static void fill_fixed(void)
{
    for (int i = 0; i < N; i++)
        fixed[i] = table[i];
}
static double *chosen(double *p) { return p; }
int main(int argc, char **argv)
{
    int rank, size, k, i, root = 0, found = 0;
    double *a, *c, *panel;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps += argc;
    limit += argc;
    a = malloc(N * sizeof(double));
    c = calloc(N, sizeof *c);
    panel = malloc(N * sizeof(double));
    for (i = 0; i < N; i++) {
        a[i] = rank + i;
        table[i] = i;
    }
    for (k = 0; k < steps; k++) {
        if (rank == k % size)
            memcpy(panel, a, N * sizeof(double));
        MPI_Bcast(panel, N, MPI_DOUBLE, k % size, MPI_COMM_WORLD);
        multiply(c, panel);
    }
    printf("%g %d %g\\n", c[1], found + limit + root + wide, other[1] + fixed[1] + *chosen(table));
    MPI_Finalize();
    return 0;
}
"""
LOOP = "    for (k = 0; k < steps; k++) {\n"
IF = "        if (rank == k % size)\n"
COPY = "            memcpy(panel, a, N * sizeof(double));\n"
FILL = IF + COPY
CALL = "        MPI_Bcast(panel, N, MPI_DOUBLE, k % size, MPI_COMM_WORLD);\n"
USE = "        multiply(c, panel);\n"
BODY = FILL + CALL + USE
MADE = "    panel = malloc(N * sizeof(double));\n"
NAMED = "    double *a, *c, *panel;\n"
FIXED = {BODY: BODY.replace("panel", "fixed"), NAMED: "    double *a, *c;\n", MADE: ""}
EACH = "            for (i = 0; i < N; i++)\n                panel[i] = a[i] + k;\n"
BEHIND = "    printf("


def behind(text: str) -> dict[str, str]:
    """More behind the use, in each iteration."""
    return {USE: USE + f"        {text}\n"}


# name: replacements, what the text then holds
REWRITTEN: dict[str, tuple[dict[str, str], list[str]]] = {
    "as it is": (
        {},
        [
            "size_t panel_bytes = N * sizeof(double);",
            "double *panel_next = malloc(panel_bytes);",
            "if (0 < steps) {",
            "if (rank == 0 % size)",
            "if (k + 1 < steps) {",
            "if (rank == (k + 1) % size)",
            "memcpy(panel, panel_next, panel_bytes);",
            "free(panel_next);",
        ],
    ),
    "up to a bound": ({LOOP: LOOP.replace("<", "<=")}, ["if (k + 1 <= steps)"]),
    "downward": (
        {LOOP: "    for (k = steps; k > 0; k--) {\n"},
        ["if (steps > 0)", "if (k - 1 > 0)", "(k - 1) % size"],
    ),
    "in steps": ({LOOP: "    for (k = 1; k < steps; k += 3) {\n"}, ["if (k + 3 < steps)"]),
    "surely an iteration": ({LOOP: LOOP.replace("steps", "4")}, ["if (k + 1 < 4)"]),
    "an index of the loop's own": ({LOOP: LOOP.replace("(k", "(int k")}, ["(k + 1) % size"]),
    "a long index": (
        {LOOP: LOOP.replace("(k", "(long k")},
        ["if (rank == ((long)0) % size)"],
    ),
    "from a variable on": (
        {LOOP: LOOP.replace("k = 0", "k = root")},
        ["if (rank == root % size)"],
    ),
    "from a variable of another type on": (
        {
            LOOP: LOOP.replace("k = 0", "k = origin"),
            "static int steps": "static long origin = 1;\nstatic int steps",
        },
        ["if (rank == ((int)origin) % size)"],
    ),
    "a static array": (FIXED, ["malloc(sizeof fixed)", "memcpy(fixed, fixed_next, sizeof fixed)"]),
    "a local array": (
        {NAMED: "    double *a, *c, panel[N];\n", MADE: ""},
        ["memcpy(panel_next, a, N * sizeof(double));", "malloc(sizeof panel)"],
    ),
    "its size is asked for": (
        {
            NAMED: "    double *a, *c, panel[N];\n",
            MADE: "",
            COPY: COPY.replace("N * sizeof(double)", "sizeof(panel)"),
        },
        ["memcpy(panel_next, a, sizeof(panel));"],
    ),
    "names without blanks": (
        {"k % size": "size%(k+1)", "memcpy(panel": "if(size>k)memcpy(panel"},
        ["rank == size%((k + 1)+1)", "if(size>(k + 1))memcpy(panel_next"],
    ),
    "a remainder by the index": ({"k % size": "7%k%size", "k = 0": "k = 1"}, ["7%(k + 1)%size"]),
    "cleared memory": (
        {MADE: "    panel = (double *)calloc(wide, sizeof *panel);\n"},
        ["size_t panel_bytes = (wide) * (sizeof *panel);"],
    ),
    "filled element by element": ({COPY: EACH}, ["panel_next[i] = a[i] + (k + 1);"]),
    "filled by a routine": (
        {FILL: "        fill(panel, a, k);\n"},
        ["fill(panel_next, a, 0);", "fill(panel_next, a, k + 1);"],
    ),
    "filled in turn": (
        {FILL: "        fill_in_turn(panel);\n"},
        ["    fill_in_turn(panel_next);\n"],
    ),
    "filled and counted": (
        {COPY: "            panel[found++] = 1;\n"},
        ["panel_next[found++] = 1;"],
    ),
    "an index that is told behind the loop": (
        {COPY: EACH, BEHIND: "    found = i;\n" + BEHIND},
        ["panel_next[i] = a[i] + (k + 1);"],
    ),
    "not filled": ({FILL: ""}, ["MPI_Ibcast(panel_next, N, MPI_DOUBLE, 0 % size,"]),
    "a root for each iteration": (
        {
            FILL: "        int at = k % size;\n        if (rank == at)\n" + COPY,
            "k % size, MPI": "at, MPI",
        },
        ["int at_next = (k + 1) % size;", "if (rank == at_next)"],
    ),
    "a variable from elsewhere for the root": (
        {
            FILL: "        root = k % size;\n        if (rank == root)\n" + COPY,
            "k % size, MPI": "root, MPI",
        },
        ["int root_next = (k + 1) % size;", "        root = k % size;\n"],
    ),
    "a count for each iteration": (
        {CALL: CALL.replace("N,", "wide - k,")},
        ["MPI_Ibcast(panel_next, wide - (k + 1), MPI_DOUBLE"],
    ),
    "used behind the loop": ({BEHIND: "    found = panel[3] > 1;\n" + BEHIND}, ["panel[3]"]),
    "other work in front": (
        {LOOP: LOOP + "        multiply(other, c);\n"},
        ["multiply(other, c);\n        memcpy(panel, panel_next"],
    ),
    "gathered": (
        {
            FILL: "",
            CALL: "        MPI_Allgather(&a[k], 1, MPI_DOUBLE, panel, 1, MPI_DOUBLE, comm);\n",
        },
        ["MPI_Iallgather(&a[k + 1], 1, MPI_DOUBLE, panel_next,"],
    ),
    "scattered": (
        {
            FILL: "",
            CALL: "        MPI_Scatter(a, 1, MPI_DOUBLE, panel, 1, MPI_DOUBLE, k % size, comm);\n",
        },
        ["MPI_Iscatter(a, 1, MPI_DOUBLE, panel_next,"],
    ),
    "an error code that is not asked for": (
        {CALL: "        root = " + CALL.lstrip(), "limit + root": "limit"},
        ["MPI_Ibcast(panel_next"],
    ),
    "its error code, always the same, is asked for": (
        {CALL: "        found = " + CALL.lstrip() + "        if (found)\n            return 1;\n"},
        ["found = MPI_Ibcast(panel_next"],
    ),
    "without functions for memory": (
        {"#include <string.h>\n": "", COPY: EACH},
        ["imbrex_i < panel_bytes / sizeof(double)"],
    ),
    "a macro for a number": (
        {"k % size": "k % PARTS", "#define N 64": "#define N 64\n#define PARTS 1"},
        [],
    ),
}
# name: replacements
STAYS: dict[str, dict[str, str]] = {
    "the source is computed": behind("a[3] += c[3];"),
    "the source is computed where the next iteration looks": {
        COPY: "            panel[0] = table[k];\n",
        **behind("table[k + 1] = c[0];"),
    },
    "what fills reads the buffer through another pointer": {
        LOOP: "    double *same = panel;\n" + LOOP,
        COPY: "        {\n            panel[2] = k;\n            panel[1] = same[2];\n        }\n",
    },
    "the source is computed through another pointer": {
        LOOP: "    double *same = a;\n" + LOOP,
        **behind("same[3] = c[3];"),
    },
    "the source is computed by a routine": {
        COPY: COPY.replace("a,", "table,"),
        **behind("change(c, panel);"),
    },
    "what is computed is sent": {CALL: CALL.replace("panel", "c"), USE: USE.replace("panel", "a")},
    "the buffer is set behind": behind("panel[0] = c[0];"),
    "the buffer is set where it is used": {"multiply(c, panel)": "spoil(c, panel)"},
    "the buffer is set through another pointer": {
        LOOP: "    double *same = panel;\n" + LOOP,
        **behind("same[3] = c[3];"),
    },
    "the last panel is looked at first": {
        LOOP: LOOP + "        found += panel[0] > 1;\n",
        **behind("root += found;"),
    },
    "the last panel is used first": {
        LOOP: LOOP + "        multiply(other, panel);\n",
        **behind("root += other[1] > 1;"),
    },
    "it is used in front of another collective": {
        CALL: CALL + USE + CALL.replace("panel", "table"),
    },
    "the loop is left": behind("if (c[0] > 1.0e9)\n            break;"),
    "the routine is left": behind("if (c[0] > 1.0e9)\n            return 1;"),
    "an iteration is left": {CALL: CALL + "        if (c[0] > 1.0e9)\n            continue;\n"},
    "a jump out of the loop": {
        **behind("if (c[0] > 1.0e9)\n            goto out;"),
        BEHIND: "out:\n" + BEHIND,
    },
    "a jump into the loop": {
        LOOP: "    if (argc > 3)\n        goto in;\n" + LOOP,
        USE: "    in:\n" + USE,
    },
    "the index is changed": behind("k += c[0] > 1.0e9;"),
    "the bound is changed": behind("steps -= c[0] > 1.0e9;"),
    "the bound is changed by a routine": {
        LOOP: LOOP.replace("steps", "limit"),
        **behind("shorten(c);"),
    },
    "a while": {LOOP: "    k = 0;\n    while (k < steps) {\n", USE: USE + "        k++;\n"},
    "no end is told": {LOOP: LOOP.replace("k < steps", "c[0] < 1.0e9")},
    "the root is computed": {
        "k % size": "root",
        **behind("root = (root + (c[0] > 0)) % size;"),
    },
    "the count is computed": {
        CALL: CALL.replace("N,", "wide,"),
        **behind("wide -= c[0] > 1.0e9;"),
    },
    "who fills is computed": {IF: "        if (found == 0)\n", **behind("found += c[0] > 1.0e9;")},
    "a barrier": behind("MPI_Barrier(MPI_COMM_WORLD);"),
    "another collective behind": behind(
        "MPI_Allreduce(c, other, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);"
    ),
    "a message behind": behind(
        "MPI_Sendrecv(c, N, MPI_DOUBLE, 0, 0, other, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, "
        "MPI_STATUS_IGNORE);"
    ),
    "a message under way": {
        LOOP: LOOP + "        MPI_Irecv(other, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);\n",
        **behind("MPI_Wait(&request, MPI_STATUS_IGNORE);"),
    },
    "unknown code": behind("found += unknown();"),
    "unknown code fills": {COPY: "            panel[0] = unknown();\n"},
    "input fills": {COPY: "            panel[0] = getchar();\n"},
    "what fills is told": {COPY: COPY + "        puts(argv[0]);\n"},
    "a message fills": {
        COPY: "            MPI_Recv(panel, N, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE);\n"
    },
    "a collective fills": {
        FILL: "        MPI_Reduce(a, panel, N, MPI_DOUBLE, MPI_MAX, k % size, comm);\n"
    },
    "its bound is volatile": {
        LOOP: LOOP.replace("steps", "odd"),
        "static int steps": "static volatile int odd = 3;\nstatic int steps",
    },
    "output": behind('printf("%g\\n", c[0]);'),
    "it is filled at random": {
        COPY: "            panel[0] = rand();\n",
        **behind("found += rand();"),
    },
    "it is filled in turn, and that is looked at": {
        FILL: "        fill_in_turn(panel);\n",
        **behind("root += turn;"),
    },
    "it is filled in turn, which ends the loop": {
        FILL: "        fill_in_turn(panel);\n",
        LOOP: LOOP.replace("steps", "steps - turn"),
    },
    "filled from what is volatile": {
        "static double table": "static volatile double odd;\nstatic double table",
        COPY: "            panel[0] = odd;\n",
    },
    "filled and counted, and that is looked at": {
        COPY: "            panel[found++] = 1;\n",
        **behind("root += found;"),
    },
    "filled and counted, as work is": {
        COPY: "            panel[found++] = 1;\n",
        **behind("found += 2;"),
    },
    "a routine fills it by its name": {
        **FIXED,
        BODY: "        fill_fixed();\n" + (CALL + USE).replace("panel", "fixed"),
    },
    "the pointer moves": behind("panel = chosen(panel);"),
    "it has memory of an unknown size": {MADE: "    panel = chosen(table);\n"},
    "it has memory of one size or another": {
        MADE: MADE + "    if (argc > 2)\n        panel = malloc(2 * N * sizeof(double));\n"
    },
    "it has memory under a condition": {MADE: "    if (argc > 0)\n    " + MADE},
    "it has memory behind a jump": {
        MADE: "    if (argc > 3)\n        goto made;\n" + MADE + "made:\n",
    },
    "its address is known": {MADE: MADE + "    double **where = &panel;\n    *where += 1;\n"},
    "its size is computed": {MADE: "    panel = malloc(unknown());\n"},
    "its size counts": {MADE: "    panel = malloc(N * sizeof(double) + root++);\n"},
    "it is a part of another array": {MADE: "    panel = a + 1;\n"},
    "it ends with the iteration": {
        NAMED: "    double *a, *c;\n",
        MADE: "",
        LOOP: LOOP + "        double panel[N];\n",
    },
    "a macro says the buffer": {
        "#define N 64": "#define N 64\n#define P panel",
        COPY: "            P[3] = panel[2];\n",
    },
    "a macro says the index": {
        "#define N 64": "#define N 64\n#define TURN (k % 2)",
        COPY: "            panel[0] = TURN;\n",
    },
    "another variable of the index's name": {
        COPY: "            for (int k = 0; k < N; k++)\n                panel[k] = a[k];\n"
    },
    "the size of what ends with the iteration": {
        LOOP: LOOP + "        char room[N];\n",
        COPY: COPY.replace("N * sizeof(double)", "sizeof room"),
        **behind("room[0] = 1;"),
    },
    "the size of what has the same name in front of the loop": {
        LOOP: "    char room[2];\n    root = room[0] = 0;\n" + LOOP + "        char room[N];\n",
        COPY: COPY.replace("N * sizeof(double)", "sizeof room"),
        **behind("room[0] = 1;"),
    },
    "the size of an array by a macro": {
        **FIXED,
        "#define N 64": "#define N 64\n#define SIZE(a) sizeof(a)",
        BODY: BODY.replace("panel", "fixed").replace("N * sizeof(double)", "SIZE(fixed)"),
    },
    "the size of an array, with a blank": {
        **FIXED,
        BODY: BODY.replace("panel", "fixed").replace("N * sizeof(double)", "sizeof (fixed)"),
    },
    "the address of an array": {
        **FIXED,
        BODY: BODY.replace("panel", "fixed").replace("memcpy(fixed", "memcpy(&fixed"),
    },
    "threads fill": {FILL: "#pragma omp parallel for private(i)\n" + EACH},
    "a word to the compiler": {CALL: '#pragma message "panel"\n' + CALL},
    "a conditional of the preprocessor": {CALL: "#ifndef NO\n" + CALL + "#endif\n"},
    "a pointer to lines": {
        NAMED: "    double *a, *c, (*panel)[8];\n",
        USE: USE.replace("panel", "panel[0]"),
        COPY: "            panel[k][1] = a[k];\n",
    },
    "an array of lines": {
        NAMED: "    double *a, *c, panel[8][8];\n",
        MADE: "",
        USE: USE.replace("panel", "panel[0]"),
        COPY: "            panel[k][1] = a[k];\n",
    },
    "an array of pointers": {
        NAMED: "    double *a, *c, *lines[2];\n",
        MADE: MADE.replace("panel", "lines[0]"),
        BODY: BODY.replace("panel", "lines[0]"),
    },
    "an array whose size is told elsewhere": {
        "static double table": "extern double far[];\nstatic double table",
        NAMED: "    double *a, *c;\n",
        MADE: "",
        BODY: BODY.replace("panel", "far"),
    },
    "a member of a structure": {
        NAMED: "    double *a, *c;\n    struct { double panel[N]; } held;\n",
        MADE: "",
        BODY: BODY.replace("panel", "held.panel"),
    },
    "an array of structures": {
        "static double table": "struct pair { double x, y; };\nstatic double table",
        NAMED: "    double *a, *c;\n    struct pair panel[N];\n",
        MADE: "",
        USE: USE.replace("panel", "&panel[0].x"),
        CALL: CALL.replace("panel", "&panel[0].x"),
    },
    "a parameter": {
        "int main(": "static void turns(double *c, double *panel, double *a, int rank, int size)\n"
        "{\n    int k;\n" + LOOP + BODY + "    }\n}\nint main(",
        "    for (i = 0; i < N; i++) {": "    turns(c, panel, a, rank, size);\n"
        "    for (i = 0; i < N; i++) {",
        LOOP + BODY + "    }\n    printf": "    printf",
    },
    "text in what fills": {COPY: '            memcpy(panel, "k panel", 8);\n'},
    "the value of the call": {CALL: "        found += " + CALL.lstrip()},
    "the error code counts": {CALL: "        turn = " + CALL.lstrip(), **behind("root += turn;")},
    "a condition around the call": {CALL: "        if (size > 1)\n    " + CALL},
    "code that is not read may answer it": {BEHIND: "#if 0\nMPI_Bcast();\n#endif\n" + BEHIND},
    "windows": {
        BEHIND: "    MPI_Win win;\n    MPI_Win_create(c, 8, 1, MPI_INFO_NULL, comm, &win);\n"
        "    MPI_Win_free(&win);\n" + BEHIND
    },
    "threads divide the loop": {LOOP: "#pragma omp parallel for\n" + LOOP},
    "no work beside it": {"multiply(c, panel);": "found += panel[0] > 1;"},
    "a sum": {
        CALL: "        MPI_Allreduce(a, panel, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n",
    },
    "others between filling and call": {
        CALL: "        panel[1] += c[1];\n" + CALL,
    },
    "two calls on a line": {CALL: CALL.rstrip() + " found++;\n"},
    "something shared is counted": {
        IF: "        if (rank == k % size && found++ > 0)\n",
        **behind("root += found;"),
    },
}


def rewritten(tmp_path: Path, replacements: dict[str, str]) -> tuple[Outcome, str]:
    file = tmp_path / "program.c"
    file.write_text(changed(PROGRAM, replacements))
    outcome = transform([file], Options())
    return outcome, outcome.after[str(file)].decode()


@pytest.mark.parametrize("name", REWRITTEN)
def test_goes_ahead(name: str, tmp_path: Path) -> None:
    replacements, expected = REWRITTEN[name]
    outcome, text = rewritten(tmp_path, replacements)
    assert any("prefetching" in d.rewrites for d in outcome.decisions), text
    for part in expected:
        assert part in text


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    outcome, text = rewritten(tmp_path, STAYS[name])
    assert not any("prefetching" in d.rewrites for d in outcome.decisions)
    assert "_next" not in text


def test_once(tmp_path: Path) -> None:
    """A second run finds nothing to do, and each call is told once."""
    outcome, text = rewritten(tmp_path, {})
    assert [d.site.call.name for d in outcome.decisions] == ["MPI_Bcast"]
    file = tmp_path / "again.c"
    file.write_text(text)
    again = transform([file], Options())
    assert again.after == again.before


@pytest.mark.parametrize("use", ["", "        found += at;\n"])
def test_declaration_goes_with_its_uses(use: str, tmp_path: Path) -> None:
    """What only the next iteration's copy still names is declared no more."""
    replacements, _ = REWRITTEN["a root for each iteration"]
    _, text = rewritten(tmp_path, {**replacements, USE: USE + use})
    assert ("int at = k % size;" in text) is bool(use)
    assert "int at_next = (k + 1) % size;" in text
