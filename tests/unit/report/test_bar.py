"""The bar of a run: letters and words for the same parts, which add up to the run."""

from __future__ import annotations

import re

from imbrex.diagnosis.segments import Segment
from imbrex.report.bar import bar, legend


def parts(**shares: float) -> list[Segment]:
    return [Segment(kind, kind, share) for kind, share in shares.items()]


def words(found: list[Segment]) -> list[str]:
    return re.split(r" {3}|\n", "\n".join(line.plain for line in legend(found, 100)))


def test_what_has_no_letter_of_its_own_is_told_together() -> None:
    found = parts(compute=0.95, late_sender=0.038, transfer=0.004, stalled=0.004, library=0.004)
    assert bar(found, 100).plain == "=" * 95 + "s" * 4 + "."
    assert words(found) == ["= compute 95 %", "s late_sender 3.8 %", ". other 1.2 %"]


def test_nothing_is_said_of_what_is_less_than_a_letter_altogether() -> None:
    found = parts(compute=0.956, late_sender=0.04, transfer=0.004)
    assert words(found) == ["= compute 96 %", "s late_sender 4 %"]


def test_parts_are_named_where_all_but_compute_are_small() -> None:
    found = parts(compute=0.994, late_sender=0.004, transfer=0.002)
    assert words(found) == ["= compute 99 %", "s late_sender 0.4 %", "T transfer 0.2 %"]
