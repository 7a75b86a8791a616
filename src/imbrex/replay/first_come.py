"""Messages that came in an order which another network may change.

A receive or probe from any source takes what comes first. Where the next one there took the message
of another sender, who had sent it before the first was taken, that one could have come before."""

from __future__ import annotations

from collections import Counter

import numpy as np

from imbrex.profile.call_log import Flag, Kind
from imbrex.replay.one_sided import probed
from imbrex.replay.run_log import NOWHERE, IntArray, RunLog


def first_come(log: RunLog, partner: IntArray) -> Counter[int]:
    """By site the messages that were taken before another which was under way as well."""
    return Counter(log.records["site"][raced_takes(log, partner)].tolist())


def raced_takes(log: RunLog, partner: IntArray) -> IntArray:
    """The receives and probes that took such a message."""
    records = log.records
    probe, of_probe = probed(log)
    receive = np.flatnonzero(log.is_kind(Kind.RECV))
    taken = np.concatenate((receive, probe))
    send = partner[np.concatenate((receive, of_probe))]
    wild = log.has(Flag.WILDCARD)[taken] & (send != NOWHERE)
    taken, send = taken[wild], send[wild]
    if not len(taken):
        return np.zeros(0, np.int64)
    at_call = np.where(log.end[taken] != NOWHERE, log.end[taken], log.call[taken])
    first = np.searchsorted(log.call, at_call)
    taken_ns = records["exit_ns"][first] + log.start_ns[log.stream[first]]
    sent_ns = records["enter_ns"][send] + log.start_ns[log.stream[send]]
    where = (log.rank[taken], records["comm"][taken], records["tag"][taken], records["kind"][taken])
    order = np.lexsort((taken_ns, *where))
    here, then = order[:-1], order[1:]
    raced = np.logical_and.reduce([column[here] == column[then] for column in where])
    raced &= log.rank[send[here]] != log.rank[send[then]]
    raced &= sent_ns[then] < taken_ns[here]
    found: IntArray = np.asarray(taken[here[raced]], np.int64)
    return found
