"""What is said where nothing is rewritten: no work beside a message, or something in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.command import explain
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
static double a[1000], b[1000];
static void work(double *x)
{{
    for (int i = 0; i < 1000; i++)
        x[i] = 0.5 * x[i] + 1.0;
}}
{before}
int main(int argc, char **argv)
{{
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    {body}
    printf("%g\\n", a[1] + b[1]);
    MPI_Finalize();
    return 0;
}}
"""
RECV = "MPI_Recv(a, 9, MPI_DOUBLE, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
WRAPPER = f"static void get(int me)\n{{\n    {RECV}\n}}\nvoid (*kept)(int) = get;"


@pytest.mark.parametrize(
    ("before", "body", "head", "way", "todo"),
    [
        ("", RECV, "nothing to gain", "no computation in the window", ""),
        (
            "",
            f"{RECV} work(a);",
            "cannot be moved",
            "`a` is used or set",
            "nothing, if it must be there",
        ),
        (
            "",
            f'{RECV} printf("."); work(b);',
            "cannot be moved",
            "the call of printf",
            "nothing, if that call communicates, prints or waits",
        ),
        (WRAPPER, "get(me);", "nothing to gain", "no computation in the window", ""),
        (
            WRAPPER,
            "get(me);\n    work(b);",
            "cannot be moved",
            "the address of get is taken",
            "make the wrapper a plain routine",
        ),
        (
            f"static void get(int me)\n{{\n    {RECV}\n}}\nstatic volatile double seen;",
            "get(me);\n    for (int i = 0; i < 1000; i++) b[i] += seen;",
            "cannot be moved",
            "seen is volatile",
            "use a plain variable or array for messages",
        ),
        (
            "",
            f"if ({RECV[:-1]}) return 1; MPI_Comm_set_errhandler(MPI_COMM_WORLD, 0); work(b);",
            "refused",
            "the value of the call is used",
            "leave errors to the handler",
        ),
    ],
)
def test_what_stands_in_the_way(
    before: str, body: str, head: str, way: str, todo: str, tmp_path: Path
) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM.format(before=before, body=body))
    outcome = transform([source], Options())
    lines = explain(outcome).splitlines()
    first = next(n for n, line in enumerate(lines) if ": MPI_Recv in " in line)
    assert lines[first].endswith(f": {head}"), lines
    assert lines[first + 1].strip().startswith(way), lines
    assert ("what to do: " in lines[first + 2]) is bool(todo), lines
    assert todo in lines[first + 2]
    found = next(d.as_json() for d in outcome.decisions if d.site.call.name == "MPI_Recv")
    assert found["work"] is (head == "cannot be moved")
    assert str(found["advice"]).startswith(todo)


REDUCTION = "MPI_Allreduce(d, e, 9, MPI_DOUBLE, MPI_{}, MPI_COMM_WORLD);"


@pytest.mark.parametrize(
    ("operation", "behind", "way", "todo"),
    [
        ("SUM", "work(e);", "add floating-point numbers in another order", "other last digits"),
        ("SUM", "e[0] = b[0];", "`e` is used or set", "nothing, if it must be there"),
        ("MAX", "if (e[0] < 1.0) return 1; work(e);", "`e` is used or set", ""),
        ("SUM", "work(c);", "add floating-point numbers in another order", "other last digits"),
        ("MAX", "work(c);", "two zeros that differ in their signs", "another sign of a zero"),
    ],
)
def test_a_permission_is_named_where_it_helps(
    tmp_path: Path, operation: str, behind: str, way: str, todo: str
) -> None:
    source = tmp_path / "program.c"
    arrays = "static double c[1000], d[9], e[1000];"
    lines = [REDUCTION.format(operation), behind, RECV, "work(c);"]
    source.write_text(PROGRAM.format(before=arrays, body="\n    ".join(lines)))
    outcome = transform([source], Options())
    told = explain(outcome)
    assert way in told.split("MPI_Recv")[0] and todo in told.split("MPI_Recv")[0], told
    # The message behind it is rewritten as if the reduction could not be moved at all.
    lone = Options(rewrites=Options().rewrites - {"collectives"})
    assert outcome.after == transform([source], lone).after
    assert b"MPI_Irecv" in outcome.after[str(source)]
    allowed = transform([source], Options(reassociation=True))
    moved = b"MPI_Iallreduce" in allowed.after[str(source)]
    assert moved == ("--allow-reassociation" in told)
