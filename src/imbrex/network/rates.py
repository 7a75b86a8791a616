"""At what rate data of a message moves, by who is inside MPI: what "expected" bounds rest on.

White and Bova (section III) ask whether data moves while a side computes; the bounds of a program
need how fast, as an interval. Rates are shares of the rate with which the message moves while both
sides are inside MPI, 0 to 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from imbrex.network.exchanges import Exchange
from imbrex.network.profile import MovingRates, NetworkPath, Point, Rate
from imbrex.network.transfer_class import SHORTEST_NS, share_moved, transfer_ns

LONG, SHORT = "-long", "-short"
"""Suffixes of the labels: work of about three transfers, and of one."""
RETURNS = "receiver-returns"
"""Both compute, and the receiver comes back first."""
EVIDENT = 0.9
"""Of the trials so many must agree."""
LEAST_TRIALS = 3
NOTHING_NS, NOTHING, LITTLE = 2000.0, 0.05, 0.2
"""A share below NOTHING is not told from none; nor is one below LITTLE that the time of the calls
themselves, or the first part of a rendezvous, explains."""
ALL = 0.95
"""From this share of the data on the message was over before the work was."""
SITUATIONS = {
    "receiver": "sender-computes",
    "sender": "receiver-computes",
    "neither": "both-compute",
}
"""Who is inside MPI, by which side computes."""


def moving_rates(
    rows: Sequence[Exchange], points: Sequence[Point], limits: Mapping[str, int]
) -> tuple[MovingRates, ...]:
    """Rates by size of one path, from the trials with labels in LONG and SHORT, sorted by size.

    `limits` (of the profile's path) tell the largest eager message: what the sizes on either side
    of it have shown holds up to it, and from it on.
    """
    by_size: dict[int, dict[str, list[Exchange]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_size[row.size_bytes][row.label].append(row)
    heads = {p.size_bytes: (p.head_s or 0.0) * 1e9 for p in points}
    found = []
    for size, trials in sorted(by_size.items()):
        head_ns = max((h for s, h in heads.items() if s <= size), default=0.0)
        rates = _of_size(size, trials, head_ns)
        if rates is not None:
            found.append(rates)
    return tuple(_with_limit(found, limits.get("send_returns_before_match_late_bytes")))


def _of_size(
    size: int, trials: Mapping[str, Sequence[Exchange]], head_ns: float
) -> MovingRates | None:
    reference = [x for suffix in (LONG, SHORT) for x in trials.get(f"none-compute{suffix}", ())]
    if len(reference) < LEAST_TRIALS:
        return None
    transfer = max(1.0, transfer_ns(reference))
    rates = {}
    for inside, label in SITUATIONS.items():
        long, short = trials.get(label + LONG, ()), trials.get(label + SHORT, ())
        if len(long) < LEAST_TRIALS or len(short) < LEAST_TRIALS:
            return None
        if transfer < SHORTEST_NS:
            rates[inside] = Rate(0.0, 1.0)
        else:
            highest = max(_highest(of, transfer, head_ns) for of in (long, short))
            rates[inside] = Rate(min(_lowest(short, transfer), highest), highest)
    returns = trials.get(RETURNS, ())
    if len(returns) >= LEAST_TRIALS:
        found = rates["receiver"]
        rates["receiver"] = Rate(min(found.lowest, _returned(returns, transfer)), found.highest)
    times = [x.receiver.done_ns - x.sender.enter_ns for x in reference]
    slow = float(np.percentile(np.asarray(times), 100 * EVIDENT))
    return MovingRates(size, both=Rate(min(1.0, transfer / max(slow, 1.0)), 1.0), **rates)


def _work_ns(x: Exchange) -> float:
    return max(x.sender_work_ns, x.receiver_work_ns, 1.0)


def _lowest(trials: Sequence[Exchange], transfer: float) -> float:
    """Data that nine of ten trials moved, by the time that they had."""
    rates = [share_moved(x, transfer) * transfer / max(_work_ns(x), transfer) for x in trials]
    lowest = float(np.percentile(np.asarray(rates), 100 * (1 - EVIDENT)))
    return 0.0 if lowest * transfer < NOTHING_NS or lowest < NOTHING else min(1.0, lowest)


def _returned(trials: Sequence[Exchange], transfer: float) -> float:
    """The rate from the receiver's return on, while the sender computed until the data was there;
    of a trial in which it did not, nothing is known."""
    rates = [
        transfer / max(x.receiver.done_ns - x.receiver.wait_ns, transfer)
        if x.sender.wait_ns >= x.receiver.done_ns
        else 0.0
        for x in trials
    ]
    lowest = float(np.percentile(np.asarray(rates), 100 * (1 - EVIDENT)))
    return 0.0 if lowest * transfer < NOTHING_NS or lowest < NOTHING else min(1.0, lowest)


def _highest(trials: Sequence[Exchange], transfer: float, head_ns: float) -> float:
    """Data that one of ten trials moved at most, by the time that they had; the first part of a
    message, which comes before the receive is posted, is counted as slack (`head_ns`)."""
    shares = [share_moved(x, transfer) for x in trials]
    share = float(np.percentile(np.asarray(shares), 100 * EVIDENT))
    if share >= ALL:
        return 1.0
    explained = share * transfer <= max(NOTHING_NS, head_ns)
    if share < NOTHING or (share < LITTLE and explained):
        return 0.0
    if transfer > NOTHING_NS >= (1 - share) * transfer:  # a latency may have been the rest
        return 1.0
    work = float(np.median(np.asarray([_work_ns(x) for x in trials])))
    return min(1.0, share * transfer / max(work, transfer))


def _with_limit(found: Sequence[MovingRates], limit: int | None) -> list[MovingRates]:
    """Between an eager size and one of a rendezvous the protocol changes at the limit alone."""
    if limit is None:
        return list(found)
    eager = [r for r in found if r.size_bytes <= limit]
    rendezvous = [r for r in found if r.size_bytes > limit]
    if not found:
        return []
    # of the other protocol nothing is known where none of its sizes was measured
    unknown = MovingRates(limit, *[Rate(0.0, 1.0)] * 4)
    if not eager or eager[-1].size_bytes < limit:
        eager.append((eager or [unknown])[-1].at(limit))
    if not rendezvous or rendezvous[0].size_bytes > limit + 1:
        rendezvous.insert(0, (rendezvous or [unknown])[0].at(limit + 1))
    return [*eager, *rendezvous]


def rates_at(path: NetworkPath, size_bytes: int) -> MovingRates:
    """The rates of one size: measured, else what the probe's class says, else anything.

    Between two measured sizes the library may change its protocol anywhere: both are possible.
    """
    if not path.rates:
        near = [p for p in path.points if p.size_bytes <= size_bytes][-1:] or path.points[:1]
        return rates_of_class(near[0].transfer_class, size_bytes)
    below = [r for r in path.rates if r.size_bytes <= size_bytes][-1:]
    above = [r for r in path.rates if r.size_bytes >= size_bytes][:1]
    possible = [*below, *above]
    return MovingRates(
        size_bytes,
        **{
            name: Rate(
                min(getattr(r, name).lowest for r in possible),
                max(getattr(r, name).highest for r in possible),
            )
            for name in (*SITUATIONS, "both")
        },
    )


def rates_of_class(name: str, size_bytes: int) -> MovingRates:
    """What a class of White and Bova says of the rates.

    The probe calls "moves" what moves at least half of a message within three transfers.
    """
    any_rate, hardly, mostly = Rate(0.0, 1.0), Rate(0.0, 0.5 / 3), Rate(0.5 / 3, 1.0)
    both = any_rate if name == "unknown" else Rate(0.5, 1.0)
    neither = {"third-party": mostly, "unknown": any_rate}.get(name, hardly)
    one = {"two-sided": hardly, "third-party": mostly}.get(name, any_rate)
    return MovingRates(size_bytes, neither, one, one, both)
