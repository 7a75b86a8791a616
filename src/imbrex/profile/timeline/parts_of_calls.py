"""Why single calls took their time, as far as the calls of both sides prove it.

The rules are those of runtime/analysis/causes.c for a machine of which nothing was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex import mpi_facts
from imbrex.profile.call_log import Flag, Kind
from imbrex.profile.causes import CAUSES
from imbrex.profile.format import Table
from imbrex.profile.timeline.format import UNKNOWN, Match
from imbrex.profile.timeline.group_epochs import START_OWN_NS, begins_epoch, posted_ns

_LATE = ("late_sender", "late_collective", "late_receiver")
_Array = NDArray[Any]
# Of these kinds of functions, and of calls of these groups, no log tells whom they wait for.
_WAITING = frozenset(
    ("abort", "finalize", "init", "rma_sync", "session_finalize", "session_init", "win_create")
)
_WAITING |= {"win_free"}
_WAITING_GROUPS = frozenset(("buffer", "communicator", "extension", "file", "unknown"))
_MESSAGES = frozenset(
    ("collective", "mprobe", "mrecv", "probe", "recv", "send", "sendrecv", "sendrecv_replace")
)


@dataclass(frozen=True)
class Polled:
    """By row, of the first one of a call: when the first of the calls before it was entered that
    looked for the same and found nothing, and the time in them (0: there are none)."""

    since_ns: NDArray[np.int64]
    call_ns: NDArray[np.int64]


def share_out(
    calls: Table,
    roots: NDArray[np.bool_],
    operations: Sequence[str],
    polled: Polled,
    nothing: NDArray[np.bool_],
) -> None:
    """Fill in the causes of each call, in its first row: least and most of each.

    `roots`, shape (rows,): this rank is the root of that collective; `nothing`: the record has no
    partner. `operations`: MPI names by number.
    """
    if not len(calls):
        return
    call = np.cumsum((calls["flags"] & Flag.FIRST) != 0) - 1
    call = np.maximum(call, 0)
    heads = np.flatnonzero(np.diff(call, prepend=-1))
    begins = begins_epoch(calls, operations)
    begun, done = _completions(calls, call, heads, nothing)
    some = np.bincount(done, minlength=len(heads)) > 0
    polls = _numbered(calls, heads, operations, _looks) & some & (polled.call_ns[heads] > 0)
    exit_ = calls["exit_ns"][heads]
    length = exit_ - calls["enter_ns"][heads] + np.where(polls, polled.call_ns[heads], 0)
    since = np.minimum(polled.since_ns[heads], exit_ - length)
    enter = np.where(polls, since, calls["enter_ns"][heads])
    until, possible = _moments(calls, roots, begins, begun, done, enter, exit_)
    # Of several that may have come first none is the reason for certain.
    first_of = _numbered(calls, heads, operations, _returns_at_the_first)
    first_of &= np.bincount(done, minlength=len(heads)) > 1
    for moments in until.values():
        moments[first_of] = enter[first_of]
    local = ~_numbered(calls, heads, operations, _may_wait) & ~polls
    least, most = enter.copy(), enter.copy()
    for name in _LATE:
        low = np.clip(np.where(local, enter, until[name]), enter, exit_)
        high = np.clip(np.where(local, enter, possible[name]), enter, exit_)
        calls[f"{name}_min_ns"][heads] = np.maximum(0, low - most)
        calls[f"{name}_max_ns"][heads] = np.maximum(0, high - least)
        least, most = np.maximum(least, low), np.maximum(most, high)
    _share_out_rest(calls, heads, exit_ - most, exit_ - least, begins, begun, done, local)
    _take_off(calls, heads[polls], (exit_ - enter - length)[polls], length[polls])


def _take_off(calls: Table, heads: _Array, away: _Array, most: _Array) -> None:
    """Of what began with the first of several polls the time between them was not in calls,
    whatever part it belongs to."""
    for name in CAUSES:
        calls[f"{name}_min_ns"][heads] = np.maximum(0, calls[f"{name}_min_ns"][heads] - away)
        calls[f"{name}_max_ns"][heads] = np.minimum(calls[f"{name}_max_ns"][heads], most)


def _completions(
    calls: Table, call: _Array, heads: _Array, nothing: NDArray[np.bool_]
) -> tuple[_Array, _Array]:
    """The rows that begin a transfer, and the call (a number among `heads`) that completed each."""
    # Of the ends of epochs a fence alone has a number: it waits for those that take part.
    ends = (calls["kind"] == Kind.EPOCH) & (calls["sequence"] == 0)
    moves = (calls["kind"] != Kind.COMPLETION) & ~ends & ~nothing
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
    begins: NDArray[np.bool_],
    begun: _Array,
    done: _Array,
    enter: _Array,
    exit_: _Array,
) -> tuple[dict[str, _Array], dict[str, _Array]]:
    """Until when each call waited for each kind of late partner: for certain, and possibly."""
    kind, matched = calls["kind"][begun], calls["match"][begun] == Match.MATCHED
    there, begins_all, begins = calls["peer_enter_ns"][begun], begins, begins[begun]
    fence = kind == Kind.EPOCH
    collective = ((kind >= Kind.ALL) & (kind <= Kind.NEIGHBOURS)) | fence
    root = roots[begun]
    to_root = ((kind == Kind.TO_ROOT) & ~root) | ((kind == Kind.FROM_ROOT) & root)
    sure = (kind == Kind.ALL) | fence | (kind == Kind.FROM_ROOT) | (kind == Kind.TO_ROOT)
    sure &= ~to_root & ((calls["flags"][begun] & Flag.VARYING) == 0)
    receive = (kind == Kind.RECV) | (kind == Kind.PROBE) | ((kind == Kind.EXPOSURE) & ~begins)
    access = kind == Kind.ACCESS
    posted = posted_ns(calls, begins_all)[begun]
    there = np.where(access, posted, there)
    certain = np.where(access, posted - START_OWN_NS, there)
    waits = (kind != Kind.BUFFERED_SEND) & (kind != Kind.EXPOSURE)
    before = (exit_[done] > there) | (kind == Kind.SYNC_SEND)
    groups = {
        "late_sender": (receive, receive),
        "late_collective": (collective & ~to_root, collective & sure),
        "late_receiver": (
            (to_root & collective) | (~receive & ~collective & waits & before),
            (kind == Kind.SYNC_SEND) | (access & begins),
        ),
    }
    until, possible = {}, {}
    for name, (may, must) in groups.items():
        until[name], possible[name] = enter.copy(), enter.copy()
        np.maximum.at(until[name], done[may & must & matched], certain[may & must & matched])
        np.maximum.at(possible[name], done[may & matched], there[may & matched])
    return until, possible


def _share_out_rest(
    calls: Table,
    heads: _Array,
    low: _Array,
    high: _Array,
    begins: NDArray[np.bool_],
    begun: _Array,
    done: _Array,
    local: NDArray[np.bool_],
) -> None:
    """What is left of each call once everybody was there."""
    count = len(heads)
    data = np.bincount(done[calls["bytes"][begun] > 0], minlength=count) > 0
    open_ = calls["match"][begun] != Match.MATCHED
    # What origins put may still have to come.
    open_ |= (calls["kind"][begun] == Kind.EXPOSURE) & ~begins[begun]
    unmatched = np.bincount(done[open_], minlength=count) > 0
    some = np.bincount(done, minlength=count) > 0
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
    if not known.known:
        return True
    if mpi_facts.is_poll(operation):
        return False
    if known.kind in _WAITING:
        return True
    if known.kind == "call":
        return known.fields.get("group") in _WAITING_GROUPS
    if known.kind == "completion":
        return known.form == "wait"
    return known.form == "blocking" and known.kind in _MESSAGES


def _looks(operation: str) -> bool:
    """Whether it returns at once, and a program may make a wait of it."""
    return mpi_facts.is_poll(operation)


def _returns_at_the_first(operation: str) -> bool:
    return operation in ("MPI_Waitany", "MPI_Waitsome", "MPI_Testany", "MPI_Testsome")
