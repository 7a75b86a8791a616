"""Arrays by pointers to their rows: read as one array where nothing else can be meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.analysed import Analysis
from imbrex.transform.model.affine import Affine
from imbrex.transform.options import Options

WHOLE = (Path(__file__).parent / "cases" / "row_pointers.c").read_text()
C = WHOLE[: WHOLE.index("    float **x = separate")] + WHOLE[WHOLE.index("    double sum = ") :]
C = changed(
    C,
    {
        "before + filled(cells, n + 2, m), total": "0, total",
        " + x[i][j + 1] * j": "",
    },
)
DATA = "    double *data = malloc(rows * cols * sizeof(double));\n"
ROWS = "    double **a = malloc(rows * sizeof(double *));\n"
EACH = "    for (int i = 0; i < rows; i++)\n        a[i] = &data[i * cols];\n    return a;\n"
LOOP = "    for (int i = 0; i < rows; i++)\n"
MADE = "    double **u = block(n + 2, m), **v = block(n + 2, m);\n"
STEP = "        exchange(u, n, m);\n"
KERNEL = "        for (int j = 1; j < m - 1; j++)\n            out[j]"
HERE = "        const double *north = u[i - 1], *here = u[i], *south = u[i + 1];\n"
SIGN = "jacobi_interior(u, v, n, m)"


def filled(text: str) -> dict[str, str]:
    """The routine that allocates, with this in the place of its loop."""
    return {EACH: f"{text}    return a;\n"}


def of_own(text: str) -> dict[str, str]:
    """The same without the block."""
    return {DATA: "", **filled(text)}


GO: dict[str, dict[str, str]] = {
    "parts of a block": {},
    "a sum": filled(LOOP + "        a[i] = data + cols * i;\n"),
    "rows of their own": of_own(LOOP + "        a[i] = malloc(cols * sizeof(double));\n"),
    "rows of zeros": of_own(LOOP + "        a[i] = calloc(cols, sizeof(double));\n"),
    "from the first row": of_own(
        "    a[0] = malloc(rows * cols * sizeof(double));\n"
        "    for (int i = 1; i < rows; i++)\n        a[i] = a[0] + i * cols;\n"
    ),
    "from the row before": filled(
        "    *a = data;\n    for (int i = 1; i < rows; i++)\n        a[i] = a[i - 1] + cols;\n"
    ),
    "with casts": {
        DATA: DATA.replace("malloc", "(double *)malloc"),
        ROWS: ROWS.replace("malloc", "(double **)malloc"),
    },
    "a length of more": {
        MADE: MADE.replace("m)", "m + 1)"),
        STEP: STEP.replace("n, m", "n, m + 1"),
        "jacobi(u, v, n, m);": "jacobi(u, v, n, m + 1);",
    },
    "allocated on the spot": {
        MADE: MADE.replace(" = block(n + 2, m)", "")
        + "    u = malloc((n + 2) * sizeof(double *));\n"
        "    v = malloc((n + 2) * sizeof(double *));\n"
        "    for (int i = 0; i < n + 2; i++) {\n        u[i] = malloc(m * sizeof(double));\n"
        "        v[i] = malloc(m * sizeof(double));\n    }\n",
    },
    "rows as they are named": {
        HERE: "",
        "        double *out = v[i];\n": "",
        "out[j]": "v[i][j]",
        "north[j] + south[j] + here[j - 1] + here[j + 1]": (
            "u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]"
        ),
    },
    "a row that is freed": {"    free(a[0]);\n": "    free(*a);\n"},
    "the length changes before": {MADE: "    m++;\n" + MADE},
    "arrays of pointers as parameters": {"double **u, int n": "double *u[], int n"},
}
FILL = """static void fill(double **a, int rows, int cols)
{
    for (int i = 0; i < rows; i++)
        a[i] = malloc(cols * sizeof(double));
}

"""
POOL = "static double pool[4096], *next = pool;\n\n"
FIRST = "static void first(double ***p, double **q)\n{\n    (*p)[1] = q[1];\n}\n\n"
ANEW = "static void anew(double **p, int m)\n{\n    *p = malloc(m * sizeof(double));\n}\n\n"
TRIANGLE = """static double **triangle(int rows, int cols)
{
    double **a = malloc(rows * sizeof(double *));
    for (int i = 0; i < rows; i++)
        a[i] = malloc((cols - i) * sizeof(double));
    return a;
}

