"""Error codes that declarations take and conditions ask for: the call stands alone first."""

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
static int failures, kept;
static void fail(const char *what)
{{
    failures++;
    printf("%s", what);
}}
static int step(int rank)
{{
    for (int i = 0; i < 1000; i++)
        w[i] = 2 * w[i] + i;
    {call}
    for (int i = 0; i < 1000; i++)
        w[i] = 2 * w[i] + i;
    for (int i = 0; i < 1000; i++)
        a[i] = w[i] + b[i];
    return 0;
}}
int main(int argc, char **argv)
{{
    int rank;
    MPI_Init(&argc, &argv);
    {before}
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++)
        step(rank);
    printf("%f %d\\n", a[7], failures + kept);
    MPI_Finalize();
    return 0;
}}
"""
EXCHANGE = (
    "MPI_Sendrecv(a, 1000, MPI_DOUBLE, 1 - rank, 0, b, 1000, MPI_DOUBLE, 1 - rank, 0, "
    "MPI_COMM_WORLD, MPI_STATUS_IGNORE)"
)
STARTS = (
    "MPI_Request r[2];\n"
    "    int e1 = MPI_Irecv(b, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &r[0]);\n"
    "    int e2 = MPI_Isend(a, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &r[1]);\n"
)

READ: dict[str, str] = {
    "a declaration": 'int e = §;\n    if (e != MPI_SUCCESS) fail("x");',
    "a constant": "const int e = §;\n    if (e != MPI_SUCCESS) return e;",
    "a constant, the other way round": "int const e = §;\n    (void)e;",
    "a condition on the variable": "int e;\n    if ((e = §) != MPI_SUCCESS) return e;",
    "success first": 'int e;\n    if (MPI_SUCCESS != (e = §)) { fail("x"); return e; }',
    "a variable that is no zero": "int e;\n    if ((e = §)) abort();",
    "a condition": 'if (§ != MPI_SUCCESS) fail("x");',
    "a condition with another branch": 'if (§) fail("x"); else a[0] = 1;',
    "a condition that leaves": 'if (MPI_SUCCESS != §) { fail("x"); return 1; }',
    "in a block": "{\n    w[0] += 1;\n    int e = §;\n    if (e) return e;\n    }",
    "bits": 'int e = 0;\n    e |= §;\n    if (e) fail("x");',
    "a sum": 'int e = MPI_SUCCESS;\n    e += §;\n    if (e) fail("x");',
    "starts and a wait": STARTS
    + '    int e3 = MPI_Waitall(2, r, MPI_STATUSES_IGNORE);\n    if (e3) fail("x");',
    "a wait with a set variable": STARTS
    + '    e1 = MPI_Waitall(2, r, MPI_STATUSES_IGNORE);\n    if (e1) fail("x");\n    (void)e2;',
}
LEFT: dict[str, str] = {
    "another value": 'if (§ == MPI_ERR_RANK) fail("x");',
    "more in the condition": 'if (§ != MPI_SUCCESS && rank) fail("x");',
    "success asked for": "if (§ == MPI_SUCCESS) kept++;",
    "two declared": "int e = §, f = 1;\n    kept += e + f;",
    "a value made of it": "int e = 1 + §;\n    kept += e;",
    "a difference": "int e = 0;\n    e -= §;\n    kept += e;",
    "a variable that holds something else": 'int e = §;\n    if (e) fail("x");\n    e = rank;',
    "one whose address is known": 'int e = §;\n    scanf("%d", &e);\n    if (e) fail("x");',
    "one that is kept": "static int e;\n    static int *p = &e;\n    if ((e = §)) kept = *p;",
    "one that lasts": 'static int e = 3;\n    if (e) kept++;\n    if ((e = §)) fail("x");',
    "a loop": 'while (§ != MPI_SUCCESS) fail("x");',
    "a choice": "kept += § ? 1 : 0;",
    "behind a label": 'if (rank < 0) goto end;\n    if (§) fail("x");\n    end: kept++;',
    "without braces": 'if (rank >= 0)\n        if (§) fail("x");',
    "on a line with another": 'kept++; if (§) fail("x");',
}


def outcome(folder: Path, call: str, before: str = "", define: str = "") -> Outcome:
    source = folder / "p.c"
    text = PROGRAM.format(call=call.replace("§", EXCHANGE), before=before, define=define)
    source.write_text(text)
    return transform([source], Options())


def rewritten(found: Outcome) -> int:
    return sum(d.decision == "rewritten" for d in found.decisions)


@pytest.mark.parametrize("name", READ)
def test_the_check_stays_behind_the_start(name: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, READ[name])
    assert rewritten(found) >= 1
    (before,), (after,) = found.before.values(), found.after.values()
    assert after.count(b"fail(") + after.count(b"return") == (
        before.count(b"fail(") + before.count(b"return")
    )


@pytest.mark.parametrize("name", LEFT)
def test_what_does_more_stays(name: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, LEFT[name])
    assert rewritten(found) == 0
    assert found.before == found.after


@pytest.mark.parametrize("name", READ)
def test_not_where_an_error_comes_back(name: str, tmp_path: Path) -> None:
    before = "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);"
    found = outcome(tmp_path, READ[name], before)
    assert found.before == found.after


def test_a_start_stays_behind_the_declaration_of_what_takes_its_code(tmp_path: Path) -> None:
    found = outcome(tmp_path, 'int e;\n    e = §;\n    if (e) fail("x");')
    (after,) = found.after.values()
    assert rewritten(found) == 1
    assert after.index(b"int e;") < after.index(b"e = MPI_Irecv")


def test_a_declaration_goes_in_front_of_the_work(tmp_path: Path) -> None:
    found = outcome(tmp_path, 'int e = §;\n    if (e) fail("x");')
    (after,) = found.after.values()
    places = [after.index(t) for t in (b"int e = MPI_SUCCESS;", b"e = MPI_Irecv", b"w[i] = 2")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("define", "work"),
    [
        (
            "#define COUNT e++",
            "int e = 2;\n    {\n    w[1] = 2;\n    COUNT;\n    §\n    kept += e;",
        ),
        ("", "int e = 2;\n    {\n    w[1] = 2;\n    kept += e;\n    §"),
        ("", "{\n    w[1] = 2;\n#ifdef IMBREX_NOT_SET\n    w[2] = 3;\n#endif\n    §"),
    ],
)
def test_where_the_name_means_another_it_is_declared_in_its_place(
    define: str, work: str, tmp_path: Path
) -> None:
    own = f'int e = {EXCHANGE};\n    if (e) fail("x");\n    w[3] = 1;\n    }}'
    found = outcome(tmp_path, work.replace("§", own), define=define)
    (after,) = found.after.values()
    if rewritten(found):
        assert after.index(b"int e = MPI_SUCCESS;") > after.index(b"w[1] = 2;")


def test_a_wait_does_not_leave_the_scope_of_what_takes_its_code(tmp_path: Path) -> None:
    call = (
        "MPI_Request r;\n    MPI_Irecv(b, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &r);\n"
        "    if (rank >= 0) {\n    int e = 0;\n    e = MPI_Wait(&r, MPI_STATUS_IGNORE);\n    }"
    )
    (after,) = outcome(tmp_path, call).after.values()
    places = [after.index(t) for t in (b"int e = 0;", b"e = MPI_Wait", b"    }")]
    assert places == sorted(places)


def test_a_start_that_moves_stays_behind_the_declaration(tmp_path: Path) -> None:
    call = (
        "int e;\n    e = 0;\n    MPI_Request r;\n"
        "    e = MPI_Irecv(b, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &r);\n"
        "    MPI_Wait(&r, MPI_STATUS_IGNORE);"
    )
    (after,) = outcome(tmp_path, call).after.values()
    assert after.index(b"int e;") < after.index(b"e = MPI_Irecv")
