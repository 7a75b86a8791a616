"""Affine expressions over program variables, and the sections of arrays built from them."""

from __future__ import annotations

from dataclasses import dataclass


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

    def coefficient(self, key: str) -> int:
        return dict(self.terms).get(key, 0)

    def substitute(self, key: str, value: Affine) -> Affine:
        """The expression with `key` replaced by `value`."""
        coefficient = self.coefficient(key)
        if not coefficient:
            return self
        rest = Affine(self.constant, tuple(term for term in self.terms if term[0] != key))
        return rest.plus(value, coefficient)

    def variables(self) -> frozenset[str]:
        return frozenset(key for key, _ in self.terms)


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
    coefficient = bound.coefficient(index)
    if not coefficient:
        return bound
    return bound.substitute(index, low if (coefficient > 0) == lowest else high)


def surely_less(left: Affine | None, right: Affine | None) -> bool:
    """Whether left < right whatever the values of the variables are."""
    if left is None or right is None:
        return False
    difference = right.plus(left, -1)
    return not difference.terms and difference.constant > 0


def disjoint(left: Section | None, right: Section | None) -> bool:
    """Whether two sections of one array surely share no element."""
    if left is None or right is None or len(left) != len(right):
        return False
    return any(
        surely_less(a.high, b.low) or surely_less(b.high, a.low)
        for a, b in zip(left, right, strict=True)
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
