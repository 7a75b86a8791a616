"""Datatypes that a structure holds, made of sizes that their routine is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = (Path(__file__).parent / "cases" / "given_row.f90").read_text()
DECLARED = "  type(grid_t) :: g\n"
CREATED = "  call create(g, n, m)\n"
MADE = "    call MPI_Type_vector(m, 1, n + 2, MPI_DOUBLE_PRECISION, g%row)\n"
AGAIN = """  subroutine again(g)
    type(grid_t), intent(inout) :: g
    call MPI_Type_vector(3, 1, 7, MPI_DOUBLE_PRECISION, g%row)
  end subroutine again
end module grid
"""


@pytest.mark.parametrize(
    ("changes", "passed"),
    [
        ({}, True),
        ({DECLARED: "  type(grid_t) :: g, h\n",
          CREATED: CREATED + "  call create(h, n, m)\n"}, True),
        ({DECLARED: "  type(grid_t) :: g, h\n",
          CREATED: CREATED + "  call create(h, m, n)\n"}, False),
        ({CREATED: CREATED + "  n = n - 1\n"}, False),
        ({CREATED: CREATED + "  it = n - 1\n"}, True),
        ({MADE: MADE.replace("n + 2", "n + 3")}, False),
        ({MADE: MADE.replace("m, 1", "m, 2")}, False),
        ({MADE: MADE.replace("m, 1", "m - 1, 1")}, True),
        ({MADE: "    if (n > 3) then\n" + MADE + "    end if\n"}, True),
        ({"end module grid\n": AGAIN}, False),
        ({MADE: MADE + "    call MPI_Type_commit(g%row)\n"}, True),
    ],
)  # fmt: skip
def test_columns_are_told_by_types_of_given_sizes(
    changes: dict[str, str], passed: bool, tmp_path: Path
) -> None:
    text = rewritten(tmp_path / "rows.f90", changed(PROGRAM, changes))
    assert ("call sweep_interior(" in text) is passed
