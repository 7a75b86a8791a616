"""Messages of whole planes, whose size is a product of sizes that the program computes.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.model.affine import Affine
from imbrex.transform.options import Options

CUBE = (Path(__file__).parent / "cases" / "cube.f90").read_text()
PLANE = "(nx+2)*(ny+2)"
BOUNDS = "u(0:nx+1,0:ny+1,0:nz+1)"
# name: (replacements, whether the exchange of planes is rewritten)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "written otherwise": ({PLANE: "(2 + ny) * nx + 2*ny + 4"}, True),
    "four planes": ({PLANE: f"4*{PLANE}"}, False),
    "more than a plane": ({PLANE: "(nx+2)*(ny+3)"}, False),
    "all but its last column": ({PLANE: "(nx+2)*(ny+1)"}, True),
    "less than whole columns": ({PLANE: "(nx+1)*(ny+2)"}, False),
    "another product": ({PLANE: "(nx+2)*(nz+2)"}, False),
    "a quotient": ({PLANE: f"{PLANE}/2*2"}, False),
    "from the second element": ({"u(0,0,": "u(1,0,"}, False),
    "of longer lines": ({BOUNDS: "u(0:nx+2,0:ny+1,0:nz+1)"}, False),
    "of more lines": ({BOUNDS: "u(0:nx+1,0:ny+2,0:nz+1)"}, True),
    "of fewer lines": ({BOUNDS: "u(0:nx+1,0:ny,0:nz+1)"}, False),
    "of more planes": ({BOUNDS: "u(0:nx+1,0:ny+1,0:nz+3)"}, True),
    "the size changes": ({"    call relax\n": "    call relax\n    ny = ny - 1\n"}, False),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_exchange_of_planes(name: str, tmp_path: Path) -> None:
    replacements, expected = CASES[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(CUBE, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    planes = [d for d in outcome.decisions if d.site.routine.name == "exchange_z"]
    assert len(planes) == 2
    assert all((d.decision == "rewritten") is expected for d in planes), planes
    after = outcome.after[str(path)]
    assert transform([path], Options(contents={path: after})).after[str(path)] == after


def test_division() -> None:
    """What divides is multiplied back; what does not is told apart from it."""
    generator = random.Random(1)

    def form() -> Affine:
        found = Affine(generator.randint(-3, 3))
        for _ in range(generator.randint(0, 4)):
            term = Affine(generator.randint(-3, 3))
            for _ in range(generator.randint(0, 3)):
                term = term.product(Affine.variable(generator.choice("abc")))
            found = found.plus(term)
        return found

    divided = 0
    for _ in range(3000):
        divisor, quotient, rest = form(), form(), Affine(generator.randint(1, 3))
        if not divisor.terms:
            continue
        product = divisor.product(quotient)
        assert product.divided(divisor) == quotient
        assert product.plus(rest).divided(divisor) is None
        found = quotient.divided(divisor)
        assert found is None or found.product(divisor) == quotient
        divided += found is not None
    assert divided > 50
