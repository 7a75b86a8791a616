"""Work arrays that each iteration of a nest fills anew: the nest is divided all the same.

Each program that must stay differs from one that is divided in what one iteration may leave to
another, or to the code around the nest.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "lines.f90").read_text()
LINE = "  double precision :: r1(longest), r2(longest)\n"
FIRST = "      do i1 = 1, n1\n        r1(i1) = r(i1"
NEST = "  do i3 = 2, n3 - 1\n    do i2 = 2, n2 - 1\n      do i1 = 1, n1\n        r1"
SECOND = "      do i1 = 2, n1 - 1\n        u(i1, i2, i3) = u(i1, i2, i3) + c(0)"
END = "    end do\n  end do\nend subroutine smooth"
# name: (replacements, whether the nest is divided)
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "set whole": ({}, True),
    "set to a number, then added to": (
        {
            FIRST: "      do i1 = 1, n1\n        r1(i1) = 0.0d0\n      end do\n"
            + FIRST.replace("= r(i1", "= r1(i1) + r(i1")
        },
        True,
    ),
    "set by an array expression": (
        {SECOND: "      r1(1:n1) = 0.5d0 * r(1:n1, i2, i3)\n" + SECOND},
        True,
    ),
    "every second by an array expression": (
        {
            FIRST: "      r1(1:n1:2) = 0.5d0 * r(1:n1:2, i2, i3)\n"
            + FIRST.replace("= r(i1", "= r1(i1) + r(i1")
        },
        False,
    ),
    "set where a mask holds": (
        {
            FIRST: "      where (r(1:n1, i2, i3) > 0) r1(1:n1) = r(1:n1, i2, i3)\n"
            + FIRST.replace("= r(i1", "= r1(i1) + r(i1")
        },
        False,
    ),
    "its first set apart": (
        {FIRST: "      r1(1) = r(1, i2, i3)\n      r2(1) = 0\n" + FIRST.replace("1, n1", "2, n1")},
        True,
    ),
    "its last set apart": (
        {FIRST: "      r1(n1) = 1\n      r2(n1) = 0\n" + FIRST.replace("1, n1", "1, n1 - 1")},
        True,
    ),
    "set with a gap": (
        {FIRST: "      r1(1) = r(1, i2, i3)\n      r2(1) = 0\n" + FIRST.replace("1, n1", "3, n1")},
        False,
    ),
    "with a bound that is passed": ({LINE: LINE.replace("r1(longest)", "r1(n1)")}, True),
    "read where a condition holds": (
        {SECOND: SECOND.replace("1\n", "1\n        if (i2 > 3) u(i1, i2, i3) = r1(i1)\n")},
        True,
    ),
    "added to": ({FIRST: FIRST.replace("= r(i1", "= r1(i1) + r(i1")}, False),
    "the first is left out": ({FIRST: FIRST.replace("i1 = 1, n1", "i1 = 2, n1")}, False),
    "every second": ({FIRST: FIRST.replace("1, n1", "1, n1, 2")}, False),
    "some are left out": (
        {
            FIRST: FIRST.replace("n1\n", "n1\n        if (i1 == me) cycle\n"),
            "c, longest": "c, longest, me",
        },
        False,
    ),
    "some rows are left out": (
        {SECOND: f"      if (i2 == 3) cycle\n{SECOND}"},
        False,
    ),
    "where a condition holds": (
        {
            FIRST: FIRST.replace("r1(i1) = r(i1", "if (i1 > me) r1(i1) = r(i1"),
            "c, longest": "c, longest, me",
        },
        False,
    ),
    "only in some rows": (
        {FIRST: f"      if (i2 > 4) then\n{FIRST}", SECOND: f"      end if\n{SECOND}"},
        False,
    ),
    "read first": ({FIRST: f"      u(1, i2, i3) = r1(1)\n{FIRST}"}, False),
    "kept": ({LINE: LINE.replace("n ::", "n, save ::")}, False),
    "with a first value": ({LINE: LINE.replace("r1(longest)", "r1(longest) = 0.0d0")}, False),
    "of the module": (
        {
            LINE: LINE.replace("r1(longest), ", ""),
            "c, longest": "c, longest, r1",
            "  double precision :: face": "  double precision :: r1(longest)\n"
            "  double precision :: face",
        },
        False,
    ),
    "in a common block": ({LINE: f"{LINE}  common /lines/ r1\n"}, False),
    "shares its memory": ({LINE: f"{LINE}  equivalence (r1(1), r2(2))\n"}, False),
    "a target": (
        {
            LINE: LINE.replace("n ::", "n, target ::") + "  double precision, pointer :: p(:)\n",
            NEST: f"  p => r1\n{NEST}",
            SECOND: SECOND.replace("1\n", "1\n        u(i1, i2, i3) = p(i1 - 1)\n"),
        },
        False,
    ),
    "read behind the nest": (
        {END: END.replace("end subroutine", "  u(1, 1, 1) = r1(2)\nend subroutine")},
        False,
    ),
    "printed behind the nest": (
        {END: END.replace("end subroutine", "  print *, r1(2)\nend subroutine")},
        False,
    ),
    "printed in a block": (
        {END: END.replace("end sub", "  block\n    print *, r1(2)\n  end block\nend sub")},
        False,
    ),
    "printed by a namelist": (
        {
            LINE: f"{LINE}  namelist /group/ r1\n",
            END: END.replace("end subroutine", "  write (*, group)\nend subroutine"),
        },
        False,
    ),
    "by another name": (
        {
            END: END.replace(
                "end sub",
                "  associate (q => r1)\n    u(1, 1, 1) = q(2)\n  end associate\nend sub",
            )
        },
        False,
    ),
    "used by a procedure inside": (
        {
            END: END.replace(
                "end sub",
                "  call last\ncontains\n  subroutine last\n    u(1, 1, 1) = r1(2)\n"
                "  end subroutine last\nend sub",
            )
        },
        False,
    ),
    "set in front of it": ({NEST: f"  r1 = 0.0d0\n{NEST}"}, False),
    "another bound": (
        {
            LINE: f"{LINE}  integer :: k\n",
            FIRST: "      k = n1\n" + FIRST.replace("1, n1", "1, k"),
            SECOND: "      k = n1 + 1\n" + SECOND.replace("2, n1 - 1", "2, k - 1"),
        },
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_divided(name: str, tmp_path: Path) -> None:
    replacements, divided = CASES[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    assert ("call smooth_interior" in text) is divided, text
    again = transform([path], Options(contents={path: outcome.after[str(path)]}))
    assert again.after[str(path)] == outcome.after[str(path)]
