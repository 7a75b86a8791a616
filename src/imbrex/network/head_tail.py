"""Head and tail of a message: the time for which its data may move outside the calls of one side.

Both are upper bounds, in the currency of X_hi. As for X_hi, the quietest of several rounds counts.
docs/theory/calibration.md gives the reasoning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from imbrex.network.columns import Trial


def tail_ns(trials: Sequence[Trial], x_hi_ns: float) -> float | None:
    """What still moves when a send has completed locally, nanoseconds; None without trials.

    With a receiver that is ready all of it lies between the send's return and the arrival. One
    that was interrupted or late drains later what was buffered; what the network moves by itself
    meanwhile is at most what it moved after the return with a receiver that was ready.
    """
    in_flight = _quietest(trials, "ready", _after, 95)
    if in_flight is None:
        return None
    rest = [
        _quietest(trials, kind, lambda t: _drained(t, in_flight), 95)
        for kind in ("interrupted", "late", "polling")
    ]
    return min(x_hi_ns, max(in_flight, *(r for r in rest if r is not None), 0.0))


def head_ns(trials: Sequence[Trial], x_hi_ns: float, first_fragment_ns: float) -> float | None:
    """What has moved before a receive is posted, nanoseconds; None without a late receiver.

    Everything, where the send returned before its match. Else the share of a transfer by which a
    late receive was shorter than one that was ready, but not less than `first_fragment_ns`, the
    time of the data that may travel with the announcement.
    """
    # Noise only lengthens: low quantiles compare undisturbed times, the late one's being lower.
    whole = _quietest(trials, "ready", lambda t: t.received_ns, 25)
    late, polling = (
        _quietest(trials, kind, lambda t: t.received_ns - t.posted_ns, 10)
        for kind in ("late", "polling")
    )
    if late is None or whole is None:
        return None
    if arrives_early(trials):
        return x_hi_ns
    share = max(1 - time / max(1.0, whole) for time in (late, polling) if time is not None)
    return min(x_hi_ns, max(0.0, share * x_hi_ns, first_fragment_ns))


def arrives_early(trials: Sequence[Trial]) -> bool:
    """Whether a send to a receiver that computes or polls returns before its match."""
    return any(returns_before_match(trials, kind) for kind in ("late", "polling"))


def returns_before_match(trials: Sequence[Trial], kind: str = "late") -> bool | None:
    """Whether most sends to a receiver of this kind returned before it posted; None: not tried."""
    early = [t.sent_ns + t.clock_error_ns < t.posted_ns for t in trials if t.kind == kind]
    return sum(early) > len(early) / 2 if early else None


def _after(t: Trial) -> float:
    return max(0.0, t.received_ns - t.sent_ns + t.clock_error_ns)


def _drained(t: Trial, in_flight_ns: float) -> float:
    """Time after the send's return in which data can have moved, receiver's absence excluded."""
    if t.kind == "interrupted":
        away = max(0.0, t.pause_end_ns - max(t.sent_ns, t.pause_begin_ns))
    else:
        away = max(0.0, t.posted_ns - t.sent_ns)
    away = min(away, _after(t))
    return _after(t) - away + min(away, in_flight_ns)


def _quietest(
    trials: Sequence[Trial], kind: str, time_ns: Callable[[Trial], float], q: float
) -> float | None:
    """The q-th percentile of the trials of one kind, smallest over the rounds; None without any."""
    rounds: dict[int, list[float]] = {}
    for t in trials:
        if t.kind == kind:
            rounds.setdefault(t.round, []).append(time_ns(t))
    return min((float(np.percentile(np.asarray(r), q)) for r in rounds.values()), default=None)
