"""The collectives of a run's log: who met whom, how many bytes moved, by which algorithm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from imbrex import mpi_facts
from imbrex.profile.call_log import HERE, Flag, Kind
from imbrex.replay.arrays import MEETING, Algorithm
from imbrex.replay.blocks import Blocks
from imbrex.replay.collectives import Collectives
from imbrex.replay.run_log import NOWHERE, IntArray, RunLog

COLLECTIVES = (Kind.ALL, Kind.FROM_ROOT, Kind.TO_ROOT, Kind.SCAN, Kind.NEIGHBOURS)
_EXCHANGES = mpi_facts.of_kind("collective")
"""All others of COLLECTIVES make communicators, windows and files, or end them."""


@dataclass(frozen=True)
class Meetings:
    """`number`: by record, its meeting (NOWHERE: none that can be replayed). `table` has MEETING's
    fields, its members are the records `members`; `set_up` are those that make communicators,
    windows and files in one call, `alone` those in which nobody waits for others, `lost` those of
    which somebody's record is missing. `blocks` are the sizes that the table names.

    What set-up calls take once all are there is the library's own: messages that nobody knows, and
    work. A replay lets it pass as it did, so these meetings have no messages."""

    number: IntArray
    table: NDArray[np.void]
    members: IntArray
    set_up: IntArray
    alone: IntArray
    lost: IntArray
    blocks: Blocks


def meetings(log: RunLog, collectives: Collectives) -> Meetings:
    """All collectives, fences of windows included."""
    records = log.records
    takes_part = log.is_kind(*COLLECTIVES)
    takes_part |= log.is_kind(Kind.EPOCH) & (records["sequence"] > 0)
    takes_part &= (records["comm"] != 0) & (records["sequence"] > 0)
    who = np.flatnonzero(takes_part)
    number = np.full(len(records), NOWHERE, np.int64)
    rows: list[NDArray[np.void]] = []
    members: list[IntArray] = []
    begun = 0
    set_up: list[int] = []
    alone: list[int] = []
    lost: list[int] = []
    blocks = Blocks(log)
    for own in _arrived_in_one_call(log, who):
        group = log.groups.get(int(records["comm"][own[0]]))
        size = len(group.members) if group is not None else 0
        if group is None or len(own) != size or len(np.unique(log.rank[own])) != size:
            lost.extend(own.tolist())
            continue
        if size == 1 or not _meets(log, own):
            alone.extend(own.tolist())
            continue
        place = {rank: k for k, rank in enumerate(group.members)}
        own = own[np.argsort([place[r] for r in log.rank[own].tolist()])]
        number[own] = len(rows)
        row = np.zeros((), MEETING)
        row["first"], row["count"] = begun, size
        begun += size
        operation = blocks.operation(records[own[0]])
        size_bytes = float(records["bytes"][own].max())
        row["bytes"] = size_bytes
        row["root"] = _root(records[own], group.inter)
        if _sets_up(log, own):
            set_up.extend(own.tolist())
            row["algorithm"] = Algorithm.NO_MESSAGES
        else:
            row["algorithm"] = collectives.of(operation, size_bytes)
            row["layout"], row["blocks"] = blocks.of(own, operation, int(row["algorithm"]))
        rows.append(row)
        members.append(own)
    table = np.array(rows, MEETING) if rows else np.zeros(0, MEETING)
    joined = np.concatenate(members) if members else np.zeros(0, np.int64)
    first, second, third = (np.array(found, np.int64) for found in (set_up, alone, lost))
    return Meetings(number, table, joined, first, second, third, blocks)


def _arrived_in_one_call(log: RunLog, who: IntArray) -> list[IntArray]:
    """Records of one collective each, in the order of their first record."""
    records = log.records[who]
    persistent = (records["flags"] & Flag.PERSISTENT) != 0
    keys = (
        np.where(persistent, records["tag"], 0),
        persistent,
        records["sequence"],
        records["comm"],
    )
    order = np.lexsort(keys)
    new = np.zeros(len(who), bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    return [who[part] for part in np.split(order, np.flatnonzero(new)[1:])] if len(who) else []


def _in_one_call(log: RunLog, own: IntArray) -> bool:
    return bool((log.end[own] == log.call[own]).all())


def _sets_up(log: RunLog, own: IntArray) -> bool:
    first = log.records[own[0]]
    moves = first["kind"] == Kind.EPOCH or log.operations[int(first["operation"])] in _EXCHANGES
    return not moves and _in_one_call(log, own)


def _meets(log: RunLog, own: IntArray) -> bool:
    """Whether those that make a communicator, window or file wait for each other: libraries need
    not, and then the first leave before the last come."""
    records = log.records[own]
    exchanges = log.operations[int(records["operation"][0])] in _EXCHANGES
    if exchanges or not _in_one_call(log, own):
        return True
    shift = log.start_ns[log.stream[own]]
    left, came = records["exit_ns"] + shift, records["enter_ns"] + shift
    return bool(left.min() >= came.max())


def _root(records: NDArray[np.void], inter: bool) -> int:
    if inter:
        roots = np.flatnonzero(records["peer"] == HERE)
        return int(roots[0]) if len(roots) else 0
    named = int(records["peer"][0])
    return named if 0 <= named < len(records) else 0
