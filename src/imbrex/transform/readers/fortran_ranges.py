"""The ranges of counted loops of Fortran, by the values of their headers."""

from __future__ import annotations

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.remainders import Value
from imbrex.transform.model.statements import LoopRange


def loop_range(index: str, values: list[Affine | None], *, known: bool) -> LoopRange | None:
    """The range of `do index = first, last, step`; None where that is not known.

    `known`: whether it is the step that stands there, or one of the same sign.
    """
    if len(values) < 2 or values[0] is None or values[1] is None:
        return None
    step = _step(values[2:])
    if step is None:
        return None
    every = abs(step) == 1
    first = Value(Affine.variable(index)).plus(Value(values[0]), -1)
    congruent = first.congruent(abs(step)) if known else None
    low, high = (values[0], values[1]) if step > 0 else (values[1], values[0])
    return LoopRange(index, low, high, every, congruent=congruent)


def begun_at_remainder(
    index: str, first: Value | None, values: list[Affine | None]
) -> LoopRange | None:
    """What the index of `do i = 1 + mod(j, 2), n, 2` stays within; `values`: behind the first."""
    step = _step(values[1:])
    if first is None or not values or values[0] is None or step is None or step < 2:
        return None
    congruent = Value(Affine.variable(index)).plus(first, -1).congruent(step)
    return LoopRange(index, first.least(), values[0], False, congruent=congruent, first=first)


def _step(given: list[Affine | None]) -> int | None:
    """The step, 1 where none stands; None where it is no number but 0."""
    step = given[0] if given else Affine(1)
    return None if step is None or step.terms or not step.constant else step.constant
