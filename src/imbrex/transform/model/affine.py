"""Integer expressions over program variables, and the sections of arrays built from them.

Most are affine. A product of variables is a term of its own, named by its factors, so that sizes
and strides such as `(n + 2) * m` can be compared; what needs a sign or a bound of such a term is
not known. A factor may be a field of what a pointer names: `pointer→field`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

PRODUCT, ARROW = "·", "→"
_ELEMENT = re.compile(r"\[\d+\]$")


def field_of(base: str, name: str) -> str:
    """The factor for a field (a key of the program model, with or without an element's index)."""
    return f"{base}{ARROW}{name}"


def _names(key: str) -> frozenset[str]:
    """The variables that the value of a term depends on."""
    return frozenset(
        _ELEMENT.sub("", part) for factor in key.split(PRODUCT) for part in factor.split(ARROW)
    )


@dataclass(frozen=True, slots=True)
class Affine:
    """`constant + sum(coefficient * variable)`; variables are keys of the program model."""

    constant: int
    terms: tuple[tuple[str, int], ...] = ()

    @staticmethod
    def variable(key: str) -> Affine:
        return Affine(0, ((key, 1),))

    def plus(self, other: Affine, scale: int = 1) -> Affine:
        """`self + scale * other`."""
        sums = dict(self.terms)
        for key, coefficient in other.terms:
            sums[key] = sums.get(key, 0) + scale * coefficient
        terms = tuple(sorted((key, value) for key, value in sums.items() if value))
        return Affine(self.constant + scale * other.constant, terms)

    def times(self, factor: int) -> Affine:
        return Affine(0).plus(self, factor)

    def product(self, other: Affine) -> Affine:
        found = Affine(0)
        for left, first in (("", self.constant), *self.terms):
            for right, second in (("", other.constant), *other.terms):
                factors = [name for key in (left, right) if key for name in key.split(PRODUCT)]
                key = PRODUCT.join(sorted(factors))
                term = Affine(0, ((key, 1),)) if key else Affine(1)
                found = found.plus(term, first * second)
        return found

    def coefficient(self, key: str) -> int | None:
        """The factor of `key`; None where it stands in a product with another variable."""
        if any(key in term.split(PRODUCT) and term != key for term, _ in self.terms):
            return None
        return dict(self.terms).get(key, 0)

    def replace(self, value_of: Callable[[str], Affine | None]) -> Affine | None:
        """The expression with each factor replaced; None where the value of one is not known."""
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

    def substitute(self, key: str, value: Affine) -> Affine:
        """The expression with `key` replaced by `value`."""
        found = self.replace(lambda name: value if name == key else Affine.variable(name))
        assert found is not None
        return found

    def variables(self) -> frozenset[str]:
        return frozenset(name for key, _ in self.terms for name in _names(key))


@dataclass(frozen=True, slots=True)
class Range:
    """Inclusive bounds of one dimension; None where a bound is not known."""

    low: Affine | None
    high: Affine | None

    @staticmethod
    def point(value: Affine | None) -> Range:
        return Range(value, value)

    def variables(self) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for bound in (self.low, self.high):
            if bound is not None:
                found |= bound.variables()
        return found

    def widen(self, index: str, low: Affine, high: Affine) -> Range:
        """The union over `index` in low..high (which the caller knows to be its whole range)."""
        return Range(
            _extreme(self.low, index, low, high, lowest=True),
            _extreme(self.high, index, low, high, lowest=False),
        )

    def forget(self, keys: frozenset[str]) -> Range:
        """The range with each bound dropped that depends on one of `keys`."""
        return Range(
            None if self.low is None or self.low.variables() & keys else self.low,
            None if self.high is None or self.high.variables() & keys else self.high,
        )


# One range per dimension, the dimension that varies fastest in memory first.
Section = tuple[Range, ...]


def _extreme(
    bound: Affine | None, index: str, low: Affine, high: Affine, *, lowest: bool
) -> Affine | None:
    if bound is None:
        return None
    if index not in bound.variables():
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
    difference = right.plus(left, -1)
    if not difference.terms:
        return difference.constant > 0
    for known in nonnegative:
        rest = difference.plus(known, -1)
        if not rest.terms and rest.constant > 0:
            return True
    return False


def disjoint(
    left: Section | None, right: Section | None, nonnegative: Iterable[Affine] = ()
) -> bool:
    """Whether two sections of one array surely share no element."""
    if left is None or right is None or len(left) != len(right):
        return False
    return any(
        surely_less(a.high, b.low, nonnegative) or surely_less(b.high, a.low, nonnegative)
        for a, b in zip(left, right, strict=True)
    )


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
    return tuple(dimension.widen(index, low, high) for dimension in section)


def forget(section: Section | None, keys: frozenset[str]) -> Section | None:
    """The section as it may be known once the variables `keys` have changed."""
    if section is None:
        return None
    return tuple(dimension.forget(keys) for dimension in section)
