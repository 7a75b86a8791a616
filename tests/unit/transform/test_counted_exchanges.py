"""Routines that first tell how much comes, and then exchange it: where they are split."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = (Path(__file__).parent / "cases" / "borders.c").read_text()
FIRST = (
    "    MPI_Sendrecv(&n[0], 1, MPI_INT, left, 1, &m[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD,\n"
    "                 MPI_STATUS_IGNORE);\n"
)
SECOND = (
    "    MPI_Sendrecv(&n[1], 1, MPI_INT, right, 2, &m[0], 1, MPI_INT, left, 2, MPI_COMM_WORLD,\n"
    "                 MPI_STATUS_IGNORE);\n"
)
SENT = "    MPI_Sendrecv(outl, n[0], MPI_DOUBLE, left, 3, gr, m[1], MPI_DOUBLE, right, 3,\n"
PLAIN = "&n[0], 1, MPI_INT, left, 1, &m[1], 1, MPI_INT, right, 1"
REAL = "&outl[MOST - 1], 1, MPI_DOUBLE, left, 1, &gr[MOST - 1], 1, MPI_DOUBLE, right, 1"

GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "one rank after the other": {
        FIRST: "    if (rank % 2) {\n"
        "        MPI_Send(&n[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD);\n"
        "        MPI_Recv(&m[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
        "    } else {\n"
        "        MPI_Recv(&m[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
        "        MPI_Send(&n[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD);\n    }\n",
    },
    "where there is a neighbour": {
        SECOND: f"    if (right >= 0 || left >= 0)\n    {SECOND}",
    },
    "a total of all": {
        SECOND: SECOND + "    int all = n[0] + n[1], sum;\n"
        "    MPI_Allreduce(&all, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n",
        "    ng[1] = m[1];": "    ng[1] = m[1];\n    ng[0] += 0 * sum;",
    },
}
# The finish needs more than what comes: it is split at the first message, or not at all.
ELSE: dict[str, dict[str, str]] = {
    "real numbers first": {FIRST: FIRST.replace(PLAIN, REAL) + FIRST},
    "the particles that came go on": {
        SENT: SENT.replace("outl, n[0]", "gl, n[0]"),
    },
}


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_what_comes_is_under_way(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "p.c", changed(PROGRAM, replaced))
    begin, end = text.index("borders_start("), text.index("borders_finish(")
    assert text.index("outr, n[1]") in range(begin, end)
    assert text.index("local_forces();") > text.rindex("borders_start(")
    assert "MPI_Irecv" not in text[end : text.index("local_forces(void)")]


@pytest.mark.parametrize("replaced", ELSE.values(), ids=ELSE)
def test_other_messages_keep_their_place(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "p.c", changed(PROGRAM, replaced))
    if "borders_start(" in text:
        end = text.index("borders_finish(")
        assert text.index("outr, n[1]") in range(end, text.index("local_forces(void)"))
