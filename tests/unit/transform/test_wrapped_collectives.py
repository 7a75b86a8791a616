"""Routines around a collective: split around their callers' work, with all that may match it."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 500
static double x[N], r[N], p[N], sums[4];
static int counts[4];
%(before)s
static void dot(const double *a, const double *b, double *out)
{
    double local = 0.0;
    for (int i = 0; i < N; i++)
        local += a[i] * b[i];
    %(call)s
}
static void axpy(double *y, double alpha, const double *v)
{
    for (int i = 0; i < N; i++)
        y[i] += alpha * v[i];
}
int main(int argc, char **argv)
{
    double rr = 1.0, own = 2.0;
    int mine = 3;
    MPI_Init(&argc, &argv);
    for (int it = 0; it < 10; it++) {
        %(use)s
        p[0] += rr;
    }
    %(elsewhere)s
    printf("%%g %%g %%g %%d %%d\\n", rr, own, sums[0] + sums[1], mine, counts[0]);
    MPI_Finalize();
    return 0;
}
"""
PLAIN = {
    "before": "",
    "call": "MPI_Allreduce(&local, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);",
    "use": "dot(r, r, &rr);\n        axpy(x, 0.3, p);",
    "elsewhere": "",
}
SUM = "MPI_Allreduce(&own, sums, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);"
NONBLOCKING = "MPI_Iallreduce(&own, sums, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &imbrex_request);"
ISUM = "MPI_Iallreduce(&own, sums, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q);"
WORK = "dot(r, r, &rr);\n        axpy(x, 0.3, p);"


def decided(folder: Path, changes: dict[str, str], **options: object) -> Outcome:
    file = folder / "cg.c"
    file.write_text(PROGRAM % {**PLAIN, **changes})
    given = Options(**{"reassociation": True, **options})  # type: ignore[arg-type]
    return transform([file], given)


def text_of(outcome: Outcome) -> str:
    (text,) = outcome.after.values()
    return text.decode()


SPLIT = {
    "alone": ({}, ""),
    "the sum ahead of what passes it": ({"use": "axpy(x, 0.3, p);\n        dot(r, r, &rr);"}, ""),
    "what it needs behind what it does not": (
        {"use": "axpy(x, 0.3, p);\n        axpy(r, 0.1, p);\n        dot(r, r, &rr);"},
        "axpy(r, 0.1, p);\n        dot_start(r, r, &rr, dot_local, dot_requests);\n"
        "        axpy(x, 0.3, p);",
    ),
    "another sum": ({"elsewhere": SUM}, NONBLOCKING),
    "another sum ahead": ({"use": f"{SUM}\n        {WORK}"}, NONBLOCKING),
    "a maximum elsewhere": (
        {"elsewhere": "MPI_Allreduce(&own, sums, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);"},
        "    MPI_Allreduce(&own, sums, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);",
    ),
    "a sum of integers elsewhere": (
        {"elsewhere": "MPI_Allreduce(&mine, counts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);"},
        "    MPI_Allreduce(&mine, counts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
    ),
    "one behind the other": (
        {"use": "dot(r, r, &rr);\n        dot(p, p, &own);\n        axpy(x, 0.3, x);"},
        "dot_local2, &dot_requests[1]",
    ),
    "in place": (
        {
            "call": "MPI_Allreduce(MPI_IN_PLACE, &local, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);\n"
            "    *out = local;"
        },
        "MPI_Iallreduce(MPI_IN_PLACE, imbrex_local, 1",
    ),
    "a broadcast": (
        {"call": "*out = local;\n    MPI_Bcast(out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);"},
        "MPI_Ibcast(out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &imbrex_requests[0]);",
    ),
}
WHOLE = {
    "the sum is needed": {"use": "dot(r, r, &rr);\n        axpy(x, rr, p);"},
    "one elsewhere in a macro": {
        "before": "#define TOTAL() MPI_Allreduce(r, p, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)",
        "elsewhere": "TOTAL();",
    },
    "one elsewhere of an unknown operation": {
        "before": "extern MPI_Op op;",
        "elsewhere": "MPI_Allreduce(&own, sums, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);",
    },
    "one elsewhere whose code is asked for": {
        "elsewhere": f"if ({SUM[:-1]} != MPI_SUCCESS)\n        own = 0.0;",
        "before": "static void handler(void) { MPI_Comm_set_errhandler(MPI_COMM_WORLD, "
        "MPI_ERRORS_RETURN); }",
    },
    "code that is not seen": {"before": "void more(void);", "elsewhere": "more();"},
    "another message between": {
        "use": "dot(r, r, &rr);\n        MPI_Barrier(MPI_COMM_WORLD);\n        axpy(x, 0.3, p);"
    },
}


