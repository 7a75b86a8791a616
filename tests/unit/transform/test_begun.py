"""Exchanges that one call begins and another ends: what a sweep behind them may go in front of."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 100
typedef struct { MPI_Request r[6]; int up, down, now; } Halo;
static double a[N + 2], b[N + 2], c[N + 2];
static Halo one, two, halos[2];
static MPI_Request kept;
static int size, at[N + 2];
%(begin)s
%(end)s
static void sweep(const double *x, double *y)
{
    for (int i = 1; i <= N; i++)
        y[i] = %(sweep)s;
}
int main(int argc, char **argv)
{
    int rank, i = 0, flag = 0;
    Halo *h = &one;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    one.up = two.up = halos[0].up = halos[1].up = (rank + 1) %% size;
    one.down = two.down = halos[0].down = halos[1].down = (rank + size - 1) %% size;
    for (int k = 0; k < N + 2; k++) {
        a[k] = k + rank;
        at[k] = k;
    }
    for (int step = 0; step < 5; step++) {
        %(code)s
    }
    printf("%%g %%d %%d\\n", a[1] + b[3] + c[2], i, flag);
    MPI_Finalize();
    return 0;
}
"""
STARTS = (
    "MPI_Irecv(&x[0], 1, MPI_DOUBLE, h->down, 0, MPI_COMM_WORLD, &h->r[0]);",
    "MPI_Irecv(&x[N + 1], 1, MPI_DOUBLE, h->up, 1, MPI_COMM_WORLD, &h->r[1]);",
    "MPI_Isend(&x[1], 1, MPI_DOUBLE, h->down, 1, MPI_COMM_WORLD, &h->r[2]);",
    "MPI_Isend(&x[N], 1, MPI_DOUBLE, h->up, 0, MPI_COMM_WORLD, &h->r[3]);",
)
BODY = "\n    ".join(STARTS)
WAIT = "MPI_Waitall(4, h->r, MPI_STATUSES_IGNORE);"
STENCIL = "x[i - 1] + x[i + 1]"
BETWEEN = "begin(&one, a); end(&one); sweep(a, b);"


def begin(body: str = BODY) -> str:
    return f"static void begin(Halo *h, double *x)\n{{\n    {body}\n}}"


def end(body: str = WAIT) -> str:
    return f"static void end(Halo *h)\n{{\n    {body}\n}}"


def program(**parts: str) -> str:
    given = {"begin": begin(), "end": end(), "sweep": STENCIL, "code": BETWEEN}
    return PROGRAM % {
        **given,
        **{name: text.replace("; ", ";\n        ") for name, text in parts.items()},
    }


def rewritten(folder: Path, text: str, name: str = "p.c") -> tuple[Outcome, str]:
    source = folder / name
    source.write_text(text)
    outcome = transform([source], Options())
    assert not outcome.skipped
    return outcome, outcome.after[str(source)].decode()


