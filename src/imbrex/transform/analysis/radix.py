"""Indices of a linear array whose sizes are numbers: which loops' indices one element tells.

`u[(k * 96 + j) * 96 + i]` with j and i from 1 to 94 names another element for each (k, j, i), as
digits do a number: what the smaller terms can add up to stays below the factor of the next.
"""

from __future__ import annotations

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.statements import LoopRange


def told_by(index: Affine, ranges: list[LoopRange]) -> frozenset[str]:
    """The loops' indices that are the same wherever this expression has the same value.

    What is in it beside them has to be the same in all iterations.
    """
    terms: list[tuple[int, str, int | None]] = []
    for span in ranges:
        factor = index.coefficient(span.index)
        if factor is None:
            return frozenset()
        length = span.high.plus(span.low, -1)
        if factor:
            known = None if length.terms else max(length.constant, 0)
            terms.append((abs(factor), span.index, known))
    terms.sort(reverse=True)
    told: set[str] = set()
    for number, (factor, name, _) in enumerate(terms):
        smaller = 0
        for other, _, length_of in terms[number + 1 :]:
            if length_of is None:
                return frozenset(told)
            smaller += other * length_of
        if smaller >= factor:
            break
        told.add(name)
    return frozenset(told)
