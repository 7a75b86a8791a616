"""Locks of windows as the messages that they need: to ask for one, and to hand it on.

An epoch by MPI_Win_lock asks its target and waits for the answer; a lock that somebody else holds
in a way that does not go with it waits until that one's unlock has told the target and the target
the next. Who had a lock after whom is as in the run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np

from imbrex.profile.call_log import EXCLUSIVE, NOBODY, Flag, Kind
from imbrex.replay.run_log import IntArray, RunLog

LOCKS, _UNLOCKS = (
    frozenset({f"MPI_Win_{name}", f"MPI_Win_{name}_all"}) for name in ("lock", "unlock")
)


@dataclass(frozen=True)
class _Epoch:
    """The lock of one target by one rank: `lock` and `unlock` are records, the times those at which
    the lock returned and the unlock began and returned, on the clock of all. `checked`: it has to
    wait for others (no MPI_MODE_NOCHECK); `empty`: nothing moved in it."""

    rank: int
    window: int
    target: int
    exclusive: bool
    checked: bool
    lock: int
    unlock: int
    got_ns: int
    frees_ns: int
    freed_ns: int
    empty: bool


@dataclass(frozen=True)
class _Message:
    """To rank `to`, in the call of record `sent`; call `awaited` waits for it. `answered`: it takes
    two latencies."""

    sent: int
    to: int
    awaited: int
    answered: bool


def with_lock_messages(log: RunLog) -> RunLog:
    """The log with a record more for each message that a lock needs, which moves no bytes."""
    epochs = _epochs(log)
    messages = [*_asked(log, epochs), *_handed_on(log, epochs)]
    if not messages:
        return log
    messages.sort(key=lambda message: message.sent)
    sent = np.array([m.sent for m in messages])
    # Behind all records of the call, so that its first stays the first.
    place = np.searchsorted(log.call, log.call[sent], side="right")
    new = log.records[sent].copy()
    new["kind"] = [Kind.GET if m.answered else Kind.PUT for m in messages]
    new["bytes"], new["flags"], new["sequence"] = 0, 0, 0

    def more(column: IntArray, values: IntArray) -> IntArray:
        return np.insert(column, place, values)

    return replace(
        log,
        records=np.insert(log.records, place, new),
        rank=more(log.rank, log.rank[sent]),
        stream=more(log.stream, log.stream[sent]),
        call=more(log.call, log.call[sent]),
        end=more(log.end, np.array([m.awaited for m in messages])),
        peer=more(log.peer, np.array([m.to for m in messages])),
    )


def _epochs(log: RunLog) -> list[_Epoch]:
    """All that were ended, of calls that name a target; MPI_Win_lock_all and what it locks where
    somebody locks a member of that window exclusively."""
    records = log.records
    locks, unlocks = (log.is_kind(Kind.EPOCH) & log.named(names) for names in (LOCKS, _UNLOCKS))
    exclusive = locks & (records["tag"] == EXCLUSIVE)
    if not (locks & (records["peer"] != NOBODY)).any():
        return []
    contended: dict[int, set[int]] = defaultdict(set)
    for event in np.flatnonzero(exclusive).tolist():
        contended[int(records["comm"][event])].add(int(log.peer[event]))
    moves, checked = log.is_kind(Kind.PUT, Kind.GET), ~log.has(Flag.VARYING)
    enter, leave = (records[name] + log.start_ns[log.stream] for name in ("enter_ns", "exit_ns"))
    held: dict[tuple[int, int, int], int] = {}
    used: set[tuple[int, int, int]] = set()
    found = []
    for event in np.flatnonzero(locks | unlocks | moves).tolist():
        rank, window = int(log.rank[event]), int(records["comm"][event])
        named = int(log.peer[event])
        whole = records["peer"][event] == NOBODY
        for target in contended[window] if whole else (named,):
            key = rank, window, target
            if moves[event]:
                used.add(key)
            elif locks[event]:
                held[key] = event
                used.discard(key)
            elif key in held:
                lock = held.pop(key)
                found.append(
                    _Epoch(
                        rank,
                        window,
                        target,
                        bool(exclusive[lock]),
                        bool(checked[lock]),
                        lock,
                        event,
                        int(leave[lock]),
                        int(enter[event]),
                        int(leave[event]),
                        key not in used,
                    )
                )
    return found


def _asked(log: RunLog, epochs: list[_Epoch]) -> Iterator[_Message]:
    """What a lock asks its target, and what the unlock of an epoch in which nothing moved tells it;
    that of others goes with what moved."""
    for epoch in epochs:
        alone = epoch.rank == epoch.target or log.records["peer"][epoch.lock] == NOBODY
        if alone or not epoch.checked:
            continue
        yield _Message(epoch.lock, epoch.target, int(log.call[epoch.lock]), answered=True)
        if epoch.empty:
            yield _Message(epoch.unlock, epoch.target, int(log.call[epoch.unlock]), answered=True)


def _handed_on(log: RunLog, epochs: list[_Epoch]) -> Iterator[_Message]:
    """From whoever had a lock to whoever had it next and could not have it together."""

    def same_lock(epoch: _Epoch) -> tuple[int, int]:
        return epoch.window, epoch.target

    for _, of_lock in groupby(sorted(epochs, key=same_lock), same_lock):
        own = [epoch for epoch in of_lock if epoch.checked]
        if not any(epoch.exclusive for epoch in own):
            continue
        before: list[_Epoch] = []
        for holders in _holders(_in_turn(own)):
            for epoch in holders:
                for last in before:
                    if last.rank != epoch.rank:
                        yield _handing(log, last, epoch)
            before = holders


def _in_turn(epochs: list[_Epoch]) -> list[_Epoch]:
    """In the order in which they had the lock. Unlocks begin in that order where a lock returns
    when its rank has it; a library that gets it later has it when the unlock returns."""
    ordered = sorted(epochs, key=lambda epoch: epoch.frees_ns)
    in_time = all(
        later.got_ns >= before.frees_ns
        for before, later in pairwise(ordered)
        if before.exclusive or later.exclusive
    )
    return ordered if in_time else sorted(epochs, key=lambda epoch: epoch.freed_ns)


def _holders(epochs: list[_Epoch]) -> Iterator[list[_Epoch]]:
    """Those that may have it together: one, or all who share it, one behind the other."""
    for exclusive, holders in groupby(epochs, lambda epoch: epoch.exclusive):
        if exclusive:
            yield from ([epoch] for epoch in holders)
        else:
            yield list(holders)


def _handing(log: RunLog, last: _Epoch, then: _Epoch) -> _Message:
    """By the target, unless that is one of both. The lock waits for it where it returned after the
    unlock had begun, else the unlock."""
    waits = then.lock if then.got_ns >= last.frees_ns else then.unlock
    by_another = last.target not in (last.rank, then.rank)
    return _Message(last.unlock, then.rank, int(log.call[waits]), answered=by_another)