def in_order(text: str, *parts: str) -> bool:
    """Whether the parts stand in the main program in this order."""
    main = text[text.index("int main") :]
    places = [main.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


# What differs from the plain program; the interior runs between the begin and the end.
DIVIDED: dict[str, dict[str, str]] = {
    "plain": {},
    "a pointer to the object": {"code": "begin(h, a); end(h); sweep(a, b);"},
    "an element of an array": {"code": "begin(&halos[i], a); end(&halos[i]); sweep(a, b);"},
    "requests one by one": {
        "end": end("".join(f"MPI_Wait(&h->r[{k}], MPI_STATUS_IGNORE); " for k in range(4)))
    },
    "a wait that is not always made": {"end": end(f"if (size > 1) {WAIT}")},
    "a return behind the starts": {"begin": begin(f"{BODY} if (size > 3) return; at[0] = 0;")},
    "another exchange beside it": {
        "code": "begin(&one, a); begin(&two, c); end(&one); end(&two); sweep(a, b);"
    },
    "a direct wait": {
        "code": "begin(&one, a); MPI_Waitall(4, one.r, MPI_STATUSES_IGNORE); sweep(a, b);"
    },
}
# The same, where an end may be about other messages, or the sweep needs what is not there yet.
REFUSED: dict[str, dict[str, str]] = {
    "one more request": {"end": end("MPI_Waitall(5, h->r, MPI_STATUSES_IGNORE);")},
    "a number of requests that is set": {
        "end": end("MPI_Waitall(h->now, h->r, MPI_STATUSES_IGNORE);")
    },
    "a start that is not always made": {"begin": begin(f"if (size > 1) {{ {BODY} }}")},
    "a start in a condition": {"begin": begin(BODY.replace(STARTS[0], f"size > 1 && {STARTS[0]}"))},
    "a return ahead of the starts": {"begin": begin(f"if (size == 1) return; {BODY}")},
    "the end of another object": {"code": "begin(&one, a); end(&two); sweep(a, b);"},
    "a pointer that is set between": {"code": "begin(h, a); h = &two; end(h); sweep(a, b);"},
    "an index that is set between": {
        "code": "begin(&halos[i], a); i = 1 - i; end(&halos[i]); sweep(a, b);"
    },
    "requests in turn": {
        "begin": begin(BODY.replace("r[", "r[h->now + ") + " h->now = 0;"),
        "end": end("MPI_Waitall(4, &h->r[h->now], MPI_STATUSES_IGNORE);"),
    },
    "a request that is copied": {"end": end(f"kept = h->r[0]; {WAIT}")},
    "a request that is set": {
        "end": end(WAIT),
        "code": "begin(&one, a); kept = one.r[4]; one.r[0] = kept; end(&one); sweep(a, b);",
    },
    "a test between": {
        "code": "begin(&one, a); MPI_Test(&one.r[0], &flag, MPI_STATUS_IGNORE); end(&one); "
        "sweep(a, b);"
    },
    "a begin behind the end": {"code": "end(&one); sweep(a, b); begin(&one, a);"},
    "a begin in a branch": {"code": "if (size > 1) begin(&one, a); end(&one); sweep(a, b);"},
    "a way out between": {"code": "begin(&one, a); if (step == 3) break; end(&one); sweep(a, b);"},
    "the new value of the neighbour": {"sweep": "y[i - 1] + x[i + 1]"},
    "points from anywhere": {"sweep": "x[at[i]]"},
    "the sweep into what is sent": {"code": "begin(&one, a); end(&one); sweep(c, a + at[1]);"},
    "the sweep in place, one further": {"code": "begin(&one, a); end(&one); sweep(a, a + 1);"},
    "the whole field is unpacked": {
        "end": end(WAIT + " for (int k = 0; k < N + 2; k++) a[at[k]] += 1.0;")
    },
    "any of them": {
        "end": end(
            "for (int k = 0; k < 4; k++) { int n; MPI_Waitany(4, h->r, &n, MPI_STATUS_IGNORE); }"
        )
    },
}


@pytest.mark.parametrize("name", DIVIDED)
def test_the_interior_runs_between_begin_and_end(name: str, tmp_path: Path) -> None:
    outcome, text = rewritten(tmp_path, program(**DIVIDED[name]))
    waits = "MPI_Waitall(" if name == "a direct wait" else "end("
    assert in_order(text, "begin(", "sweep_interior(", waits, "sweep_boundary(")
    told = [d for d in outcome.decisions if d.site.call.name.startswith("MPI_I")]
    assert told and all(d.decision == "rewritten" for d in told)


@pytest.mark.parametrize("name", REFUSED)
def test_the_sweep_stays_behind_the_end(name: str, tmp_path: Path) -> None:
    _, text = rewritten(tmp_path, program(**REFUSED[name]))
    assert "sweep_interior" not in text


EXCHANGE = "static void exchange(Halo *h, double *x)\n{\n    %s\n}"
CALLS = "begin(h, x); end(h);"
WHOLE = "exchange(&one, a); sweep(a, b);"


def exchanging(body: str = CALLS, **parts: str) -> str:
    last = parts.pop("end", end())
    whole = EXCHANGE % body.replace("; ", ";\n    ")
    return program(**{"code": WHOLE, **parts, "end": f"{last}\n{whole}"})


def test_a_routine_that_calls_both_is_divided(tmp_path: Path) -> None:
    outcome, text = rewritten(tmp_path, exchanging())
    order = ("exchange_start(", "sweep_interior(", "exchange_finish(", "sweep_boundary(")
    assert in_order(text, *order)
    told = [d for d in outcome.decisions if d.site.call.name.startswith("MPI_")]
    assert told and all(d.decision == "rewritten" for d in told)


def test_what_is_unpacked_goes_into_the_finish(tmp_path: Path) -> None:
    _, text = rewritten(tmp_path, exchanging(CALLS + " x[0] *= 2.0;"))
    assert "x[0] *= 2.0" in text[text.index("exchange_finish(") : text.index("sweep_interior(")]
    assert in_order(text, "exchange_start(", "sweep_interior(", "exchange_finish(")


WHOLE_REFUSED: dict[str, str] = {
    "one more request": exchanging(end=end("MPI_Waitall(5, h->r, MPI_STATUSES_IGNORE);")),
    "a begin that is not always made": exchanging("if (size > 1) begin(h, x); end(h);"),
    "an end that is not always made": exchanging("begin(h, x); if (size > 1) end(h);"),
    "another object": exchanging("begin(h, x); end(&two);"),
    "a return between": exchanging("begin(h, x); if (size > 2) return; end(h);"),
    "another exchange between": exchanging(
        "begin(h, x); MPI_Barrier(MPI_COMM_WORLD); end(h); MPI_Bcast(x, 1, MPI_DOUBLE, 0, "
        "MPI_COMM_WORLD);"
    ),
    "the whole field is changed": exchanging(
        "begin(h, x); end(h); for (int k = 0; k < N + 2; k++) x[at[k]] += 1.0;"
    ),
    "the object is set between": exchanging("begin(h, x); h = &two; end(h);"),
}


@pytest.mark.parametrize("name", WHOLE_REFUSED)
def test_a_routine_that_calls_both_stays_whole(name: str, tmp_path: Path) -> None:
    _, text = rewritten(tmp_path, WHOLE_REFUSED[name])
    assert "exchange_start" not in text and "sweep_interior" not in text


def test_the_files_may_be_apart(tmp_path: Path) -> None:
    text = program()
    head = text[: text.index("static double a")]
    routines = text[text.index("static void begin") : text.index("static void sweep")]
    rest = text[: text.index("static void begin")] + text[text.index("static void sweep") :]
    declared = "void begin(Halo *h, double *x);\nvoid end(Halo *h);\n"
    (tmp_path / "halo.h").write_text(f"#pragma once\n{head}{declared}")
    (tmp_path / "halo.c").write_text('#include "halo.h"\n' + routines.replace("static ", ""))
    body = rest[rest.index("static double a") :]
    (tmp_path / "main.c").write_text('#include "halo.h"\n' + body)
    outcome = transform([tmp_path / "halo.c", tmp_path / "main.c"], Options(root=tmp_path))
    after = outcome.after[str(tmp_path / "main.c")].decode()
    assert in_order(after, "begin(", "sweep_interior(", "end(", "sweep_boundary(")
