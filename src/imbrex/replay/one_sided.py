"""What in a run's log ends elsewhere than its own record says: puts and gets at the end of their
epoch, probes at the receive of what they found."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from imbrex import mpi_facts
from imbrex.profile.call_log import NOBODY, Kind
from imbrex.replay.run_log import NOWHERE, BoolArray, IntArray, RunLog

_CLOSES, _CLOSES_LOCALLY = (
    frozenset(
        name
        for name in mpi_facts.of_kind("rma_sync")
        if mpi_facts.facts(name).fields.get("closes", "none") in scopes
    )
    for scopes in (("all", "local"), ("local",))
)


@dataclass(frozen=True)
class Closed:
    """Puts and gets, the numbers of the calls that complete them, and whether at the origin alone:
    what MPI_Win_flush_local completes there a later call completes at the target. `confirmed`: by a
    call in which the target has no part, so that it has to answer (MPI_Win_flush, unlock)."""

    transfer: IntArray
    call: IntArray
    locally: BoolArray
    confirmed: BoolArray


def closing_epochs(log: RunLog, transfers: IntArray) -> Closed:
    """What completes puts and gets, of those that something does."""
    records = log.records
    closing = np.flatnonzero(log.is_kind(Kind.EPOCH) & log.named(_CLOSES))
    if not len(transfers):
        closing = closing[:0]
    locally = set(closing[log.named(_CLOSES_LOCALLY)[closing]].tolist())
    open_ones: dict[tuple[int, int], list[int]] = defaultdict(list)
    found = [(int(t), int(log.end[t]), False) for t in transfers if log.end[t] != NOWHERE]
    ended = {transfer for transfer, _, _ in found}
    told: set[int] = set()
    confirmed: set[tuple[int, int]] = set()
    closes = set(closing.tolist())
    for event in np.sort(np.concatenate((transfers, closing))).tolist():
        key = int(log.rank[event]), int(records["comm"][event])
        if event not in closes:
            if event not in ended:
                open_ones[key].append(event)
            continue
        target = int(records["peer"][event])
        here = [t for t in open_ones[key] if target in (NOBODY, int(records["peer"][t]))]
        if event in locally:
            found += [(t, int(log.call[event]), True) for t in here if t not in told]
            told.update(here)
        else:
            found += [(t, int(log.call[event]), False) for t in here]
            if not records["sequence"][event]:  # a fence is numbered, as collectives are
                confirmed.update((t, int(log.call[event])) for t in here)
            done = set(here)
            open_ones[key] = [t for t in open_ones[key] if t not in done]
    rows = np.array(sorted(found), np.int64).reshape(-1, 3)
    answered = np.array([(t, call) in confirmed for t, call in rows[:, :2].tolist()], bool)
    return Closed(rows[:, 0], rows[:, 1], rows[:, 2] != 0, answered)


def probed(log: RunLog) -> tuple[IntArray, IntArray]:
    """Probes that found a message, and the receives that took it: the next of that sender, tag and
    communicator."""
    probes = np.flatnonzero(log.is_kind(Kind.PROBE))
    if not len(probes):
        return probes, probes
    waiting: dict[tuple[int, ...], list[int]] = defaultdict(list)
    found: list[tuple[int, int]] = []
    about = np.flatnonzero(log.is_kind(Kind.PROBE, Kind.RECV))
    for record in about.tolist():
        row = log.records[record]
        key = (int(log.rank[record]), int(row["comm"]), int(row["peer"]), int(row["tag"]))
        if row["kind"] == Kind.PROBE:
            waiting[key].append(record)
        else:
            found += [(probe, record) for probe in waiting.pop(key, [])]
    pairs = np.array(found, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
