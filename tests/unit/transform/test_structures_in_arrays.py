"""Arrays of structures: which elements a field of one is in, and which a message is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASE = (Path(__file__).parent / "cases" / "cells.c").read_text()
RECORD = "typedef struct { double rho, vx, vy; } cell;"
FIRST = "nx, type, up, 0, &u[(ny + 1) * nx], nx, type, down, 0,"
SECOND = "MPI_Sendrecv(&u[ny * nx], nx * sizeof(cell), MPI_BYTE, down, 1, &u[0], nx * sizeof(cell),"
WORK = "w[at].vx = u[at].vx + 0.1 * (u[at].rho - w[at].rho);"
EXCHANGED = "cell *t = u; u = w; w = t;"
VECTORS = "cell *u = calloc(nx * (ny + 2), sizeof(cell)), *w = calloc(nx * (ny + 2), sizeof(cell));"

# name: what is replaced in the case, by what
OVERLAPPED = {
    "as it is": ("", ""),
    "a structure with a tag": (
        RECORD,
        "struct cell { double rho, vx, vy; }; typedef struct cell cell;",
    ),
    "an array in it": (RECORD, "typedef struct { double rho, vx; double vy; } cell;"),
    "padding": (
        RECORD,
        "typedef struct { double rho; float f; double vx, vy; } cell;",
    ),
    "numbers": (
        FIRST,
        "3 * nx, MPI_DOUBLE, up, 0, &u[(ny + 1) * nx], 3 * nx, MPI_DOUBLE, down, 0,",
    ),
    "a size in front": (SECOND, SECOND.replace("nx * sizeof(cell)", "(int)sizeof(cell) * nx")),
    "a size of an element": (SECOND, SECOND.replace("sizeof(cell)", "sizeof(u[0])")),
    "a size of what it points to": (SECOND, SECOND.replace("sizeof(cell)", "sizeof *u")),
    "a field that no message needs": (WORK, "w[at].vx = 2;"),
    "work by a pointer to a structure": (WORK, "const cell *p = &u[at]; w[at].vx = p[nx].vx;"),
    "a copy of a structure": (WORK, "w[at] = u[at + nx];"),
    "a copy that is changed": (WORK, "cell c = u[at - nx]; c.vx *= 2; w[at] = c;"),
    "a structure of its own": (WORK, "cell c; c.vx = u[at].vx; w[at].vx = c.vx;"),
    "a structure in it": (
        RECORD,
        "typedef struct { double rho, vx, vy; struct { int kind[2]; } mark; } cell;",
    ),
}
# Those with more than three numbers say so by bytes alone.
_BYTES = FIRST.replace("nx, type", "nx * sizeof(cell), MPI_BYTE")
BY_BYTES = {"padding", "a structure in it"}

STAYS = {
    "a pointer in it": (
        RECORD,
        "typedef struct { double rho, vx, vy; double *more; } cell;",
    ),
    "a union in it": (
        RECORD,
        "typedef struct { double rho, vx, vy; union { double d; int i; } both; } cell;",
    ),
    "more than a row": (SECOND, SECOND.replace("&u[0], nx", "&u[0], (nx + 1)")),
    "a part of a structure more": (
        SECOND,
        SECOND.replace(", &u[0], nx * sizeof(cell)", ", &u[0], nx * sizeof(cell) + 8"),
    ),
    "the wrong structure's size": (
        SECOND,
        SECOND.replace("&u[0], nx * sizeof(cell)", "&u[0], nx * sizeof(struct other)"),
    ),
    "two numbers of three": (
        FIRST,
        FIRST.replace("(ny + 1) * nx], nx, type", "(ny + 1) * nx], 2 * nx, MPI_DOUBLE"),
    ),
    "work on the row that comes": (WORK, "w[at].vx = u[(ny + 1) * nx + i].vx;"),
    "work that sets the row that leaves": (WORK, "w[at].vx = 1; ((cell *)u)[nx + i].vx = 2;"),
    "one field for both": (EXCHANGED, "w = u;"),
    "halves of one allocation": (
        VECTORS,
        "cell *u = calloc(2 * nx * (ny + 2), sizeof(cell)), *w = u + nx * (ny + 2);",
    ),
    "a pointer to the row that comes": (
        WORK,
        "const cell *p = &u[(ny + 1) * nx]; w[at].vx = p[i].vx;",
    ),
    "a copy of the row that comes": (WORK, "w[at] = u[(ny + 1) * nx + i];"),
    "a sum along the rows": (WORK, "w[at].vx = w[at - nx].vx + 0.1;"),
    "the same by pointers": (WORK, "cell *p = &w[at], *q = &w[at - nx]; p->vx = q->vx + 0.1;"),
    "the same by a copy": (WORK, "cell c = w[at - nx]; c.vx += 0.1; w[at] = c;"),
    "one structure for all": (WORK, "last.vx = 0.5 * last.vx + u[at].vx; w[at].vx = last.vx;"),
}


def _written(name: str, change: tuple[str, str]) -> str:
    old, new = change
    assert not old or old in CASE, name
    text = CASE.replace(old, new)
    if name in BY_BYTES:
        text = text.replace(FIRST, _BYTES)
    with_others = "struct other { float f[5]; };\n" + RECORD + "\nstatic cell last;"
    return text.replace(RECORD, with_others)


@pytest.mark.parametrize("name", OVERLAPPED)
def test_overlapped(name: str, tmp_path: Path) -> None:
    path = tmp_path / "cells.c"
    path.write_text(_written(name, OVERLAPPED[name]))
    outcome = transform([path], Options())
    exchange = [d for d in outcome.decisions if d.site.call.name == "MPI_Sendrecv"]
    assert [d.decision for d in exchange] == ["rewritten"] * 2, [d.reason for d in exchange]
    text = outcome.after[str(path)].decode()
    main = text[text.index("int main") :]
    assert main.index("exchange_start(u") < main.index("update_interior(u")
    assert main.index("update_interior(u") < main.index("exchange_finish(")
    assert main.index("exchange_finish(") < main.index("update_boundary(u")


@pytest.mark.parametrize("name", STAYS)
def test_work_stays_behind_the_exchange(name: str, tmp_path: Path) -> None:
    path = tmp_path / "cells.c"
    path.write_text(_written(name, STAYS[name]))
    text = transform([path], Options()).after[str(path)].decode()
    assert "update_interior" not in text
    main = text[text.index("int main") :]
    if "exchange_finish(" in main:
        assert main.index("exchange_finish(") < main.index("update(u")


INLINE = """#include <mpi.h>
#include <stdio.h>
#define NX 120
#define NY 80
typedef struct { double t, q; } cell;
static cell u[NY + 2][NX], w[NY + 2][NX];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int up = (rank + size - 1) % size;
    for (int s = 0; s < 20; s++) {
        MPI_Sendrecv(u[1], 2 * NX, MPI_DOUBLE, up, 0, u[NY + 1], 2 * NX, MPI_DOUBLE,
                     (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int j = 1; j <= NY; j++)
            for (int i = 1; i < NX - 1; i++) {
                w[j][i].t = 0.5 * (u[j - 1][i].t + u[j + 1][i].t);
                w[j][i].q = u[j][i].q * 0.9 + 0.1 * w[j][i].t;
            }
        for (int j = 1; j <= NY; j++)
            for (int i = 1; i < NX - 1; i++)
                u[j][i] = w[j][i];
    }
    printf("%g\\n", u[3][4].t);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("old", "new", "divided"),
    [
        ("", "", True),
        ("u[j][i].q * 0.9", "w[j - 1][i].q * 0.9", False),
        ("u[j][i].q * 0.9", "w[j][i - 1].q * 0.9", True),
        ("0.5 * (u[j - 1][i].t", "0.5 * (u[NY + 1][i].t", False),
    ],
)
def test_loops_beside_the_call(old: str, new: str, divided: bool, tmp_path: Path) -> None:
    path = tmp_path / "plate.c"
    path.write_text(INLINE.replace(old, new))
    (decision,) = transform([path], Options()).decisions
    assert ("boundary-first" in decision.rewrites) is divided, decision.details
