"""Messages that pass ahead of a network's rate: a link with a limit lets through what its sender
has not used of it before.

In a ping-pong, which sends all the time, messages of some KB go at that rate; in a program that
computes between them each is through as soon as the shortest of the ping-pong was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imbrex.network.profile import NetworkPath
from imbrex.profile.call_log import Kind
from imbrex.replay.arrays import FloatArray
from imbrex.replay.pairs import SENDS
from imbrex.replay.run_log import COLLECTIVES, IntArray, RunLog

_AT_RATE = 0.9
"""From so much of what the rate allows a ping-pong is held by it."""
_MOST = 0.9
"""The share of a run's bytes that finds the link free."""


@dataclass(frozen=True)
class Sent:
    """What ranks send in a run: who, to whom (below 0: to all), when on one clock, how much."""

    rank: IntArray
    peer: IntArray
    at_ns: IntArray
    size_bytes: IntArray


def sent(log: RunLog) -> Sent:
    """Of collectives each rank is taken to send what it gives the call, at once."""
    own = log.is_kind(*SENDS, Kind.PARTS_SEND, Kind.PUT, Kind.GET) & (log.peer >= 0)
    which = np.flatnonzero((own | log.is_kind(*COLLECTIVES)) & (log.records["bytes"] > 0))
    at_ns = log.records["enter_ns"][which].astype(np.int64) + log.start_ns[log.stream[which]]
    return Sent(
        log.rank[which],
        np.where(own[which], log.peer[which], -1),
        at_ns,
        log.records["bytes"][which].astype(np.int64),
    )


def ahead_bytes(path: NetworkPath) -> int:
    """The largest message of the calibration whose ping-pong went at the rate of the link, one way
    after the other, and that had once passed in less than half of that time; 0: there is none."""
    gap_s = path.sustained_gap_s_per_byte
    found = [
        p.size_bytes
        for p in path.points
        if gap_s > 0
        and p.median_s is not None
        and p.least_s is not None
        and p.median_s >= _AT_RATE * p.size_bytes * gap_s / 2
        and p.least_s < p.median_s / 2
    ]
    return max(found, default=0)


def pass_ahead(path: NetworkPath, messages: Sent, node: tuple[int, ...]) -> bool:
    """Whether nearly all that ranks of these nodes send finds what it needs ahead of the rate."""
    credit_ns = ahead_bytes(path) * path.sustained_gap_s_per_byte * 1e9
    if credit_ns <= 0:
        return False
    nodes = np.array(node)
    away = messages.peer < 0
    away |= nodes[messages.rank] != nodes[np.maximum(messages.peer, 0)]
    link, at_ns = nodes[messages.rank][away], messages.at_ns[away].astype(np.float64)
    gap_ns = path.sustained_gap_s_per_byte * 1e9
    takes_ns = messages.size_bytes[away].astype(np.float64) * gap_ns
    free = 0.0
    for each in np.unique(link):
        own = np.flatnonzero(link == each)
        own = own[np.argsort(at_ns[own], kind="stable")]
        late_ns = _through_ns(at_ns[own], takes_ns[own]) - at_ns[own]
        free += float(takes_ns[own][late_ns <= credit_ns].sum())
    return free >= _MOST * float(takes_ns.sum())


def _through_ns(at_ns: FloatArray, takes_ns: FloatArray) -> FloatArray:
    """When each is through, one after the other."""
    through = np.cumsum(takes_ns)
    begun: FloatArray = np.maximum.accumulate(at_ns - (through - takes_ns))
    return through + begun
