"""Persistent requests: their waits move, as far as the memory is known that they are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASES = Path(__file__).parent / "cases"
IN_C = (CASES / "persistent.c").read_text()
IN_FORTRAN = (CASES / "persistent.f90").read_text()

STARTS = "        MPI_Startall(8, req);\n"
WAIT = "        MPI_Waitall(8, req, MPI_STATUSES_IGNORE);\n"
LOOP = "    for (step = 0; step < 12; step++) {\n"
LAST = "MPI_COMM_WORLD, &req[7]);\n"
MAIN = "int main("
INTERIOR = "for (i = 2; i <= nx - 1; i++)\n            for (j = 2;"
SWAP = "{ double *t = u; u = v; v = t; }\n"

GOES = {
    "as it is": {},
    "started one by one": {STARTS: "        for (i = 0; i < 8; i++) MPI_Start(&req[i]);\n"},
    "in two parts": {
        STARTS: "        MPI_Startall(4, &req[0]);\n        MPI_Startall(4, &req[4]);\n"
    },
    "synchronous sends": {"MPI_Send_init": "MPI_Ssend_init"},
    "pointers that are exchanged before": {
        "    MPI_Recv_init(&AT(u, 0, 1)": SWAP + "    MPI_Recv_init(&AT(u, 0, 1)"
    },
}

# None of these lets the interior run before the messages of the grid have come.
STAYS = {
    "pointers are exchanged": {"        if (step % 5": SWAP + "        if (step % 5"},
    "pointers are exchanged once": {LOOP: SWAP + LOOP},
    "sizes change": {
        "        if (step % 5": "        if (step == 7) ny = 20;\n        if (step % 5"
    },
    "sizes change through a pointer": {
        "    for (i = 0; i < nx + 2": "    int *width = &nx;\n    for (i = 0; i < nx + 2",
        LOOP: LOOP + "        if (step == 9) *width = 20;\n",
    },
    "made anew elsewhere": {
        STARTS: "        MPI_Request_free(&req[0]);\n        MPI_Recv_init(&AT(u, step % 3, 1), ny,"
        " MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &req[0]);\n" + STARTS
    },
    "a ready send": {"MPI_Send_init": "MPI_Rsend_init"},
    "a buffered send": {"MPI_Send_init": "MPI_Bsend_init"},
    "handles that are copied": {
        WAIT: "        MPI_Request other[8];\n"
        "        for (i = 0; i < 8; i++) other[i] = req[7 - i];\n" + WAIT.replace("req", "other")
    },
    "a test": {
        WAIT: "        int flag = 0;\n        while (!flag)\n            "
        "MPI_Testall(8, req, &flag, MPI_STATUSES_IGNORE);\n"
    },
    "a wait for any": {
        WAIT: "        for (i = 0; i < 8; i++)\n            "
        "MPI_Waitany(8, req, &j, MPI_STATUS_IGNORE);\n"
    },
    "a look at one": {
        WAIT: "        int flag;\n"
        "        MPI_Request_get_status(req[0], &flag, MPI_STATUS_IGNORE);\n" + WAIT
    },
    "a routine that is not seen": {
        MAIN: "void elsewhere(MPI_Request *r);\n" + MAIN,
        STARTS: STARTS + "        elsewhere(req);\n",
    },
    "the same handle of another start": {
        LOOP: "    MPI_Request_free(&req[0]);\n" + LOOP,
        STARTS: "        MPI_Irecv(&AT(u, 0, 1), ny, MPI_DOUBLE, down, 1,"
        " MPI_COMM_WORLD, &req[0]);\n"
        "        MPI_Startall(7, &req[1]);\n",
    },
    "partitioned": {
        LAST: LAST + "    MPI_Psend_init(v, 1, 1, MPI_DOUBLE, right, 9, MPI_COMM_WORLD,"
        " MPI_INFO_NULL, &req[7]);\n"
    },
}


def rewritten(text: str, path: Path) -> str:
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped
    return outcome.after[str(path)].decode()


@pytest.mark.parametrize("replaced", GOES.values(), ids=GOES)
def test_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(changed(IN_C, replaced), tmp_path / "case.c")
    assert INTERIOR in text
    assert text.index(INTERIOR) < text.index("MPI_Waitall(2, req,")


@pytest.mark.parametrize("replaced", STAYS.values(), ids=STAYS)
def test_whole(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(changed(IN_C, replaced), tmp_path / "case.c")
    assert INTERIOR not in text
