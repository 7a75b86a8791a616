"""Nonblocking rows of a component that an exchange takes as an array of assumed shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = (Path(__file__).parent / "cases" / "strait.f90").read_text()
ALLOCATED = "allocate(g%u(0:nx+1,0:ny+1), g%v(0:nx+1,0:ny+1), g%h(0:nx+1,0:ny+1))"
RECEIVED = "MPI_Irecv(a(1:g%nx,0), g%nx,"
CALLED = "    call halo(g, g%h)\n"
ROWS = {f"a(1:g%nx,{j})": f"a(1,{j})" for j in ("0", "g%ny+1", "1", "g%ny")}

GOES: dict[str, dict[str, str]] = {
    "sections": {},
    "first elements": ROWS,
    "longer rows": {ALLOCATED: ALLOCATED.replace("nx+1", "nx+4"), **ROWS},
    "rows from 1": {
        ALLOCATED: ALLOCATED.replace("(0:nx+1", "(1:nx+2"),
        "a(0:,0:)": "a(1:,0:)",
        "g%h(i+1,j)-g%h(i-1,j)": "g%h(i+1,j)-g%h(i,j)",
    },
}
STAYS: dict[str, dict[str, str]] = {
    "a message that goes on behind its row": {
        **ROWS,
        "MPI_Irecv(a(1,0), g%nx,": "MPI_Irecv(a(1,0), g%nx + 2,",
    },
    "shorter rows": {ALLOCATED: ALLOCATED.replace("nx+1", "nx-1"), **ROWS},
    "sizes that change": {ALLOCATED: f"{ALLOCATED}\n    g%nx = nx - 2", **ROWS},
    "another shape later": {
        CALLED: "    if (it == 5) then\n      deallocate(g%h)\n      allocate(g%h(0:9,0:9))\n"
        f"    end if\n{CALLED}",
        **ROWS,
    },
    "the rows of another object": {
        "  type(grid_t) :: g\n  integer :: it": "  type(grid_t) :: g, f\n  integer :: it",
        "  dt = 0.1d0\n": "  dt = 0.1d0\n  call setup(f, 20, 40)\n",
        CALLED: "    call halo(g, f%h)\n",
        "(g%h(i": "(f%h(i",
        "-g%h(i": "-f%h(i",
        **ROWS,
    },
    "a row that the work needs": {RECEIVED: "MPI_Irecv(a(1:g%nx,g%ny/2), g%nx,"},
}


def halves(changes: dict[str, str], folder: Path) -> bool:
    text = PROGRAM
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    path = folder / "program.f90"
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped
    return "do j = 2, g%ny - 1" in outcome.after[str(path)].decode()


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    assert halves(GOES[name], tmp_path)


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    assert not halves(STAYS[name], tmp_path)
