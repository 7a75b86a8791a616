"""Operands of remainders that are not negative: sums of indices of loops that begin at 0 or above.

The remainder of a negative number is one too, in C and with `mod` of Fortran. A loop over every
second cell that begins at `1 + (i + color) % 2` begins at 1 or 2 where i and color count upward
from 0, and for all that the loop itself says it may begin at 0.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import LoopRange, Statement


def not_negative(
    footprints: Footprints, routine: Routine, nest: Statement, ranges: list[LoopRange]
) -> frozenset[Affine]:
    """The operands of remainders in the ranges of a nest that are not below 0 in any iteration."""
    parts = {part.operand for span in ranges if span.first for part, _ in span.first.remainders}
    if not parts:
        return frozenset()
    indices = {span.index for span in ranges if _from_zero(span)}
    indices |= _of_outer_loops(footprints, routine, nest)
    return frozenset(
        part
        for part in parts
        if part.constant >= 0 and all(key in indices and by > 0 for key, by in part.terms)
    )


def _of_outer_loops(footprints: Footprints, routine: Routine, nest: Statement) -> set[str]:
    """The indices of the loops around a nest that begin there too, and that nothing else sets."""
    found: set[str] = set()
    block = nest.parent
    while block is not None and block.owner is not None:
        span = block.owner.loop
        if span is not None and _from_zero(span):
            changed = footprints.changed_by(block.statements, routine.file)
            found |= {span.index} - changed
        block = block.owner.parent
    return found


def _from_zero(span: LoopRange) -> bool:
    return not span.low.terms and span.low.constant >= 0
