"""Fields that are parts of another object, each with an array of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = (Path(__file__).parent / "cases" / "parts.f90").read_text()
DECLARED = "  type(state) :: s\n"
INIT = "    call s%u%init(n, m)\n"


@pytest.mark.parametrize(
    ("changes", "passed"),
    [
        ({}, True),
        ({DECLARED: "  type(state) :: s, r\n"}, False),
        ({DECLARED: "  type(state) :: s\n  integer :: r\n"}, True),
        ({DECLARED: "  type(state) :: s\n  type(field) :: r\n"}, True),
        ({DECLARED: "  type(state) :: s(1)\n", "call state_init(s,": "call state_init(s(1),",
          "call step(s)": "call step(s(1))", "call s%u%ex": "call s(1)%u%ex",
          "exchange(s%nx, s%ny,": "exchange(s(1)%nx, s(1)%ny,",
          "    s%u%a(1:s%nx, 1:s%ny) = s%v%a(1:s%nx, 1:s%ny)\n":
          "    s(1)%u%a(1:12, 1:nloc) = s(1)%v%a(1:12, 1:nloc)\n",
          "sum(s%u%a(1:s%nx, 1:s%ny))": "sum(s(1)%u%a(1:12, 1:nloc))"}, False),
        ({"type(field) :: u, v": "type(field), allocatable :: u, v",
          INIT: "    allocate(s%u, s%v)\n" + INIT}, False),
        ({"s%v%a(i,j) = 0.25d0 *": "s%u%a(i,j) = 0.25d0 *"}, False),
        ({"call s%u%exchange(s%nx,": "call s%u%exchange(s%nx + 1,"}, True),
        ({"call s%u%exchange(s%nx,": "call s%u%exchange(s%nx + 2,"}, False),
    ],
)  # fmt: skip
def test_parts_of_the_only_object_are_told_apart(
    changes: dict[str, str], passed: bool, tmp_path: Path
) -> None:
    text = rewritten(tmp_path / "parts.f90", changed(PROGRAM, changes))
    assert ("call step_interior(" in text) is passed
