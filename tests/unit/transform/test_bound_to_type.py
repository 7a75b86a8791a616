"""Routines that a type of Fortran is bound to: `call g%exchange()`."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.command import explain
from imbrex.transform.engine import Options, transform

PLAIN = (Path(__file__).parent / "cases" / "handles.f90").read_text()
DATA = "     real(wp), allocatable :: u(:,:), unew(:,:)\n"
CALL = "     call grid_exchange(g)\n"
SAID = "grid_exchange is bound to a type, and calls by that (`call g%…`) are not followed"


def said(bindings: str, call: str, folder: Path) -> str:
    text = PLAIN.replace("type(grid_t), intent", "class(grid_t), intent")
    text = text.replace(DATA, f"{DATA}   contains\n{bindings}").replace(CALL, f"     {call}\n")
    path = folder / "program.f90"
    path.write_text(text)
    return explain(transform([path], Options()), applied=False)


@pytest.mark.parametrize(
    "bindings",
    [
        "     procedure :: exchange => grid_exchange\n",
        "     procedure, public :: sweep => grid_sweep, exchange => grid_exchange\n",
        "     procedure, non_overridable :: grid_exchange\n",
    ],
)
def test_callers_are_not_seen(bindings: str, tmp_path: Path) -> None:
    name = "grid_exchange" if "=>" not in bindings else "exchange"
    text = said(bindings, f"call g%{name}()", tmp_path)
    assert text.count(SAID) == 2
    assert "MPI_Sendrecv in grid_exchange: cannot be moved" in text
    assert "call it by its own name" in text


def test_another_is_bound(tmp_path: Path) -> None:
    assert SAID not in said("     procedure :: sweep => grid_sweep\n", "continue", tmp_path)


def test_a_call_by_its_own_name_is_seen(tmp_path: Path) -> None:
    bindings = "     procedure :: exchange => grid_exchange\n"
    assert SAID not in said(bindings, CALL.strip(), tmp_path)
