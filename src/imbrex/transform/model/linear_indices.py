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
    """Elements that follow each other, as whole lines or a part of one; None where they are not
    known.

    That holds as it stands; whether they leave the line is for `affine.within` to tell.
    """
    if len(section) != 1 or section[0].low is None or section[0].high is None:
        return None
    low, high = section[0].low, section[0].high
    count = high.plus(low, -1).plus(Affine(1))
    parts = parts_of_index(low, strides)
    ranges: list[Range] = []
    for part, stride in zip(parts, (*strides, None), strict=True):
        lines = None if stride is None or part != Affine(0) else whole_lines(count, stride)
        if stride is None or lines is None:
            ranges.append(Range(part, part.plus(count).plus(Affine(1), -1)))
            break
        ranges.append(Range(part, stride.plus(Affine(1), -1)))
        count = lines
        if count == Affine(1):
            break
    return (*ranges, *map(Range.point, parts[len(ranges) :]))


def whole_lines(count: Affine, extent: Affine) -> Affine | None:
    """The number of whole lines that `count` elements are."""
    if extent.terms:
        return count.divided(extent)
    if extent.constant <= 0:
        return None
    numbers = [count.constant, *(coefficient for _, coefficient in count.terms)]
    if any(number % extent.constant for number in numbers):
        return None
    terms = tuple((key, value // extent.constant) for key, value in count.terms)
    return Affine(count.constant // extent.constant, terms)


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
