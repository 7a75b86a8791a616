"""LogGP parameters of a path from its ping-pong, stream and trials.

Model: Alexandrov, Ionescu, Schauser, Scheiman, "LogGP" (1995), with the end-to-end latency
EEL = L + o_s + o_r as in Sancho et al.: half a ping-pong takes EEL + G size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from imbrex.network.columns import RoundTrip, Stream, Trial
from imbrex.network.profile import LogGP


def fit(
    round_trips: Sequence[RoundTrip], streams: Sequence[Stream], trials: Sequence[Trial]
) -> LogGP | None:
    """Least relative squares over the medians of half a ping-pong; None with fewer than 3 sizes.

    o_s is the time of the smallest send to a receiver that waits, o_r that of a receive whose
    message had come, g the smallest time per message of a stream of the smallest ones.
    """
    warm = sorted((r.size_bytes, r.median_ns) for r in round_trips if r.buffers == "warm")
    if len({size for size, _ in warm}) < 3:
        return None
    sizes = np.array([size for size, _ in warm], dtype=float)
    times = np.array([time for _, time in warm])
    eel, gap = _least_relative_squares(sizes, times)
    residual = float(np.sqrt(np.mean(((eel + gap * sizes - times) / times) ** 2)))
    smallest = warm[0][0]
    few = [t for t in trials if t.size_bytes == smallest]
    send = _median([t.sent_ns for t in few if t.kind == "ready"])
    receive = _median([t.received_ns - t.posted_ns for t in few if t.kind == "late"])
    # A path whose calls take longer than half a ping-pong overlaps them: L is then nil.
    send, receive = min(send, eel), min(receive, max(0.0, eel - min(send, eel)))
    per_message = [s.min_ns / s.messages for s in streams if s.size_bytes == smallest]
    return LogGP(
        L_s=max(0.0, eel - send - receive) * 1e-9,
        o_s_s=send * 1e-9,
        o_r_s=receive * 1e-9,
        g_s=min(per_message, default=0.0) * 1e-9,
        G_s_per_byte=gap * 1e-9,
        EEL_s=eel * 1e-9,
        residual=residual,
    )


def medians_s(round_trips: Sequence[RoundTrip]) -> dict[int, float]:
    """By size, half a ping-pong in s: the median over pairs of their medians, buffers used
    before."""
    of: dict[int, list[float]] = {}
    for r in round_trips:
        if r.buffers == "warm":
            of.setdefault(r.size_bytes, []).append(r.median_ns)
    return {size: float(np.median(times)) * 1e-9 for size, times in of.items()}


def _least_relative_squares(sizes: np.ndarray, times: np.ndarray) -> tuple[float, float]:
    """Nonnegative (intercept, slope) that minimize the sum of squared relative errors."""
    rows = np.column_stack((1 / times, sizes / times))
    (intercept, slope), *_ = np.linalg.lstsq(rows, np.ones(len(times)), rcond=None)
    if intercept < 0:
        intercept, slope = 0.0, float(np.sum(rows[:, 1]) / np.sum(rows[:, 1] ** 2))
    if slope < 0:
        intercept, slope = float(np.sum(rows[:, 0]) / np.sum(rows[:, 0] ** 2)), 0.0
    return float(intercept), float(slope)


def _median(values: Sequence[float]) -> float:
    return max(0.0, float(np.median(np.asarray(values)))) if values else 0.0
