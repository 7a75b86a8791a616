"""Integers that are known but for a multiple of a number, as `1 + (i + color) % 2`.

Of such a value two things are told: what it is congruent to, and the least that it may be. The
first tells cells of one colour from those of the other in a sweep over every second one.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import NamedTuple

from imbrex.transform.model.affine import Affine


class Congruence(NamedTuple):
    """That `difference` is a multiple of `modulus`, which is above 1."""

    difference: Affine
    modulus: int


class Remainder(NamedTuple):
    """What is left of an integer that is divided by a number above 1.

    It has the sign of the integer unless `floored`: then it is never below 0.
    """

    operand: Affine
    modulus: int
    floored: bool = False


class Value(NamedTuple):
    """A sum of what is affine and of remainders, each with its factor."""

    affine: Affine
    remainders: tuple[tuple[Remainder, int], ...] = ()

    def plus(self, other: Value, scale: int = 1) -> Value:
        more = tuple((part, factor * scale) for part, factor in other.remainders)
        return Value(self.affine.plus(other.affine, scale), self.remainders + more)

    def replace(self, value_of: Callable[[Affine], Affine]) -> Value:
        """The value with all that is affine in it replaced."""
        return Value(
            value_of(self.affine),
            tuple((p._replace(operand=value_of(p.operand)), by) for p, by in self.remainders),
        )

    def congruent(self, modulus: int = 0) -> Congruence | None:
        """What is a multiple of a number wherever this and a multiple of `modulus` add up to 0."""
        found = self.affine
        for part, factor in self.remainders:
            found = found.plus(part.operand, factor)
            modulus = gcd(modulus, part.modulus * factor)
        return Congruence(found, modulus) if modulus > 1 else None

    def odd(self) -> Congruence | None:
        """What holds where this is not 0, if it is a remainder by 2."""
        if self.affine != Affine(0) or [part.modulus for part, _ in self.remainders] != [2]:
            return None
        return self.plus(Value(Affine(-1))).congruent()

    def least(self, not_negative: frozenset[Affine] = frozenset()) -> Affine:
        """What this is not below, where operands among these are not below 0."""
        found = self.affine
        for part, factor in self.remainders:
            most = part.modulus - 1
            lowest = 0 if part.floored or part.operand in not_negative else -most
            found = found.plus(Affine(factor * (lowest if factor > 0 else most)))
        return found


def remainder(value: Value, modulus: int, *, floored: bool = False) -> Value | None:
    """The remainder of a value that has none itself."""
    if value.remainders or modulus < 2:
        return None
    return Value(Affine(0), ((Remainder(value.affine, modulus, floored), 1),))
