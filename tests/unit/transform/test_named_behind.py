"""Scalars of one iteration that output, or what is not analysed, names once the nest is done."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

LINE = "  double precision :: r1(longest), r2(longest)\n"
FIRST = "        r1(i1) = r(i1, i2 - 1"
END = "    end do\n  end do\nend subroutine smooth"
PROGRAM = changed(
    (Path(__file__).parent / "cases" / "lines.f90").read_text(),
    {
        LINE: f"{LINE}  double precision :: t\n",
        FIRST: "        t = r(i1, i2, i3)\n" + FIRST.replace("= r", "= t + r"),
    },
)
# name: (what stands behind the nest, whether it is divided)
CASES = {
    "nothing": ("", True),
    "another": ("  print *, n1\n", True),
    "it is printed": ("  print *, t\n", False),
    "in a block": ("  block\n    print *, t\n  end block\n", False),
    "by another name": ("  associate (q => t)\n    u(1, 1, 1) = q\n  end associate\n", False),
    "by a namelist": ("  write (*, group)\n", False),
    "an index is printed": ("  print *, i3\n", False),
    "the index of a list": ("  print *, (u(1, 1, i3), i3 = 1, n3)\n", True),
}


@pytest.mark.parametrize("name", CASES)
def test_divided(name: str, tmp_path: Path) -> None:
    behind, divided = CASES[name]
    text = changed(PROGRAM, {END: END.replace("end subroutine", f"{behind}end subroutine")})
    if "group" in behind:
        declared = "  double precision :: t\n"
        text = changed(text, {declared: f"{declared}  namelist /group/ t\n"})
    path = tmp_path / "case.f90"
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    assert ("call smooth_interior" in outcome.after[str(path)].decode()) is divided