@pytest.mark.parametrize("name", SPLIT)
def test_split(tmp_path: Path, name: str) -> None:
    changes, expected = SPLIT[name]
    outcome = decided(tmp_path, changes)
    text = text_of(outcome)
    assert expected in text
    main = text[text.index("int main") :]
    assert main.index("dot_start(") < main.index("axpy(x") < main.rindex("dot_finish(")
    start = text[text.index("void dot_start(") : text.index("void dot_finish(")]
    assert "MPI_Iallreduce(" in start or "MPI_Ibcast(" in start
    (file,) = (Path(name) for name in outcome.after)
    again = transform([file], Options(reassociation=True, contents={file: text.encode()}))
    assert text_of(again) == text


@pytest.mark.parametrize("name", WHOLE)
def test_whole(tmp_path: Path, name: str) -> None:
    text = text_of(decided(tmp_path, WHOLE[name]))
    assert "dot_start(" not in text
    assert "MPI_Iallreduce(" not in text


def test_a_call_elsewhere_is_told_as_rewritten(tmp_path: Path) -> None:
    outcome = decided(tmp_path, {"elsewhere": SUM})
    first, second = outcome.decisions
    assert (first.decision, second.decision) == ("rewritten", "rewritten")
    assert "its callers have the computation" in first.reason.text
    assert "calls that may match it are rewritten" in second.reason.text
    assert second.site.call.name == "MPI_Allreduce"


def test_a_call_elsewhere_may_move_as_well(tmp_path: Path) -> None:
    more = f"{SUM}\n    axpy(p, 0.2, r);"
    text = text_of(decided(tmp_path, {"elsewhere": more}))
    moved = text[text.index(NONBLOCKING) :]
    assert moved.index("axpy(p, 0.2, r);") < moved.index("MPI_Wait(&imbrex_request")


def test_a_permission_is_what_it_wants(tmp_path: Path) -> None:
    outcome = decided(tmp_path, {}, reassociation=False)
    (decision,) = outcome.decisions
    assert decision.decision != "rewritten"
    assert "--allow-reassociation" in decision.obstacle_text
    whole = {"use": "dot(r, r, &rr);\n        axpy(x, rr, p);"}
    (decision,) = decided(tmp_path, whole, reassociation=False).decisions
    assert "--allow-reassociation" not in decision.obstacle_text


def test_sums_of_integers_want_none(tmp_path: Path) -> None:
    changes = {
        "call": "counts[1] = local > 1;\n    MPI_Allreduce(&counts[1], counts, 1, MPI_INT, "
        "MPI_SUM, MPI_COMM_WORLD);\n    *out = counts[0];"
    }
    assert "dot_start(" in text_of(decided(tmp_path, changes, reassociation=False))


def test_what_is_chosen_goes_with_its_group(tmp_path: Path) -> None:
    file = tmp_path / "cg.c"
    text = PROGRAM % {**PLAIN, "elsewhere": SUM}
    file.write_text(text)
    lines = text.splitlines()
    line = next(n for n, t in enumerate(lines, 1) if "MPI_Allreduce(&local" in t)
    outcome = transform([file], Options(reassociation=True, only=frozenset({(str(file), line)})))
    assert NONBLOCKING in text_of(outcome)
    assert "dot_start(" in text_of(outcome)
