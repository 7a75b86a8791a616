"""What pairs of runs prove: an interval on the ratio of two times that may be looked at any time.

Each pair gives the logarithm of a ratio; runs of a pair follow each other, and the order within
pairs changes, so that drift and what disturbs both cancel. Under equal times the logarithms lie
symmetrically around 0, whatever the times are distributed like.

The interval is a confidence sequence: it holds at all numbers of pairs at once, so that stopping
when it says enough costs no confidence. It inverts the t test with a normal prior of variance
`EFFECT_VARIANCE` on the effect in standard deviations, whose Bayes factor is a martingale for
every variance (Lai 1976; Wang and Ramdas 2023, "Anytime-valid t-tests and confidence sequences for
Gaussian means with unknown variance"). With G = 1 + n EFFECT_VARIANCE and a t statistic of n - 1
degrees of freedom it is

    ((1 + t²/(n-1)) / (1 + t²/((n-1) G)))^(n/2) / sqrt(G),

and exceeds 1/alpha at any n with probability at most alpha (Ville).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

CONFIDENCE = 0.95
WORTH = 0.01
EFFECT_VARIANCE = 10.0
"""Large: a gain of many times the noise is then proven by three or four pairs."""
LEAST_PAIRS = 3
PRECISION = 0.25
"""A gain that is proven is narrowed down to this share of itself, or to `worth`."""


class Answer(Enum):
    """What the pairs say of B beside A."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    OPEN = "open"


@dataclass(frozen=True)
class Ratio:
    """The time of B over that of A: the estimate, and an interval with CONFIDENCE.

    Of fewer than LEAST_PAIRS pairs, and of some more, the interval is (0, inf).
    """

    estimate: float
    low: float
    high: float
    pairs: int

    @property
    def gain(self) -> tuple[float, float]:
        """The share of A's time that B saves, at least and at most; negative where it is slower."""
        return 1 - self.high, 1 - self.low

    def answer(self, worth: float = WORTH) -> Answer:
        """What is certain; differences of less than `worth` (a share of the time) do not matter."""
        if self.high < 1:
            return Answer.FASTER
        if self.low > 1:
            return Answer.SLOWER
        if 1 - worth <= self.low and self.high <= 1 + worth:
            return Answer.SAME
        return Answer.OPEN

    def enough(self, worth: float = WORTH) -> bool:
        """Whether more pairs would tell nothing that matters."""
        answer = self.answer(worth)
        if answer in (Answer.OPEN, Answer.SAME):
            return answer is Answer.SAME
        width = self.high - self.low
        return width <= 2 * max(worth / 2, PRECISION * abs(1 - self.estimate))


def ratio(log_ratios: Sequence[float], confidence: float = CONFIDENCE) -> Ratio:
    """What pairs say of the ratio of two times, from ln(B/A) of each."""
    n = len(log_ratios)
    if n == 0:
        return Ratio(1.0, 0.0, math.inf, 0)
    mean = math.fsum(log_ratios) / n
    half = half_width(n, _deviation(log_ratios, mean), confidence)
    if math.isinf(half):
        return Ratio(math.exp(mean), 0.0, math.inf, n)
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half), n)


def half_width(n: int, deviation: float, confidence: float = CONFIDENCE) -> float:
    """Half of the interval's width for n values with this standard deviation; inf of too few."""
    if n < LEAST_PAIRS:
        return math.inf
    g = 1 + n * EFFECT_VARIANCE
    r = math.exp((math.log(1 / (1 - confidence)) + 0.5 * math.log(g)) * 2 / n)
    if r >= g:
        return math.inf
    t_squared = (n - 1) * (r - 1) / (1 - r / g)
    return deviation * math.sqrt(t_squared / n)


def pairs_needed(
    deviation: float, width: float, most: int = 10_000, confidence: float = CONFIDENCE
) -> int | None:
    """How many pairs make half of the interval `width`; None where `most` do not."""
    low, high = LEAST_PAIRS, most
    if half_width(most, deviation, confidence) > width:
        return None
    while low < high:  # the width falls with n
        middle = (low + high) // 2
        if half_width(middle, deviation, confidence) > width:
            low = middle + 1
        else:
            high = middle
    return low


def deviation_of(log_ratios: Sequence[float]) -> float:
    """The standard deviation of pairs, 0 of fewer than two."""
    return _deviation(log_ratios, math.fsum(log_ratios) / len(log_ratios)) if log_ratios else 0.0


def _deviation(values: Sequence[float], mean: float) -> float:
    if len(values) < 2:
        return 0.0
    squares = math.fsum((value - mean) ** 2 for value in values)
    # Clocks have a grain: without it equal times would prove anything.
    return max(math.sqrt(squares / (len(values) - 1)), 1e-6)
