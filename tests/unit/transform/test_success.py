"""Variables that hold nothing but MPI_SUCCESS, by what functions of the program return."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.analysis.success import always_success
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define RESULT (e + 1)
#define FAILED return 7
#define PLUS(n) g(n) + 1
#define CALL(c) do {{ int e_ = (c); if (e_ != MPI_SUCCESS) return e_; }} while (0)
#define OTHER(c) do {{ int e_ = (c); if (e_ != 3) return e_; }} while (0)
static int g(int n), h(int n);
static int seven(int n)
{{
    return n > 3 ? 7 : 0;
}}
static int f(int n)
{{
    int e = MPI_Barrier(MPI_COMM_WORLD);
    {body}
}}
static int g(int n)
{{
    {inner}
}}
static int h(int n)
{{
    return 0;
}}
int main(int argc, char **argv)
{{
    int code{begins};
    int (*p)(int) = argc > 7 ? f : h;
    MPI_Init(&argc, &argv);
    {taken}
    if (code != 0)
        printf("no\\n");
    MPI_Finalize();
    return p == 0;
}}
"""
PLAIN = {"body": "return e;", "inner": "return 0;", "begins": "", "taken": "code = f(argc);"}
HOLDS = [
    {},
    {"body": "return 0;"},
    {"body": "return MPI_SUCCESS;"},
    {"body": "return (e);"},
    {"body": "return MPI_Barrier(MPI_COMM_WORLD);"},
    {"body": "return g(n);"},
    {"body": "if (e != 0)\n        return 7;\n    return 0;"},
    {"body": "if (e)\n        return seven(n);\n    return e;"},
    {"body": "if (n > 3)\n        return g(n - 1);\n    return 0;", "inner": "return f(n - 1);"},
    {"body": "int c = g(n);\n    if (c)\n        return 7;\n    return c;"},
    {"body": "e |= g(n);\n    return e;"},
    {"taken": "if ((code = f(argc)) != 0)\n        return 1;"},
    {"taken": "code = f(argc);\n    code = g(argc);"},
    {"begins": " = f(argc)", "taken": ""},
]
MAY_NOT = [
    {"body": "return 1;"},
    {"body": "return n;"},
    {"body": "return e + 1;"},
    {"body": "return -e;"},
    {"body": "return RESULT;"},
    {"body": "FAILED;"},
    {"body": "if (n > 3)\n        FAILED;\n    return 0;"},
    {"body": "if (n > 3)\n        return 7;\n    return 0;"},
    {"body": "if (e == 0)\n        return 7;\n    return 0;"},
    {"body": "if (n > 3)\n        return 0;"},
    {"body": "if (n > 3)\n        goto out;\n    if (e) {\nout:    return 7;\n    }\n"
             "    return 0;"},
    {"body": "return seven(n);"},
    {"body": "return g(n) + g(n);"},
    {"body": "return !g(n);"},
    {"body": "return PLUS(n);"},
    {"body": "(void)({ if (n > 3) return 7; 0; });\n    return 0;"},
    {"taken": "code = g(argc);\n    int (*g)(int) = argc > 7 ? seven : h;\n    code = g(argc);"},
    {"body": "return g(n) ? 0 : 1;"},
    {"body": "return g(n);", "inner": "return n;"},
    {"body": "return g(n);", "inner": "return seven(n);"},
    {"body": "if (n > 3)\n        return g(n - 1);\n    return 0;",
     "inner": "if (n > 9)\n        return 7;\n    return f(n - 1);"},
    {"body": "int c = g(n);\n    return c;", "inner": "return n;"},
    {"body": "int c = 7;\n    return c;"},
    {"body": "e = n;\n    return e;"},
    {"body": "CALL(seven(n));\n    return e;"},
    {"body": "OTHER(g(n));\n    return e;"},
    {"body": "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);\n    return e;"},
    {"taken": "code = p(argc);"},
    {"taken": "code = f(argc) + 1;"},
    {"taken": "code = -f(argc);"},
    {"taken": "code = f(argc);\n    code = argc;"},
    {"taken": "code = f(argc);\n    code = seven(argc);"},
    {"begins": " = 7", "taken": "if (argc > 7)\n        code = f(argc);"},
]  # fmt: skip


def holds(folder: Path, parts: dict[str, str]) -> bool:
    file = folder / "p.c"
    file.write_text(PROGRAM.format(**{**PLAIN, **parts}))
    program = read_program([file], Options())
    addressed = frozenset(s for _, form, s in program.pointer_facts if form == "addr")
    found = always_success(program, addressed, None)
    return any(program.variables[key].name == "code" for key in found)


@pytest.mark.parametrize("parts", HOLDS, ids=str)
def test_what_returns_that_code_alone_is_seen(tmp_path: Path, parts: dict[str, str]) -> None:
    assert holds(tmp_path, parts)


@pytest.mark.parametrize("parts", MAY_NOT, ids=str)
def test_another_value_may_come(tmp_path: Path, parts: dict[str, str]) -> None:
    assert not holds(tmp_path, parts)


def test_two_functions_of_a_name_are_not_told_apart(tmp_path: Path) -> None:
    files = [tmp_path / "p.c", tmp_path / "q.c"]
    files[0].write_text(PROGRAM.format(**PLAIN))
    files[1].write_text("static int f(int n)\n{\n    return 7;\n}\n")
    program = read_program(files, Options())
    found = always_success(program, frozenset(), None)
    assert "code" not in [program.variables[key].name for key in found]


@pytest.mark.parametrize(("last", "other"), [("0", True), ("7", False)])
def test_instances_of_templates(tmp_path: Path, last: str, other: bool) -> None:
    file = tmp_path / "p.cpp"
    text = PROGRAM.format(**{**PLAIN, "taken": f"code = t<0>(argc);\n    code = t<{last}>(argc);"})
    file.write_text(text.replace("int main", "template <int K> int t(int) { return K; }\nint main"))
    program = read_program([file], Options())
    found = always_success(program, frozenset(), None)
    assert other or "code" not in [program.variables[key].name for key in found]
