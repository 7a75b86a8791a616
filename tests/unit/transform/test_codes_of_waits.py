"""Error codes that calls of nonblocking code give to a variable, and what users say of errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
enum { N = 1000 };
static double u[N + 2], v[N + 2];
%(before)s
%(kind)s
{
    MPI_Request r[2];
    %(declared)s
    for (int i = 0; i < N; i++)
        v[i] = 0.5 * i;
    for (int step = 0; step < 9; step++) {
        %(start)sMPI_Irecv(&u[0], 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &r[0]);
        %(started)s
        %(start)sMPI_Isend(&u[N], 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &r[1]);
        %(started)s
        %(wait)sMPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        %(waited)s
        for (int i = 0; i < N; i++)
            v[i] = 0.5 * v[i] + 0.25;
        v[1] += u[0];
        for (int i = 1; i < N; i++)
            v[i] += 0.1 * v[i] * v[i];
        u[N] = v[N];
    }
    %(behind)s
}
"""
CHECK = "if (code != MPI_SUCCESS) return 1;"
CHECKED = {
    "before": "",
    "kind": "int main(void)",
    "declared": "int code = MPI_Init(NULL, NULL);",
    "start": "code = ",
    "started": CHECK,
    "wait": "code = ",
    "waited": CHECK,
    "behind": "return MPI_Finalize();",
}
PART = {"kind": "int steps(void)", "declared": "int code = MPI_SUCCESS;", "behind": "return 0;"}
FATAL = Options(errors_are_fatal=True)


def rewritten(tmp_path: Path, options: Options | None = None, **changed: str) -> str:
    """The file behind the rewrites; nothing where it stays as it was."""
    path = tmp_path / "p.c"
    path.write_text(PROGRAM % {**CHECKED, **changed})
    outcome = transform([path], options or Options())
    after = next(iter(outcome.after.values())).decode()
    return "" if outcome.before == outcome.after else after


def test_a_waitall_is_taken_apart(tmp_path: Path) -> None:
    after = rewritten(tmp_path)
    assert "code = MPI_Wait(&r[0], MPI_STATUS_IGNORE);\n        v[1] += u[0];" in after
    assert "code = MPI_Wait(&r[1], MPI_STATUS_IGNORE);\n        u[N] = v[N];" in after


def test_a_wait_that_has_to_set_it_stays_in_front_of_the_check(tmp_path: Path) -> None:
    unset = {"declared": "int code; MPI_Init(NULL, NULL);", "start": "", "started": ""}
    whole = "code = MPI_Waitall(2, r, MPI_STATUSES_IGNORE);\n        if (code != MPI_SUCCESS)"
    assert whole in rewritten(tmp_path, **unset)
    assert "&r[0]" in rewritten(tmp_path, **unset, waited="")


def test_a_code_that_nothing_reads(tmp_path: Path) -> None:
    """A wait passes what sets the variable too; its file may stand alone."""
    after = rewritten(tmp_path, **{**PART, "started": "", "waited": "code = 0;"})
    assert after.index("code = 0;") < after.index("code = MPI_Wait(&r[0]")


def test_a_start_stays_behind_what_declares_its_code(tmp_path: Path) -> None:
    after = rewritten(
        tmp_path,
        declared="MPI_Init(NULL, NULL); MPI_Request q;",
        waited=CHECK + "\nfor (int i = 0; i < N; i++) v[i] *= 0.5;\n"
        "int late = MPI_SUCCESS;\nlate = MPI_Irecv(&u[1], 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &q);"
        "\nlate = MPI_Wait(&q, MPI_STATUS_IGNORE);\nif (late != MPI_SUCCESS) return 2;",
        before="static int code = MPI_SUCCESS;",
    )
    assert (
        after.index("int late") < after.index("late = MPI_Irecv") < after.index("late = MPI_Wait")
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"before": "static void quiet(void)\n{\n    MPI_Comm_set_errhandler(MPI_COMM_WORLD, "
         "MPI_ERRORS_RETURN);\n}", "behind": "quiet(); return MPI_Finalize();"},
        {"before": "static int other(void)\n{\n    return getchar();\n}",
         "behind": "code = other(); return code;"},
        {"before": "static void set(int *p)\n{\n    *p = getchar();\n}",
         "behind": "set(&code); return MPI_Finalize();"},
    ],
)  # fmt: skip
def test_other_codes(changed: dict[str, str], tmp_path: Path) -> None:
    assert rewritten(tmp_path, **changed) == ""


