"""Partitioned messages: when what was made ready leaves, and what MPI_Parrived waits for.

A library may keep a message until all of it is ready, or move its partitions as they are. Which it
does a run shows where a partition had come before the last was ready; then each partition is a
message of its own that leaves with its MPI_Pready. A look waits for the one that it asks for, of
which the sender may have made several; where the log does not tell (it has the numbers of the first
62), for the last that was ready when the look found it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from imbrex.profile.call_log import Kind, partition_of
from imbrex.replay.run_log import NOWHERE, BoolArray, IntArray, RunLog


@dataclass(frozen=True)
class Partitions:
    """`leaves`: by record the call in which what it sends leaves. `looks`: records of MPI_Parrived
    that waited, and what for: the receive, or a partition's MPI_Pready. Partitions that move by
    themselves (`moved`) are there for the calls `needed_by`, as far as their sender needs them
    (`locally`); the starts of their messages (`divided`) move nothing."""

    leaves: IntArray
    looks: tuple[IntArray, IntArray]
    moved: IntArray
    needed_by: IntArray
    locally: BoolArray
    divided: BoolArray


def partitions(log: RunLog, partner: IntArray) -> Partitions:
    """Of all partitioned messages; `partner` is that of pairs.partners."""
    leaves, divided = log.call.copy(), np.zeros(len(log.records), bool)
    ready, looks = _of_starts(log)
    came = log.records["enter_ns"] + log.start_ns[log.stream]
    left = log.records["exit_ns"] + log.start_ns[log.stream]
    for records in ready.values():
        records.sort(key=lambda record: int(came[record]))
    for send, records in ready.items():
        leaves[send] = log.call[records[-1]]
    found = [
        (look, receive)
        for receive, own in looks.items()
        if partner[receive] != NOWHERE
        for look in own
    ]
    early = any(
        left[look] < came[ready[int(partner[receive])][-1]]
        for look, receive in found
        if int(partner[receive]) in ready
    )
    waits: list[tuple[int, int]] = []
    needed: list[tuple[int, int, bool]] = []
    for send, records in ready.items() if early else ():
        receive = int(partner[send])
        whole = int(log.records["bytes"][records].sum()) == int(log.records["bytes"][send])
        if receive == NOWHERE or not whole:
            continue
        divided[[send, receive]] = True
        needed += [(record, int(log.end[receive]), False) for record in records]
        needed += [(record, int(log.end[send]), True) for record in records]
        for look in looks.get(receive, []):
            by_then = [record for record in records if came[record] <= left[look]]
            asked = _asked_for(log, look, records) or by_then[-1:] or records[:1]
            waits.append((look, asked[-1]))
    waits += [(look, receive) for look, receive in found if not divided[receive]]
    pairs = np.array(waits, np.int64).reshape(-1, 2)
    rows = np.array([row for row in needed if row[1] != NOWHERE], np.int64).reshape(-1, 3)
    return Partitions(
        leaves, (pairs[:, 0], pairs[:, 1]), rows[:, 0], rows[:, 1], rows[:, 2] != 0, divided
    )


def _asked_for(log: RunLog, look: int, ready: list[int]) -> list[int]:
    """Those of the sender's partitions that a look's is of, in the order in which they were made
    ready; none where their numbers are not known."""
    part, size = partition_of(log.records[look]), int(log.records["bytes"][look])
    if part is None:
        return []
    found = []
    for record in ready:
        number, own = partition_of(log.records[record]), int(log.records["bytes"][record])
        if number is None:
            return []
        if number * own < (part + 1) * size and part * size < (number + 1) * own:
            found.append(record)
    return found


def _of_starts(log: RunLog) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """By record of a start the records of its MPI_Pready, and of a receive those of MPI_Parrived
    that waited."""
    start: dict[tuple[int, ...], int] = {}
    ready: dict[int, list[int]] = defaultdict(list)
    looks: dict[int, list[int]] = defaultdict(list)
    of_parts = Kind.PARTS_SEND, Kind.PARTS_RECV, Kind.PART_READY, Kind.PART_ARRIVED
    about = np.flatnonzero(log.is_kind(*of_parts) & (log.records["sequence"] > 0))
    parts: list[tuple[int, tuple[int, ...]]] = []
    for record in about.tolist():
        row = log.records[record]
        sends = row["kind"] in (Kind.PARTS_SEND, Kind.PART_READY)
        where = (int(row[name]) for name in ("comm", "peer", "tag", "sequence"))
        key = (int(sends), int(log.rank[record]), *where)
        if row["kind"] in (Kind.PARTS_SEND, Kind.PARTS_RECV):
            start[key] = record
        else:
            parts.append((record, key))
    for record, key in parts:
        if key in start:
            (ready if key[0] else looks)[start[key]].append(record)
    return ready, looks
