"""Assignments to sections of arrays: divided as loop nests are, where elements need no others.

Each program that must stay differs from one that is divided in what would make that wrong.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "elementwise.f90").read_text()
SWEEP = PROGRAM.partition(":: c\n")[2].partition("  end sub")[0]
MAIN = (
    "    tn(1:nx,1:ny) = 0.25d0"
    + PROGRAM.partition("    tn(1:nx,1:ny) = 0.25d0")[2].partition("\n")[0]
)
PLAIN = "    tn(1:nx,1:ny) = t(1:nx,1:ny) + c*(t(1:nx,0:ny-1) + t(1:nx,2:ny+1))\n"
# name: (what stands in the place of the sweep, whether it is divided)
CASES: dict[str, tuple[str, bool]] = {
    "as it is": (SWEEP, True),
    "of fewer arrays": (PLAIN, True),
    "functions of elements": (PLAIN.replace("c*(", "abs(c)*("), True),
    "an element of another array": (PLAIN.replace("c*(", "q(3)*("), True),
    "what it sets at the same place": (PLAIN.replace("+ c", "+ 0.5d0*tn(1:nx,1:ny) + c"), True),
    "a function of the program": (PLAIN.replace("c*(", "half(c)*("), False),
    "a function of a whole array": (PLAIN.replace("c*(", "sum(q)*("), False),
    "what it sets elsewhere": (PLAIN.replace("+ c", "+ 0.5d0*tn(1:nx,0:ny-1) + c"), False),
    "one element of what it sets": (PLAIN.replace("c*(", "tn(1,1)*("), False),
    "lengths that may differ": (PLAIN.replace("2:ny+1", "2:m"), False),
    "with a step": (PLAIN.replace("1:ny", "1:ny:1"), False),
    "whole dimensions": (PLAIN.replace("1:ny)", ":)"), False),
    "by a list of indices": (PLAIN.replace("t(1:nx,1:ny) +", "t(list,1:ny) +"), False),
    "all rows are needed": (PLAIN.replace("c*(", "(c + t(1,0))*("), False),
    "under a mask": ("    where (tn(1:nx,1:ny) > 0) " + PLAIN.strip() + "\n", False),
    "on one line with another": (PLAIN.replace("\n", "; m = 2\n"), False),
}
DECLARED = "  integer :: up, dn\n"
MORE = DECLARED + "  integer :: m = 51, list(60)\n  real(8) :: q(9) = 0.5d0\n"
HALF = """  pure real(8) function half(x)
    real(8), intent(in) :: x
    half = 0.5d0*x
  end function
"""


def program(name: str) -> str:
    code = CASES[name][0]
    text = changed(
        PROGRAM, {DECLARED: MORE, SWEEP: code, MAIN: "", "contains\n": "contains\n" + HALF}
    )
    return changed(text, {"  tn = 0\n": "  tn = 0\n  list = [(it, it = 1, nx)]\n"})


@pytest.mark.parametrize("name", CASES)
def test_divided(name: str, tmp_path: Path) -> None:
    path = tmp_path / "case.f90"
    path.write_text(program(name))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    assert ("sweep_interior(" in text) is CASES[name][1], text
    again = transform([path], Options(contents={path: outcome.after[str(path)]}))
    assert again.after[str(path)] == outcome.after[str(path)]


def test_each_element_is_set_once(tmp_path: Path) -> None:
    """Sizes from none to several: each element is set, by one of the assignments."""
    compiler = shutil.which("gfortran")
    if compiler is None:
        pytest.skip("no gfortran")
    path = tmp_path / "case.f90"
    path.write_text(PROGRAM)
    text = transform([path], Options()).after[str(path)].decode()
    interior = text[text.index("    tn(1:nx,2:ny - 1) = t(") :].partition("  end sub")[0]
    boundary = text[text.index("    tn(1:nx,1:min(") :].partition("  end sub")[0]
    lines = []
    for part in (interior, boundary):
        for line in part.replace("&\n", "").splitlines():
            if "=" in line:
                left = line.partition(" = ")[0].strip()[2:]
                lines.append(f"n{left} = n{left} + 1")
    assert len(lines) == 3
    body = "\n".join(lines)
    check = tmp_path / "check.f90"
    check.write_text(
        "program p\n integer :: n(-2:9,-2:9), nx, ny\n nx = 4\n do ny = -1, 6\n n = 0\n"
        f"{body}\n if (any(n(1:nx,1:ny) /= 1) .or. sum(n) /= nx*max(ny,0)) stop 1\n end do\n end\n"
    )
    subprocess.run([compiler, "-fcheck=bounds", str(check), "-o", str(tmp_path / "p")], check=True)
    subprocess.run([str(tmp_path / "p")], check=True)
