"""Jumps to a label that only an error of MPI leads to: they keep no exchange whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 500
%(define)s
static double u[N + 2], v[N + 2];
static int rank, size, up, down, kept;
static int ask(int n) { return n > 3 * rank; }
static %(type)s exchange(double *a, int n)
{
    int rc = MPI_SUCCESS;
    double *out = malloc(sizeof(double)), *in = malloc(sizeof(double));
    *out = a[1];
%(body)s
    a[n + 1] = *in;
%(end)s}
static void decay(double *a)
{
    for (int i = 1; i <= N; i++)
        a[i] = 0.5 * a[i] + 0.125;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    %(start)s
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = (rank + 1) %% size;
    down = (rank + size - 1) %% size;
    for (int step = 0; step < 9; step++) {
        %(use)s
        decay(v);
        u[1] += u[N + 1] + v[2];
    }
    printf("%%g %%g %%d\\n", u[1], v[N + 1], kept);
    MPI_Finalize();
    return 0;
}
"""
CALL = (
    "MPI_Sendrecv(out, 1, MPI_DOUBLE, up, 1, in, 1, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, "
    "MPI_STATUS_IGNORE)"
)
FREED = "    free(out);\n    free(in);\n"
RETURNED = f"{FREED}    return rc;\n"
END = f"fail:\n{RETURNED}"
CHECKED = f"    rc = {CALL};\n    if (rc != MPI_SUCCESS) goto fail;"
TRY = "#define TRY(c) do { if ((c) != MPI_SUCCESS) goto fail; } while (0)"


def program(body: str = CHECKED, end: str = END, **more: str) -> str:
    given = {"define": "", "type": "int", "start": "", "use": "if (exchange(u, N)) return 1;"}
    return PROGRAM % {**given, "body": body, "end": end, **more}


GOES = {
    "a variable is asked": program(),
    "it is asked by itself": program(f"    rc = {CALL};\n    if (rc) {{ goto fail; }}"),
    "the call is asked": program(f"    if ({CALL} != MPI_SUCCESS) goto fail;"),
    "the call sets the variable that is asked": program(
        f"    if ((rc = {CALL}) != MPI_SUCCESS) goto fail;"
    ),
    "an error is printed": program(
        f'    rc = {CALL};\n    if (rc) {{ fprintf(stderr, "%d\\n", rc); goto fail; }}'
    ),
    "a declared code": program(f"    int e = {CALL};\n    if (e != MPI_SUCCESS) goto fail;"),
    "a macro": program(f"    TRY({CALL});", define=TRY),
    "a macro that keeps the code": program(
        f"    TRY({CALL});",
        define="#define TRY(c) do { int e = (c); if (e != MPI_SUCCESS) goto fail; } while (0)",
    ),
    "no value": program(end=f"fail:\n{FREED}", type="void", use="exchange(u, N);"),
    "a statement on the line of the label": program(end=f"fail: {RETURNED.strip()}\n"),
    "a label for errors alone": program(
        end=f'{FREED}    return MPI_SUCCESS;\nfail:\n    fprintf(stderr, "%d\\n", rc);\n{RETURNED}'
    ),
    "two labels": program(
        f"    rc = {CALL};\n    if (rc != MPI_SUCCESS) goto fail;\n    if (rc) goto out;",
        "fail:\n    free(out);\nout:\n    free(in);\n    return rc;\n",
    ),
}
STAYS = {
    "something else is asked too": program(f"{CHECKED}\n    if (ask(n)) goto fail;"),
    "the variable holds something else": program(
        f"    rc = ask(n);\n    if (rc != MPI_SUCCESS) goto fail;\n{CHECKED}"
    ),
    "more is asked": program(f"    rc = {CALL};\n    if (rc != MPI_SUCCESS || n < 4) goto fail;"),
    "success is asked": program(f"    rc = {CALL};\n    if (rc == MPI_SUCCESS) goto fail;"),
    "the branch for success": program(
        f"    rc = {CALL};\n    if (rc) kept++;\n    else goto fail;"
    ),
    "errors come back": program(
        start="MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);"
    ),
    "a macro is given something else": program(f"    TRY({CALL});\n    TRY(ask(n));", define=TRY),
    "another macro jumps": program(
        f"{CHECKED}\n    STOP(ask(n))", define="#define STOP(x) if (x) goto fail;"
    ),
    "a jump that may not be read": program(
        f"{CHECKED}\n#ifdef STRICT\n    if (ask(n)) goto fail;\n#endif"
    ),
    "an allocation fails": program(
        f"    if (!in) {{ rc = MPI_ERR_NO_MEM; goto fail; }}\n{CHECKED}"
    ),
    "a jump for no reason": program(f"{CHECKED}\n    goto fail;"),
    "a jump that is computed": program(
        f"    void *end = &&fail;\n    rc = {CALL};\n    if (rc != MPI_SUCCESS) goto *end;"
    ),
}


def changed(folder: Path, text: str) -> str:
    path = folder / "halo.c"
    path.write_text(text)
    return transform([path], Options()).after[str(path)].decode()


@pytest.mark.parametrize("case", GOES)
def test_the_exchange_is_divided(tmp_path: Path, case: str) -> None:
    text = changed(tmp_path, GOES[case])
    loop = text[text.index("step < 9") :]
    assert loop.index("exchange_start(") < loop.index("decay(v)") < loop.index("exchange_finish(")
    code = text[text.index("exchange_start(") :]
    assert "goto" not in code and "fail:" not in code
    (tmp_path / "halo.c").write_text(text)
    assert changed(tmp_path, text) == text


@pytest.mark.parametrize("case", STAYS)
def test_a_jump_that_may_be_made_stays(tmp_path: Path, case: str) -> None:
    assert changed(tmp_path, STAYS[case]) == STAYS[case]


def test_the_main_program_keeps_its_jumps(tmp_path: Path) -> None:
    call = CALL.replace("out,", "&u[1],").replace("in,", "&u[N + 1],")
    text = program(use=f"if ({call}) goto end;").replace(
        "    MPI_Finalize", "end:\n    MPI_Finalize"
    )
    after = changed(tmp_path, text)
    loop = after[after.index("step < 9") :]
    assert loop.index("MPI_Irecv(") < loop.index("decay(v)") < loop.index("MPI_Wait")
    assert "if (imbrex_code) goto end;" in loop
