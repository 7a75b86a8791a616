"""Columns by a vector type, of a component that an exchange takes as an array of assumed shape."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

KERNELS = Path(__file__).parents[2] / "mpi" / "transform" / "kernels"
PROGRAM = (KERNELS / "ocean.f90").read_text()
SET = "    g%nx = nx; g%ny = ny\n"
MADE = "MPI_Type_vector(ny, 1, nx + 2, MPI_DOUBLE_PRECISION, g%column)"
ARRAYS = "    allocate (g%h(0:nx + 1, 0:ny + 1), g%hnew(0:nx + 1, 0:ny + 1))\n"
WEST = "MPI_Irecv(a(0, 1), 1, g%column, g%west,"
DUMMY = "real(wp), intent(inout), contiguous :: a(0:, 0:)"
CALLED = "    call halo(g, g%h)\n"

GOES: dict[str, dict[str, str]] = {
    "as it is": {},
    "sizes on lines of their own": {SET: "    g%nx = nx\n    g%ny = ny\n"},
    "three on one line": {SET: "    g%nx = nx; g%ny = ny; g%west = 0\n"},
    "sizes by the object": {MADE: MADE.replace("ny, 1, nx", "g%ny, 1, g%nx")},
    "rows and columns from 1": {
        DUMMY: "real(wp), intent(inout), contiguous :: a(:, :)",
        "a(0, 1)": "a(1, 2)",
        "a(g%nx + 1, 1)": "a(g%nx + 2, 2)",
        "a(1, 0)": "a(2, 1)",
        "a(1, g%ny + 1)": "a(2, g%ny + 2)",
        "a(g%nx, 1)": "a(g%nx + 1, 2)",
        "a(1, 1)": "a(2, 2)",
        "a(1, g%ny)": "a(2, g%ny + 1)",
    },
    "shown by the calls": {DUMMY: DUMMY.replace(", contiguous", "")},
    "kinds of an intrinsic module": {
        "  implicit none\n  integer, parameter :: wp = selected_real_kind(15, 307)\n": (
            "  use iso_fortran_env, only: wp => real64\n  implicit none\n"
        )
    },
}
STAYS: dict[str, dict[str, str]] = {
    "a stride that is none of the lines": {MADE: MADE.replace("nx + 2", "nx + 1")},
    "a stride of another size": {MADE: MADE.replace("nx + 2", "ny + 2")},
    "longer lines": {ARRAYS: ARRAYS.replace("nx + 1", "nx + 2")},
    "blocks of two": {MADE: MADE.replace("ny, 1, nx", "ny, 2, nx")},
    "two columns": {WEST: WEST.replace("1, g%column", "2, g%column")},
    "columns of numbers of another type": {MADE: MADE.replace("DOUBLE_PRECISION", "REAL")},
    "a column that the work needs": {WEST: WEST.replace("a(0, 1)", "a(g%nx / 2, 1)")},
    "a size that is set anew": {SET: f"{SET}    g%nx = nx - 2\n"},
    "a size that is set anew on the line": {SET: "    g%nx = nx; g%ny = ny; g%nx = nx - 2\n"},
    "a size that is set anew later": {
        "    call turn(g)\n": "    call turn(g)\n    if (it == 7) g%nx = g%nx - 1\n"
    },
    "the number changes on the line": {
        f"    integer :: me, many\n{SET}": "    integer :: me, many, m\n    m = nx\n"
        "    g%nx = m; m = m + 2; g%ny = ny\n",
        MADE: MADE.replace("nx + 2", "m + 2"),
        ARRAYS: ARRAYS.replace("nx + 1", "m + 1"),
    },
    "another shape later": {
        CALLED: "    if (it == 5) then\n      deallocate (g%h)\n      allocate (g%h(0:9, 0:9))\n"
        f"    end if\n{CALLED}"
    },
    "of another object": {
        "  type(grid) :: g\n  integer :: me, many, dims": "  type(grid) :: g, f\n  integer :: me,"
        " many, dims",
        CALLED: "    call halo(f, g%h)\n",
        "  dt = 0.1_wp\n": "  dt = 0.1_wp\n  call make(f, 7, 9, dims)\n",
    },
    "a type made twice": {
        "    call MPI_Type_commit(g%column)\n": "    if (me > 5) call MPI_Type_vector(ny, 1, 7, "
        "MPI_DOUBLE_PRECISION, g%column)\n    call MPI_Type_commit(g%column)\n"
    },
    "a section of the field": {CALLED: "    call halo(g, g%h(:, :))\n"},
}


def interior(changes: dict[str, str], folder: Path) -> bool:
    """Whether the interior of what uses `h` runs while its halo is exchanged."""
    path = folder / "ocean.f90"
    path.write_text(changed(PROGRAM, changes))
    outcome = transform([path], Options())
    assert not outcome.skipped
    return b"momentum_interior" in outcome.after[str(path)]


@pytest.mark.parametrize("name", GOES)
def test_columns_are_known(name: str, tmp_path: Path) -> None:
    assert interior(GOES[name], tmp_path)


@pytest.mark.parametrize("name", STAYS)
def test_columns_are_not_known(name: str, tmp_path: Path) -> None:
    assert not interior(STAYS[name], tmp_path)
