"""Fortran names that come from modules, some of them by way of others and under other names."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

BASE = "module base\n  real :: u(9), v(9), x\nend module\n"
MIDDLE = {
    "all": "module mid\n  use base\n  real :: x2\nend module\n",
    "renamed": "module mid\n  use base, only: w => u, v\n  real :: own\nend module\n",
    "changed": "module mid\n  use base, w => u\n  real :: own\nend module\n",
    "swapped": "module mid\n  use base, only: v => u, u => v\nend module\n",
}


def keys(tmp_path: Path, middle: str, uses: str, name: str) -> set[str]:
    """The variables that an assignment to a name sets, in a routine with these uses."""
    routine = f"subroutine s\n{uses}\n  {name} = 1.0\nend subroutine\n"
    path = tmp_path / "app.f90"
    path.write_text(BASE + middle + routine)
    program = read_program([path], Options())
    body = program.routines["s"].body.statements
    return {access.variable for s in body for access in s.accesses if access.write}


U, V, X = (f"module:base.{name}" for name in "uvx")


@pytest.mark.parametrize(
    ("middle", "uses", "name", "expected"),
    [
        ("all", "use mid", "u", U),
        ("all", "use mid, only: a => u", "a", U),
        ("all", "use base\n use mid, only: b => v", "b", V),
        ("all", "use mid\n use base, only: b => v", "b", V),
        ("all", "use mid\n use base, only: b => v", "x", X),
        ("renamed", "use mid", "w", U),
        ("renamed", "use mid", "v", V),
        ("renamed", "use mid, only: c => w", "c", U),
        ("renamed", "use base\n use mid", "w", U),
        ("renamed", "use mid, only: own\n use base, only: x", "x", X),
        ("changed", "use mid", "w", U),
        ("changed", "use mid", "v", V),
        ("swapped", "use mid", "v", U),
        ("swapped", "use mid, only: a => v, b => u", "a", U),
        ("swapped", "use mid, only: a => v, b => u", "b", V),
    ],
)
def test_it_is_the_module_s(
    middle: str, uses: str, name: str, expected: str, tmp_path: Path
) -> None:
    assert keys(tmp_path, MIDDLE[middle], uses, name) == {expected}


@pytest.mark.parametrize(
    ("middle", "uses", "name"),
    [
        ("renamed", "use mid", "x"),
        ("renamed", "use mid, only: own", "w"),
        ("all", "use mid, only: x2", "u"),
        ("all", "use mid, only: a => u", "v"),
    ],
)
def test_it_is_the_routine_s_own(middle: str, uses: str, name: str, tmp_path: Path) -> None:
    (key,) = keys(tmp_path, MIDDLE[middle], uses, name)
    assert not key.startswith("module:")


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        ("use comm", "mpi_f08"),
        ("use outer", "mpi_f08"),
        ("use outer\n use mid", "mpi_f08"),
        ("use comm, only: world", ""),
        ("use comm, my_comm => mpi_comm_world", ""),
        ("use mid", ""),
    ],
)
def test_how_mpi_is_known_by_way_of_modules(uses: str, expected: str, tmp_path: Path) -> None:
    comm = "module comm\n  use mpi_f08\n  integer :: world\nend module\n"
    outer = "module outer\n  use base\n  use comm\nend module\n"
    path = tmp_path / "app.f90"
    routine = f"subroutine s\n{uses}\n  call mpi_barrier(mpi_comm_world)\nend subroutine\n"
    path.write_text(BASE + MIDDLE["all"] + comm + outer + routine)
    assert read_program([path], Options()).routines["s"].interface == expected
