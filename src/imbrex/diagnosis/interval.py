"""A quantity that is known between two ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """Between `low` and `high`, in s unless said otherwise; low <= high."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    @property
    def middle(self) -> float:
        """What to order by where one number is needed."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """How much is not certain."""
        return self.high - self.low

    def at_most(self, limit: float) -> Interval:
        """The same, cut at a limit."""
        return Interval(min(self.low, limit), min(self.high, limit))

    def over(self, whole: float) -> Interval:
        """As a share of a whole; nothing of an empty whole."""
        return Interval(self.low / whole, self.high / whole) if whole > 0 else Interval()

    def to_json(self) -> list[float]:
        """`[low, high]`."""
        return [self.low, self.high]


NOTHING = Interval()


def total(intervals: Iterable[Interval]) -> Interval:
    """The sum of intervals."""
    return sum(intervals, NOTHING)
