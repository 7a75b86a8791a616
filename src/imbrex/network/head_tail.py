"""Head and tail of a message: the time for which its data may move outside the calls of one side.

Both are upper bounds, in the currency of X_hi. docs/calibrate.md gives the reasoning.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from imbrex.network.columns import Trial


def tail_ns(trials: Sequence[Trial], x_hi_ns: float) -> float | None:
    """What still moves when a send has completed locally, nanoseconds; None without trials.

    With a receiver that is ready all of it lies between the send's return and the arrival. One
    that was interrupted or late drains later what was buffered; what the network moves by itself
    meanwhile is at most what it moved after the return with a receiver that was ready.
    """
    ready = [_after(t) for t in trials if t.kind == "ready"]
    if not ready:
        return None
    in_flight = _percentile(ready, 95)
    worst = in_flight
    for kind in ("interrupted", "late", "polling"):
        rest = [_drained(t, in_flight) for t in trials if t.kind == kind]
        if rest:
            worst = max(worst, _percentile(rest, 95))
    return min(worst, x_hi_ns)


def head_ns(trials: Sequence[Trial], x_hi_ns: float, first_fragment_ns: float) -> float | None:
    """What has moved before a receive is posted, nanoseconds; None without a late receiver.

    Everything, where the send returned before its match. Else the share of a transfer by which a
    late receive was shorter than one that was ready, but not less than `first_fragment_ns`, the
    time of the data that may travel with the announcement.
    """
    late = [t.received_ns - t.posted_ns for t in trials if t.kind == "late"]
    polling = [t.received_ns - t.posted_ns for t in trials if t.kind == "polling"]
    ready = [t.received_ns for t in trials if t.kind == "ready"]
    if not late or not ready:
        return None
    if arrives_early(trials):
        return x_hi_ns
    # Noise only lengthens: low quantiles compare undisturbed times, the late one's being lower.
    whole = max(1.0, _percentile(ready, 25))
    share = max(1 - _percentile(kind, 10) / whole for kind in (late, polling) if kind)
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


def _percentile(values: Sequence[float], q: float) -> float:
    return float(np.percentile(np.asarray(values), q))
