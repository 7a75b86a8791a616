"""What overlap is worth in a Krylov solver's sparse matrix-vector product.

White and Bova, "Where's the Overlap?", section III, figures 10 and 11 and table I: the improvement
is (T_nonoverlap - T_overlap) / T_nonoverlap. With perfect overlap of equal halves it is 50 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.errors import ImbrexError

THEORETICAL_PEAK = 0.5
_RESAMPLES = 1000


@dataclass(frozen=True)
class Krylov:
    """Pairs of solves; times are medians in seconds, the interval holds 95 %."""

    path: str
    ranks: int
    vertices: int
    iterations: int
    pairs: int
    separate_s: float
    overlapped_s: float
    improvement: float
    improvement_low: float
    improvement_high: float
    residual: float
    same_residuals: bool

    @property
    def sentence(self) -> str:
        """The result as one line."""
        return (
            f"sparse matrix-vector product ({self.vertices:,} points, {self.iterations} iterations "
            f"of CG): separate {self.separate_s * 1e3:.2f} ms, overlapped "
            f"{self.overlapped_s * 1e3:.2f} ms, improvement {100 * self.improvement:.1f} % "
            f"({100 * self.improvement_low:.1f} to {100 * self.improvement_high:.1f} %)"
        )

    @property
    def notes(self) -> list[str]:
        """What is wrong with it, a line each."""
        found = []
        if not self.same_residuals:
            found.append(
                "krylov: the two versions of the solver ended with different residuals: "
                "the library's reductions differ from call to call, or it lost data"
            )
        if self.improvement > THEORETICAL_PEAK:
            found.append(
                f"krylov: an improvement of {100 * self.improvement:.0f} % is more than overlap "
                "can give (50 %): a sign of a fault in what the separate version waits for"
            )
        return found


def krylov(rows: Iterable[Sequence[str]]) -> Krylov | None:
    """From the words of "krylov" rows; None without any.

    The improvement is the median over the pairs, its interval the percentile bootstrap's.
    """
    times: list[tuple[float, float]] = []
    residuals: set[float] = set()
    iterations: set[int] = set()
    first: Sequence[str] = ()
    for w in rows:
        try:
            times.append((float(w[4]), float(w[5])))
            iterations |= {int(w[6]), int(w[7])}
            residuals |= {float(w[8]), float(w[9])}
            first = first or (w[1], str(int(w[0])), str(int(w[2])))
        except (ValueError, IndexError):
            raise ImbrexError(f"the probes printed a torn row: krylov {' '.join(w)}") from None
    if not times:
        return None
    separate, overlapped = np.asarray(times).T
    gains = (separate - overlapped) / separate
    random = np.random.default_rng(1)
    medians = np.median(random.choice(gains, (_RESAMPLES, len(gains))), axis=1)
    low, high = np.percentile(medians, [2.5, 97.5])
    return Krylov(
        path=first[0],
        ranks=int(first[1]),
        vertices=int(first[2]),
        iterations=max(iterations),
        pairs=len(times),
        separate_s=float(np.median(separate)) * 1e-9,
        overlapped_s=float(np.median(overlapped)) * 1e-9,
        improvement=float(np.median(gains)),
        improvement_low=float(low),
        improvement_high=float(high),
        residual=max(residuals),
        same_residuals=len(residuals) == 1 and len(iterations) == 1,
    )
