"""What a divided step of Fortran may do behind its loops, further loops among it."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "copied.f90").read_text()
INNER = "      if (abs(w(i, j) - u(i, j)) > change) change = abs(w(i, j) - u(i, j))\n"
COPY = """  do j = 1, ny
    do i = 1, nx
      u(i, j) = w(i, j)
    end do
  end do
end subroutine step"""
END = "end subroutine step"
DECLARED = "  integer :: i, j\n  change"
GOES: dict[str, dict[str, str]] = {
    "loops of the same indices": {},
    "whole arrays": {COPY: f"  u = w\n{END}"},
    "a section": {COPY: f"  u(1:nx, 1:ny) = w(1:nx, 1:ny)\n{END}"},
    "two further nests": {COPY: COPY.replace(END, COPY)},
    "indices in the other order": {
        COPY: COPY.replace("do j = 1, ny", "do i = 1, nx", 1).replace(
            "    do i = 1, nx\n      u", "    do j = 1, ny\n      u"
        )
    },
    "a scalar of both nests": {
        DECLARED: "  integer :: i, j\n  double precision :: t\n  change",
        INNER: f"      t = w(i, j)\n      w(i, j) = 2.0d0 * t\n{INNER}",
        COPY: COPY.replace("      u(i, j) = w(i, j)", "      t = w(i, j)\n      u(i, j) = t"),
    },
}
STAYS: dict[str, dict[str, str]] = {
    "an index behind its loop": {COPY: COPY.replace(END, f"  u(i, 1) = w(1, 1)\n{END}")},
    "the index of the first nest": {COPY: f"  u(i - 1, 1) = 2.0d0\n{COPY}"},
    "an index in a bound of its loop": {COPY: COPY.replace("do i = 1, nx", "do i = 1, i", 1)},
    "an index that one case sets": {COPY: f"  if (nx > 3) i = 3\n  u(i, 1) = 1.0d0\n{COPY}"},
    "a scalar that the loops leave": {
        DECLARED: "  integer :: i, j\n  double precision :: t\n  change",
        INNER: f"      t = w(i, j)\n{INNER}",
        COPY: COPY.replace("w(i, j)", "w(i, j) + t"),
    },
    "a scalar that loops may not set": {
        DECLARED: "  integer :: i, j\n  double precision :: t\n  change",
        INNER: f"      t = w(i, j)\n{INNER}",
        COPY: COPY.replace("      u(i, j)", "      if (i > 3) t = 0.5d0\n      u(i, j)").replace(
            "= w(i, j)", "= w(i, j) + t"
        ),
    },
    "a scalar with another name": {
        DECLARED: "  integer :: i, j\n  double precision :: t, q\n  equivalence (t, q)\n  change",
        INNER: f"      t = w(i, j)\n{INNER}",
        COPY: f"  t = q\n  u(1, 1) = t\n{COPY}",
    },
    "an array of its own": {
        DECLARED: "  integer :: i, j\n  double precision :: t(0:nx + 1)\n  change",
        INNER: f"      t(i) = w(i, j)\n{INNER}",
        COPY: COPY.replace("      u(i, j) = w(i, j)", "      t(1) = 0.0d0\n      u(i, j) = t(i)"),
    },
    "the largest change": {COPY: COPY.replace("w(i, j)", "w(i, j) + change")},
    "a message": {COPY: COPY.replace(END, f"  call exchange\n{END}")},
    "a return": {COPY: COPY.replace("      u(i", "      if (w(i, j) < 0) return\n      u(i")},
    "the first nest in place": {"      w(i, j) = 0.25d0": "      u(i, j) = 0.25d0"},
}


def rewritten(changes: dict[str, str], path: Path) -> str:
    text = PROGRAM
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    again = transform([path], Options(contents={path: outcome.after[str(path)]}))
    assert again.after[str(path)] == outcome.after[str(path)]
    return outcome.after[str(path)].decode()


@pytest.mark.parametrize("name", GOES)
def test_divided(name: str, tmp_path: Path) -> None:
    text = rewritten(GOES[name], tmp_path / "case.f90")
    calls = ["exchange_start", "step_interior", "exchange_finish", "step_boundary"]
    places = [text.index(f"call {call}") for call in calls]
    assert places == sorted(places)
    interior = text[text.index("subroutine step_interior") : text.index("subroutine step_boundary")]
    assert "u(i, j) = w(i, j)" not in interior and "  u = w" not in interior


@pytest.mark.parametrize("name", STAYS)
def test_whole(name: str, tmp_path: Path) -> None:
    assert "step_interior" not in rewritten(STAYS[name], tmp_path / "case.f90")
