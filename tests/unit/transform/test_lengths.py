"""Arrays with lengths that are variables: told apart where these keep their values."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

C = (Path(__file__).parent / "cases" / "lengths.c").read_text()
PARAMETERS = "static void exchange(int n, int m, double u[n + 2][m], int up, int down)\n{\n"
OF_EDGES = "    double (*u)[g->ny + 2] = (double (*)[g->ny + 2])g->u;\n    MPI_Sendrecv(&u[1][1]"
OF_STEP = "    double (*u)[width] = (double (*)[width])a;\n"
TO_STEP = "    double (*v)[width] = (double (*)[width])b;\n"
HEAD = "static void step(int n, double *restrict a, double *restrict b, int up, int down)\n"
WIDEN = "static void widen(void)\n{\n    width++;\n}\n"
STEPPED = (
    "            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);\n}\n\n"
)
SHOW = "static void show("
MAIN_LOOP = "            for (int j = 1; j < m - 1; j++)\n                x[i][j] = y[i][j];\n"

# By what the rewritten text holds of each exchange.
SPLIT = "exchange_start(n, m, u, up, down"
EDGES = "edges_start(&g"
STEP = "for (int i = 2; i <= n - 1; i++)\n        for (int j = 1; j < width - 1; j++)"
LOCAL = "sweep_interior(n, m, x, y)"

GO: dict[str, tuple[str, dict[str, str]]] = {
    "parameters": (SPLIT, {}),
    "the slowest is left out": (SPLIT, {PARAMETERS: PARAMETERS.replace("[n + 2]", "[]")}),
    "a pointer to lines": (SPLIT, {PARAMETERS: PARAMETERS.replace("u[n + 2][m]", "(*u)[m]")}),
    "a length of another name": (
        SPLIT,
        {
            PARAMETERS: PARAMETERS.replace("int m,", "int k,").replace("[m]", "[k]")
            + "    const int m = k;\n"
        },
    ),
    "casts": (EDGES, {}),
    "a length with a name": (
        EDGES,
        {OF_EDGES: "    const int w = g->ny + 2;\n" + OF_EDGES.replace("g->ny + 2", "w")},
    ),
    "the field of another type": (
        EDGES,
        {OF_EDGES: OF_EDGES.replace("(double (*)[g->ny + 2])g->u", "(void *)g->u")},
    ),
    "restricted": (STEP, {}),
    "restricted lines": (
        STEP,
        {
            HEAD: HEAD.replace("double *restrict a", "double (*restrict a)[width]"),
            OF_STEP: OF_STEP.replace("(double (*)[width])a", "a"),
            "step(n, a, b": "step(n, (double (*)[width])a, b",
        },
    ),
    "restricted arrays": (
        STEP,
        {
            HEAD: HEAD.replace("*restrict a", "a[restrict (n + 2) * width]"),
        },
    ),
    "one of both": (STEP, {HEAD: HEAD.replace("*restrict b", "*b")}),
    "by way of another pointer": (
        STEP,
        {TO_STEP: "    double *c = b;\n" + TO_STEP.replace(")b", ")c")},
    ),
    "the length changes in front of it": (
        STEP,
        {HEAD: WIDEN + HEAD, OF_STEP: "    widen();\n" + OF_STEP, "free(u);": "free(u);"},
    ),
    "local arrays": (LOCAL, {}),
}
STAY: dict[str, tuple[str, dict[str, str]]] = {
    "the length of a parameter changes": (SPLIT, {PARAMETERS: PARAMETERS + "    m--;\n"}),
    "other lines in the routine": (
        SPLIT,
        {
            PARAMETERS: PARAMETERS.replace("u[n + 2][m]", "u[n + 2][m + 1]"),
            "exchange(n, m, u,": "exchange(n, m, (void *)u,",
        },
    ),
    "other lines in the sweep": (
        SPLIT,
        {
            "double u[n + 2][m], double v": "double u[n + 2][m - 1], double v",
            "sweep(n, m, u, v)": "sweep(n, m, (void *)u, v)",
        },
    ),
    "a length that changes": (
        EDGES,
        {
            OF_EDGES: "    int w = g->ny + 3;\n"
            + OF_EDGES.replace("g->ny + 2", "w").replace(
                "    MPI_", "    w = g->ny + 2;\n    MPI_"
            ),
        },
    ),
    "the same memory": (STEP, {TO_STEP: TO_STEP.replace(")b", ")a")}),
    "the same array": (STEP, {HEAD: HEAD.replace("restrict ", ""), "step(n, a, b": "step(n, a, a"}),
    "set again": (STEP, {TO_STEP: TO_STEP + "    if (n > 5)\n        v = u;\n"}),
    "one of two": (STEP, {TO_STEP: TO_STEP.replace(")b", ")(n > 5 ? a : b)")}),
    "a parameter that is set": (STEP, {OF_STEP: "    b = a;\n" + OF_STEP}),
    "the length changes behind": (STEP, {HEAD: WIDEN + HEAD, TO_STEP: TO_STEP + "    widen();\n"}),
    "the length changes between": (STEP, {HEAD: WIDEN + HEAD, OF_STEP: OF_STEP + "    widen();\n"}),
    "a length of a local array changes": (
        LOCAL,
        {
            "    double x[n + 2][m], y": "    int k = m;\n    double x[n + 2][k], y",
            "        sweep(n, m, x, y)": "        k = s;\n        sweep(n, m, (void *)x, y)",
        },
    ),
}


@pytest.mark.parametrize(("sign", "replaced"), GO.values(), ids=GO)
def test_they_are_told_apart(sign: str, replaced: dict[str, str], tmp_path: Path) -> None:
    assert sign in rewritten(tmp_path / "lengths.c", changed(C, replaced))


@pytest.mark.parametrize(("sign", "replaced"), STAY.values(), ids=STAY)
def test_they_are_not(sign: str, replaced: dict[str, str], tmp_path: Path) -> None:
    assert sign not in rewritten(tmp_path / "lengths.c", changed(C, replaced))
