"""What in a run's log ends elsewhere than its own record says: puts and gets at the end of their
epoch, partitioned sends at their last MPI_Pready, probes at the receive of what they found."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from imbrex import mpi_facts
from imbrex.profile.call_log import NOBODY, Kind
from imbrex.replay.run_log import NOWHERE, IntArray, RunLog

_CLOSES = frozenset(
    name
    for name in mpi_facts.of_kind("rma_sync")
    if mpi_facts.facts(name).fields.get("closes", "none") != "none"
)


def closing_epochs(log: RunLog, transfers: IntArray) -> tuple[IntArray, IntArray]:
    """Of puts and gets, those that something completes, and the numbers of the calls that do."""
    records = log.records
    if not len(transfers):
        return transfers, transfers
    closing = np.flatnonzero(log.is_kind(Kind.EPOCH) & log.named(_CLOSES))
    open_ones: dict[tuple[int, int], list[int]] = defaultdict(list)
    end = {int(t): int(log.end[t]) for t in transfers if log.end[t] != NOWHERE}
    events = np.sort(np.concatenate((transfers, closing)))
    closes = set(closing.tolist())
    for event in events.tolist():
        key = int(log.rank[event]), int(records["comm"][event])
        if event not in closes:
            if event not in end:
                open_ones[key].append(event)
            continue
        target = int(records["peer"][event])
        rest = []
        for transfer in open_ones[key]:
            if target in (NOBODY, int(records["peer"][transfer])):
                end[transfer] = int(log.call[event])
            else:
                rest.append(transfer)
        open_ones[key] = rest
    found = np.array(sorted(end), np.int64)
    return found, np.array([end[t] for t in found.tolist()], np.int64)


def last_ready(log: RunLog, sends: IntArray, calls: IntArray) -> IntArray:
    """`calls` of sends; of partitioned ones that of the last MPI_Pready, when all of it can go."""
    parts = np.flatnonzero(log.is_kind(Kind.PARTS_SEND)[sends])
    if not len(parts):
        return calls
    moved = calls.copy()
    latest: dict[tuple[int, ...], int] = {}
    place = {int(sends[k]): k for k in parts.tolist()}
    about = log.is_kind(Kind.PARTS_SEND, Kind.PART_READY)
    for record in np.flatnonzero(about).tolist():
        row = log.records[record]
        key = (int(log.rank[record]), int(row["comm"]), int(row["peer"]), int(row["tag"]))
        if record in place:
            latest[key] = place[record]
        elif row["kind"] == Kind.PART_READY and key in latest:
            moved[latest[key]] = log.call[record]
    return np.asarray(moved)


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