def test_the_wait_does_not_leave_the_scope_of_its_code(tmp_path: Path) -> None:
    after = rewritten(
        tmp_path,
        declared="MPI_Init(NULL, NULL);",
        start="",
        started="",
        wait="{ int code = 0; code = ",
        waited="if (code) return 1; }",
    )
    assert after == "" or after.index("int code") < after.index("code = MPI_Wait")
    assert after == "" or "}\n        code" not in after


def test_errors_are_fatal(tmp_path: Path) -> None:
    """What is not given may set a handler, unless the user says that nothing does."""
    assert rewritten(tmp_path, **PART) == ""
    assert "code = MPI_Wait(&r[0]" in rewritten(tmp_path, FATAL, **PART)


@pytest.mark.parametrize(
    "changed",
    [
        {"declared": "", "before": "int code;"},  # others may set it
        {"before": "void quiet(void)\n{\n    MPI_Comm_set_errhandler(MPI_COMM_WORLD, "
         "MPI_ERRORS_RETURN);\n}"},
    ],
)  # fmt: skip
def test_what_saying_so_does_not_help(changed: dict[str, str], tmp_path: Path) -> None:
    assert rewritten(tmp_path, FATAL, **{**PART, **changed}) == ""


FORTRAN = """subroutine steps(u, n, left, right, comm)
  use mpi
  implicit none
  integer, intent(in) :: n, left, right, comm
  double precision, intent(inout) :: u(0:n)
  integer :: code, r(2)
  external :: report
  call MPI_Irecv(u(0), 1, MPI_DOUBLE_PRECISION, left, 1, comm, r(1), code)
  if (code /= MPI_SUCCESS) stop 1
  call MPI_Isend(u(n), 1, MPI_DOUBLE_PRECISION, right, 1, comm, r(2), code)
  if (code /= MPI_SUCCESS) stop 1
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, code)
  if (code /= MPI_SUCCESS) stop 1
  u(1:n - 1) = 0.5d0*u(1:n - 1)
  call report(code)
end subroutine steps
"""


@pytest.mark.parametrize(("reported", "moved"), [("n", True), ("code", False)])
def test_errors_are_fatal_in_fortran(reported: str, moved: bool, tmp_path: Path) -> None:
    path = tmp_path / "p.f90"
    path.write_text(FORTRAN.replace("report(code)", f"report({reported})"))
    outcome = transform([path], Options())
    assert outcome.before == outcome.after
    outcome = transform([path], FATAL)
    assert (outcome.before != outcome.after) is moved


MACRO = """#include <mpi.h>
#include <stdlib.h>
#define CHECK(call) do { int e = (call); if (e != MPI_SUCCESS) abort(); } while (0)
void step(double *restrict u, double *restrict v, int n)
{
    CHECK(MPI_Recv(u, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++)
        v[i] = 0.5 * v[i];
    u[1] += v[1];
}
"""


def test_errors_are_fatal_in_macros(tmp_path: Path) -> None:
    path = tmp_path / "p.c"
    path.write_text(MACRO)
    outcome = transform([path], Options())
    assert outcome.before == outcome.after
    outcome = transform([path], FATAL)
    assert b"CHECK(MPI_Wait" in next(iter(outcome.after.values()))


def test_errors_are_fatal_in_declarations(tmp_path: Path) -> None:
    text = (
        MACRO.replace("CHECK(MPI_Recv", "int rc = (MPI_Recv")
        .replace("IGNORE));", "IGNORE);\n    if (rc != MPI_SUCCESS)\n        return;")
        .replace("(MPI_Recv", "MPI_Recv")
    )
    path = tmp_path / "p.c"
    path.write_text(text)
    outcome = transform([path], Options())
    assert outcome.before == outcome.after
    outcome = transform([path], FATAL)
    assert b"rc = MPI_Irecv" in next(iter(outcome.after.values()))
