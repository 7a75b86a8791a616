"""Calls through pointers of C: whether it is known which functions they may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#define N 64
typedef void (*Work)(double *a, int n);
struct ops { int n; Work run; };
static double u[N + 8], v[N + 8], w[N];
static void grow(double *a, int n) { for (int i = 0; i < n; i++) a[i] = 0.5 * a[i] + i; }
static void shrink(double *a, int n) { for (int i = 0; i < n; i++) a[i] = 0.25 * a[i]; }
static void touch(double *a, int n) { for (int i = 0; i < n; i++) a[i] = 0.5 * a[i] + u[i]; }
%(above)s
int main(int argc, char **argv)
{
    int rank, size;
    %(first)s
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < 5; k++) {
        MPI_Sendrecv(&u[N - 1], 1, MPI_DOUBLE, (rank + 1) %% size, 0, &u[0], 1, MPI_DOUBLE,
                     (rank + size - 1) %% size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        %(call)s
        v[0] = u[0];
        u[N - 1] = w[3];
    }
    MPI_Finalize();
    return (int)v[0];
}
"""
# What stands above, in front, and beside the message; `grow` may be another function.
KNOWN: dict[str, tuple[str, str, str]] = {
    "a local pointer": ("", "Work f = grow;", "f(w, N);"),
    "a pointer of the file": ("static Work f = grow;", "", "f(w, N);"),
    "one of two": ("static Work f = grow;", "", "f(w, N); f = k % 2 ? shrink : grow;"),
    "a table": ("static const Work t[2] = {shrink, grow};", "", "t[k % 2](w, N);"),
    "a condition": ("", "", "(k % 2 ? shrink : grow)(w, N);"),
    "what points to it": ("", "Work f = &grow;", "(*f)(w, N);"),
    "a structure": ("", "struct ops o = {3, grow};", "o.run(w, N);"),
    "a structure by its names": ("", "struct ops o = {.run = grow};", "o.run(w, N);"),
    "a structure that is copied": ("", "struct ops o = {3, grow}, c = o;", "c.run(w, N);"),
    "a structure that a pointer names": (
        "static struct ops *make(void)\n{\n    struct ops *p = malloc(sizeof *p);\n"
        "    p->run = grow;\n    return p;\n}",
        "struct ops *p = make();",
        "p->run(w, N);",
    ),
    "an argument": ("static void apply(Work f) { f(w, N); }", "", "apply(grow);"),
    "what a function returns": ("static Work pick(void) { return grow; }", "", "pick()(w, N);"),
    "a pointer that may be null": ("static Work f;", "f = grow;", "if (f) f(w, N);"),
}
UNKNOWN: dict[str, tuple[str, str, str]] = {
    "a pointer that is never set": ("static Work f;", "", "f(w, N);"),
    "a pointer of another file": ("extern Work f;", "", "f(w, N);"),
    "what another file returns": ("Work pick(void);", "Work f = pick();", "f(w, N);"),
    "one that takes other arguments": (
        "static void one(double *a) { grow(a, N); }",
        "Work f = (Work)one;",
        "f(w, N);",
    ),
    "a pointer that other bytes fill": (
        "",
        "struct ops o = {3, grow}, c; memcpy(&c, &o, sizeof o);",
        "c.run(w, N);",
    ),
    "a function that prints": (
        '#include <stdio.h>\nstatic void say(double *a, int n) { printf("%g %d", a[0], n); }',
        "Work f = say;",
        "f(w, N);",
    ),
}


def window(parts: tuple[str, str, str], folder: Path, function: str = "grow") -> str | None:
    """What stands between the start of the receive and its wait; None where it stays."""
    above, first, call = (part.replace("grow", function) for part in parts)
    source = folder / "program.c"
    source.write_text(PROGRAM % {"above": above, "first": first, "call": call})
    outcome = transform([source], Options())
    text = outcome.after[str(source)].decode()
    if "MPI_Irecv" not in text:
        return None
    start = text.index("MPI_Irecv")
    return text[start : text.index("MPI_Wait", start)]


@pytest.mark.parametrize("parts", KNOWN.values(), ids=KNOWN)
def test_work_by_a_pointer_is_in_the_window(parts: tuple[str, str, str], tmp_path: Path) -> None:
    assert parts[2].partition(";")[0] in (window(parts, tmp_path) or "")


@pytest.mark.parametrize("parts", KNOWN.values(), ids=KNOWN)
def test_what_reads_the_message_stays(parts: tuple[str, str, str], tmp_path: Path) -> None:
    assert parts[2].partition(";")[0] not in (window(parts, tmp_path, "touch") or "")


@pytest.mark.parametrize("parts", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_code_stays(parts: tuple[str, str, str], tmp_path: Path) -> None:
    assert parts[2].partition(";")[0] not in (window(parts, tmp_path) or "")


def test_all_that_may_come_there_count(tmp_path: Path) -> None:
    """A function whose address is taken elsewhere, and that takes as many arguments."""
    parts = ("static const Work t[2] = {shrink, touch};", "Work f = grow;", "f(w, N);")
    assert "f(w, N)" not in (window(parts, tmp_path) or "")


def test_a_wrapper_that_is_called_by_its_address_is_told(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        "#include <mpi.h>\n#define N 64\nstatic double u[N + 2], v[N + 2];\n"
        "static void exchange(double *a)\n{\n    MPI_Sendrecv(&a[N], 1, MPI_DOUBLE, 0, 0, &a[0], "
        "1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n}\n"
        "int main(int argc, char **argv)\n{\n    void (*halo)(double *) = exchange;\n"
        "    MPI_Init(&argc, &argv);\n    halo(u);\n"
        "    for (int i = 0; i < N; i++)\n        v[i] = 0.5 * v[i];\n"
        "    MPI_Finalize();\n    return (int)v[1];\n}\n"
    )
    outcome = transform([source], Options())
    (decision,) = outcome.decisions
    assert "address of exchange" in " ".join((str(decision.barred), *decision.details))
