"""The maximum of many straight lines, evaluated for millions of arguments at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from imbrex.network.points import FloatArray


class UpperEnvelope:
    """max over k of (slope[k] * x + intercept[k]) for x >= 0.

    A message has one line per element (up to millions); only those that are greatest somewhere
    are kept, so that a sweep over networks costs the same whatever the message's length.
    """

    def __init__(self, slopes: ArrayLike, intercepts: ArrayLike) -> None:
        slope = np.asarray(slopes, dtype=np.float64).ravel()
        intercept = np.asarray(intercepts, dtype=np.float64).ravel()
        if slope.size == 0 or slope.size != intercept.size:
            raise ValueError("an envelope needs as many intercepts as slopes, and at least one")
        order = np.lexsort((intercept, slope))
        slope, intercept = slope[order], intercept[order]
        # Of equal slopes only the highest line counts: it is the last in this order.
        last = np.append(slope[1:] != slope[:-1], True)
        slope, intercept = slope[last], intercept[last]
        # At x = 0 and beyond, a line can win only if no steeper one starts as high.
        from_the_right = np.maximum.accumulate(intercept[::-1])[::-1]
        wins = np.append(intercept[:-1] > from_the_right[1:], True)
        slope, intercept = slope[wins], intercept[wins]
        hull: list[int] = []
        for k in range(slope.size):
            while len(hull) >= 2:
                i, j = hull[-2], hull[-1]
                left = (intercept[i] - intercept[k]) * (slope[j] - slope[i])
                if left <= (intercept[i] - intercept[j]) * (slope[k] - slope[i]):
                    hull.pop()
                else:
                    break
            hull.append(k)
        self.slopes: FloatArray = slope[hull]
        self.intercepts: FloatArray = intercept[hull]
        # Rounding may disorder the breaks of lines that all but coincide.
        self.breaks: FloatArray = np.maximum.accumulate(
            -np.diff(self.intercepts) / np.diff(self.slopes)
        )

    def __call__(self, x: ArrayLike) -> FloatArray:
        """The maximum at every `x` (any shape, x >= 0)."""
        argument = np.asarray(x, dtype=np.float64)
        if self.slopes.size == 1:
            return np.asarray(self.slopes[0] * argument + self.intercepts[0])
        if self.slopes.size <= 4:
            # A few lines are cheaper to compare than to search.
            result = self.slopes[0] * argument + self.intercepts[0]
            for slope, intercept in zip(self.slopes[1:], self.intercepts[1:], strict=True):
                result = np.maximum(result, slope * argument + intercept)
            return np.asarray(result)
        index = np.searchsorted(self.breaks, argument)
        return np.asarray(self.slopes[index] * argument + self.intercepts[index])
