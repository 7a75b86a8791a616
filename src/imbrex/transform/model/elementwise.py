"""Assignments of Fortran to a section of an array, element by element, and DO CONCURRENT."""

from __future__ import annotations

from typing import NamedTuple

from imbrex.transform.model.affine import Affine, Range, Section


class Extent(NamedTuple):
    """A range of a subscript: the bytes of its text, its ends as text and as values."""

    start: int
    end: int
    low: str
    high: str
    first: Affine | None
    last: Affine | None


class Part(NamedTuple):
    """An array that such an assignment names: what it selects of it, and its ranges in order.

    Of DO CONCURRENT the ranges are those of its header, with the values that a subscript has there.
    """

    variable: str
    through: bool
    write: bool
    section: Section
    extents: tuple[tuple[int, Extent], ...]  # with the dimension of each, or -1: it is in none
    own: frozenset[str] = frozenset()  # the indices of DO CONCURRENT, which nothing outside sees

    def at(self, indices: dict[int, str]) -> Section:
        """What one iteration selects; `indices`: of the ranges that are counted, by position."""
        section = list(self.section)
        for number, (dimension, extent) in enumerate(self.extents):
            if number in indices and extent.first is not None and dimension >= 0:
                point = extent.first.plus(Affine.variable(indices[number]))
                section[dimension] = Range(point, point)
        return tuple(section)
