"""Slabs that whole assignments of Fortran put into one array, and take out of one, in turn.

Each program that must stay differs from the case in what an assignment leaves as it was, or in what
is read of a message that is shorter than the array.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = (Path(__file__).parent / "cases" / "slabs_in_turn.f90").read_text()
PACK = "    out = a(1:nx, 1, :)\n"
UNPACK = "    a(1:nx, ny + 1, :) = in\n"
SECOND = "call mpi_irecv(in, nx * nz, MPI_DOUBLE_PRECISION, up, 6, &\n"
ARRAYS = "  double precision :: out(nx, nz), in(nx, nz)\n"
LOOP = "    do k = 2, me\n      out = a(1:nx, 1, :)\n    end do\n"
MADE = "  double precision, allocatable :: out(:, :)\n  double precision :: in(nx, nz)\n"
NAMED = "  double precision, pointer :: out(:, :)\n  double precision :: in(nx, nz)\n"
# name: (replacements, receives and sends of the second axis that are under way around the work)
CASES: dict[str, tuple[dict[str, str], tuple[int, int]]] = {
    "both slabs": ({}, (2, 2)),
    "by columns": ({UNPACK: "    a(1:nx, ny + 1, 1:nz) = in(:, 1:nz)\n"}, (2, 2)),
    "where a mask says so": ({PACK: "    where (a(1:nx, 1, :) > 0) out = a(1:nx, 1, :)\n"}, (2, 1)),
    "a part": ({PACK: "    out(:, 2:) = a(1:nx, 1, 2:)\n"}, (2, 1)),
    "added to": ({PACK: "    out = out + a(1:nx, 1, :)\n"}, (2, 1)),
    "now and then": ({PACK: f"    if (me > 1) {PACK.strip()}\n"}, (2, 1)),
    "as often as there are ranks": (
        {PACK: LOOP, ARRAYS: f"{ARRAYS}  integer :: k\n"},
        (2, 1),
    ),
    "of a given shape": ({ARRAYS: MADE}, (0, 0)),
    "what a pointer names": ({ARRAYS: NAMED}, (0, 0)),
    "less comes than is read": ({SECOND: SECOND.replace("nx * nz", "nx * (nz - 1)")}, (1, 1)),
    "read in any case": (
        {"end subroutine faces_y": "  a(1, 1, 1) = in(1, 1)\nend subroutine faces_y"},
        (1, 1),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_under_way(name: str, tmp_path: Path) -> None:
    replacements, (receives, sends) = CASES[name]
    head, found, tail = PROGRAM.partition("subroutine faces_y(a)\n")
    path = tmp_path / "case.f90"
    path.write_text(head + found + changed(tail, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    start = text.partition("subroutine faces_y_start(")[2].partition("end subroutine")[0]
    assert (start.count("call mpi_irecv"), start.count("call mpi_isend")) == (receives, sends), text
