"""What is likely true of a figure that was measured several times, or counted in samples."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def hodges_lehmann(values: Sequence[float]) -> tuple[float, float, float]:
    """The middle of values that scatter symmetrically, and its interval (95 % or a little more).

    The median of the means of all pairs, with the interval of Wilcoxon's signed-rank test (Hodges
    and Lehmann 1963): it needs no normal distribution, and an outlier moves it little. With fewer
    than six values the interval is the range of the values, which is less than 95 %.
    """
    n = len(values)
    means = sorted((values[i] + values[j]) / 2 for i in range(n) for j in range(i, n))
    # ways[s]: of the 2^n equally likely signs, those whose ranks with a plus add up to s
    ways = [1] + [0] * len(means)
    for rank in range(1, n + 1):
        for total in range(len(means), rank - 1, -1):
            ways[total] += ways[total - rank]
    cut, tail = 0, ways[0]
    while (tail + ways[cut + 1]) / 2**n <= 0.025:
        cut += 1
        tail += ways[cut]
    return statistics.median(means), means[cut], means[-1 - cut]


def share(part: int, whole: int) -> tuple[float, float, float]:
    """part / whole and its 95 % interval (Wilson 1927)."""
    z = 1.96
    p, scale = part / whole, 1 + z * z / whole
    middle = (p + z * z / (2 * whole)) / scale
    half = z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole)) / scale
    return p, max(0.0, middle - half), middle + half
