"""Assertions of calls, and statements that check the error code which a variable holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
{define}
static double a[1000], b[1000], w[1000];
static int failures;
static int ierr;
static int counted(void) {{ return failures; }}
int main(int argc, char **argv)
{{
    int rank, n = 0;
    MPI_Init(&argc, &argv);
    {before}
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 10; step++) {{
        {call}
        for (int i = 0; i < 1000; i++)
            w[i] = 2 * w[i] + i;
        for (int i = 0; i < 1000; i++)
            a[i] = w[i] + b[i];
    }}
    printf("%f %d %d\\n", a[7], n, counted());
    MPI_Finalize();
    return 0;
}}
"""
EXCHANGE = (
    "MPI_Sendrecv(a, 1000, MPI_DOUBLE, 1 - rank, 0, b, 1000, MPI_DOUBLE, 1 - rank, 0, "
    "MPI_COMM_WORLD, MPI_STATUS_IGNORE)"
)
ASSERT = "#include <assert.h>"
LOOP = """#define CHECK(e) do { \\
    if (e != MPI_SUCCESS) { \\
        fprintf(stderr, "failed: %d\\n", e); \\
        MPI_Abort(MPI_COMM_WORLD, e); \\
    } \\
} while (0)"""
FUNCTION = """static void check(int code, const char *what)
{
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "%s\\n", what);
        exit(1);
    }
}"""

# What is included or defined, and the statements.
READ: dict[str, tuple[str, str]] = {
    "an assertion": (ASSERT, "assert(§ == MPI_SUCCESS);"),
    "an assertion in brackets": (ASSERT, "assert((§) == MPI_SUCCESS);"),
    "an assertion of success first": (ASSERT, "assert(MPI_SUCCESS == §);"),
    "an assertion that it is none": (ASSERT, "assert(!§);"),
    "an assertion of the variable": (ASSERT, "ierr = §;\n        assert(ierr == MPI_SUCCESS);"),
    "an assertion of none": (ASSERT, "ierr = §;\n        assert(!ierr);"),
    "a macro": (LOOP, "ierr = §; CHECK(ierr);"),
    "a macro on its own line": (LOOP, "ierr = §;\n        CHECK(ierr);"),
    "a condition": (
        "#define CHECK(e) if (e) MPI_Abort(MPI_COMM_WORLD, e)",
        "ierr = §; CHECK(ierr);",
    ),
    "a function": (FUNCTION, 'ierr = §;\n        check(ierr, "exchange");'),
}
LEFT: dict[str, tuple[str, str]] = {
    "an assertion of another value": (ASSERT, "assert(§ == MPI_ERR_RANK);"),
    "an assertion of more": (ASSERT, "assert(§ == MPI_SUCCESS && rank >= 0);"),
    "an assertion of failure": (ASSERT, "assert(§ != MPI_SUCCESS);"),
    "a macro of that name": ("#define assert(x) (failures += (x))", "assert(§ == MPI_SUCCESS);"),
    "an assertion in a macro": (
        f"{ASSERT}\n#define SWAP \\\n    assert({EXCHANGE} == MPI_SUCCESS);",
        "SWAP",
    ),
    "without assertions": ("#define NDEBUG\n" + ASSERT, "assert(§ == MPI_SUCCESS);"),
    "a macro with an else": (
        "#define CHECK(e) if (e) abort(); else failures++",
        "ierr = §; CHECK(ierr);",
    ),
    "a variable that holds something else": (LOOP, "ierr = §; CHECK(ierr); ierr = rank;"),
    "a variable whose address is known": (LOOP, 'ierr = §; CHECK(ierr); scanf("%d", &ierr);'),
    "a function that counts": (
        "static int all;\nstatic void check(int c, const char *s) { all += c; printf(s); }",
        'ierr = §; check(ierr, "exchange");',
    ),
}


def outcome(tmp_path: Path, define: str, call: str, before: str = "", more: str = "") -> Outcome:
    source = tmp_path / "p.c"
    text = PROGRAM.format(define=define, call=call.replace("§", EXCHANGE), before=before)
    source.write_text(text + more)
    return transform([source], Options())


def rewritten(found: Outcome) -> int:
    return sum(d.decision == "rewritten" for d in found.decisions)


@pytest.mark.parametrize("name", READ)
def test_what_checks_stops_nothing_and_stays(name: str, tmp_path: Path) -> None:
    define, call = READ[name]
    found = outcome(tmp_path, define, call)
    assert rewritten(found) == 1
    (after,) = found.after.values()
    if "assert(" in call and "ierr" not in call:
        assert after.count(b"== MPI_SUCCESS);") == 3  # both starts and what waits for both
    else:
        check = call[call.rindex(";", 0, -1) + 1 : -1].strip()
        assert check.encode() + b";" in after


@pytest.mark.parametrize("name", LEFT)
def test_what_does_more_is_left_alone(name: str, tmp_path: Path) -> None:
    define, call = LEFT[name]
    found = outcome(tmp_path, define, call)
    assert rewritten(found) == 0
    assert found.before == found.after


@pytest.mark.parametrize("name", READ)
def test_not_where_an_error_may_come_back(name: str, tmp_path: Path) -> None:
    before = "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);"
    found = outcome(tmp_path, *READ[name], before=before)
    assert rewritten(found) == 0


def test_one_variable_is_a_code_and_another_is_not(tmp_path: Path) -> None:
    call = "ierr = §;\n        CHECK(ierr);"
    found = outcome(tmp_path, LOOP, call, before="n = argc - 1;\n    CHECK(n);")
    assert rewritten(found) == 1
    (after,) = found.after.values()
    assert b"    CHECK(n);" in after


def test_a_variable_of_that_name_in_another_function(tmp_path: Path) -> None:
    more = "int other(int m) { int ierr = m; CHECK(ierr); return m; }\n"
    assert rewritten(outcome(tmp_path, LOOP, "ierr = §; CHECK(ierr);", more=more)) == 0
