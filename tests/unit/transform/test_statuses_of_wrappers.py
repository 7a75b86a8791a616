"""Statuses that a wrapper reads: its finish waits with them, or the wrapper stays whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#define N 64
static double u[N + 8], v[N + 8], w[N];
static int rank, size, total, count;
static MPI_Status last;
static void note(MPI_Status *status) { total += status->MPI_SOURCE; }
static void exchange(int to, int from%(more)s)
{
    %(declared)s
    %(first)s
    MPI_Sendrecv(&u[N - 2], 1, MPI_DOUBLE, to, 0, &u[N], 4, MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
                 %(status)s);
    %(behind)s
    total += count;
}
int main(int argc, char **argv)
{
    int to, from;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    to = (rank + 1) %% size;
    from = %(from)s;
    for (int k = 0; k < 5; k++) {
        exchange(to, from%(given)s);
        for (int i = 0; i < N; i++)
            w[i] = w[i] * 0.5 + i;
        for (int i = 0; i < N; i++)
            v[i] = u[i] + (total + status.MPI_TAG) * u[i + 1];
        for (int i = 0; i < N; i++)
            u[i + 1] = 0.001 * v[i] + w[i];
    }
    MPI_Finalize();
    return (int)u[0];
}
"""
USUAL = {
    "more": "",
    "declared": "MPI_Status status;",
    "first": "",
    "status": "&status",
    "behind": "MPI_Get_count(&status, MPI_DOUBLE, &count);",
    "from": "(rank + size - 1) % size",
    "given": "",
}
NOBODY = {"from": "rank > 0 ? rank - 1 : MPI_PROC_NULL"}
GO: dict[str, dict[str, str]] = {
    "how much came": {},
    "how much came, of nobody perhaps": NOBODY,
    "from whom": {"behind": "total += status.MPI_SOURCE;"},
    "one of several": {
        "declared": "MPI_Status all[2];",
        "status": "&all[1]",
        "behind": "MPI_Get_count(&all[1], MPI_DOUBLE, &count);",
    },
    "one by an index": {
        "declared": "MPI_Status all[3];\n    int k = rank % 3;",
        "status": "&all[k]",
        "behind": "k++;\n    MPI_Get_count(&all[k - 1], MPI_DOUBLE, &count);",
    },
    "a global one": {
        "declared": "",
        "status": "&last",
        "behind": "MPI_Get_count(&last, MPI_DOUBLE, &count);",
    },
    "the caller's": {
        "more": ", MPI_Status *status",
        "declared": "",
        "status": "status",
        "behind": "MPI_Get_count(status, MPI_DOUBLE, &count);",
        "given": ", &last",
    },
    "given to a function": {"behind": "note(&status);"},
    "the caller's, which later work reads": {
        "more": ", MPI_Status *status",
        "declared": "",
        "status": "status",
        "behind": "",
        "given": ", &status",
    },
}
STAY: dict[str, dict[str, str]] = {
    "from whom, of nobody perhaps": {**NOBODY, "behind": "total += status.MPI_SOURCE;"},
    "given to a function, of nobody perhaps": {**NOBODY, "behind": "note(&status);"},
    "set in front": {"first": "status.MPI_TAG = 7;\n    total += status.MPI_TAG;"},
    "a copy that is declared": {"behind": "MPI_Status other = status;\n    note(&other);"},
    "one that lasts": {"declared": "static MPI_Status status;"},
}


def rewritten(fields: dict[str, str], folder: Path) -> str:
    source = folder / "program.c"
    source.write_text(PROGRAM % {**USUAL, **fields})
    return transform([source], Options()).after[str(source)].decode()


@pytest.mark.parametrize("fields", GO.values(), ids=GO)
def test_the_finish_waits_with_it(fields: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(fields, tmp_path)
    status = fields.get("status", "&status")
    finish = text[text.index("static void exchange_finish(") :]
    assert f"MPI_Wait(&imbrex_requests[0], {status});" in finish
    main = text[text.index("int main") :]
    start, work = main.index("exchange_start("), main.index("w[i] * 0.5")
    assert start < work < main.index("exchange_finish(", start)


@pytest.mark.parametrize("fields", STAY.values(), ids=STAY)
def test_it_stays_whole(fields: dict[str, str], tmp_path: Path) -> None:
    assert "exchange_start" not in rewritten(fields, tmp_path)


def test_under_a_condition_what_reads_it_is_too(tmp_path: Path) -> None:
    """Elsewhere it would find a status that no message has set."""
    inside = PROGRAM.replace("    MPI_Sendrecv(", "    if (size > 1) {\n    MPI_Sendrecv(")
    source = tmp_path / "program.c"
    for behind, splits in (("count = 0;\n    }\n%s", False), ("%s\n    }\n", True)):
        fields = {**USUAL, "behind": behind % USUAL["behind"]}
        source.write_text(inside % fields)
        after = transform([source], Options()).after[str(source)]
        assert (b"exchange_start" in after) is splits, behind
