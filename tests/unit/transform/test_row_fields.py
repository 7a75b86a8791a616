"""Fields that point to the rows of arrays: read as one array where the object tells their length.

Each program that must stay differs from the case that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "row_fields.c").read_text()
MADE = "    f->next = make(rows + 2, cols + 2);\n"
ROWS = "    f->now = make(rows + 2, cols + 2);\n" + MADE
BEHIND = "    init(&coarse, 12, 10, rank, size);\n"
FIRST = "static void init(field *f"
LOOP = "    for (int i = 1; i < rows + 2; i++)\n"
ALLOCATED = """    f->now = malloc((rows + 2) * sizeof(double *));
    f->next = malloc((rows + 2) * sizeof(double *));
"""
BLOCKS = f"""{ALLOCATED}    f->now[0] = malloc((rows + 2) * (cols + 2) * sizeof(double));
    f->next[0] = malloc((rows + 2) * (cols + 2) * sizeof(double));
{LOOP}        f->now[i] = f->now[0] + i * (cols + 2);
{LOOP}        f->next[i] = f->next[0] + i * (cols + 2);
"""
HELD = f"""    f->one = malloc((rows + 2) * (cols + 2) * sizeof(double));
    f->two = malloc((rows + 2) * (cols + 2) * sizeof(double));
{ALLOCATED}    for (int i = 0; i < rows + 2; i++) {{
        f->now[i] = &f->one[i * (cols + 2)];
        f->next[i] = f->two + i * (cols + 2);
    }}
"""
BLOCK = {ROWS: HELD, "    int above, below;\n": "    double *one, *two;\n    int above, below;\n"}
BLOCK |= {"    free(f->now[0]);\n": "    free(f->one);\n", "    free(f->next[0]);\n": ""}
EACH = f"""{ALLOCATED}    for (int i = 0; i < rows + 2; i++) {{
        f->now[i] = malloc((cols + 2) * sizeof(double));
        f->next[i] = malloc((cols + 2) * sizeof(double));
    }}
