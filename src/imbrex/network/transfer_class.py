"""Data-transfer overlap: which share of a message moves while who computes, and its class.

White and Bova, section III: third-party if data moves while both sides compute, one-sided if
while one of them does, two-sided if neither may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from imbrex.network.exchanges import Exchange

MOVES = 0.5
"""Data "moves" in a situation if at least this share of it does."""
UNCLEAR = 0.1
"""Within this of MOVES a share is neither: another run may well say the opposite."""
ENOUGH_CONFIDENCE = 0.75
SHORTEST_NS = 1000.0
"""Of a shorter transfer the calls' own time is most: what moved outside them is not told."""
_RESAMPLES = 200


@dataclass(frozen=True)
class Moved:
    """Shares of the data, 0 to 1, that moved; None: not measured."""

    sender_computing: float | None
    receiver_computing: float | None
    both_computing: float | None


@dataclass(frozen=True)
class TransferClass:
    """Class of one size with its evidence."""

    name: str
    moved: Moved
    confidence: float


def transfer_ns(reference: Sequence[Exchange]) -> float:
    """Time of a transfer when neither side computes, from the send's start to the arrival.

    The 25th percentile: noise only lengthens, and too long a time would look like overlap.
    """
    times = [x.receiver.done_ns - x.sender.enter_ns for x in reference]
    return float(np.percentile(np.asarray(times), 25))


def share_moved(x: Exchange, transfer: float) -> float:
    """The share of the transfer's time that passed while the computing side(s) computed.

    Time within the call that starts the send, and after the wait was entered, is no compute time.
    A receive is posted before the data comes, so that only its wait counts.
    """
    sending = x.sender.started_ns - x.sender.enter_ns
    if x.label.startswith("sender-computes"):
        inside = sending + max(0.0, x.receiver.done_ns - x.sender.wait_ns)
    elif x.label.startswith("receiver-computes"):
        inside = max(0.0, x.receiver.done_ns - x.receiver.wait_ns)
    else:
        first_wait = min(x.sender.wait_ns, x.receiver.wait_ns)
        inside = sending + max(0.0, x.receiver.done_ns - first_wait)
    return min(1.0, max(0.0, 1 - inside / transfer))


def classify(trials: Mapping[str, Sequence[Exchange]]) -> TransferClass:
    """Class of one size from the trials of "none-", "sender-", "receiver-" and "both-computes".

    The confidence is the share of bootstrap resamples of the trials that give the same class;
    the class is unknown below ENOUGH_CONFIDENCE, and certainly so of transfers too short to tell.
    """
    labels = ("sender-computes", "receiver-computes", "both-compute")
    reference = trials.get("none-compute", ())
    if not reference or any(not trials.get(label) for label in labels):
        return TransferClass("unknown", Moved(None, None, None), 0.0)
    transfer = max(1.0, transfer_ns(reference))
    found = classify_shares([[share_moved(x, transfer) for x in trials[label]] for label in labels])
    return replace(found, name="unknown", confidence=1.0) if transfer < SHORTEST_NS else found


def classify_shares(shares: Sequence[Sequence[float]]) -> TransferClass:
    """Class from the shares of single trials: sender, receiver, both computing; none empty."""
    values = [np.asarray(s) for s in shares]
    medians = [float(np.median(s)) for s in values]
    name = _class_of(medians)
    random = np.random.default_rng(1)
    same = 0
    for _ in range(_RESAMPLES):
        resampled = [float(np.median(random.choice(s, len(s)))) for s in values]
        same += _class_of(resampled) == name
    confidence = same / _RESAMPLES
    return TransferClass(
        name if confidence >= ENOUGH_CONFIDENCE else "unknown", Moved(*medians), confidence
    )


def moves(share: float) -> bool | None:
    """Whether data moves, with this share of it; None: too near to MOVES to tell."""
    return None if abs(share - MOVES) < UNCLEAR else share > MOVES


def _class_of(moved: Sequence[float]) -> str:
    sender, receiver, both = (moves(share) for share in moved)
    if both:
        return "third-party"
    if both is None:
        return "unknown"
    if sender or receiver:
        return "one-sided"
    return "unknown" if None in (sender, receiver) else "two-sided"
