"""Transfer times between and beyond the measured sizes, as the runtime reads its table."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from imbrex.network.profile import CollectivePoint, Point

# The time of smaller transfers is latency: it bounds no larger one's time per byte.
BANDWIDTH_BYTES = 64 * 1024


@dataclass(frozen=True)
class TransferTime:
    """Interval of the transfer time and the slack at its ends, seconds; None: unknown."""

    x_lo_s: float
    x_hi_s: float
    tail_s: float | None
    head_s: float | None


def transfer_time(
    points: Sequence[Point], size_bytes: int, gap_s_per_byte: float = 0.0
) -> TransferTime:
    """Time of a transfer of `size_bytes`: linear between points.

    Below the first point it is the first point's X_hi with an X_lo in proportion; no bytes take
    no time. Beyond the last, upper bounds grow in proportion, and X_lo by the smallest gap for
    each further byte: a latency that it holds does not grow with size. `points` must be sorted by
    size and not empty.
    """
    if size_bytes <= 0:
        return TransferTime(0.0, 0.0, 0.0, 0.0)
    first, last = points[0], points[-1]
    if size_bytes <= first.size_bytes:
        share = size_bytes / first.size_bytes
        return TransferTime(first.x_lo_s * share, first.x_hi_s, first.tail_s, first.head_s)
    if size_bytes >= last.size_bytes:
        share = size_bytes / last.size_bytes
        further_s = gap_s_per_byte * (size_bytes - last.size_bytes)
        return TransferTime(
            min(last.x_lo_s + further_s, last.x_hi_s * share),
            last.x_hi_s * share,
            None if last.tail_s is None else last.tail_s * share,
            None if last.head_s is None else last.head_s * share,
        )
    above = bisect_left(points, size_bytes, key=lambda point: point.size_bytes)
    a, b = points[above - 1], points[above]
    share = (size_bytes - a.size_bytes) / (b.size_bytes - a.size_bytes)
    return TransferTime(
        _between(a.x_lo_s, b.x_lo_s, share),
        _between(a.x_hi_s, b.x_hi_s, share),
        _between_known(a.tail_s, b.tail_s, share),
        _between_known(a.head_s, b.head_s, share),
    )


def collective_time(points: Sequence[CollectivePoint], size_bytes: int) -> TransferTime:
    """The same for a collective, whose ends are always unknown."""
    return transfer_time([Point(p.size_bytes, p.x_lo_s, p.x_hi_s) for p in points], size_bytes)


def _between(a: float, b: float, share: float) -> float:
    return a + share * (b - a)


def _between_known(a: float | None, b: float | None, share: float) -> float | None:
    return None if a is None or b is None else _between(a, b, share)