"""
FREED = {"    free(f->now[0]);\n": "", "    free(f->next[0]);\n": ""}
# name: (replacements, whether the exchange is split)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "sizes of the object": (
        {ROWS: ROWS.replace("rows", "f->rows").replace("cols", "f->cols")},
        True,
    ),
    "rows set in place": ({ROWS: BLOCKS}, True),
    "rows of blocks that it holds": (BLOCK, True),
    "rows of one block": ({**BLOCK, ROWS: HELD.replace("f->two + i", "f->one + i")}, False),
    "rows of another one's block": (
        {
            **BLOCK,
            ROWS: HELD.replace("f->two + i", "g->two + i"),
            "static void init(field *f,": "static void init(field *f, field *g,",
            "init(&fine,": "init(&fine, &coarse,",
            "init(&coarse,": "init(&coarse, &fine,",
        },
        False,
    ),
    "a block that is allocated again": (
        {**BLOCK, BEHIND: f"{BEHIND}    fine.two = malloc(9999);\n"},
        False,
    ),
    "the block is used as well": (
        {**BLOCK, "            v[i][j] = u": "            f->one[i] = v[i][j] = u"},
        False,
    ),
    "each row of its own": ({ROWS: EACH, **FREED}, True),
    "a size that changes in between": (
        {ROWS: BLOCKS.replace("    f->now[0]", "    cols++;\n    f->now[0]")},
        False,
    ),
    "a size that changes behind": ({ROWS: BLOCKS + "    cols++;\n"}, True),
    "rows that are set first": (
        {
            ROWS: BLOCKS.replace("    f->now = malloc((rows + 2) * sizeof(double *));\n", "")
            + "    f->now = malloc((rows + 2) * sizeof(double *));\n"
        },
        False,
    ),
    "nothing at first": (
        {"    f->rows = rows;\n": "    f->now = NULL;\n    f->rows = rows;\n"},
        True,
    ),
    "another size behind": ({BEHIND: f"{BEHIND}    fine.cols = 19;\n"}, False),
    "another size in the routine": ({MADE: f"{MADE}    f->cols = cols - 1;\n"}, False),
    "another field behind": ({BEHIND: f"{BEHIND}    fine.above = MPI_PROC_NULL;\n"}, True),
    "a size that is sent": (
        {BEHIND: f"{BEHIND}    MPI_Bcast(&fine.cols, 1, MPI_INT, 0, MPI_COMM_WORLD);\n"},
        False,
    ),
    "rows of another object": ({BEHIND: f"{BEHIND}    coarse.next = fine.next;\n"}, False),
    "rows exchanged with another object": (
        {
            "static void step(": (
                "static void cross(field *f, field *g)\n{\n    double **t = f->now;\n"
                "    f->now = g->now;\n    g->now = t;\n}\n\nstatic void step("
            ),
            "        swap(&coarse);": "        swap(&coarse);\n        cross(&fine, &coarse);",
        },
        False,
    ),
    "the object changes meanwhile": (
        {
            "static void swap(field *f)\n": "static void swap(field *f, field *g)\n",
            "    double **t = f->now;\n": "    double **t = f->now;\n    f = g;\n",
            "swap(&fine);": "swap(&fine, &fine);",
            "swap(&coarse);": "swap(&coarse, &fine);",
        },
        False,
    ),
    "longer rows of one": ({MADE: MADE.replace("cols + 2", "cols + 3")}, False),
    "longer rows of one, in place": (
        {ROWS: BLOCKS.replace("f->next[0] + i * (cols + 2)", "f->next[0] + i * (cols + 1)")},
        False,
    ),
    "one array": ({MADE: "    f->next = f->now;\n"}, False),
    "a row set anew": ({BEHIND: f"{BEHIND}    fine.next[3] = fine.next[4];\n"}, False),
    "objects copied": ({BEHIND: f"{BEHIND}    coarse = fine;\n"}, False),
    "its address is given": (
        {
            FIRST: f"static void turn(double ***p, double **q)\n{{\n    *p = q;\n}}\n\n{FIRST}",
            BEHIND: f"{BEHIND}    turn(&fine.next, coarse.next);\n",
        },
        False,
    ),
    "of a routine that is not seen": (
        {FIRST: f"double **unseen(int n, int m);\n\n{FIRST}", MADE: MADE.replace("make", "unseen")},
        False,
    ),
    "one of two": (
        {
            MADE: MADE.replace(
                "make(rows + 2, cols + 2)", "rank ? f->now : make(rows + 2, cols + 2)"
            )
        },
        False,
    ),
    "declared with a pointer to one": (
        {
            "field fine, coarse;": "field fine, coarse, *one = &fine;",
            "destroy(&fine);": "destroy(one);",
        },
        True,
    ),
    "filled with zeros": (
        {
            "#include <stdlib.h>\n": "#include <stdlib.h>\n#include <string.h>\n",
            "    f->rows = rows;\n": "    memset(f, 0, sizeof *f);\n    f->rows = rows;\n",
        },
        True,
    ),
    "declared with zeros": (
        {"field fine, coarse;": "field fine = {0};\n    field coarse = {0};"},
        True,
    ),
    "in part, behind": (
        {
            "#include <stdlib.h>\n": "#include <stdlib.h>\n#include <string.h>\n",
            BEHIND: f"{BEHIND}    memset(&coarse, 0, sizeof coarse.rows + sizeof coarse.cols);\n",
        },
        False,
    ),
    "set by a list": (
        {
            "field fine, coarse;": "field fine = {1, 1, make(3, 3), make(3, 3), 0, 0}, coarse;",
        },
        False,
    ),
}

# One array alone, so that nothing but the lengths of its rows tells what a message is apart from.
ALONE = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct {
    int rows, cols;
    double **u, **w;
} field;
static double sum[40];
static double **make(int n, int m)
{
    double **a = malloc(n * sizeof *a);
    a[0] = calloc(n * m, sizeof **a);
    for (int i = 1; i < n; i++)
        a[i] = a[0] + i * m;
    return a;
}
static void init(field *f, int rows, int cols)
{
    f->rows = rows;
    f->cols = cols;
    f->u = make(rows + 2, cols + 2);
    f->w = make(rows + 2, 4);
}
static void other(field *f, field *g)
{
    OTHER
}
int main(int argc, char **argv)
{
    field f, g;
    MPI_Init(&argc, &argv);
    init(&f, 24, 20);
    init(&g, 30, 10);
    other(&f, &g);
    for (int it = 0; it < 3; it++) {
        MPI_Sendrecv(f.u[1], f.cols + 2, MPI_DOUBLE, 0, 0, f.u[0], f.cols + 2, MPI_DOUBLE, 0, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i <= f.rows; i++)
            for (int j = 0; j <= f.cols + 1; j++)
                sum[i] += f.u[i][j];
    }
    printf("%g\\n", sum[3] + f.u[0][0]);
    MPI_Finalize();
    return 0;
}
"""
OTHERS = {
    "nothing": ("g->rows = 3;", True),
    "rows of its own": ("f->u = f->u;", True),
    "rows of its own, by a local pointer": ("double **t = f->u;\n    f->u = t;", True),
    "rows of another object": ("f->u = g->u;", False),
    "rows of another object, by a local pointer": ("double **t = g->u;\n    f->u = t;", False),
    "of another one by then": ("double **t = f->u;\n    f = g;\n    f->u = t;", False),
    "made for other sizes": ("f->u = make(f->rows, f->cols);", False),
    "made twice for the same": ("f->u = make(f->rows + 2, f->cols + 2);", False),
    "rows that a parameter has": ("f->u = make(9, g->cols + 2);", False),
    "shorter rows of its own": ("f->u = f->w;", False),
    "shorter rows of its own, by a local pointer": ("double **t = f->w;\n    f->u = t;", False),
    "rows of an object in an array": ("field *h[2] = {f, g};\n    h[0]->u = h[1]->u;", False),
    "one of two": ("f->u = g->rows > 3 ? f->u : g->u;", False),
    "a list": ("field h = {1, 9, make(9, 11)};\n    f->u = h.u;", False),
    "through its address": ("double ***p = &f->u;\n    *p = g->u;", False),
    "another size": ("f->cols = g->rows;", False),
    "another size of the other one": ("g->cols = f->rows;", False),
    "another number of rows": ("g->rows = f->cols;", True),
}


