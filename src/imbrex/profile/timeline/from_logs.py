"""The calls of a time line from the ranks' logs: those that were kept, or that a crash left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from imbrex.errors import ImbrexError
from imbrex.profile.call_log import (
    END_UNSEEN,
    HERE,
    OPEN,
    PROC_NULL,
    CallLog,
    Communicator,
    paths,
    read_call_log,
)
from imbrex.profile.format import Table
from imbrex.profile.part import read_part
from imbrex.profile.timeline.format import TIMELINE_DTYPE, UNKNOWN
from imbrex.profile.timeline.group_epochs import begins_epoch
from imbrex.profile.timeline.pairing import match_collectives, match_messages, match_probes
from imbrex.profile.timeline.parts_of_calls import Polled, share_out

if TYPE_CHECKING:
    from imbrex.profile.run import Run

_COPIED = ("operation", "section", "kind", "thread", "flags", "comm", "tag", "sequence")


def log_files(run: Run) -> list[Path]:
    """Where calls of this run were logged: kept logs, else the parts of ranks that did not end."""
    kept = sorted((run.directory / "log").glob("rank-*.log"))
    return kept or sorted((run.directory / "parts").glob("rank-*.part"))


def read_logs(run: Run) -> Table:
    """All logged calls with their other sides, TIMELINE_DTYPE.

    What of the logs cannot be read is left out; ImbrexError where that is all.
    """
    logs: list[tuple[int, CallLog]] = []
    problem: ImbrexError | None = None
    for file in log_files(run):
        try:
            logs.append((rank_of(file), read_call_log(file)))
        except ImbrexError as error:
            problem = error
    if not logs and problem is not None:
        raise problem
    if not logs:
        return np.empty(0, TIMELINE_DTYPE)
    logs.sort(key=lambda item: item[0])
    level = max(log.level for _, log in logs)
    start_ns = min(log.began_ns for _, log in logs)
    parts = [_calls_of(run, rank, log, level, start_ns) for rank, log in logs]
    calls = np.concatenate([part.calls for part in parts])
    roots = np.concatenate([part.roots for part in parts])
    sizes = np.concatenate([part.sizes for part in parts])
    nothing = np.concatenate([part.nothing for part in parts])
    polled = Polled(
        np.concatenate([part.polled.since_ns for part in parts]),
        np.concatenate([part.polled.call_ns for part in parts]),
    )
    operations = [run.operation(n) for n in range(len(run.job.operations))]
    begins = begins_epoch(calls, operations)
    match_messages(calls, begins, complete=all(log.complete for _, log in logs))
    match_probes(calls)
    match_collectives(calls, roots, sizes)
    share_out(calls, roots, operations, polled, nothing)
    # A wait that the program makes of polls begins with the first of them.
    polls = polled.call_ns > 0
    calls["enter_ns"][polls] = np.minimum(polled.since_ns, calls["enter_ns"])[polls]
    return calls


def rank_of(file: Path) -> int:
    """The rank whose log or part a file is."""
    digits = file.stem.removeprefix("rank-")
    return int(digits) if digits.isdigit() else UNKNOWN


@dataclass(frozen=True)
class _Part:
    """A rank's rows; whether it is the root of each, how many take part (0: not known), and whether
    it has no partner (MPI_PROC_NULL)."""

    calls: Table
    roots: NDArray[np.bool_]
    sizes: NDArray[np.int64]
    nothing: NDArray[np.bool_]
    polled: Polled


def _calls_of(run: Run, rank: int, log: CallLog, level: int, start_ns: float) -> _Part:
    kept = log.calls
    if level > log.level:
        window = (kept["enter_ns"] - log.origin_ns) // log.window_ns
        kept = kept[window % (1 << level) == 0]
    calls = np.zeros(len(kept), TIMELINE_DTYPE)
    calls["rank"] = rank
    for name in _COPIED:
        calls[name] = kept[name]
    calls["path"] = paths(kept)
    calls["bytes"] = np.maximum(kept["bytes"], 0)
    calls["site"] = kept["site"]
    if not log.common_numbers:
        renumber(run, log.file, calls)

    def common(times_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.maximum(np.rint(log.common_ns(times_ns) - start_ns).astype(np.int64), 0)

    calls["enter_ns"], calls["exit_ns"] = common(kept["enter_ns"]), common(kept["exit_ns"])
    for name in ("end_enter_ns", "end_exit_ns", "peer_enter_ns", "peer_exit_ns"):
        calls[name] = UNKNOWN
    end = _ends(kept)
    ended = end >= 0
    calls["end_enter_ns"][ended] = calls["enter_ns"][end[ended]]
    calls["end_exit_ns"][ended] = calls["exit_ns"][end[ended]]
    roots, sizes = _peers(kept, log.communicators, calls)
    since, call = np.full(len(kept), UNKNOWN, np.int64), np.zeros(len(kept), np.int64)
    _, row, told = np.intersect1d(kept["id"], log.polls["id"], return_indices=True)
    since[row], call[row] = common(log.polls["since_ns"][told]), log.polls["call_ns"][told]
    return _Part(calls, roots, sizes, kept["peer"] == PROC_NULL, Polled(since, call))


def _ends(kept: Table) -> NDArray[np.int64]:
    """Which row of the rank saw each complete; -1: none."""
    ids = kept["id"].astype(np.int64)
    wanted = kept["end_call"].astype(np.int64)
    order = np.argsort(ids, kind="stable")
    at = np.searchsorted(ids, wanted, sorter=order)
    end = np.where(at < len(ids), order[np.minimum(at, len(ids) - 1)], -1) if len(ids) else at
    found = (end >= 0) & (wanted != OPEN) & (wanted != END_UNSEEN)
    if len(ids):
        found &= ids[np.maximum(end, 0)] == wanted
    return np.where(found, end, -1)


def _peers(
    kept: Table, communicators: dict[int, Communicator], calls: Table
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """World ranks of the peers; roots, and members of the communicators that can be matched."""
    calls["peer"] = UNKNOWN
    roots = np.zeros(len(kept), np.bool_)
    sizes = np.zeros(len(kept), np.int64)
    for number in np.unique(kept["comm"]).tolist():
        comm = communicators.get(number)
        if comm is None:
            continue
        here = np.flatnonzero(kept["comm"] == number)
        peer = kept["peer"][here].astype(np.int64)
        roots[here] = (peer == HERE) | ((peer >= 0) & (peer == comm.rank) & (not comm.inter))
        members = np.asarray(comm.peers if comm.peers is not None else (), np.int64)
        inside = (peer >= 0) & (peer < len(members))
        calls["peer"][here[inside]] = members[peer[inside]]
        if not (comm.inter or comm.met or comm.foreign) and comm.own is not None:
            sizes[here] = len(comm.own)
    return roots, sizes


def renumber(run: Run, file: Path, calls: Table) -> None:
    """From a rank's own numbers of sites, sections and operations in a part to those of the run.

    `calls` is a table with these three columns.
    """
    try:
        part = read_part(file)
    except ImbrexError:
        calls["site"] = 0
        return
    numbers = {(s.image, s.build_id, s.offset): s.id for s in run.sites if s.id}
    sites = [0, *(numbers.get(key, 0) for key in part.sites[1:])]
    sections = {name: n for n, name in enumerate(run.job.sections)}
    operations = {name: n for n, name in enumerate(run.job.operations)}
    _look_up(calls, "site", sites)
    _look_up(calls, "section", [sections.get(name, 0) for name in part.sections])
    _look_up(calls, "operation", [operations.get(name, 0) for name in part.operations])


def _look_up(calls: Table, name: str, numbers: Sequence[int]) -> None:
    table = np.asarray([*numbers, 0], np.int64)
    own = calls[name].astype(np.int64)
    own[(own < 0) | (own >= len(numbers))] = len(numbers)
    calls[name] = table[own]
