"""Which receive of a run's log took which send."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from imbrex.profile.call_log import Flag, Kind
from imbrex.replay.run_log import NOWHERE, BoolArray, IntArray, RunLog

SENDS = (Kind.SEND, Kind.SYNC_SEND, Kind.BUFFERED_SEND, Kind.READY_SEND)


def partners(log: RunLog) -> IntArray:
    """By record, the record of the other side; NOWHERE where there is none.

    Messages of one communicator, tag and pair of ranks are taken in the order in which their
    receives were posted; a receive from anybody has the sender that it had.
    """
    found = np.full(len(log.records), NOWHERE, np.int64)
    for sends, receives in (
        (log.is_kind(*SENDS), log.is_kind(Kind.RECV)),
        (log.is_kind(Kind.PARTS_SEND), log.is_kind(Kind.PARTS_RECV)),
    ):
        usable = (log.peer >= 0) & ~log.has(Flag.CANCELLED) & ~log.has(Flag.UNCOUNTED)
        _pair(log, np.flatnonzero(sends & usable), np.flatnonzero(receives & usable), found)
    return found


def _pair(log: RunLog, sends: IntArray, receives: IntArray, found: IntArray) -> None:
    both = np.concatenate((sends, receives))
    is_send = np.arange(len(both)) < len(sends)
    records = log.records[both]
    streams = np.empty(len(both), [("comm", "<u4"), ("tag", "<i4"), ("from", "<i8"), ("to", "<i8")])
    streams["comm"], streams["tag"] = records["comm"], records["tag"]
    streams["from"] = np.where(is_send, log.rank[both], log.peer[both])
    streams["to"] = np.where(is_send, log.peer[both], log.rank[both])
    stream = _numbered(streams)
    sequence = records["sequence"].astype(np.int64)
    numbered = sequence.copy()
    numbered[~is_send] = _in_order_of_posting(
        stream[~is_send], sequence[~is_send], log.has(Flag.WILDCARD)[receives]
    )
    key = stream * (int(numbered.max(initial=0)) + 1) + numbered
    ours, theirs = key[is_send], key[~is_send]
    order = np.argsort(theirs, kind="stable")
    place = np.searchsorted(theirs[order], ours)
    place = np.minimum(place, max(len(theirs) - 1, 0))
    if not len(theirs):
        return
    match = receives[order[place]]
    fits = (theirs[order[place]] == ours) & (numbered[is_send] > 0)
    found[sends[fits]] = match[fits]
    found[match[fits]] = sends[fits]


def _numbered(streams: NDArray[np.void]) -> IntArray:
    order = np.lexsort([streams[name] for name in streams.dtype.names or ()])
    ordered = streams[order]
    changes = np.ones(len(ordered), np.int64)
    changes[1:] = ordered[1:] != ordered[:-1]
    number = np.empty(len(ordered), np.int64)
    number[order] = np.cumsum(changes) - 1
    return np.asarray(number)


def _in_order_of_posting(stream: IntArray, sequence: IntArray, wildcard: BoolArray) -> IntArray:
    """Sequences of receives (given in the order of posting) where wildcards, numbered when they
    completed, are about: those of a stream belong to its receives in the order of posting."""
    mixed = np.isin(stream, stream[wildcard])
    if not mixed.any():
        return sequence
    places = np.flatnonzero(mixed)
    by_sequence = places[np.lexsort((sequence[places], stream[places]))]
    by_posting = places[np.argsort(stream[places], kind="stable")]
    renumbered = sequence.copy()
    renumbered[by_posting] = sequence[by_sequence]
    return np.asarray(renumbered)
