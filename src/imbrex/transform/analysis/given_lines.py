"""Arrays of C that routines are given as something else: from an element on, or in lines.

`post(&u[i * n], n)`, `sweep(n, m, (double (*)[m]) u)` and `post(&v[i][0], m)`, of `v` in lines:
elements are told in those of the caller's array.
"""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.linear_indices import Strides, in_lines, index_of_parts, parts_of_index
from imbrex.transform.model.memory import Variable

_NOTHING: tuple[None, Strides] = (None, ())


def lengths_of(variable: Variable) -> Strides | None:
    """The lengths of the lines of an array of C, of lines of lines too; None if not known."""
    ends = [high for _, high in variable.bounds[:-1]]
    known = tuple(high.plus(Affine(1)) for high in ends if high is not None)
    return known if len(known) == len(ends) else None


@dataclass(frozen=True)
class Lines:
    """What a routine touches of a parameter, as lines of these lengths, in terms of its caller."""

    section: Section | None
    strides: Strides

    def onto(
        self, theirs: Variable, mine: Variable | None, argument: Argument
    ) -> tuple[Section | None, Strides]:
        """The same of the array that it is given, or a part of it."""
        if self.section is None or mine is None or argument.origin is None:
            return _NOTHING
        plain = all(low == Affine(0) for low, _ in (*mine.bounds, *theirs.bounds))
        if not (plain and mine.bounds and theirs.bounds) or mine.element != theirs.element:
            return _NOTHING
        if mine.rows or theirs.rows or (mine.kind == "field" and not argument.owner):
            return _NOTHING  # the field of another object in each call, perhaps
        first = [index for index in argument.origin if index is not None]
        if len(first) != len(argument.origin) or len(self.section) != len(self.strides) + 1:
            return _NOTHING
        if len(mine.bounds) == 1:
            return self._onto_elements(first, argument.strides)
        return self._onto_lines(first, mine)

    def _onto_elements(
        self, first: list[Affine], lengths: Strides
    ) -> tuple[Section | None, Strides]:
        """Of an array of elements. Lines that the routine tells are lines of the array, too,
        shifted by what the address is in them; whether they keep to their lengths is for
        `affine.within` to tell.
        """
        if self.section is None or len(first) != len(lengths) + 1:
            return _NOTHING
        begins = parts_of_index(index_of_parts(tuple(first), lengths), self.strides)
        shifted = (
            Range(*(None if end is None else end.plus(begin) for end in dimension))
            for dimension, begin in zip(self.section, begins, strict=True)
        )
        return tuple(shifted), self.strides

    def _onto_lines(self, first: list[Affine], mine: Variable) -> tuple[Section | None, Strides]:
        """Of an array in lines of the same lengths, which the routine may leave as well."""
        *faster, slowest = first
        lengths = lengths_of(mine)
        if self.section is None or any(index != Affine(0) for index in faster):
            return _NOTHING
        if len(first) != len(mine.bounds) or lengths is None:
            return _NOTHING
        section = self.section if self.strides else in_lines(self.section, lengths)
        if section is None or (self.strides and lengths != self.strides):
            return _NOTHING
        *inside, last = section
        ends = (None if end is None else end.plus(slowest) for end in last)
        return (*inside, Range(*ends)), lengths