@pytest.mark.parametrize("name", OTHERS)
def test_lengths(name: str, tmp_path: Path) -> None:
    """Rows may be shorter than the message that the fields of the object tell of."""
    statements, divided = OTHERS[name]
    path = tmp_path / "case.c"
    path.write_text(ALONE.replace("OTHER", statements))
    assert passes(path) is divided


def passes(path: Path) -> bool:
    """Whether the receive passes the loop that reads the other rows."""
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    return "sum[i] += f.u[i][j];" in text.partition("MPI_Irecv")[2].partition("MPI_Wait")[0]


@pytest.mark.parametrize(("kept", "divided"), [("kept.u", False), ("NULL", True)])
def test_a_routine_that_may_return_others(kept: str, divided: bool, tmp_path: Path) -> None:
    returned = f"    if (n > 40)\n        a = {kept};\n    return a;"
    text = ALONE.replace("OTHER", "").replace("    return a;", returned)
    text = text.replace("static double sum", "static field kept;\nstatic double sum")
    text = text.replace("    init(&g", "    init(&kept, 50, 3);\n    init(&g")
    path = tmp_path / "case.c"
    path.write_text(text)
    assert passes(path) is divided


@pytest.mark.parametrize("exchanged", ["std::swap(f->u, g->u);", "std::swap(f->rows, g->rows);"])
def test_std_swap(exchanged: str, tmp_path: Path) -> None:
    """Rows that two objects exchange; numbers of rows tell nothing of their lengths."""
    text = ALONE.replace("OTHER", exchanged).replace("stdlib.h", "utility")
    text = text.replace("malloc(n * sizeof *a)", "new double *[n]")
    text = text.replace("calloc(n * m, sizeof **a)", "new double[n * m]")
    path = tmp_path / "case.cpp"
    path.write_text(text)
    assert passes(path) is ("rows" in exchanged)


@pytest.mark.parametrize("name", CASES)
def test_split(name: str, tmp_path: Path) -> None:
    replacements, split = CASES[name]
    path = tmp_path / "case.c"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    assert ("exchange_start(&fine" in text) is split, text
