"""Error codes that one function hands to another, down to one around which there is work."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.analysed import Analysis
from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.rewrites.unused_results import UnusedResults
from imbrex.transform.text.edits import apply_edits

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 64
#define CHECK(c) do { int r_ = (c); if (r_ != 0) MPI_Abort(MPI_COMM_WORLD, r_); } while (0)
#define TRY(c) do { int e_ = (c); if (e_ != MPI_SUCCESS) return e_; } while (0)
#define FAILED return -1
#define BAIL(e) do { if (e) return -1; } while (0)
static int up, down, given;
static double u[N * N], v[N * N];
static int exchange(double *a)
{
    int err = 0;
    MPI_Request r[2];
    MPI_Irecv(&a[0], N, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&a[N * (N - 2)], N, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &r[1]);
    %(ends)s
}
%(between)s
int main(int argc, char **argv)
{
    int e = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &up);
    %(begins)s
    for (int i = 0; i < N * N; i++)
        u[i] = i;
    for (int k = 0; k < 10; k++) {
        %(calls)s
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                v[i * N + j] = u[(i - 1) * N + j] + u[(i + 1) * N + j];
    }
    printf("%%g %%d\\n", v[N + 5], e);
    MPI_Finalize();
    return 0;
}
"""
WAIT = "MPI_Waitall(2, r, MPI_STATUSES_IGNORE)"
BAIL = "err = {};\n    BAIL(err);\n    return 0;"
PLAIN = {"ends": f"{WAIT};\n    return 0;", "between": "", "begins": "", "calls": "CHECK({});"}
UPDATE = "static int update(double *a)\n{\n    %s\n}"
HANDED = PLAIN | {"between": UPDATE % "return exchange(a);"}
KEPT = "int rc = exchange(a);\n    if (rc != MPI_SUCCESS)\n        return rc;\n    return 0;"
UPDATE_SET = "int c;\n    if ((c = exchange(a)) != 0)\n        return c;\n    return 0;"
AGAIN = "\nstatic int again(double *a)\n{\n    return update(a);\n}"
JUMP = "if (a[3] > 2)\n        goto out;"
OTHER_HANDLER = "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);"


def updating(body: str, **parts: str) -> tuple[str, dict[str, str]]:
    """A function around the exchange is called."""
    return "update", PLAIN | {"between": UPDATE % body} | parts


def ending(text: str, **parts: str) -> tuple[str, dict[str, str]]:
    """The exchange itself is."""
    return "exchange", PLAIN | {"ends": text} | parts


GOES = {
    "handed on": updating("return exchange(a);"),
    "in a variable": updating(KEPT),
    "set in a condition": updating(UPDATE_SET),
    "checked": updating("if (exchange(a))\n        return -1;\n    return 0;"),
    "twice": ("again", HANDED | {"between": HANDED["between"] + AGAIN}),
    "asked by main": updating(KEPT, calls="if ((e = {}) != 0)\n            return 1;"),
    "of a declaration": ending(f"int rc = {WAIT};\n    return rc;"),
    "of a condition": ending(f"if ({WAIT} != MPI_SUCCESS)\n        return -1;\n    return 0;"),
    "of a variable": ending(f"err = {WAIT};\n    if (err)\n        return -5;\n    return 0;"),
    "what fails does something": ending(
        f'err = {WAIT};\n    if (err)\n        return puts("no");\n    return 0;'
    ),
    "true": ending(f"{WAIT};\n    return 1;", calls="if (!{})\n            return 1;"),
    "true or an error": ending(
        f"err = {WAIT};\n    if (err)\n        return 0;\n    return 1;",
        calls="if ({} == 0)\n            break;",
    ),
    "calls in macros": ending(f"TRY({WAIT});\n    return 0;"),
    "in a macro": ending(BAIL.replace("{}", WAIT)),
    "negative": ending(
        f"if ({WAIT} != 0)\n        return -1;\n    return 0;",
        calls="if ({} < 0)\n            return 1;",
    ),
}
STAYS = {
    "more than the code": updating("return exchange(a) + 1;"),
    "one of two": updating("int c = exchange(a);\n    return a[3] > 2 ? 1 : c;"),
    "another reason": ending(f"{WAIT};\n    if (a[3] > 2)\n        return -1;\n    return 0;"),
    "another variable": ending(
        f"{WAIT};\n    err += given;\n    if (err)\n        return -1;\n    return 0;",
        begins="given = argc;",
    ),
    "come to by a jump": ending(
        f"err = {WAIT};\n    {JUMP}\n    if (err) {{\nout:    return -1;\n    }}\n    return 0;"
    ),
    "true, which a check takes for a code": ending(f"{WAIT};\n    return 1;"),
    "true or not": ending(
        f"{WAIT};\n    if (a[3] > 2)\n        return 0;\n    return 1;",
        calls="if (!{})\n            return 1;",
    ),
    "another macro returns": ending(f"{WAIT};\n    if (a[3] > 2)\n        FAILED;\n    return 0;"),
    "errors return": updating(KEPT, ends=f"return {WAIT};", begins=OTHER_HANDLER),
    "the code is compared": updating(KEPT, calls="e += {} == 0;"),
    "its address is taken": updating(KEPT, begins="int (*f)(double *) = update;\n    f(v);"),
}


