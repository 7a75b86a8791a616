"""Functions of C that return what a collective gives: they hand it to an argument and are split."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <math.h>
#include <stdio.h>
#define N 500
static double x[N], r[N], p[N], total;
static int count;
%(before)s
%(function)s
static void axpy(double *y, double alpha, const double *v, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += alpha * v[i];
}
static double half(double v) { return 0.5 * v; }
static double twice(double *v) { *v *= 2.0; return *v; }
int main(int argc, char **argv)
{
    double rr = 1.0, pair[2] = {0.0, 0.0};
    MPI_Init(&argc, &argv);
    for (int it = 0; it < 10; it++) {
        axpy(r, -0.1, p, N);
        %(use)s
        axpy(x, 0.3, p, N);
        total += rr + half(x[2]) + twice(&x[3]);
    }
    printf("%%g %%g %%d %%g\\n", rr, total, count, pair[1]);
    MPI_Finalize();
    return 0;
}
"""
FUNCTION = """static double dot(const double *a, const double *b, int n)
{
    double local = 0.0, global;
    for (int i = 0; i < n; i++)
        local += a[i] * b[i];
    MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return global;
}"""
USE = "rr = dot(r, r, N);"
SPLIT = {
    "double next = dot(r, r, N);\n        rr = next;": "dot_start(r, r, N, &next, ",
    USE: "dot_start(r, r, N, &rr, ",
    "total = dot(r, r, N);": "dot_start(r, r, N, &total, ",
    "rr = sqrt(dot(r, r, N));": "rr = sqrt(imbrex_dot_value);",
    "rr += dot(r, r, N);": "rr += imbrex_dot_value;",
    "pair[1] = dot(r, r, N);": "pair[1] = imbrex_dot_value;",
    "pair[count++ % 2] = dot(r, r, N);": "pair[count++ % 2] = imbrex_dot_value;",
    "dot(r, r, N);": "dot_start(r, r, N, &imbrex_dot_value, ",
    "rr = half(dot(r, r, N));": "rr = half(imbrex_dot_value);",
    "rr = half(r[0]) + dot(r, r, N);": "rr = half(r[0]) + imbrex_dot_value;",
    "count = dot(r, r, N);": "count = imbrex_dot_value;",
    "rr = dot(&rr, &rr, 1);": "rr = imbrex_dot_value;",
    "rr = dot(p, p, N) / dot(r, r, N);": "rr = imbrex_dot_value / imbrex_dot_value2;",
}
# Without braces, and in lists of declarations; another sum has the window.
MORE = {
    "if (it > 2)\n            rr = dot(r, r, N);": (
        "if (it > 2)\n            dot_start(r, r, N, &rr, dot_local, dot_requests);"
    ),
    "if (it > 100)\n            rr = 1.0;\n        else\n            rr = dot(r, r, N);": (
        "else\n            dot_start(r, r, N, &rr, dot_local, dot_requests);"
    ),
    "if (it > 2)\n            rr += 2 * dot(r, r, N);": (
        "if (it > 2) {\n            double imbrex_dot_value;\n"
        "            dot_start(r, r, N, &imbrex_dot_value, dot_local, dot_requests);\n"
        "            dot_finish(dot_requests);\n            rr += 2 * imbrex_dot_value;\n        }"
    ),
    "if (it > 2) rr += 2 * dot(r, r, N); else rr = 1;": (
        "            rr += 2 * imbrex_dot_value;\n        } else rr = 1;"
    ),
    "double a = 1.0, next = dot(r, r, N), b = a + next;\n        rr = b;": (
        "double a = 1.0;\n        dot_start(r, r, N, &next, dot_local, dot_requests);\n"
    ),
    "double v[2] = {1.0, 2.0}, *to = v, a = sqrt(dot(r, r, N)) + v[1];\n        rr = a + *to;": (
        "double v[2] = {1.0, 2.0}, *to = v;\n        dot_start(r, r, N, &imbrex_dot_value, "
    ),
    "float f = dot(r, r, N), g = f;\n        rr = f + g;": "float f = imbrex_dot_value, g = f;",
    "double a = dot(r, r, N), b = dot(p, p, N) + a;\n        rr = a + b;": (
        "double b = imbrex_dot_value2 + a;"
    ),
}
WHOLE = [
    "double a = it > 2 ? dot(r, r, N) : 1.0, b = a;\n        rr = b;",
    "double a = 1.0, // one\n            next = dot(r, r, N);\n        rr = a + next;",
    "double a = x[0], next = twice(&r[0]) + dot(r, r, N);\n        rr = a + next;",
    "const double a = dot(r, r, N), b = a;\n        rr = b;",
    "static double a = 1.0, b;\n        b = it > 2 ? dot(r, r, N) : a;\n        rr = b;",
    "rr = it > 2 ? dot(r, r, N) : 1.0;",
    "if (it > 2 && dot(r, r, N) > 1.0)\n            count++;",
    "while (dot(r, r, N) > 1e9)\n            r[0] *= 0.5;",
    "for (int k = dot(r, r, N) > 3; k < 2; k++)\n            count++;",
    "rr = twice(&r[0]) + dot(r, r, N);",
    "rr = (count++, dot(r, r, N));",
    "rr = dot(dot(r, r, N) > 0 ? p : x, r, N);",
    "static double once;\n        rr = once + sizeof(dot(r, r, N));\n        rr = dot(r, r, N);",
]
FUNCTIONS = {
    "an expression": (
        {"return global;": "return global + 1.0;"},
        "*imbrex_value = global[0] + 1.0;",
    ),
    "a root": ({"return global;": "return sqrt(global);"}, "*imbrex_value = sqrt(global[0]);"),
    "brackets": ({"return global;": "return (global);"}, "*imbrex_value = (global[0]);"),
    "a value ahead": ({", global;": ", global = 0.0;"}, "*imbrex_value = global[0];"),
    "as it is": ({}, "MPI_Iallreduce(imbrex_local, imbrex_value, 1"),
    "in place": (
        {
            "&local, &global": "MPI_IN_PLACE, &local",
            ", global;": ";",
            "return global": "return local",
        },
        "*imbrex_value = local[0];",
    ),
    "a prototype": ({}, "static void dot_finish(MPI_Request *imbrex_requests);"),
}
STAY = {
    "a return ahead": {"    for (int": "    if (n == 0)\n        return 0.0;\n    for (int"},
    "its address": {
        "return global;\n}": "return global;\n}\nstatic double (*by)(const double *, "
        "const double *, int) = dot;"
    },
    "a macro": {"return global;\n}": "return global;\n}\n#define DOT(a) dot(a, a, N)"},
    "itself": {"    for (int": "    if (n > 900)\n        local = dot(a, b, 9);\n    for (int"},
    "a pointer": {
        "static double dot": "static double *dot",
        "return global;": "return x + (int)global;",
    },
}


