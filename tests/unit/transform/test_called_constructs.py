"""A routine whose loops stand in an ASSOCIATE or a BLOCK that ends it is divided as one without."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.command import explain
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PLAIN = (Path(__file__).parent / "cases" / "handles.f90").read_text()
COPY = "    self%u(1:self%nx, 1:self%ny) = self%unew(1:self%nx, 1:self%ny)\n"
NEST = PLAIN[PLAIN.index("    do j = 1, self%ny\n") : PLAIN.index(COPY)]
HEAD = "    associate (u => self%u, v => self%unew, ny => self%ny)\n"
BODY = """    do j = 1, ny
       do i = 1, self%nx
          v(i, j) = 0.25_wp * (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
       end do
    end do
"""
BACK = "    u(1:self%nx, 1:self%ny) = v(1:self%nx, 1:self%ny)\n"
END = "    end associate\n"
BLOCK = "    block\n    real(wp) :: w\n    w = 0.25_wp\n"

GOES = {
    "and more behind them": HEAD + BODY + BACK + END,
    "output behind them": HEAD + BODY + BACK + "    print *, 'done'\n" + END,
    "in a block in it": HEAD
    + BLOCK
    + BODY.replace("0.25_wp", "w")
    + BACK
    + "    end block\n"
    + END,
    "behind what sets a local": "    i = 1\n" + HEAD + BODY + BACK + END,
    "in a block": BLOCK + NEST.replace("0.25_wp", "w") + COPY + "    end block\n",
}
STAYS = {
    "more behind the construct": HEAD + BODY + END + COPY,
    "two of them": HEAD + BODY + END + HEAD + BACK + END,
    "what stands in front sets more": HEAD + "    self%rank = self%rank\n" + BODY + BACK + END,
    "the construct is not read": HEAD.replace("ny =>", "half => self%u(1:2, 1), ny =>")
    + BODY
    + BACK
    + END,
}


def text_of(body: str, folder: Path) -> str:
    return rewritten(folder / "program.f90", changed(PLAIN, {NEST + COPY: body}))


@pytest.mark.parametrize("name", GOES)
def test_goes(name: str, tmp_path: Path) -> None:
    text = text_of(GOES[name], tmp_path)
    main = text[text.index("program heat") :]
    names = ["exchange_start(", "sweep_interior(", "exchange_finish(", "sweep_boundary("]
    assert sorted(names, key=main.index) == names
    interior = text[text.index("subroutine grid_sweep_interior") :]
    interior = interior[: interior.index("end subroutine")]
    for opened in ("associate", "block"):
        assert interior.count(f"  {opened}") == interior.count(f"end {opened}")
    assert BACK not in interior
    assert COPY not in interior


def test_a_loop_in_what_is_not_read_is_work_beside_the_messages(tmp_path: Path) -> None:
    """What keeps them from it is told, not that nothing is to gain."""
    path = tmp_path / "program.f90"
    path.write_text(changed(PLAIN, {NEST + COPY: STAYS["the construct is not read"]}))
    said = explain(transform([path], Options()))
    assert said.count("MPI_Sendrecv in grid_exchange: cannot be moved") == 2
    assert said.count("    the call of grid_sweep: the construct ASSOCIATE is not read") == 2
    path.write_text(
        changed(PLAIN, {NEST + COPY: HEAD.replace("ny =>", "n => self%u(1, 1), ny =>") + END})
    )
    said = explain(transform([path], Options()))
    assert said.count("MPI_Sendrecv in grid_exchange: nothing to gain") == 2


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    assert "sweep_interior" not in text_of(STAYS[name], tmp_path)
