"""Why single calls took their time, as far as the calls of both sides prove it.

The rules are those of runtime/analysis/causes.c for a machine of which nothing was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex import mpi_facts
from imbrex.profile.call_log import Flag, Kind
from imbrex.profile.format import Table
from imbrex.profile.timeline.format import UNKNOWN, Match

_LATE = ("late_sender", "late_collective", "late_receiver")
_Array = NDArray[Any]
_WAITING = frozenset(
    ("collective", "mprobe", "mrecv", "probe", "recv", "send", "sendrecv", "sendrecv_replace")
)


def share_out(calls: Table, roots: NDArray[np.bool_], operations: Sequence[str]) -> None:
    """Fill in the causes of each call, in its first row: least and most of each.

    `roots`, shape (rows,): this rank is the root of that collective. `operations`: MPI names by
    number.
    """
    if not len(calls):
        return
    call = np.cumsum((calls["flags"] & Flag.FIRST) != 0) - 1
    call = np.maximum(call, 0)
    heads = np.flatnonzero(np.diff(call, prepend=-1))
    enter, exit_ = calls["enter_ns"][heads], calls["exit_ns"][heads]
    begun, done = _completions(calls, call, heads)
    until, possible = _moments(calls, roots, begun, done, enter, exit_)
    # Of several that may have come first none is the reason for certain.
    first_of = _numbered(calls, heads, operations, _returns_at_the_first)
    first_of &= np.bincount(done, minlength=len(heads)) > 1
    for moments in until.values():
        moments[first_of] = enter[first_of]
    least, most = enter.copy(), enter.copy()
    for name in _LATE:
        low = np.clip(until[name], enter, exit_)
        high = np.clip(possible[name], enter, exit_)
        calls[f"{name}_min_ns"][heads] = np.maximum(0, low - most)
        calls[f"{name}_max_ns"][heads] = np.maximum(0, high - least)
        least, most = np.maximum(least, low), np.maximum(most, high)
    _share_out_rest(calls, heads, exit_ - most, exit_ - least, begun, done, operations)


def _completions(calls: Table, call: _Array, heads: _Array) -> tuple[_Array, _Array]:
    """The rows that begin a transfer, and the call (a number among `heads`) that completed each."""
    # Of the ends of epochs a fence alone has a match: it waits for those that take part.
    ends = (calls["kind"] == Kind.EPOCH) & (calls["match"] != Match.MATCHED)
    moves = (calls["kind"] != Kind.COMPLETION) & ~ends
    begun = np.flatnonzero(moves & (calls["end_exit_ns"] >= 0))
    # A rank's calls of one thread are in the order of time: their entry finds them.
    key = np.stack([calls["rank"][heads], calls["enter_ns"][heads]], axis=1)
    order = np.lexsort((key[:, 1], key[:, 0]))
    first = np.searchsorted(key[order, 0], calls["rank"][begun])
    last = np.searchsorted(key[order, 0], calls["rank"][begun], side="right")
    done = np.full(len(begun), UNKNOWN, np.int64)
    times = key[order, 1]
    for rank in np.unique(calls["rank"][begun]):
        mine = np.flatnonzero(calls["rank"][begun] == rank)
        low, high = int(first[mine[0]]), int(last[mine[0]])
        wanted = calls["end_enter_ns"][begun[mine]]
        at = low + np.searchsorted(times[low:high], wanted)
        at = np.minimum(at, high - 1)
        found = order[at]
        done[mine] = np.where(calls["enter_ns"][heads[found]] == wanted, found, UNKNOWN)
    known = done >= 0
    return begun[known], done[known]


def _moments(
    calls: Table,
    roots: NDArray[np.bool_],
    begun: _Array,
    done: _Array,
    enter: _Array,
    exit_: _Array,
) -> tuple[dict[str, _Array], dict[str, _Array]]:
    """Until when each call waited for each kind of late partner: for certain, and possibly."""
    kind, matched = calls["kind"][begun], calls["match"][begun] == Match.MATCHED
    there = calls["peer_enter_ns"][begun]
    fence = kind == Kind.EPOCH
    collective = ((kind >= Kind.ALL) & (kind <= Kind.NEIGHBOURS)) | fence
    root = roots[begun]
    to_root = ((kind == Kind.TO_ROOT) & ~root) | ((kind == Kind.FROM_ROOT) & root)
    sure = (kind == Kind.ALL) | fence | (kind == Kind.FROM_ROOT) | (kind == Kind.TO_ROOT)
    sure &= ~to_root & ((calls["flags"][begun] & Flag.VARYING) == 0)
    receive = (kind == Kind.RECV) | (kind == Kind.PROBE)
    waits = kind != Kind.BUFFERED_SEND
    before = (exit_[done] > there) | (kind == Kind.SYNC_SEND)
    groups = {
        "late_sender": (receive, receive),
        "late_collective": (collective & ~to_root, collective & sure),
        "late_receiver": (
            (to_root & collective) | (~receive & ~collective & waits & before),
            kind == Kind.SYNC_SEND,
        ),
    }
    until, possible = {}, {}
    for name, (may, must) in groups.items():
        until[name], possible[name] = enter.copy(), enter.copy()
        np.maximum.at(until[name], done[may & must & matched], there[may & must & matched])
        np.maximum.at(possible[name], done[may & matched], there[may & matched])
    return until, possible


def _share_out_rest(
    calls: Table,
    heads: _Array,
    low: _Array,
    high: _Array,
    begun: _Array,
    done: _Array,
    operations: Sequence[str],
) -> None:
    """What is left of each call once everybody was there."""
    count = len(heads)
    data = np.bincount(done[calls["bytes"][begun] > 0], minlength=count) > 0
    unmatched = np.bincount(done[calls["match"][begun] != Match.MATCHED], minlength=count) > 0
    some = np.bincount(done, minlength=count) > 0
    local = ~_numbered(calls, heads, operations, _may_wait)
    moving = some & data & ~unmatched & ~local
    library = local | (some & ~data & ~unmatched)
    for name in ("transfer", "stalled"):
        calls[f"{name}_max_ns"][heads[moving]] = high[moving]
    calls["library_min_ns"][heads[library]] = low[library]
    calls["library_max_ns"][heads[library]] = high[library]
    rest = ~moving & ~library
    calls["unattributed_min_ns"][heads[rest]] = np.where(some[rest], low[rest], 0)
    calls["unattributed_max_ns"][heads[rest]] = high[rest]
    calls["library_max_ns"][heads[rest & ~some]] = high[rest & ~some]


def _numbered(
    calls: Table, heads: _Array, operations: Sequence[str], holds: Callable[[str], bool]
) -> NDArray[np.bool_]:
    """Of which calls something holds that their operation decides, shape (calls,)."""
    table = np.asarray([*(holds(name) for name in operations), True], np.bool_)
    found: NDArray[np.bool_] = table[np.minimum(calls["operation"][heads], len(operations))]
    return found


def _may_wait(operation: str) -> bool:
    """Whether a call of this operation can wait for another process."""
    known = mpi_facts.facts(operation)
    if not known.known or mpi_facts.is_wait(operation):
        return True
    return known.form == "blocking" and known.kind in _WAITING


def _returns_at_the_first(operation: str) -> bool:
    return operation in ("MPI_Waitany", "MPI_Waitsome")