def written(folder: Path, called: str, parts: dict[str, str]) -> Path:
    file = folder / "handed.c"
    file.write_text((PROGRAM % parts).replace("{}", f"{called}(u)"))
    return file


def all_start_early(folder: Path, called: str, parts: dict[str, str]) -> bool:
    """Whether the messages are under way beside the work of `main`."""
    outcome = transform([written(folder, called, parts)], Options())
    decided = [d for d in outcome.decisions if d.site.routine.name == "exchange"]
    assert len(decided) == 3
    return all(d.decision == "rewritten" for d in decided)


@pytest.mark.parametrize("name", GOES)
def test_a_code_that_is_always_success_is_not_waited_for(tmp_path: Path, name: str) -> None:
    assert all_start_early(tmp_path, *GOES[name])


@pytest.mark.parametrize("name", STAYS)
def test_another_value_is(tmp_path: Path, name: str) -> None:
    assert not all_start_early(tmp_path, *STAYS[name])


@pytest.mark.parametrize(("name", "loses"), [("of a variable", True), ("come to by a jump", False)])
def test_a_value_goes_where_nothing_jumps_to_its_return(
    tmp_path: Path, name: str, loses: bool
) -> None:
    analysis = Analysis([written(tmp_path, *(GOES | STAYS)[name])], Options())
    found = UnusedResults(analysis.program, analysis.footprints).proposals()
    assert any(p.edits and p.routine.name == "exchange" for p in found) is loses


def test_no_macro_is_left_that_returns_a_value(tmp_path: Path) -> None:
    text = "err = MPI_Barrier(MPI_COMM_WORLD); BAIL(err);  // all of them\n    BAIL(err);\n"
    text += (
        f"    if (a[3] > 2)\n        BAIL(err);\n    TRY({WAIT}); TRY(MPI_Barrier(MPI_COMM_WORLD));"
    )
    file = written(tmp_path, "exchange", ending(f"{text}\n    return 0;")[1])
    analysis = Analysis([file], Options())
    found = UnusedResults(analysis.program, analysis.footprints).proposals()
    (edits,) = (p.edits for p in found if p.edits and p.routine.name == "exchange")
    after = apply_edits(file.read_bytes(), edits[str(file)]).decode()
    assert after.partition("&r[1]);\n")[2].partition("}")[0] == (
        "    err = MPI_Barrier(MPI_COMM_WORLD);  // all of them\n"
        "    if (a[3] > 2)\n        ;\n"
        f"    {WAIT}; MPI_Barrier(MPI_COMM_WORLD);\n"
    )


@pytest.mark.parametrize("left", ["FAILED", "OUTER(a)", "TRY(a[3] > 2)", "BAIL(a[3] > 2)"])
def test_a_value_stays_where_a_macro_returns_another(tmp_path: Path, left: str) -> None:
    text = f"{WAIT};\n    if (a[3] > 4)\n        {left};\n    return 0;"
    file = written(tmp_path, "exchange", ending(text)[1])
    file.write_text("#define OUTER(c) INNER(c)\n#define INNER(c) FAILED\n" + file.read_text())
    analysis = Analysis([file], Options())
    found = UnusedResults(analysis.program, analysis.footprints).proposals()
    assert not any(p.edits and p.routine.name == "exchange" for p in found)
