"""std::vector of structures that hold numbers: their elements, and code that might run on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASE = (Path(__file__).parent / "cases" / "fluid.cpp").read_text()
CELL = "struct Cell { double rho, u, v; };"
WORK = "next_[k].u = 0.5 * (now_[k - 1].u + now_[k + 1].u);"
TURN = "std::swap(now_, next_);"

# name: what is replaced in the case, by what
OVERLAPPED = {
    "as it is": ("", ""),
    "exchanged by a method": (TURN, "now_.swap(next_);"),
    "values to begin with": (CELL, "struct Cell { double rho = 0, u = 0, v = 0; };"),
    "a method": (CELL, "struct Cell { double rho, u, v; double sum() const { return u; } };"),
    "a class with everything public": (CELL, "class Cell { public: double rho, u, v; };"),
    "a name of its own": (WORK, "Cell mine = now_[k]; next_[k].u = 0.5 * mine.u;"),
}
STAYS = {
    "a constructor": (CELL, "struct Cell { double rho, u, v; Cell() : rho(1), u(2), v(3) {} };"),
    "an assignment of its own": (
        CELL,
        "struct Cell { double rho, u, v; Cell &operator=(const Cell &o) { rho = o.rho; "
        "static double last; last += o.u; u = last; v = 0; return *this; } };",
    ),
    "a base": (CELL, "struct Base { double rho; }; struct Cell : Base { double u, v; };"),
    "a pointer in it": (CELL, "struct Cell { double rho, u, v; double *more; };"),
    "a sum along the rows": (WORK, "next_[k].u = next_[k - nx_].u + 0.5;"),
    "the row that comes": (WORK, "next_[k].u = now_[(ny_ + 1) * nx_ + i].u;"),
    "the row that comes by a pointer": (
        WORK,
        "const Cell *p = now_.data() + (ny_ + 1) * nx_; next_[k].u = p[i].u;",
    ),
    "a reference to the row that comes": (
        WORK,
        "const Cell &c = now_[(ny_ + 1) * nx_ + i]; next_[k].u = c.u;",
    ),
    "cells that are added": (WORK, "next_[k].u = 1; now_.push_back(now_[0]);"),
}


def _after(change: tuple[str, str], path: Path) -> str:
    old, new = change
    assert not old or old in CASE
    path.write_text(CASE.replace(old, new))
    text = transform([path], Options()).after[str(path)].decode()
    return text[text.index("int main") :]


@pytest.mark.parametrize("name", OVERLAPPED)
def test_overlapped(name: str, tmp_path: Path) -> None:
    main = _after(OVERLAPPED[name], tmp_path / "fluid.cpp")
    parts = ["fluid.exchange_start(", "fluid.step_interior(", "fluid.exchange_finish("]
    places = [main.index(part) for part in (*parts, "fluid.step_boundary(")]
    assert places == sorted(places)


@pytest.mark.parametrize("name", STAYS)
def test_work_stays_behind_the_exchange(name: str, tmp_path: Path) -> None:
    main = _after(STAYS[name], tmp_path / "fluid.cpp")
    assert "step_interior" not in main
    if "exchange_finish(" in main:
        assert main.index("exchange_finish(") < main.index("fluid.step(")
