"""Rows of vectors of vectors that routines are given: `relax(u[i - 1], u[i], v[i])`."""

from __future__ import annotations

from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.memory import Variable


def in_rows(
    section: Section | None,
    strides: tuple[Affine, ...] | None,
    theirs: Variable,
    mine: Variable,
    argument: Argument,
) -> Section | None:
    """What a routine touches of a row, or of a vector of rows, as elements of the whole, `mine`.

    `section`, `strides`: of the parameter `theirs`, in terms of the caller.
    """
    if section is None or strides is None or strides or argument.strides:
        return None
    origin, rank = argument.origin or (), len(theirs.bounds)
    if len(section) != rank or len(origin) != len(mine.bounds) or mine.element != theirs.element:
        return None
    first = origin[0]
    if first is None or any(index != Affine(0) for index in origin[1:rank]):
        return None
    line, *outer = section
    ends = (None if end is None else end.plus(first) for end in line)
    return (Range(*ends), *outer, *(Range.point(index) for index in origin[rank:]))
