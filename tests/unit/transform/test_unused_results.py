"""Functions that return a constant which no call needs: they lose it, and can be split."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options
from imbrex.transform.rewrites.registry import REWRITES

PROGRAM = """#include <mpi.h>
#include <stdio.h>
static double u[102], v[102];
static int up = MPI_PROC_NULL, down = MPI_PROC_NULL, failed;
%(head)s
{
    %(first)s
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, up, 0, &u[101], 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    %(last)s
}
static void step(void)
{
    for (int i = 1; i <= 100; i++)
        v[i] = u[i - 1] + u[i + 1];
}
%(others)s
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int t = 0; t < 3; t++) {
        %(call)s
        step();
    }
    printf("%%g\\n", v[5]);
    MPI_Finalize();
    return 0;
}
"""
PLAIN = {
    "head": "static int exchange(void)",
    "first": "",
    "last": "return 0;",
    "others": "",
    "call": "exchange();",
}
SPLIT = [
    {},
    {"last": "return MPI_SUCCESS;"},
    {"last": "return (0);"},
    {"head": "int exchange(void)"},
    {"head": "#define SUM(a, b) \\\n    ((a) + \\\n     (b))\nstatic int exchange(void)"},
    {"head": "static int exchange(void);\nstatic int exchange(void)"},
    {"head": "/* exchange: the halo */\nstatic int exchange(void)", "others": "// of exchange()"},
    {
        "first": "int code;",
        "last": "code = MPI_Comm_size(MPI_COMM_SELF, &failed);\n    return code;",
    },
    {"call": "exchange();\n        exchange();"},
    {"first": "if (failed)\n        return 1;"},
]
ABORT = "\n            MPI_Abort(MPI_COMM_WORLD, 1);"
WAITED = {
    "first": "MPI_Request r;\n    MPI_Irecv(&u[0], 1, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &r);",
    "last": "return MPI_Wait(&r, MPI_STATUS_IGNORE);",
}
# What asks for a value that is always 0, and what becomes of it beside the finish.
ASKED = [
    ({"call": f"if (exchange()){ABORT}"}, ""),
    ({"call": f"if (exchange() != MPI_SUCCESS){ABORT}"}, ""),
    ({"call": f"if (MPI_SUCCESS != exchange()){ABORT}"}, ""),
    ({"call": f"if (exchange() != 0){ABORT}"}, ""),
    ({"call": f"if (exchange() < 0){ABORT}"}, ""),
    ({"call": f"if (exchange() == -1){ABORT}", "last": "return (0);"}, ""),
    (
        {
            "call": 'if (exchange()) {\n            printf("exchange: no");\n'
            "            return 1;\n        }"
        },
        "",
    ),
    ({"call": f"if (exchange() != MPI_SUCCESS){ABORT}", "last": "return MPI_SUCCESS;"}, ""),
    ({"call": f"if (exchange() != MPI_SUCCESS){ABORT}", **WAITED}, ""),
    ({"call": "exchange();", **WAITED}, ""),
    ({"call": f"if (exchange()){ABORT}", "first": "if (u[1] > 9)\n        return 0;"}, ""),
    (
        {
            "call": "CHECK(exchange());",
            "others": "#define CHECK(x) do { int e = (x); if (e) MPI_Finalize(); } while (0)",
        },
        "",
    ),
    ({"call": "failed = exchange();"}, "failed = MPI_SUCCESS;"),
    (
        {"call": f"int e = exchange();\n        if (e != MPI_SUCCESS){ABORT}"},
        "int e = MPI_SUCCESS;",
    ),
    ({"call": f"int e = exchange();\n        if (e){ABORT}", **WAITED}, "int e = MPI_SUCCESS;"),
]
WHOLE = [
    {"first": "if (u[1] > 3)\n        return MPI_Comm_rank(MPI_COMM_SELF, &failed);"},
    {"last": "return -MPI_Comm_rank(MPI_COMM_SELF, &failed);"},
    {"last": "return MPI_Comm_rank(MPI_COMM_SELF, &failed) + 1;"},
    {
        "head": "static int five(void)\n{\n    return 5;\n}\nstatic int exchange(void)",
        "last": "return five();",
    },
    {"call": "failed += exchange();"},
    {"call": "failed = exchange() + 1;"},
    {"call": "u[0] = exchange();"},
    {"call": f"if (!exchange()){ABORT}"},
    {"call": f"if (exchange() == 0){ABORT}"},
    {"call": f"if (exchange() != 1){ABORT}"},
    {"call": f"if (0 != exchange() > 0){ABORT}"},
    {"call": f"if (exchange() || failed){ABORT}"},
    {"call": f"if (exchange()){ABORT}\n        else\n            failed++;"},
    {"call": "while (exchange())\n            failed++;"},
    {
        "call": "if (exchange()) {\n        out: failed++;\n        }\n"
        "        if (failed > 9)\n            goto out;"
    },
    {"call": f"if (exchange())\n#ifdef OTHER\n            failed++;\n#else{ABORT}\n#endif"},
    {"call": f"if (exchange()){ABORT}", "first": "if (failed)\n        return 1;"},
    {"call": f"if (exchange()){ABORT}", "last": "return 1;"},
    {
        "call": f"if (exchange()){ABORT}",
        **WAITED,
        "others": "void set(void) { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }",
    },
    {
        "call": "exchange();",
        **WAITED,
        "others": "void set(void) { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }",
    },
    {"others": "int (*other)(void) = exchange;"},
    {"others": "#define HALO() exchange()", "call": "HALO();"},
    {"others": "#ifdef OTHER\nint more(void) { return exchange(); }\n#endif"},
    {"last": "return failed;"},
    {"last": "return (int)u[0];"},
    {"first": "if (failed)\n        return failed;"},
    {"head": "static long exchange(void)"},
    {"head": "static int *exchange(void)", "last": "return 0;"},
]


# What hands the value of a function on is another rewrite.
ALONE = Options(rewrites=frozenset(name for name in REWRITES if name != "returned-values"))


def outcome(folder: Path, changes: dict[str, str], name: str) -> Outcome:
    file = folder / name
    file.write_text(PROGRAM % {**PLAIN, **changes})
    return transform([file], ALONE)


@pytest.mark.parametrize("changes", SPLIT, ids=str)
@pytest.mark.parametrize("name", ["halo.c", "halo.cpp"])
def test_the_value_goes_and_the_function_is_split(
    tmp_path: Path, name: str, changes: dict[str, str]
) -> None:
    found = outcome(tmp_path, changes, name)
    (text,) = (after.decode() for after in found.after.values())
    assert "void exchange_start(" in text and "int exchange" not in text
    (site,) = (d for d in found.decisions if d.site.call.name == "MPI_Sendrecv")
    assert {"unused-results", "wrappers"} <= set(site.rewrites)


@pytest.mark.parametrize(("changes", "left"), ASKED, ids=str)
def test_checks_of_what_is_always_success_go(
    tmp_path: Path, changes: dict[str, str], left: str
) -> None:
    found = outcome(tmp_path, changes, "halo.c")
    (text,) = (after.decode() for after in found.after.values())
    assert "MPI_Abort" not in text or left
    assert "void exchange_start(" in text and "int exchange" not in text
    assert left in text


@pytest.mark.parametrize("changes", WHOLE, ids=str)
def test_a_value_that_is_asked_for_stays(tmp_path: Path, changes: dict[str, str]) -> None:
    (text,) = (after.decode() for after in outcome(tmp_path, changes, "halo.c").after.values())
    assert "exchange_start(" not in text
    assert PROGRAM.partition("%(head)s")[0].replace("%%", "%") in text
    assert {**PLAIN, **changes}["head"] in text


def test_a_function_that_cannot_be_split_keeps_its_value(tmp_path: Path) -> None:
    changes = {"call": 'exchange();\n        printf("%g\\n", u[101]);'}
    found = outcome(tmp_path, changes, "halo.c")
    assert all(b"static int exchange(void)" in after for after in found.after.values())


HEADER = "#include <mpi.h>\nint exchange(void);\nextern double u[102];\nextern int up, down;\n"


def with_header(folder: Path, header: str, **options: Path) -> dict[str, str]:
    """The texts of a program whose exchange stands in a file of its own, declared in a header."""
    text = PROGRAM % {
        **PLAIN,
        "call": "if (exchange() != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);",
    }
    first, last = text.index("static int exchange"), text.index("static void step")
    own = text[first:last].replace("static int", "int")
    names = ("main.c", "halo.c", "halo.h")
    shared = "double u[102];\nint up = MPI_PROC_NULL, down = MPI_PROC_NULL;\n"
    rest = (
        text[:first].partition("static int up")[0].replace("u[102], ", "") + "static int failed;\n"
    )
    texts = (
        '#include "halo.h"\n' + rest + text[last:],
        '#include "halo.h"\n' + shared + own,
        header,
    )
    for name, each in zip(names, texts, strict=True):
        (folder / name).write_text(each)
    found = transform([folder / name for name in names[:2]], Options(**options))
    assert not found.skipped, found.skipped
    return {Path(name).name: after.decode() for name, after in found.after.items()}


def test_its_declaration_in_a_header_changes_with_it(tmp_path: Path) -> None:
    after = with_header(tmp_path, HEADER)
    assert after["halo.h"] == HEADER.replace("int exchange", "void exchange")
    assert "void exchange_start(" in after["halo.c"] and "MPI_Abort" not in after["main.c"]


@pytest.mark.parametrize(
    "header",
    [
        HEADER + "#define HALO exchange()\n",
        HEADER.replace("int exchange", "extern int (exchange)"),
        HEADER.replace("int exchange(void);", "int exchange(void), other(void);"),
    ],
)
def test_what_else_names_it_in_a_header_keeps_it(tmp_path: Path, header: str) -> None:
    after = with_header(tmp_path, header)
    assert "int exchange(void)" in after["halo.c"] and "MPI_Abort" in after["main.c"]


def test_a_header_outside_the_program_s_folder_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    after = with_header(tmp_path, HEADER, root=tmp_path / "src")
    assert "int exchange(void)" in after["halo.c"] and "MPI_Abort" in after["main.c"]
