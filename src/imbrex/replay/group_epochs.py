"""Epochs of windows by MPI_Win_post, start, complete and wait: who tells whom, and who waits.

A post tells each origin of its group that it may begin, a complete each target that nothing more
comes: messages without data. The log numbers the epochs between a target and an origin on a window,
the same on both sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imbrex import mpi_facts
from imbrex.profile.call_log import Flag, Kind
from imbrex.replay.one_sided import Closed
from imbrex.replay.run_log import NOWHERE, IntArray, RunLog

_BEGINS = frozenset(
    name for name in mpi_facts.of_kind("rma_sync") if "group" in (mpi_facts.facts(name).roles or ())
)


@dataclass(frozen=True)
class GroupEpochs:
    """Records by what they do, one for each member of a group. `told` send the other side their
    message. For the messages of `waited_for`, which are of these or puts, the calls `wait_call`
    wait. Of `held` transfers the messages leave in the calls `held_call`, as their
    target was not ready before. `lost` have no other side in the log."""

    told: IntArray
    waited_for: IntArray
    wait_call: IntArray
    held: IntArray
    held_call: IntArray
    lost: IntArray


def group_epochs(log: RunLog, closed: Closed) -> GroupEpochs:
    about = np.flatnonzero(log.is_kind(Kind.EXPOSURE, Kind.ACCESS))
    begins = log.named(_BEGINS)[about]
    exposes = log.records["kind"][about] == Kind.EXPOSURE
    post, wait = about[exposes & begins], about[exposes & ~begins]
    start, complete = about[~exposes & begins], about[~exposes & ~begins]
    of_start, of_wait = _other_side(log, start, post), _other_side(log, wait, complete)
    checked = ~log.has(Flag.VARYING)[start]
    found, ended = of_start != NOWHERE, of_wait != NOWHERE
    needs = found & checked
    call = log.call[start]
    late = _came(log)[of_start] > log.records["exit_ns"][start] + log.start_ns[log.stream[start]]
    held = held_call = np.zeros(0, np.int64)
    if (late & needs).any():
        # This library lets a start return before the post: the complete waits for it.
        completes = _other_side(log, start, complete)
        call = np.where(completes != NOWHERE, log.call[completes], call)
        needs &= completes != NOWHERE
        held, held_call = _held(log, closed, completes[needs], of_start[needs])
    lost = np.concatenate((start[~found & checked], wait[~ended]))
    arriving, puts = _puts(log, closed, wait[ended], of_wait[ended])
    return GroupEpochs(
        told=np.sort(np.concatenate((post, complete))),
        waited_for=np.concatenate((of_start[needs], of_wait[ended], puts)),
        wait_call=np.concatenate((call[needs], log.call[wait[ended]], log.call[arriving])),
        held=held,
        held_call=held_call,
        lost=lost,
    )


def _came(log: RunLog) -> IntArray:
    """When calls began, on the clock of all."""
    return np.asarray(log.records["enter_ns"] + log.start_ns[log.stream])


def _keys(log: RunLog, which: IntArray) -> IntArray:
    """Window, target, origin and number of the epoch; a number of their own where none is told."""
    exposes = log.records["kind"][which] == Kind.EXPOSURE
    rank, peer = log.rank[which], log.peer[which]
    sequence = log.records["sequence"][which].astype(np.int64)
    known = (sequence > 0) & (peer != NOWHERE) & ~log.has(Flag.UNCOUNTED)[which]
    return np.stack(
        (
            log.records["comm"][which].astype(np.int64),
            np.where(exposes, rank, peer),
            np.where(exposes, peer, rank),
            np.where(known, sequence, -1 - which),
        ),
        axis=1,
    )


def _other_side(log: RunLog, ours: IntArray, theirs: IntArray) -> IntArray:
    """By record of `ours` the one of `theirs` that is of the same epoch; NOWHERE: there is none."""
    found = np.full(len(ours), NOWHERE, np.int64)
    if not len(ours) or not len(theirs):
        return found
    keys = np.concatenate((_keys(log, ours), _keys(log, theirs)))
    number = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    at = np.full(int(number.max()) + 1, NOWHERE, np.int64)
    at[number[len(ours) :]] = theirs
    return np.asarray(at[number[: len(ours)]])


def _puts(
    log: RunLog, closed: Closed, waits: IntArray, completes: IntArray
) -> tuple[IntArray, IntArray]:
    """Puts that a complete closes, each beside the wait of its target."""
    transfer, call = closed.transfer, closed.call
    put = log.records["kind"][transfer] == Kind.PUT
    transfer, call = transfer[put], call[put]
    if not len(transfer) or not len(waits):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    theirs = log.call[completes] * log.ranks + log.peer[completes]
    order = np.argsort(theirs, kind="stable")
    ours = call * log.ranks + log.peer[transfer]
    place = np.minimum(np.searchsorted(theirs[order], ours), len(waits) - 1)
    found = theirs[order][place] == ours
    return waits[order[place[found]]], transfer[found]


def _held(
    log: RunLog, closed: Closed, completes: IntArray, posts: IntArray
) -> tuple[IntArray, IntArray]:
    """Transfers that were begun before their target had posted, and the calls that close them."""
    came = _came(log)
    posted = {
        (int(log.call[complete]), int(log.peer[complete])): int(came[post])
        for complete, post in zip(completes.tolist(), posts.tolist(), strict=True)
    }
    held = [
        (transfer, call)
        for transfer, call in zip(closed.transfer.tolist(), closed.call.tolist(), strict=True)
        if log.end[transfer] == NOWHERE
        and posted.get((call, int(log.peer[transfer])), came[transfer]) > came[transfer]
    ]
    pairs = np.array(held, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
