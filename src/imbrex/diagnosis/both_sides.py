"""The hidden share of messages of which a run holds both sides.

A message takes as long for its sender as for its receiver, however long that is.
"""

from __future__ import annotations

from collections.abc import Mapping

from imbrex import mpi_facts
from imbrex.profile.run import Run
from imbrex.profile.summary import Sums


def narrowed(
    run: Run, of_operation: Mapping[str, Sums], share: tuple[float, float]
) -> tuple[float, float]:
    """`share`, the hidden share of all transfers of a run, cut with what follows from each message
    being counted on both sides. `of_operation`: the bounds of each operation's transfers."""
    sent = received = rest = Sums()
    for name, sums in of_operation.items():
        sends, receives = mpi_facts.sends(name), mpi_facts.receives(name)
        if not sums.transfers:
            continue
        if sends and not receives:
            sent += sums
        elif receives and not sends:
            received += sums
        elif mpi_facts.is_collective(name):
            rest += sums
        else:  # of which both sides, or none, are one row
            return share
    if not _all_matched(run, of_operation, sent, received):
        return share
    cut = share_of_both(sent, received, rest)
    found = (max(share[0], cut[0]), min(share[1], cut[1])) if cut else share
    return found if found[0] <= found[1] else share


def share_of_both(sent: Sums, received: Sums, rest: Sums) -> tuple[float, float] | None:
    """The hidden share of messages, counted as `sent` and as `received`, and of `rest` beside them.

    With one time t of all messages on either side, h / t hidden from senders and g / t from
    receivers, the share of both is (h + g) / 2t: the mean of the two shares.
    """
    of_sent, of_received = sent.hidden_share, received.hidden_share
    if of_sent is None or of_received is None:
        return None
    low, high = ((of_sent[i] + of_received[i]) / 2 for i in (0, 1))
    sides = (sent, received)
    least = 2 * max(s.overlap_min_s + s.exposed_min_s for s in sides)
    most = 2 * min(min(s.transfer_max_s, s.overlap_max_s + s.exposed_max_s) for s in sides)
    return _with_rest(low, high, least, most, rest)


def _all_matched(run: Run, of_operation: Mapping[str, Sums], sent: Sums, received: Sums) -> bool:
    """Whether what was sent is what was received, message by message."""
    if run.evidence is None or (sent.transfers, sent.bytes) != (received.transfers, received.bytes):
        return False
    messages = [mpi_facts.sends(name) or mpi_facts.receives(name) for name in run.job.operations]
    rows = run.evidence[[messages[i] for i in run.evidence["operation"].tolist()]]
    matched = int(rows["matched"].sum())
    return matched == int(rows["transfers"].sum()) == sent.transfers + received.transfers


def _with_rest(
    low: float, high: float, least: float, most: float, rest: Sums
) -> tuple[float, float]:
    """The share of messages, which take `least` to `most` s, and of the rest: at corners."""
    hidden, exposed = rest.overlap_min_s, rest.exposed_max_s
    lowest = [
        (low * w + hidden) / (w + hidden + exposed)
        for w in (least, most)
        if w + hidden + exposed > 0
    ]
    hidden, exposed = rest.overlap_max_s, rest.exposed_min_s
    highest = [
        (high * w + hidden) / (w + hidden + exposed)
        for w in (least, most)
        if w + hidden + exposed > 0
    ]
    return min(lowest, default=0.0), max(highest, default=1.0)
