"""A place is told once, where a reason and what it ends with have the same one."""

from __future__ import annotations

from imbrex.transform.model.causes import Reason, located
from imbrex.transform.model.location import Location
from imbrex.transform.model.reasons import ReasonKind

HERE, THERE = Location("inter.c", 19), Location("inter.c", 7)


def window(behind: Location) -> str:
    ends = Reason(ReasonKind.BLOCK_ENDS(), behind)
    cause = ReasonKind.NO_WINDOW(before=Reason(ReasonKind.BLOCK_BEGINS(), THERE), behind=ends)
    return str(Reason(cause, HERE))


def test_the_same_place_is_told_once() -> None:
    assert window(HERE).endswith("behind it the end of the block (inter.c:19)")


def test_another_place_is_told_too() -> None:
    assert window(THERE).endswith("behind it the end of the block (inter.c:7) (inter.c:19)")


def test_a_line_that_ends_alike_is_another() -> None:
    assert located("the end (inter.c:119)", "inter.c:19") == "the end (inter.c:119) (inter.c:19)"
