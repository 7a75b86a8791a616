"""Routines that do nothing but call exchanges: `exchange_all(f)` in front of its callers' work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = (Path(__file__).parent / "cases" / "relayed.c").read_text()
BOTH = "    exchange(f, f->u);\n    exchange(f, f->p);\n"
CALL = "        exchange_all(&f);\n"
ALL = "static void exchange_all(field_t *f)\n{\n"
SWEEP = "        for (int j = 1; j <= f.ny; j++)\n"
REQUESTS = "    MPI_Request r[4];\n"

GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "one field": {BOTH: "    exchange(f, f->u);\n"},
    "with an error code": {"    MPI_Request r[4];": "    int n = 4;\n    MPI_Request r[4];"},
    "with buffers": {
        "    MPI_Request r[4];\n": "    double out[64];\n    MPI_Request r[4];\n"
        "    for (int j = 0; j < w; j++)\n        out[j] = a[w + j];\n",
        "MPI_Isend(a + w,": "MPI_Isend(out,",
    },
    "on a condition": {BOTH: "    if (f->nx > 3) exchange(f, f->u);\n"},
    "one of two on a condition": {
        BOTH: "    exchange(f, f->u);\n    if (f->nx > 3)\n        exchange(f, f->p);\n"
    },
    "in both branches": {
        BOTH: "    if (f->nx > 3)\n        exchange(f, f->u);\n    else if (f->nx > 2)\n"
        "        exchange(f, f->p);\n    else {\n        exchange(f, f->p);\n"
        "        exchange(f, f->u);\n    }\n"
    },
    "a return ahead of all": {BOTH: f"    if (f->nx == 1)\n        return;\n{BOTH}"},
    "on a condition of its caller": {CALL: f"        if (f.nx > 1)\n    {CALL}"},
    "also called in front of other communication": {
        "    double s = 0, t;\n": "    exchange_all(&f);\n    double s = 0, t;\n"
    },
}
STAY: dict[str, dict[str, str]] = {
    "in a loop": {BOTH: "    for (int k = 0; k < 2; k++) exchange(f, k ? f->p : f->u);\n"},
    "in a switch": {BOTH: "    switch (f->nx) {\n    case 3:\n" + BOTH + "        break;\n    }\n"},
    "requests that are persistent": {
        REQUESTS: "    static MPI_Request r[4];\n",
    },
}
# The routine stays, in which both exchanges are under way together.
TOGETHER: dict[str, dict[str, str]] = {
    "no work behind": {SWEEP: f"        MPI_Barrier(MPI_COMM_WORLD);\n{SWEEP}"},
    "named by a pointer": {
        CALL: "        void (*all)(field_t *) = exchange_all;\n        all(&f);\n"
    },
}
# The second exchange needs what the first one brings: the finish begins it.
IN_TURN: dict[str, dict[str, str]] = {
    "one field twice": {BOTH: "    exchange(f, f->u);\n    exchange(f, f->u);\n"},
    "on a condition that what comes decides": {
        BOTH: "    exchange(f, f->u);\n    if (f->u[0] > -1e30)\n        exchange(f, f->p);\n"
    },
}


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_both_are_split(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "fields.c", changed(PROGRAM, replaced))
    start = text.index("exchange_all_start(&f")
    found = re.compile(r"exchange_all_finish\((?:&f, )?exch").search(text, start)
    assert found is not None
    assert "for (int j = 2; j <= f.ny - 1; j++)" in text[start : found.start()]
    assert "MPI_Request exchange_all_exchange_r[4];" in text


def test_through_two_routines(tmp_path: Path) -> None:
    replaced = {
        ALL: "static void exchange_both(field_t *f);\n" + ALL.replace("_all", "_both"),
        "static double *make": "static void exchange_all(field_t *f)\n{\n    exchange_both(f);\n}\n"
        "static double *make",
        "static void exchange_both(field_t *f);\n": "",
    }
    text = rewritten(tmp_path / "fields.c", changed(PROGRAM, replaced))
    assert "exchange_all_start(&f" in text
    assert "exchange_both_start(f" in text


@pytest.mark.parametrize("replaced", IN_TURN.values(), ids=IN_TURN)
def test_the_finish_begins_the_second(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "fields.c", changed(PROGRAM, replaced))
    start, finish, main = (
        text.index(name) for name in ("exchange_all_start(", "exchange_all_finish(", "int main")
    )
    assert text[start:finish].count("exchange_start(") == 1
    assert text[finish:main].count("exchange_start(") == 1
    assert text.index("exchange_finish(", finish) < text.index("exchange_start(", finish)


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_they_stay(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "fields.c", changed(PROGRAM, replaced))
    assert "exchange_all_start" not in text
    assert "exchange_start" not in text


@pytest.mark.parametrize("replaced", TOGETHER.values(), ids=TOGETHER)
def test_they_go_together(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "fields.c", changed(PROGRAM, replaced))
    assert "exchange_all_start" not in text
    body = text[text.index("void exchange_all(") :]
    assert re.findall(r"exchange_(\w+)\(", body[: body.index("\n}")]) == [
        *("all", "start", "start", "finish", "finish")
    ]


def test_work_between_is_work_enough(tmp_path: Path) -> None:
    """The first exchange is under way beside it, whatever its callers do."""
    scaled = "    for (int i = 0; i < f->ny * f->nx; i++)\n        f->p[i] *= 0.5;\n"
    between = {BOTH: f"    exchange(f, f->u);\n{scaled}    exchange(f, f->p);\n"}
    text = rewritten(tmp_path / "fields.c", changed(PROGRAM, between))
    assert text.index("exchange_start(f, f->u") < text.index("f->p[i] *= 0.5")
    assert text.index("f->p[i] *= 0.5") < text.index("exchange_finish(", text.index("p[i] *="))
