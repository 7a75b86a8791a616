"""Integer expressions over program variables, and the sections of arrays built from them.

Most are affine. A product of variables is a term of its own, named by its factors, so that sizes
and strides such as `(n + 2) * m` can be compared; what needs a sign or a bound of such a term is
not known. A factor may be a field of what a pointer names, `pointer→field`, or an element of an
array that holds sizes, `array[0]`: to set any element is to change all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import gcd
from typing import NamedTuple

PRODUCT, ARROW = "·", "→"
QUOTIENT = "quotient:"  # begins the names of integers of which nothing is known
_ELEMENT = re.compile(r"\[\d+\]$")
_NOTHING: frozenset[str] = frozenset()
_KEPT = 1 << 16  # answers on names that are kept: the same few terms are asked again and again


def field_of(base: str, name: str) -> str:
    """The factor for a field (a key of the program model, with or without an element's index)."""
    return f"{base}{ARROW}{name}"


def element_of(array: str, number: int) -> str:
    """The factor for an element of an array of one dimension, counted from 0."""
    return f"{array}[{number}]"


def array_of_element(factor: str) -> str:
    """The array of which a factor is an element; what it is itself where it is none."""
    return _ELEMENT.sub("", factor)


@lru_cache(_KEPT)
def _variables(terms: tuple[tuple[str, int], ...]) -> frozenset[str]:
    """The variables that the value of these terms depends on."""
    return frozenset(
        _ELEMENT.sub("", part)
        for key, _ in terms
        for factor in key.split(PRODUCT)
        for part in factor.split(ARROW)
    )


# Tuples rather than dataclasses: a program has hundreds of thousands, most of them short-lived.


class Affine(NamedTuple):
    """`constant + sum(coefficient * variable)`; variables are keys of the program model.

    The terms are sorted by their keys, and none has the coefficient 0.
    """

    constant: int
    terms: tuple[tuple[str, int], ...] = ()

    @staticmethod
    def variable(key: str) -> Affine:
        return Affine(0, ((key, 1),))

    def plus(self, other: Affine, scale: int = 1) -> Affine:
        """`self + scale * other`."""
        constant = self.constant + scale * other.constant
        if not other.terms or not scale:
            return Affine(constant, self.terms)
        if not self.terms and scale == 1:
            return Affine(constant, other.terms)
        sums = dict(self.terms)
        for key, coefficient in other.terms:
            sums[key] = sums.get(key, 0) + scale * coefficient
        return Affine(constant, tuple(sorted([item for item in sums.items() if item[1]])))

    def times(self, factor: int) -> Affine:
        return Affine(0).plus(self, factor)

    def product(self, other: Affine) -> Affine:
        if not other.terms:
            return self.times(other.constant)
        if not self.terms:
            return other.times(self.constant)
        found = Affine(0)
        for left, first in (("", self.constant), *self.terms):
            for right, second in (("", other.constant), *other.terms):
                factors = [name for key in (left, right) if key for name in key.split(PRODUCT)]
                key = PRODUCT.join(sorted(factors))
                term = Affine(0, ((key, 1),)) if key else Affine(1)
                found = found.plus(term, first * second)
        return found

    def share(self, number: int) -> Affine | None:
        """One part of so many equal ones; None where they are no whole numbers."""
        if self.constant % number or any(n % number for _, n in self.terms):
            return None
        return Affine(self.constant // number, tuple((k, n // number) for k, n in self.terms))

    def divided(self, other: Affine) -> Affine | None:
        """What `other` is multiplied by to give this; None where there is no such expression."""
        lead, factor = max(((key.split(PRODUCT), n) for key, n in other.terms), key=_rank)
        rest, found = self, Affine(0)
        while rest.terms:
            names, number = max(((key.split(PRODUCT), n) for key, n in rest.terms), key=_rank)
            names = list(names)
            for name in lead:
                if name not in names:
                    return None
                names.remove(name)
            if number % factor:
                return None
            part = Affine(0, ((PRODUCT.join(names), 1),)) if names else Affine(1)
            part = part.times(number // factor)
            rest, found = rest.plus(other.product(part), -1), found.plus(part)
        return found if not rest.constant else None

    def coefficient(self, key: str) -> int | None:
        """The factor of `key`; None where it stands in a product with another variable."""
        found = 0
        for term, coefficient in self.terms:
            if term == key:
                found = coefficient
            elif key in term and key in term.split(PRODUCT):
                return None
        return found

    def replace(self, value_of: Callable[[str], Affine | None]) -> Affine | None:
        """The expression with each factor replaced; None where the value of one is not known."""
        if not self.terms:
            return self
        found = Affine(self.constant)
        for term, coefficient in self.terms:
            value = Affine(coefficient)
            for factor in term.split(PRODUCT):
                inner = value_of(factor)
                if inner is None:
                    return None
                value = value.product(inner)
            found = found.plus(value)
        return found

    def of_object(self, owner: str) -> Affine:
        """The expression with fields that are named without an object as those of one."""
        if ARROW not in str(self.terms):
            return self
        found = self.replace(lambda f: Affine.variable(owner + f if f.startswith(ARROW) else f))
        assert found is not None
        return found

    def substitute(self, key: str, value: Affine) -> Affine:
        """The expression with `key` replaced by `value`."""
        coefficient = self.coefficient(key)
        if coefficient is not None:
            rest = tuple([term for term in self.terms if term[0] != key])
            return Affine(self.constant, rest).plus(value, coefficient)
        found = self.replace(lambda name: value if name == key else Affine.variable(name))
        assert found is not None
        return found

    def numbers(self) -> frozenset[str]:
        """The variables and fields whose values it has, without the objects of the fields."""
        return frozenset(
            _ELEMENT.sub("", factor.split(ARROW)[-1])
            for key, _ in self.terms
            for factor in key.split(PRODUCT)
        )

    def variables(self) -> frozenset[str]:
        return _variables(self.terms) if self.terms else _NOTHING


def _rank(term: tuple[list[str], int]) -> tuple[int, list[str]]:
    """The order of terms by which an expression is divided: by degree, then by names."""
    return len(term[0]), term[0]


class Range(NamedTuple):
    """Inclusive bounds of one dimension; None where a bound is not known."""

    low: Affine | None
    high: Affine | None

    @staticmethod
    def point(value: Affine | None) -> Range:
        return Range(value, value)

    def variables(self) -> frozenset[str]:
        found = _NOTHING
        for bound in self:
            if bound is not None:
                found |= bound.variables()
        return found

    def widen(self, index: str, low: Affine, high: Affine) -> Range:
        """The union over `index` in low..high (which the caller knows to be its whole range)."""
        first = _extreme(self.low, index, low, high, lowest=True)
        last = _extreme(self.high, index, low, high, lowest=False)
        return self if first is self.low and last is self.high else Range(first, last)

    def forget(self, keys: frozenset[str]) -> Range:
        """The range with each bound dropped that depends on one of `keys`."""
        low = None if self.low is None or _depends(self.low, keys) else self.low
        high = None if self.high is None or _depends(self.high, keys) else self.high
        return self if low is self.low and high is self.high else Range(low, high)


def _depends(bound: Affine, keys: frozenset[str]) -> bool:
    return bool(bound.terms) and not keys.isdisjoint(_variables(bound.terms))


# One range per dimension, the dimension that varies fastest in memory first.
Section = tuple[Range, ...]


class Fit(NamedTuple):
    """A section that holds what is touched where `room` is not below 0, or is 0 (`exact`)."""

    section: Section
    room: Affine
    exact: bool = False

    def variables(self) -> frozenset[str]:
        found = self.room.variables()
        for dimension in self.section:
            found |= dimension.variables()
        return found


def _extreme(
    bound: Affine | None, index: str, low: Affine, high: Affine, *, lowest: bool
) -> Affine | None:
    if bound is None or not bound.terms or index not in _variables(bound.terms):
        return bound
    coefficient = bound.coefficient(index)
    if not coefficient:
        return None
    return bound.substitute(index, low if (coefficient > 0) == lowest else high)


def surely_less(
    left: Affine | None, right: Affine | None, nonnegative: Iterable[Affine] = ()
) -> bool:
    """Whether left < right whatever the values of the variables are.

    `nonnegative`: expressions known not to be below 0.
    """
    if left is None or right is None:
        return False
    if left.terms == right.terms:
        return left.constant < right.constant
    if not nonnegative:
        return False
    difference = right.plus(left, -1)
    return any(
        known.terms == difference.terms and known.constant < difference.constant
        for known in nonnegative
    )


def never_equal(left: Affine | None, right: Affine | None) -> bool:
    """Whether two integers differ whatever the values of the variables are.

    So do `now` and `1 - now`: their difference is odd (the test of the greatest common divisor).
    The quotient of a remainder counts as another integer on either side.
    """
    if left is None or right is None:
        return False
    difference = left.plus(right, -1)
    factors = [number for key, number in difference.terms if not key.startswith(QUOTIENT)]
    factors += [
        number for side in (left, right) for key, number in side.terms if key.startswith(QUOTIENT)
    ]
    divisor = gcd(*factors)
    return bool(difference.constant % divisor if divisor else difference.constant)


def _never_meet(left: Range, right: Range) -> bool:
    """Whether two ranges are single indices that differ."""
    points = left.low == left.high and right.low == right.high
    return points and never_equal(left.low, right.low)


def disjoint(
    left: Section | None, right: Section | None, nonnegative: Iterable[Affine] = ()
) -> bool:
    """Whether two sections of one array surely share no element."""
    if left is None or right is None or len(left) != len(right):
        return False
    return any(
        surely_less(a.high, b.low, nonnegative)
        or surely_less(b.high, a.low, nonnegative)
        or _never_meet(a, b)
        for a, b in zip(left, right, strict=True)
    )


def extents(section: Section, strides: tuple[Affine, ...] = ()) -> frozenset[Affine]:
    """What is not below 0 where anything of the section is touched at all: loops that run.

    Not so of whole lines of a linear array: a message of `nx * ny` elements holds some where both
    are below 0, too.
    """
    found = set()
    for number, dimension in enumerate(section):
        if dimension.low is not None and dimension.high is not None:
            span = dimension.high.plus(dimension.low, -1)
            if number < len(strides) and span.plus(Affine(1)) == strides[number]:
                continue
            if span.terms:
                found.add(span)
    return frozenset(found)


def within(section: Section, strides: tuple[Affine, ...], nonnegative: Iterable[Affine]) -> bool:
    """Whether each index but the slowest stays between 0 and its stride.

    Then two sections of one linear array with equal strides compare as those of an array with
    that many dimensions do.
    """
    return all(
        surely_less(Affine(-1), dimension.low, nonnegative)
        and surely_less(dimension.high, stride, nonnegative)
        for dimension, stride in zip(section, strides, strict=False)
    )


def widen(section: Section | None, index: str, low: Affine, high: Affine) -> Section | None:
    if section is None:
        return None
    return tuple([dimension.widen(index, low, high) for dimension in section])


def forget(section: Section | None, keys: frozenset[str]) -> Section | None:
    """The section as it may be known once the variables `keys` have changed."""
    if section is None:
        return None
    found = tuple([dimension.forget(keys) for dimension in section])
    return section if found == section else found