def after(folder: Path, name: str, use: str, function: str = FUNCTION, before: str = "") -> str:
    file = folder / name
    file.write_text(PROGRAM % {"before": before, "function": function, "use": use})
    outcome = transform([file], Options(reassociation=True))
    text = outcome.after[str(file)]
    again = transform([file], Options(reassociation=True, contents={file: text}))
    assert again.after[str(file)] == text
    return text.decode()


@pytest.mark.parametrize("use", SPLIT)
@pytest.mark.parametrize("name", ["cg.c", "cg.cpp"])
def test_what_takes_the_value(tmp_path: Path, name: str, use: str) -> None:
    text = after(tmp_path, name, use)
    assert SPLIT[use] in text
    main = text[text.index("int main") :]
    assert main.index("dot_start(") < main.index("axpy(x") < main.rindex("dot_finish(")


@pytest.mark.parametrize("use", MORE)
def test_bodies_and_lists(tmp_path: Path, use: str) -> None:
    ahead = f"{USE}\n        axpy(p, 0.1, x, N);\n        "
    assert MORE[use] in after(tmp_path, "cg.c", ahead + use)


@pytest.mark.parametrize("use", WHOLE)
def test_calls_that_may_not_be_made_first(tmp_path: Path, use: str) -> None:
    text = after(tmp_path, "cg.c", use)
    assert "dot_start(" not in text
    assert "imbrex_value" not in text


def test_a_constant_is_declared_where_it_stands(tmp_path: Path) -> None:
    use = "const double next = dot(r, r, N);\n        axpy(p, 0.1, x, N);\n        rr = next;"
    assert "dot_start(" not in after(tmp_path, "cg.c", use)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(tmp_path: Path, name: str) -> None:
    changes, text = FUNCTIONS[name]
    function = FUNCTION
    for old, new in changes.items():
        assert old in function
        function = function.replace(old, new)
    before = "static double dot(const double *, const double *, int);" if "proto" in name else ""
    assert text in after(tmp_path, "cg.c", USE, function, before)


@pytest.mark.parametrize("name", STAY)
def test_functions_that_stay(tmp_path: Path, name: str) -> None:
    function = FUNCTION
    for old, new in STAY[name].items():
        assert old in function
        function = function.replace(old, new)
    use = "rr = *dot(r, r, N);" if name == "a pointer" else USE
    assert "imbrex_value" not in after(tmp_path, "cg.c", use, function)


def test_it_is_told_at_the_collective(tmp_path: Path) -> None:
    file = tmp_path / "cg.c"
    file.write_text(PROGRAM % {"before": "", "function": FUNCTION, "use": USE})
    (decision,) = transform([file], Options(reassociation=True)).decisions
    assert decision.decision == "rewritten"
    assert {"returned-values", "wrappers", "collectives"} <= set(decision.rewrites)
    assert "its callers have the computation" in decision.reason.text


def test_why_it_is_not_split_is_told(tmp_path: Path) -> None:
    file = tmp_path / "cg.c"
    use = "rr = it > 2 ? dot(r, r, N) : 1.0;"
    file.write_text(PROGRAM % {"before": "", "function": FUNCTION, "use": use})
    (decision,) = transform([file], Options(reassociation=True)).decisions
    line = file.read_text().splitlines().index(f"        {use}") + 1
    told = f"a call of dot stands where it cannot be made first ({file}:{line})"
    assert f"returned-values: not done, because {told}" in decision.details


def test_a_part_is_no_site(tmp_path: Path) -> None:
    """The loop in front of the sum is divided around a message; the function is there as well."""
    file = tmp_path / "cg.c"
    message = (
        "    MPI_Sendrecv(&r[1], 1, MPI_DOUBLE, 0, 0, &r[N - 1], 1, MPI_DOUBLE, 0, 0, "
        "MPI_COMM_SELF, MPI_STATUS_IGNORE);\n        rr = dot(r, r, N);\n"
        "        rr += it > 2 ? dot(x, x, N) : 1.0;"
    )
    file.write_text(PROGRAM % {"before": "", "function": FUNCTION, "use": message.strip()})
    outcome = transform([file], Options(reassociation=True))
    assert "dot_boundary(" in outcome.after[str(file)].decode()
    assert [decision.site.call.name for decision in outcome.decisions] == [
        "MPI_Allreduce",
        "MPI_Sendrecv",
    ]
