"""Requests of a routine that others start, one by one: what a wait for all of them completes."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

CASES = Path(__file__).parent / "cases"
C = (CASES / "chunks.c").read_text()
FORTRAN = (CASES / "chunks.f90").read_text()
WAIT = "MPI_Waitall(message_count, request, status);"
F_WAIT = "call MPI_Waitall(message_count, request, status, err)"
F_DECLARED = "integer :: request(4), message_count"

GO_C: dict[str, dict[str, str]] = {
    "as it is": {},
    "a count of its own": {
        "int message_count = 0;": "int message_count = 0, k;",
        WAIT: f"k = message_count;\n    {WAIT.replace('message_count', 'k')}",
    },
}
STAY_C: dict[str, dict[str, str]] = {
    "waits one by one": {
        WAIT: "for (int n = 0; n < message_count; n++)\n        MPI_Wait(&request[n], status);"
    },
    "requests that are preset": {
        "MPI_Request request[4];": "MPI_Request request[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, "
        "MPI_REQUEST_NULL, MPI_REQUEST_NULL};",
        WAIT: "MPI_Waitall(4, request, status);",
    },
    "a static array": {"MPI_Request request[4];": "static MPI_Request request[4];"},
    "another one is waited for": {
        "MPI_Request request[4];": "MPI_Request request[4], others[4];",
        WAIT: "MPI_Waitall(message_count, others, status);",
    },
    "the work needs what comes": {"c->e[i] = 0.9 * c->e[i] + 1;": "c->e[i] += c->u[i];"},
}
STAY_FORTRAN: dict[str, dict[str, str]] = {
    "an array that is saved": {
        F_DECLARED: "integer, save :: request(4)\n    integer :: message_count"
    },
    "another one is waited for": {
        F_DECLARED: "integer :: others(4), request(4), message_count",
        F_WAIT: F_WAIT.replace("request", "others"),
    },
}


def split(text: str, replaced: dict[str, str], path: Path) -> bool:
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return b"exchange_start(" in transform([path], Options()).after[str(path)]


@pytest.mark.parametrize("replaced", GO_C.values(), ids=GO_C)
def test_split_in_c(replaced: dict[str, str], tmp_path: Path) -> None:
    assert split(C, replaced, tmp_path / "chunks.c")


@pytest.mark.parametrize("replaced", STAY_C.values(), ids=STAY_C)
def test_whole_in_c(replaced: dict[str, str], tmp_path: Path) -> None:
    assert not split(C, replaced, tmp_path / "chunks.c")


def test_split_in_fortran(tmp_path: Path) -> None:
    assert split(FORTRAN, {}, tmp_path / "chunks.f90")


@pytest.mark.parametrize("replaced", STAY_FORTRAN.values(), ids=STAY_FORTRAN)
def test_whole_in_fortran(replaced: dict[str, str], tmp_path: Path) -> None:
    assert not split(FORTRAN, replaced, tmp_path / "chunks.f90")
