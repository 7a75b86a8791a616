"""Indices of linear arrays as those of the dimensions that strides tell, the fastest first."""

from __future__ import annotations

from imbrex.transform.model.affine import PRODUCT, Affine, Range, Section

Strides = tuple[Affine, ...]


def parts_of_index(
    index: Affine, strides: Strides, moving: frozenset[str] = frozenset()
) -> tuple[Affine, ...]:
    """The indices of the dimensions, the fastest first; `moving`: variables that loops count."""
    found = []
    for stride in strides:
        index, rest = _divided(index, stride, moving)
        found.append(rest)
    return (*found, index)


def index_of_parts(parts: tuple[Affine, ...], strides: Strides) -> Affine:
    """The index of the linear array: what `parts_of_index` takes apart."""
    index = parts[-1]
    for part, stride in zip(reversed(parts[:-1]), reversed(strides), strict=True):
        index = index.product(stride).plus(part)
    return index


def strides_told(index: Affine, moving: frozenset[str]) -> Strides | None:
    """The strides that loops' indices have in a linear index, however it is written.

    In `i + n * j + n * m * k` they are multiplied by 1, n and n * m, which are the strides n and m.
    None where these are no products of each other.
    """
    factors: dict[str, Affine] = {}
    for term, coefficient in index.terms:
        names = term.split(PRODUCT)
        counted = [name for name in names if name in moving]
        if len(counted) > 1:
            return None
        if counted:
            names.remove(counted[0])
            rest = Affine(0, ((PRODUCT.join(names), 1),)) if names else Affine(1)
            sofar = factors.get(counted[0], Affine(0))
            factors[counted[0]] = sofar.plus(rest, coefficient)
    found: list[Affine] = []
    faster = Affine(1)
    for factor in sorted({_positive(f) for f in factors.values()} - {faster}, key=_degree):
        if not factor.terms:
            return None
        stride = factor.divided(faster) if faster.terms else factor
        if stride is None or not stride.terms:
            return None
        found.append(stride)
        faster = factor
    return tuple(found)


def _positive(factor: Affine) -> Affine:
    """The factor of an index that counts up."""
    leading = max(factor.terms, key=lambda term: _degree(Affine(0, (term,))), default=("", 1))[1]
    return factor.times(-1) if leading < 0 else factor


def _degree(factor: Affine) -> tuple[int, str]:
    """How many variables are multiplied in it at most, and something to tell them apart."""
    most = max((term.count(PRODUCT) + 1 for term, _ in factor.terms), default=0)
    return most, str(factor)


def has_product(index: Affine, stride: Affine) -> bool:
    """Whether something that varies is multiplied by the stride in it, as far as its text tells."""
    first = _leading(stride)
    products = (term.split(PRODUCT) for term, _ in index.terms)
    return first is not None and any(first in names and len(names) > 1 for names in products)


def in_lines(
    section: Section, strides: Strides, moving: frozenset[str] = frozenset()
) -> Section | None:
    """Elements that follow each other, as whole lines or a part of one; None where they are not
    known. `moving`: variables that loops count.

    That holds as it stands; whether they leave the line is for `affine.within` to tell.
    """
    if len(section) != 1 or section[0].low is None or section[0].high is None:
        return None
    low, high = section[0].low, section[0].high
    count = high.plus(low, -1).plus(Affine(1))
    parts = parts_of_index(low, strides, moving)
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


def _divided(index: Affine, stride: Affine, moving: frozenset[str]) -> tuple[Affine, Affine]:
    """(quotient, rest) of an exact split; the rest of what no loop counts is not below 0 by its
    text."""
    if not stride.terms and stride.constant > 0 and not moving:
        return _by_number(index, stride.constant)
    first = _leading(stride)
    if first is None:
        return Affine(0), index
    quotient = Affine(0)
    for term, factor in index.terms:
        factors = term.split(PRODUCT)
        if first in factors:
            factors.remove(first)
            other = Affine(0, ((PRODUCT.join(factors), 1),)) if factors else Affine(1)
            quotient = quotient.plus(other, factor)
    rest = index.plus(quotient.product(stride), -1)
    if rest.constant < 0 and rest.variables().isdisjoint(moving):
        quotient, rest = quotient.plus(Affine(-1)), rest.plus(stride)
    return quotient, rest


def _leading(stride: Affine) -> str | None:
    """The variable that tells how often the stride is in an index."""
    return next((term for term, by in stride.terms if by == 1 and PRODUCT not in term), None)


def _by_number(index: Affine, stride: int) -> tuple[Affine, Affine]:
    """(quotient, rest) for a stride that is a number; a number's rest is not below 0."""
    whole = tuple((term, factor // stride) for term, factor in index.terms if not factor % stride)
    quotient = Affine(0, whole)
    if len(whole) == len(index.terms):
        quotient = quotient.plus(Affine(index.constant // stride))
    return quotient, index.plus(quotient.times(stride), -1)
