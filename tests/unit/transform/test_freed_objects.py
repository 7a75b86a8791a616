"""Objects that a routine makes, and another one frees: their sizes, and what they exchange."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct {
    int nx, ny, ld, up, down;
    double *a, *b;
} domain;
static domain kept;
static void update(domain *d);
static domain *make(int nx, int ny)
{
    domain *d = %(new)s;
    %(first)s
    d->nx = nx;
    d->ny = ny;
    %(size)s
    d->up = d->down = MPI_PROC_NULL;
    d->a = calloc((size_t)(nx + 2) * d->ld, sizeof(double));
    d->b = calloc((size_t)(nx + 2) * d->ld, sizeof(double));
    return d;
}
static void end(domain *d)
{
    free(d->a);
    free(d->b);
    %(end)s
}
static void exchange(domain *d)
{
    double *a = d->a;
    int ld = d->ld;
    MPI_Sendrecv(a + ld, ld, MPI_DOUBLE, d->up, 0, a + (d->nx + 1) * ld, ld, MPI_DOUBLE, d->down,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(a + d->nx * ld, ld, MPI_DOUBLE, d->down, 1, a, ld, MPI_DOUBLE, d->up,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void update(domain *d)
{
    %(ahead)s
    const int ld = d->ld;
    const double *a = d->a%(from)s
    double *b = d->b;
    for (int i = 1; i <= d->nx; i++) {
        const double *row = a + i * ld;
        for (int j = 1; j <= d->ny; j++)
            b[i * ld + j] = row[j - 1] + row[j + 1] + row[j - ld] + row[j + ld];
    }
    %(behind)s
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    domain *d = make(50, 40);
    for (int t = 0; t < 3; t++) {
        exchange(d);
        update(d);
    }
    printf("%%g\\n", d->a[60]);
    end(d);
    MPI_Finalize();
    return 0;
}
"""
EXCHANGED = "double *t = d->a;\n    d->a = d->b;\n    d->b = t;"
PLAIN = {
    "new": "malloc(sizeof *d)",
    "first": "",
    "size": "d->ld = ny + 2;",
    "end": "free(d);",
    "ahead": "",
    "from": ";",
    "behind": EXCHANGED,
}
SPLIT = [
    {},
    {"behind": ""},
    {"end": ""},
    {"size": "d->ld = d->ny + 2;"},
    {"new": "calloc(1, sizeof *d)"},
    {"first": "if (d == NULL)\n        exit(EXIT_FAILURE);"},
    {"new": "(domain *)malloc(sizeof(domain))", "end": "free((void *)d);"},
]
WHOLE = [
    {"size": "d->ld = ny + 2;\n    if (scanf(\"%d\", &d->ld) != 1)\n        exit(1);"},
    {"size": "d->ld = ny + 2;\n    sscanf(getenv(\"LD\"), \"%d\", &d->ld);"},
    {"size": "d->ld = ny + 2;\n    if (fread(d, sizeof *d, 1, stdin) != 1)\n        exit(1);"},
    {"ahead": EXCHANGED, "behind": ""},
    {"ahead": "int k = 1;", "from": " + k * ld;\n    k = 0;"},
    {"behind": "d->b = d->a;"},
    {"behind": EXCHANGED + "\n    memcpy(&d->ld, &d->nx, sizeof d->ld);"},
    {"behind": EXCHANGED + "\n    d->ld = d->ny + 3;"},
    {"end": "memcpy(&kept, d, sizeof *d);\n    free(d);"},
    {"end": "d->ld = 1;\n    free(d);"},
    {"new": "calloc(1, sizeof *d)", "first": "if (d->ld == 0)\n        update(d);"},
    {"size": "d->ld = ny + 1;"},
    {"size": "d->ld = ny + 2;\n    if (nx > 3)\n        d->ld = ny;"},
]  # fmt: skip


def split(folder: Path, changes: dict[str, str]) -> bool:
    file = folder / "domain.c"
    file.write_text(PROGRAM % {**PLAIN, **changes})
    outcome = transform([file], Options())
    return any(b"update_interior(" in text for text in outcome.after.values())


@pytest.mark.parametrize("changes", SPLIT, ids=str)
def test_a_step_that_exchanges_its_arrays_is_divided(
    tmp_path: Path, changes: dict[str, str]
) -> None:
    assert split(tmp_path, changes)


@pytest.mark.parametrize("changes", WHOLE, ids=str)
def test_what_may_be_the_same_memory_stays(tmp_path: Path, changes: dict[str, str]) -> None:
    assert not split(tmp_path, changes)
