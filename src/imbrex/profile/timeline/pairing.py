"""Which two calls are the sides of one message, and which calls are one collective.

The rules are those of runtime/analysis/pairing.c and rounds.c: the k-th send of a stream belongs to
its k-th receive in the order of posting; a collective counts where all of its members tell of it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.profile.call_log import Flag, Kind
from imbrex.profile.format import Table
from imbrex.profile.timeline.format import UNKNOWN, Match
from imbrex.profile.timeline.group_epochs import gives, is_group_epoch

_Array = NDArray[Any]


def match_messages(calls: Table, begins: NDArray[np.bool_], *, complete: bool) -> None:
    """Fill in the other side of sends and receives, and of epochs with members of a group, of which
    `begins` do not end one. `complete`: no call of the run is missing."""
    kind, flags = calls["kind"], calls["flags"]
    of_group = is_group_epoch(calls)
    is_send = ((kind >= Kind.SEND) & (kind <= Kind.READY_SEND)) | gives(calls, begins)
    is_receive = (kind == Kind.RECV) | (of_group & ~is_send)
    uncounted = (flags & (Flag.UNCOUNTED | Flag.FAILED)) != 0
    counted = (calls["peer"] >= 0) & (calls["sequence"] > 0) & ~uncounted
    withdrawn = (flags & Flag.CANCELLED) != 0
    calls["match"][withdrawn] = Match.WITHDRAWN
    sides = np.flatnonzero((is_send | is_receive) & counted & ~withdrawn)
    if not len(sides):
        return
    sends = is_send[sides]
    here, there = calls["rank"][sides], calls["peer"][sides]
    stream = (
        sends,
        np.where(of_group[sides], 1 + begins[sides], 0),
        calls["tag"][sides],
        np.where(sends, there, here),
        np.where(sends, here, there),
        calls["comm"][sides],
    )
    by_time = np.lexsort((np.arange(len(sides)), *stream))
    by_number = np.lexsort((calls["sequence"][sides], *stream))
    number = np.empty(len(sides), np.int64)
    number[by_time] = calls["sequence"][sides][by_number]
    counted_here = sends | of_group[sides]
    number[counted_here] = calls["sequence"][sides][counted_here]
    ambiguous = _ambiguous(calls, sides, stream, by_time, complete=complete)
    order = np.lexsort((sends, number, *stream[1:]))
    keys = (number, *stream[1:])
    same = np.logical_and.reduce([key[order[1:]] == key[order[:-1]] for key in keys])
    pair = np.flatnonzero(same & ~sends[order[:-1]] & sends[order[1:]])
    receive, send = sides[order[pair]], sides[order[pair + 1]]
    calls["sequence"][sides] = number
    state = np.full(len(pair), Match.MATCHED, np.int64)
    ended = (calls["end_exit_ns"][receive] >= 0) & (calls["end_exit_ns"][send] >= 0)
    state[~ended] = Match.END_UNKNOWN
    # A start may be over before its post.
    came_before = calls["end_exit_ns"][receive] < calls["enter_ns"][send]
    state[came_before & ~begins[receive]] = Match.CLOCKS
    state[ambiguous[order[pair]] | ambiguous[order[pair + 1]]] = Match.AMBIGUOUS
    for mine, other in ((send, receive), (receive, send)):
        calls["match"][mine] = state
        calls["peer_enter_ns"][mine] = calls["enter_ns"][other]
        calls["peer_exit_ns"][mine] = calls["end_exit_ns"][other]


def _ambiguous(
    calls: Table, sides: _Array, stream: tuple[_Array, ...], order: _Array, *, complete: bool
) -> NDArray[np.bool_]:
    """Which sides belong to streams of several threads, or of wildcards with calls missing."""
    begins = np.ones(len(order), np.bool_)
    begins[1:] = np.logical_or.reduce([key[order[1:]] != key[order[:-1]] for key in stream])
    starts = np.flatnonzero(begins)
    threads = calls["thread"][sides][order]
    doubt = np.maximum.reduceat(threads, starts) != np.minimum.reduceat(threads, starts)
    if not complete:
        wild = (calls["flags"][sides][order] & Flag.WILDCARD) != 0
        doubt |= np.logical_or.reduceat(wild, starts)
    found = np.zeros(len(order), np.bool_)
    found[order] = doubt[np.cumsum(begins) - 1]
    return found


def match_probes(calls: Table) -> None:
    """A probe waits for the message that the next receive of its stream got."""
    receives: dict[tuple[int, ...], list[int]] = {}
    names = ("rank", "comm", "peer", "tag", "thread")
    probes = np.flatnonzero(calls["kind"] == Kind.PROBE)
    if not len(probes):
        return
    for row in np.flatnonzero(calls["kind"] == Kind.RECV).tolist():
        receives.setdefault(tuple(int(calls[name][row]) for name in names), []).append(row)
    for row in probes.tolist():
        rows = receives.get(tuple(int(calls[name][row]) for name in names), [])
        at = bisect_right(rows, row)
        if at < len(rows) and calls["match"][rows[at]] == Match.MATCHED:
            calls["match"][row] = Match.MATCHED
            calls["peer_enter_ns"][row] = calls["peer_enter_ns"][rows[at]]
            calls["peer_exit_ns"][row] = calls["peer_exit_ns"][rows[at]]


def match_collectives(calls: Table, roots: NDArray[np.bool_], sizes: NDArray[np.int64]) -> None:
    """Fill in for whom each rank of a collective had to wait, and when that rank was there.

    `roots`, shape (rows,): this rank is its root; `sizes`: how many take part, 0: not known.
    """
    kind = calls["kind"]
    fence = kind == Kind.EPOCH  # with a number of its own, as no other end of an epoch has
    taking_part = (((kind >= Kind.ALL) & (kind <= Kind.NEIGHBOURS)) | fence) & (sizes > 0)
    taking_part &= (calls["sequence"] > 0) & (calls["end_exit_ns"] >= 0)
    taking_part &= (calls["flags"] & (Flag.CANCELLED | Flag.UNCOUNTED)) == 0
    rows = np.flatnonzero(taking_part)
    if not len(rows):
        return
    persistent = (calls["flags"][rows] & Flag.PERSISTENT) != 0
    start = np.where(persistent, calls["tag"][rows], 0)
    keys = (start, calls["sequence"][rows], calls["comm"][rows])
    order = np.lexsort((calls["rank"][rows], *keys))
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = np.logical_or.reduce([key[order[1:]] != key[order[:-1]] for key in keys])
    starts = np.flatnonzero(begins)
    group = np.cumsum(begins) - 1
    rows = rows[order]
    enter, left, call_kinds = calls["enter_ns"][rows], calls["end_exit_ns"][rows], kind[rows]
    last_enter = np.maximum.reduceat(enter, starts)
    last_exit = np.maximum.reduceat(left, starts)
    whole = np.bincount(group) == sizes[rows][starts]
    whole &= np.maximum.reduceat(call_kinds, starts) == np.minimum.reduceat(call_kinds, starts)
    last_rank = np.full(len(starts), UNKNOWN, np.int64)
    came_last = enter == last_enter[group]
    last_rank[group[came_last]] = calls["rank"][rows[came_last]]
    root = roots[rows]
    root_enter = np.full(len(starts), UNKNOWN, np.int64)
    root_enter[group[root]] = enter[root]
    root_rank = np.full(len(starts), UNKNOWN, np.int64)
    root_rank[group[root]] = calls["rank"][rows[root]]
    from_root = (call_kinds == Kind.FROM_ROOT) & ~root
    there = np.where(from_root, root_enter[group], last_enter[group])
    # Who need not wait for that rank may leave before it comes; anybody else cannot.
    waits = from_root | ((call_kinds == Kind.TO_ROOT) & root)
    waits |= np.isin(call_kinds, (Kind.ALL, Kind.EPOCH))
    waits &= (calls["flags"][rows] & Flag.VARYING) == 0
    good = whole[group] & (there >= 0) & ((there <= left) | ~waits)
    rows, group, there, from_root = rows[good], group[good], there[good], from_root[good]
    calls["match"][rows] = Match.MATCHED
    calls["peer"][rows] = np.where(from_root, root_rank[group], last_rank[group])
    calls["peer_enter_ns"][rows] = there
    calls["peer_exit_ns"][rows] = last_exit[group]
