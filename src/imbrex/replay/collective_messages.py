"""Collectives as messages that share the links with all others.

An alltoall whose ranks drift apart is several times slower than its rounds one by one: two senders
meet at one receiver, which makes others late in turn. The engine's own collectives (engine/meet.c)
take their rounds as if nothing else were on the links; here they become the sends and receives of
their algorithm, as a library makes them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from imbrex.replay.arrays import (
    NONE,
    Algorithm,
    ArraySchedule,
    Flag,
    Kind,
    Layout,
    bytes_and_flags,
)
from imbrex.replay.rounds import rounds

MOST_MESSAGES = 2_000_000
"""Of all collectives together, those with the largest first; the others stay as they are. Small
ones count too, and barriers: where a process sends to all its children in a tree at once, the
furthest of d levels waits for d + (d - 1) + ... + 1 messages, not for d."""
_ROW = np.dtype(
    [(name, "<i8") for name in ("member", "place", "kind", "bytes", "peer", "with", "with_place")]
)
"""An operation of a collective: the member that makes it and the how manieth of its own it is; the
member at the other end of the message; the member and place of its partner."""
IntArray = NDArray[np.int64]


def as_messages(schedule: ArraySchedule) -> ArraySchedule:
    """The schedule with those of its blocking collectives as messages that move much."""
    spread = _spread(schedule)
    if not spread:
        return schedule
    repeats = np.ones(len(schedule.operations), np.int64)
    for number in spread:
        repeats[_members(schedule, number)] = np.maximum(_rows(*_key(schedule, number))[0], 1)
    places = np.concatenate(([0], np.cumsum(repeats)))
    source = np.repeat(np.arange(len(repeats)), repeats)
    ops = schedule.operations[source]
    refers = ~np.isin(ops["kind"], (Kind.MEET, Kind.CALC)) & (ops["partner"] != NONE)
    ops["partner"][refers] = places[ops["partner"][refers].astype(np.int64)]
    for number in spread:
        _put(ops, schedule, number, places)
    kept = np.setdiff1d(np.arange(len(schedule.meetings)), spread)
    renumbered = np.full(len(schedule.meetings), NONE, np.int64)
    renumbered[kept] = np.arange(len(kept))
    met = ops["kind"] == Kind.MEET
    ops["partner"][met] = renumbered[ops["partner"][met].astype(np.int64)]
    meetings = schedule.meetings[kept].copy()
    members = [_members(schedule, int(number)) for number in kept]
    meetings["first"] = np.cumsum([0, *map(len, members)])[: len(kept)]
    return replace(
        schedule,
        operations=ops,
        first=places[schedule.first.astype(np.int64)].astype(np.uint64),
        meetings=meetings,
        members=places[np.concatenate([*members, np.zeros(0, np.int64)])].astype(np.uint32),
        site=None if schedule.site is None else schedule.site[source],
    )


def _members(schedule: ArraySchedule, number: int) -> IntArray:
    first, count = (int(schedule.meetings[number][name]) for name in ("first", "count"))
    return schedule.members[first : first + count].astype(np.int64)


_Key = tuple[int, int, int, float, tuple[float, ...]]


def _key(schedule: ArraySchedule, number: int) -> _Key:
    """What its rounds follow from; but for the sizes of blocks of each pair."""
    row = schedule.meetings[number]
    blocks = schedule.blocks_of(number) if row["layout"] == Layout.PER_MEMBER else None
    of_members = () if blocks is None else tuple(blocks.tolist())
    algorithm, count, root = (int(row[name]) for name in ("algorithm", "count", "root"))
    return algorithm, count, root, float(row["bytes"]), of_members


def _pairs(schedule: ArraySchedule, number: int) -> NDArray[np.float64] | None:
    """What each member sends to each, where that differs."""
    blocks = schedule.blocks_of(number)
    return blocks if blocks is not None and blocks.ndim == 2 else None


def _spread(schedule: ArraySchedule) -> list[int]:
    """The numbers of the meetings that become messages, in their order."""
    blocking = (schedule.operations["flags"] & Flag.BLOCKING) != 0
    found: list[tuple[float, int, int]] = []
    for number in range(len(schedule.meetings)):
        largest, count = _extent(*_key(schedule, number))
        pairs = _pairs(schedule, number)
        if pairs is not None:
            largest = float(pairs[~np.eye(len(pairs), dtype=bool)].max(initial=0.0))
        if count and blocking[_members(schedule, number)].all():
            found.append((-largest, number, count))
    found.sort()
    within = np.cumsum([count for _, _, count in found]) <= MOST_MESSAGES
    return sorted(number for (_, number, _), fits in zip(found, within, strict=True) if fits)


@lru_cache(maxsize=64)
def _extent(
    algorithm: int, members: int, root: int, size: float, blocks: tuple[float, ...]
) -> tuple[float, int]:
    """Bytes of the largest message, and how many there are; none of neighbours not known, nor of
    calls whose messages nobody knows."""
    if algorithm in (Algorithm.DIRECT, Algorithm.NO_MESSAGES):
        return 0.0, 0
    sizes = [m[2] for r in rounds(Algorithm(algorithm), members, root, size, blocks) for m in r]
    return max(sizes, default=0.0), len(sizes)


@lru_cache(maxsize=64)
def _rows(
    algorithm: int, members: int, root: int, size: float, blocks: tuple[float, ...]
) -> tuple[IntArray, NDArray[np.void]]:
    """How many operations each member has, and those of all.

    In a round a member posts what it receives, sends, and waits for both.
    """
    lengths = [0] * members
    rows: list[tuple[int, ...]] = []
    for round_ in rounds(Algorithm(algorithm), members, root, size, blocks):
        ends = [(a, b) for a, b, _ in round_]
        posted = _next(lengths, [b for _, b in ends])
        sent = _next(lengths, [a for a, _ in ends])
        received = _next(lengths, [b for _, b in ends])
        over = _next(lengths, [a for a, _ in ends])
        for k, (a, b, moved) in enumerate(round_):
            count = round(moved)
            rows += [
                (b, posted[k], Kind.RECV, count, a, a, sent[k]),
                (a, sent[k], Kind.SEND, count, b, b, posted[k]),
                (b, received[k], Kind.WAIT_RECV, 0, a, a, sent[k]),
                (a, over[k], Kind.WAIT_SEND, 0, b, a, sent[k]),
            ]
    return np.array(lengths, np.int64), np.array(rows, _ROW)


def _next(lengths: list[int], members: list[int]) -> list[int]:
    """The places of one more operation of each of these members."""
    places = []
    for member in members:
        places.append(lengths[member])
        lengths[member] += 1
    return places


def _bytes(rows: NDArray[np.void], pairs: NDArray[np.float64] | None) -> IntArray:
    if pairs is None:
        return np.asarray(rows["bytes"])
    sent, received = (rows["kind"] == kind for kind in (Kind.SEND, Kind.RECV))
    size = np.where(
        received, pairs[rows["peer"], rows["member"]], pairs[rows["member"], rows["peer"]]
    )
    return np.where(sent | received, np.rint(size), 0).astype(np.int64)


def _put(ops: NDArray[np.void], schedule: ArraySchedule, number: int, places: IntArray) -> None:
    """The operations of a collective in the place of its members'."""
    lengths, rows = _rows(*_key(schedule, number))
    members = _members(schedule, number)
    begins = places[members]
    streams = schedule.operations["peer"][members]
    alone = begins[lengths == 0]
    ops["kind"][alone], ops["flags"][alone] = Kind.CALC, 0
    ops["partner"][alone], ops["bytes"][alone] = NONE, 0
    at = begins[rows["member"]] + rows["place"]
    later = at[rows["place"] > 0]
    size, paged = bytes_and_flags(_bytes(rows, _pairs(schedule, number)))
    ops["kind"][at], ops["bytes"][at], ops["peer"][at] = rows["kind"], size, streams[rows["peer"]]
    ops["partner"][at] = begins[rows["with"]] + rows["with_place"]
    ops["flags"][at] = (ops["flags"][at] & Flag.CALL) | paged
    ops["flags"][later] &= np.uint8(Flag.PAGES)
    ops["calc_ns"][later] = 0
