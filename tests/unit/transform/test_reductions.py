"""Loops that reduce values into a scalar are divided where no order of them changes it.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.analysed import Analysis
from imbrex.transform.analysis.spaces import Spaces
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "cases"
PROGRAM = (FOLDER / "residual.f90").read_text()
ROUTINE = (FOLDER / "change.f90").read_text()
CHANGE = "abs(v(i,j) - u(i,j))"
LARGEST = f"if ({CHANGE} > diff) diff = {CHANGE}"
DECLARED = "  double precision :: s, diff\n"
SUM = "--allow-reassociation"
# name: (replacements, whether the loop is divided, and where the order of numbers may change)
CASES: dict[str, tuple[dict[str, str], bool, bool]] = {
    "as it is": ({}, True, True),
    "in a block": (
        {LARGEST: f"if (diff .lt. {CHANGE}) then\n diff = {CHANGE} ! larger\nend if"},
        True,
        True,
    ),
    "of some elements": ({LARGEST: f"if (i > 3) then\n {LARGEST}\nend if"}, True, True),
    "of some elements, which it picks": (
        {LARGEST: f"if (diff < 3d0) then\n {LARGEST}\nend if"},
        False,
        False,
    ),
    "with an else": (
        {LARGEST: f"if ({CHANGE} > diff) then\n diff = {CHANGE}\nelse\n diff = 1d0\nend if"},
        False,
        False,
    ),
    "where a text is compared": (
        {LARGEST: f"if (abs(diff) > merge(1d0, 2d0, 'a' == 'b')) diff = {CHANGE}"},
        False,
        False,
    ),
    "of a temporary": (
        {
            DECLARED: f"{DECLARED}  double precision :: d\n",
            LARGEST: "d = v(i,j) - u(i,j)\n        if (abs(d) > diff) diff = abs(d)",
        },
        True,
        True,
    ),
    "with a sign": (
        {LARGEST: "if (v(i,j) > diff) diff = v(i,j)"},
        False,
        True,
    ),
    "by max": ({LARGEST: f"diff = max(diff, {CHANGE})"}, False, True),
    "by max, continued": ({LARGEST: f"diff = max( &\n    {CHANGE}, & ! far\n  diff)"}, False, True),
    "a sum": ({LARGEST: f"diff = diff + {CHANGE}**2"}, False, True),
    "a sum behind": ({LARGEST: f"diff = {CHANGE} * 2d0 + diff"}, False, True),
    "a count": (
        {
            DECLARED: "  double precision :: s\n  integer :: diff\n",
            LARGEST: "diff = diff + int(v(i,j))",
            "diff = 0d0": "diff = 0",
            "diff < 1d-9": "diff < 1",
            "'(i4,2es25.17)'": "'(i4,es25.17,i9)'",
        },
        True,
        True,
    ),
    "a largest integer": (
        {
            DECLARED: "  double precision :: s\n  integer :: diff\n",
            LARGEST: "diff = max(diff, int(v(i,j)))",
            "diff = 0d0": "diff = 0",
            "diff < 1d-9": "diff < 1",
        },
        True,
        True,
    ),
    "a logical value": (
        {
            DECLARED: "  double precision :: s\n  logical :: diff\n",
            LARGEST: f"diff = diff .and. {CHANGE} < 1d-9",
            "diff = 0d0": "diff = .true.",
            "diff < 1d-9": "diff",
        },
        True,
        True,
    ),
    "a logical value of two operations": (
        {
            DECLARED: "  double precision :: s\n  logical :: diff\n",
            LARGEST: f"diff = diff .and. {CHANGE} < 1d-9 .or. i > 3",
            "diff = 0d0": "diff = .true.",
            "diff < 1d-9": "diff",
        },
        False,
        False,
    ),
    "where it is": (
        {
            DECLARED: f"{DECLARED}  integer :: where\n",
            LARGEST: f"if ({CHANGE} > diff) then\n diff = {CHANGE}\n where = i\n end if",
        },
        False,
        False,
    ),
    "where it is, on one line": (
        {
            DECLARED: f"{DECLARED}  integer :: where\n",
            LARGEST: f"if ({CHANGE} > diff) where = i\n        {LARGEST}",
        },
        False,
        False,
    ),
    "of another value": (
        {LARGEST: f"if ({CHANGE} > diff) diff = v(i,j)"},
        False,
        False,
    ),
    "two operations": (
        {LARGEST: f"{LARGEST}\n        diff = diff + 1d0"},
        False,
        False,
    ),
    "weighted by what it is": ({LARGEST: f"diff = diff * 0.5d0 + {CHANGE}"}, False, False),
    "taken from": ({LARGEST: f"diff = {CHANGE} - diff"}, False, False),
    "used in the loop": (
        {LARGEST: f"{LARGEST}\n        v(i,j) = v(i,j) + diff"},
        False,
        False,
    ),
    "used in a subscript": (
        {LARGEST: f"{LARGEST}\n        v(i,j) = v(i,int(diff))"},
        False,
        False,
    ),
    "a function": (
        {
            LARGEST: "diff = diff + f(v(i,j))",
            "end program": "contains\n  double precision function f(x)\n"
            "    double precision :: x\n    f = x * diff\n  end function\nend program",
        },
        False,
        False,
    ),
    "it shares its memory": (
        {DECLARED: f"{DECLARED}  double precision :: w\n  equivalence (diff, w)\n"},
        False,
        False,
    ),
    "an array of that name": (
        {DECLARED: f"{DECLARED}  integer :: max(9, 9)\n", LARGEST: "diff = max(diff, i)"},
        False,
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reduction(name: str, tmp_path: Path) -> None:
    replacements, *expected = CASES[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, replacements))
    for freely, divided in zip((False, True), expected, strict=True):
        outcome = transform([path], Options(reassociation=freely))
        assert not outcome.skipped, outcome.skipped
        done = {name for d in outcome.decisions for name in d.rewrites}
        assert ("boundary-first" in done) is divided, [d.details for d in outcome.decisions]
        told = [line for d in outcome.decisions for line in d.details if SUM in line]
        assert bool(told) is (expected == [False, True] and not freely)
        after = outcome.after[str(path)]
        again = transform([path], Options(contents={path: after}, reassociation=freely))
        assert again.after[str(path)] == after


def test_what_is_set_between_stays_in_front(tmp_path: Path) -> None:
    """The scalar is set to its first value in front of both parts."""
    path = tmp_path / "case.f90"
    path.write_text(PROGRAM)
    text = transform([path], Options()).after[str(path)].decode()
    assert text.index("diff = 0d0") < text.index("do j = 2, ny - 1")
    path.write_text(PROGRAM.replace("    diff = 0d0\n", "    if (it == 3) diff = 0d0\n"))
    text = transform([path], Options()).after[str(path)].decode()
    assert text.index("diff = 0d0") < text.index("do j = 2, ny - 1")


LOOPS = "    do j = 1, ny\n      do i = 1, nx\n        b(i,j)"
FIRST = "    res = 0d0\n"
CALL = "    call step(u, v, r)\n"
# name: (replacements, whether the routine is divided)
IN_A_ROUTINE: dict[str, tuple[dict[str, str], bool]] = {
    "as it is": ({}, True),
    "set by its caller": (
        {
            FIRST: "",
            "intent(out) :: res": "intent(inout) :: res",
            "    call halo(u)\n": "    r = 0d0\n    call halo(u)\n",
        },
        True,
    ),
    "a local sum": (
        {
            "    integer :: i, j\n    res": "    integer :: i, j\n    double precision :: t\n"
            "    t = 0d0\n    res",
            "        b(i,j) = 0.25d0 *": "        t = t + a(i,j)\n        b(i,j) = t *",
        },
        False,
    ),
    "a local array": (
        {
            "    integer :: i, j\n    res": "    integer :: i, j\n    double precision :: t(0:60)\n"
            "    res",
            "        b(i,j) = 0.25d0 *": "        t(i) = t(i-1) + a(i,j)\n        b(i,j) = t(i) *",
        },
        False,
    ),
    "a local array of one iteration": (
        {
            "    integer :: i, j\n    res": "    integer :: i, j\n"
            "    double precision :: t(60,60)\n    res",
            "        b(i,j) = 0.25d0 *": "        t(i,j) = 2d0 * a(i,j)\n        b(i,j) = t(i,j) *",
        },
        True,
    ),
    "set to what is computed from": ({FIRST: "    res = a(1,1)\n"}, False),
    "set in one case": ({FIRST: "    if (ny > 3) res = 0d0\n"}, False),
    "set beside another": ({FIRST: "    i = 0; res = 0d0\n"}, False),
    "given twice": ({CALL: "    call step(u, v, v(1,1))\n"}, False),
    "an element": (
        {"s, r\n": "s, r, q(9)\n", CALL: "    call step(u, v, q(2))\n    r = q(2)\n"},
        False,
    ),
    "used behind the loops": (
        {
            "      end do\n    end do\n  end subroutine\nend module": "      end do\n    end do\n"
            "    res = sqrt(res)\n  end subroutine\nend module"
        },
        False,
    ),
    "used in front of the call": ({CALL: f"    s = r\n{CALL}"}, True),
    "maybe not there": ({"intent(out) :: res": "intent(out), optional :: res"}, False),
    "volatile": ({"intent(out) :: res": "intent(out), volatile :: res"}, False),
}


@pytest.mark.parametrize("name", IN_A_ROUTINE)
def test_in_a_routine(name: str, tmp_path: Path) -> None:
    replacements, divided = IN_A_ROUTINE[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(ROUTINE, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    after = outcome.after[str(path)]
    assert (b"step_boundary" in after) is divided, [d.details for d in outcome.decisions]
    if b"s = r\n" in after:  # before any part of the step sets it anew
        assert after.index(b"s = r\n") < after.index(b"call step_interior")
    assert transform([path], Options(contents={path: after})).after[str(path)] == after


FIXED = """      subroutine step(a, b, n, m)
      integer n, m, i, a(0:n+1), b(n)
      m = 0
      do i = 1, n
         b(i) = a(i - 1) + a(i + 1)
%s
      end do
      end
"""


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("         m = m + b(i)", "sum"),
        ("         m = m  ! so far\n     &       + b(i)", "sum"),
        ("         m = max(m,\n     1           b(i))", "extreme max"),
        (
            "         if (b(i) .gt. m) then\nc        larger\n            m = b(i)\n"
            "         end if",
            "chosen max",
        ),
        ("         m = m + b(i)\n     !       * m", None),
        ("         m = m + b(i) ! so far\n     &       * m", None),
        ("         m = m + b(i)\nc m\n     &       - m", None),
        ("         m = m + b(m)", None),
    ],
)
def test_fixed_form(text: str, operation: str | None, tmp_path: Path) -> None:
    """What continues a line belongs to it, whatever mark and comments stand between."""
    path = tmp_path / "case.f"
    path.write_text(FIXED % text)
    analysis = Analysis([path], Options())
    routine = analysis.program.routines["step"]
    space = Spaces(analysis.program, analysis.footprints, routine).of(routine.body.statements[-1])
    assert space is not None
    found = {each.operation for each in space.reduced.values()}
    assert found == ({operation} if operation else set())