"""
JACOBI = "static void jacobi(double **u, double **v, int n, int m)\n{\n"
STAY: dict[str, dict[str, str]] = {
    "rows that are shared": filled(LOOP + "        a[i] = &data[i / 2 * cols];\n"),
    "one row": filled(LOOP + "        a[i] = data;\n"),
    "rows that overlap": filled(LOOP + "        a[i] = data + i * (cols - 1);\n"),
    "rows of two blocks": {
        DATA: DATA + DATA.replace("*data", "*more"),
        **filled(LOOP + "        a[i] = i < 2 ? &data[i * cols] : &more[i * cols];\n"),
    },
    "rows of one of two blocks": {
        DATA: DATA + DATA.replace("*data", "*more"),
        **filled(
            LOOP + "        a[i] = &data[i * cols];\n"
            "    for (int i = 0; i < rows; i++)\n        a[i] = &more[i * cols];\n"
        ),
    },
    "a block that moves on": filled(
        "    for (int i = 0; i < rows; i++) {\n        a[i] = data;\n        data += cols;\n    }\n"
    ),
    "a block that moves meanwhile": filled(
        "    for (int i = 0; i < rows; i++) {\n        a[i] = data + i * cols;\n"
        "        data -= 2;\n    }\n"
    ),
    "rows that another routine sets": {
        "static double **block(": FILL + "static double **block(",
        **of_own("    fill(a, rows, cols);\n"),
    },
    "a length that changes before the rows are set": {DATA: "    cols--;\n" + DATA},
    "rows of two lengths": of_own(
        LOOP + "        if (i % 2)\n            a[i] = malloc(cols * sizeof(double));\n"
        "        else\n            a[i] = malloc((cols - 1) * sizeof(double));\n"
    ),
    "a routine that is called by a pointer": {
        MADE: MADE + "    void (*kernel)(double **, double **, int, int) = jacobi;\n"
        "    kernel(u, v, n, m - 1);\n"
    },
    "a routine that unseen code may call": {
        "static int up": "void later(void (*)(double **, double **, int, int));\n\nstatic int up",
        MADE: MADE + "    later(jacobi);\n",
    },
    "memory that is kept": {
        "static double **block(": POOL + "static double **block(",
        DATA: "    double *data = next;\n",
    },
    "a row that is set anew": {MADE: MADE + "    u[1] = v[1];\n"},
    "rows that change places": {
        MADE: MADE + "    double *row = u[1];\n    u[1] = u[2];\n    u[2] = row;\n"
    },
    "the first row is set anew": {MADE: MADE + "    *u = *v;\n"},
    "a row through another pointer": {MADE: MADE + "    double **w = u + 1;\n    *w = v[1];\n"},
    "a row through the address of all": {
        "static void end(": FIRST + "static void end(",
        MADE: MADE + "    first(&u, v);\n",
    },
    "a row that moves on": {MADE: MADE + "    u[1]++;\n"},
    "a row that moves on by more": {MADE: MADE + "    u[1] += 2;\n"},
    "rows that are copied": {
        "#include <stdlib.h>": "#include <stdlib.h>\n#include <string.h>",
        MADE: MADE + "    memcpy(u, v, 2 * sizeof(double *));\n",
    },
    "a row by its address": {
        "static void end(": ANEW + "static void end(",
        MADE: MADE + "    anew(&u[2], m);\n",
    },
    "rows by arithmetic": {MADE: MADE + "    *(u + 1) = v[1];\n"},
    "code that is not seen": {
        "static int up": "void scale(double **);\n\nstatic int up",
        MADE: MADE + "    scale(u);\n",
    },
    "pointers of an array": {
        MADE: MADE + "    double *rows[] = {v[0], v[1], v[0], v[1]};\n    exchange(rows, 2, m);\n"
    },
    "the length changes behind": {MADE: MADE + "    m--;\n"},
    "the length changes in the routine": {JACOBI: JACOBI + "    m -= n / 4;\n"},
    "arrays of two lengths": {
        MADE: MADE + "    double **w = block(n + 2, m + 2);\n    exchange(w, n, m);\n",
    },
    "one of two lengths": {
        MADE: MADE + "    if (n > 6)\n        u = block(n + 2, m + 2);\n",
    },
    "rows of many lengths": {
        "static void end(": TRIANGLE + "static void end(",
        MADE: MADE + "    double **w = triangle(n + 2, m);\n    if (n > 6)\n        u = w;\n",
    },
    "rows of a parameter that is set": {JACOBI: JACOBI + "    if (n > 6)\n        u = v + 1;\n"},
    "a parameter with rows of another length": {
        "static void end(": TRIANGLE + "static void end(",
        JACOBI: JACOBI + "    double **w = triangle(n + 2, m);\n    if (n > 6)\n        u = w;\n",
    },
    "a parameter with longer rows": {
        JACOBI: JACOBI + "    double **w = block(n + 2, m + 2);\n    if (n > 6)\n        u = w;\n",
    },
    "two with the same rows": {
        MADE: "    double *data = malloc((n + 2) * m * sizeof(double));\n"
        "    double **u = malloc((n + 2) * sizeof(double *));\n"
        "    double **v = malloc((n + 2) * sizeof(double *));\n"
        "    for (int i = 0; i < n + 2; i++) {\n        u[i] = data + i * m;\n"
        "        v[i] = data + i * m;\n    }\n"
    },
    "rows that it leaves": {KERNEL: KERNEL.replace("j < m - 1", "j < 2 * m")},
    "longer messages": {STEP: STEP.replace("n, m", "n, m + 1")},
}


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_they_are_one_array(replaced: dict[str, str], tmp_path: Path) -> None:
    sign = SIGN.replace("m)", "m + 1)") if replaced is GO["a length of more"] else SIGN
    assert sign in rewritten(tmp_path / "row_pointers.c", changed(C, replaced))


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_they_are_not(replaced: dict[str, str], tmp_path: Path) -> None:
    assert SIGN not in rewritten(tmp_path / "row_pointers.c", changed(C, replaced))


# Where some pointer that exchanges values with the arrays is none to such rows.
OTHER_ROWS = [
    *("rows that are shared", "one row", "rows of two blocks", "rows of one of two blocks"),
    *("a block that moves on", "a block that moves meanwhile", "memory that is kept"),
    *("a row that is set anew", "rows that change places", "the first row is set anew"),
    *("a row through another pointer", "a row through the address of all", "rows by arithmetic"),
    *("a row that moves on", "a row that moves on by more", "rows that are copied"),
    *("a row by its address", "code that is not seen", "pointers of an array"),
    *("two with the same rows", "rows that another routine sets"),
    "a routine that is called by a pointer",
]
# Where the lengths of some rows are not known, by the pointers.
OTHER_LENGTHS = {
    "rows of two lengths": {"u", "v", "t"},
    "a length that changes before the rows are set": {"u", "v", "t"},
    "the length changes behind": {"u", "v", "t"},
    "the length changes in the routine": {"u", "v"},
    "arrays of two lengths": {"u"},
    "one of two lengths": {"u", "v", "t"},
    "rows of many lengths": {"u", "v", "t", "w"},
    "rows of a parameter that is set": set(),
    "a parameter with rows of another length": {"u", "w"},
    "a parameter with longer rows": {"u"},
    "a routine that unseen code may call": {"u", "v"},
}


def lengths(tmp_path: Path, replaced: dict[str, str]) -> dict[str, list[Affine | None]]:
    """The lengths of the rows of pointers that are read as arrays, by their names."""
    path = tmp_path / "row_pointers.c"
    path.write_text(changed(C, replaced))
    program = Analysis([path], Options()).program
    found: dict[str, list[Affine | None]] = {}
    for key, length in program.row_lengths.items():
        found.setdefault(program.variables[key].name, []).append(length)
    return found


@pytest.mark.parametrize("name", OTHER_ROWS)
def test_other_rows(name: str, tmp_path: Path) -> None:
    assert "u" not in lengths(tmp_path, STAY[name])


@pytest.mark.parametrize(("name", "unknown"), OTHER_LENGTHS.items(), ids=OTHER_LENGTHS)
def test_other_lengths(name: str, unknown: set[str], tmp_path: Path) -> None:
    found = lengths(tmp_path, STAY[name])
    assert {each for each in ("u", "v", "t", "w") if None in found.get(each, [])} == unknown
