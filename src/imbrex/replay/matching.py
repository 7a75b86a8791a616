"""Which send each receive of a recording takes: the first on its communicator, peers and tag.

Ranks have no common name for a communicator. Of several between the same two ranks and with one
tag, those are taken for the same on which messages of the same sizes follow each other.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imbrex.profile.recording import RecordedMessage, RecordedRun
from imbrex.profile.recording_format import ARRIVED, POST, SEND

Key = tuple[int, int, int, int]
"""Source, target, tag, and the source's name for the communicator."""


@dataclass(frozen=True)
class Place:
    """Of a message on its way: the messages that stand in one row with it, and its place there (-1:
    a receive that never took anything). `send`: which of the source's messages it is (-1: none)."""

    key: Key
    number: int
    send: int = -1


def match(run: RecordedRun) -> dict[int, list[Place]]:
    """By rank, the places of its sends, posted receives and arrivals in the order of the trace."""
    events = {rank: _events(run, rank) for rank in run.ranks}
    arrivals: dict[tuple[int, int], int] = defaultdict(int)
    for rank, own in events.items():
        for kind, m in own:
            arrivals[rank, m.number] += kind == ARRIVED
    sent: dict[Key, list[RecordedMessage]] = defaultdict(list)
    posted: dict[Key, list[RecordedMessage]] = defaultdict(list)
    for rank, own in events.items():
        left = {m.number: arrivals[rank, m.number] for _, m in own}
        for kind, m in own:
            if kind == SEND:
                sent[_key(m)].append(m)
            elif kind == POST and left[m.number] > 0:
                left[m.number] -= 1
                posted[_key(m)].append(m)
    same = _same(sent, posted)
    return {
        rank: _places(own, sent, same, {m.number: arrivals[rank, m.number] for _, m in own})
        for rank, own in events.items()
    }


def _events(run: RecordedRun, rank: int) -> list[tuple[int, RecordedMessage]]:
    messages = run.messages[rank]
    rows: NDArray[np.void] = run.trace[run.trace["rank"] == rank]
    return [
        (kind, messages[number])
        for kind, number in zip(rows["kind"].tolist(), rows["id"].tolist(), strict=True)
        if kind in (SEND, POST, ARRIVED) and 0 <= number < len(messages)
    ]


def _key(m: RecordedMessage) -> Key:
    """The row of a message as its own rank names it."""
    ends = (m.rank, m.peer) if m.is_send else (m.peer, m.rank)
    return (*ends, m.tag, m.communicator)


def _same(
    sent: dict[Key, list[RecordedMessage]], posted: dict[Key, list[RecordedMessage]]
) -> dict[Key, Key]:
    """The sender's key of each receiver's key."""
    free: dict[tuple[int, ...], list[Key]] = defaultdict(list)
    for key in sent:
        free[key[:3]].append(key)
    found = {}
    for key, receives in posted.items():
        candidates = free[key[:3]]
        if candidates:
            found[key] = max(candidates, key=lambda one: _likeness(sent[one], receives))
            candidates.remove(found[key])
    return found


def _likeness(sends: list[RecordedMessage], receives: list[RecordedMessage]) -> tuple[bool, ...]:
    sizes = [m.size_bytes for m in sends], [m.size_bytes for m in receives]
    number = len(sends) == len(receives)
    fits = all(one <= other for one, other in zip(*sizes, strict=False))
    return number and fits, number and sizes[0] == sizes[1], number, fits


def _places(
    events: list[tuple[int, RecordedMessage]],
    sent: dict[Key, list[RecordedMessage]],
    same: dict[Key, Key],
    left: dict[int, int],
) -> list[Place]:
    # Of a message to oneself both sides are of one row.
    begun: dict[Key, int] = defaultdict(int)
    taken: dict[Key, int] = defaultdict(int)
    waiting: dict[int, deque[Place]] = defaultdict(deque)
    places = []
    for kind, m in events:
        own = _key(m)
        key = own if kind == SEND else same.get(own, own)
        if kind == SEND:
            places.append(Place(key, begun[key], m.number))
            begun[key] += 1
        elif kind == POST and left[m.number] > 0:
            left[m.number] -= 1
            number, row = taken[own], sent.get(key, ())
            taken[own] += 1
            place = Place(key, number, row[number].number if number < len(row) else -1)
            waiting[m.number].append(place)
            places.append(place)
        elif kind == ARRIVED and waiting[m.number]:
            places.append(waiting[m.number].popleft())
        else:
            places.append(Place(key, -1))
    return places
