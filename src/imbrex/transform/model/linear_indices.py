"""Indices of linear arrays as those of the dimensions that strides tell, the fastest first."""

from __future__ import annotations

from imbrex.transform.model.affine import PRODUCT, Affine, Range, Section

Strides = tuple[Affine, ...]


def parts_of_index(index: Affine, strides: Strides) -> tuple[Affine, ...]:
    """The indices of the dimensions, the fastest first."""
    found = []
    for stride in strides:
        index, rest = _divided(index, stride)
        found.append(rest)
    return (*found, index)


def in_lines(section: Section, strides: Strides) -> Section | None:
    """Elements that follow each other, as a part of one line; None where they are not known.

    That holds as it stands; whether they leave the line is for `affine.within` to tell.
    """
    if len(section) != 1 or section[0].low is None or section[0].high is None:
        return None
    low, high = section[0].low, section[0].high
    first, *lines = parts_of_index(low, strides)
    line = Range(first, first.plus(high).plus(low, -1))
    return (line, *(Range.point(number) for number in lines))


def _divided(index: Affine, stride: Affine) -> tuple[Affine, Affine]:
    """(quotient, rest) of an exact split; by its text, the rest is not below 0."""
    leading = [term for term, factor in stride.terms if factor == 1 and PRODUCT not in term]
    if not leading:
        return Affine(0), index
    first = leading[0]
    quotient = Affine(0)
    for term, factor in index.terms:
        factors = term.split(PRODUCT)
        if first in factors:
            factors.remove(first)
            other = Affine(0, ((PRODUCT.join(factors), 1),)) if factors else Affine(1)
            quotient = quotient.plus(other, factor)
    rest = index.plus(quotient.product(stride), -1)
    if rest.constant < 0:
        quotient, rest = quotient.plus(Affine(-1)), rest.plus(stride)
    return quotient, rest
