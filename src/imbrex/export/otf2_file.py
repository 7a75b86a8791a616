"""OTF2: the trace format of Score-P, which Vampir, Scalasca and Pipit open.

Every call is a region with the source line that made it; messages, requests and collectives are
MPI events. Written rank after rank, so that one log is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex import __version__, mpi_facts
from imbrex.errors import ImbrexError
from imbrex.export.format import Format, optional_package, written_whole
from imbrex.export.otf2_definitions import Definitions, all_members
from imbrex.profile.call_log import (
    END_UNSEEN,
    HERE,
    OPEN,
    CallLog,
    Flag,
    Kind,
    read_call_log,
)
from imbrex.profile.format import Table
from imbrex.profile.run import Run
from imbrex.profile.timeline.from_logs import log_files, rank_of, renumber
from imbrex.profile.timeline.timeline import COLLECTIVES, SENDS
from imbrex.steps import Tell

RESOLUTION_PER_S = 1_000_000_000


def write_otf2(run: Run, path: Path, tell: Tell) -> str | None:
    """Write an archive, a folder with traces.otf2; ImbrexError where the run has no call log."""
    otf2 = optional_package("otf2", "OTF2")
    failures = (otf2.error.Error, optional_package("_otf2", "OTF2").Error)
    files = {rank_of(file): file for file in log_files(run)}
    if not files:
        raise ImbrexError(
            f"{run.directory}: has no whole call log; measure again with imbrex run --keep-log"
        )
    start_ns = min(log.began_ns for _, log in _logs(run, files))
    with written_whole(path) as partial:
        try:
            with otf2.writer.open(str(partial), timer_resolution=RESOLUTION_PER_S) as archive:
                _write(otf2, archive, run, files, start_ns, tell)
        except failures as error:  # the library has said on stderr what failed, as a full disk
            raise ImbrexError(f"{path}: cannot be written ({error})") from error
    share = run.job.log.logged_share if run.job.log else 1.0
    if share > 0.999:
        return None
    return (
        f"has {100 * share:.0f} % of the run, in between measuring is off: the log was too small "
        "for all calls (imbrex run --log SIZE)"
    )


def _write(
    otf2: Any, archive: Any, run: Run, files: dict[int, Path], start_ns: float, tell: Tell
) -> None:
    archive.creator = f"Imbrex {__version__}"
    archive.description = " ".join(run.job.command)
    definitions = Definitions(otf2, archive.definitions, run)
    for number, (rank, log) in enumerate(_logs(run, files)):
        definitions.add_communicators(log)
        for thread, calls in _by_thread(log):
            writer = archive.event_writer_from_location(definitions.location(rank, thread))
            _Rank(otf2, writer, definitions, run, log, start_ns).write(calls, thread)
        tell((number + 1) / len(files))
    _set_wall_clock(archive, run)


def _logs(run: Run, files: dict[int, Path]) -> Iterator[tuple[int, CallLog]]:
    for rank, file in sorted(files.items()):
        log = read_call_log(file)
        if not log.common_numbers:
            renumber(run, file, log.calls)
        yield rank, log


def _by_thread(log: CallLog) -> Iterator[tuple[int, Table]]:
    """The records of each thread; the first is there even if it made no call."""
    for thread in sorted({0, *np.unique(log.calls["thread"]).tolist()}):
        yield thread, log.calls[log.calls["thread"] == thread]


def _set_wall_clock(archive: Any, run: Run) -> None:
    """The package takes the time at which the archive is written for that of the run."""
    try:
        started = datetime.fromisoformat(run.job.started or "")
    except ValueError:
        return
    archive._realtime_timestamp = started.timestamp()


class _Rank:
    """Writes the events of one thread of a rank."""

    def __init__(
        self, otf2: Any, writer: Any, definitions: Definitions, run: Run, log: CallLog, start: float
    ) -> None:
        self._otf2, self._write, self._definitions = otf2, writer, definitions
        self._run, self._log, self._start_ns = run, log, start
        self._remote_from = {
            entry.number: (all_members(entry) or []).index(entry.peers[0])
            for entry in log.communicators.values()
            if entry.inter and entry.peers and entry.own
        }
        self._blocking = [not _returns_a_request(name) for name in run.job.operations]

    def write(self, calls: Table, thread: int) -> None:
        """The calls between the begin and the end of the program, where the thread has those."""
        enter, exit_ = self._times(calls["enter_ns"]), self._times(calls["exit_ns"])
        first = (calls["flags"] & Flag.FIRST) != 0
        heads = np.flatnonzero(first)
        if thread == 0:
            last_ns = self._log.end_ns or int(calls["exit_ns"].max(initial=0))
            begin, end = (int(t) for t in self._times(np.array([0, last_ns])))
        elif len(heads):
            begin, end = int(enter[0]), int(exit_[-1])
        else:
            return
        gaps = self._gaps(end)
        self._write.enter(begin, self._definitions.program)
        completed = self._completed(calls)
        records = calls.tolist()
        names = calls.dtype.names or ()
        at = {name: names.index(name) for name in names}
        bounds = np.append(heads, len(calls)).tolist()
        times = list(zip(enter.tolist(), exit_.tolist(), strict=True))
        for head, after in pairwise(bounds):
            begin_ns, end_ns = times[head]
            while gaps and gaps[0][0] <= begin_ns:
                self._pause(*gaps.pop(0))
            rows = [_Record(records[row], at, row) for row in range(head, after)]
            region = self._definitions.region(rows[0].site, rows[0].operation, rows[0].kind)
            self._write.enter(begin_ns, region)
            for row in rows:
                self._begin(begin_ns, row)
            for row in [_Record(records[row], at, row) for row in completed.get(head, ())]:
                self._complete(end_ns, row, own=head <= row.number < after)
            self._write.leave(end_ns, region)
        for gap in gaps:
            self._pause(*gap)
        self._write.leave(end, self._definitions.program)

    def _times(self, times_ns: NDArray[Any]) -> NDArray[np.uint64]:
        return np.maximum(np.rint(self._log.common_ns(times_ns) - self._start_ns), 0).astype(
            np.uint64
        )

    def _gaps(self, end: int) -> list[tuple[int, int]]:
        """The stretches of time of which the log gave up the calls."""
        log = self._log
        if log.level == 0:
            return []
        step = log.window_ns << log.level
        last_ns = log.end_ns or int(log.calls["exit_ns"].max(initial=0))
        begins = np.arange(log.origin_ns + log.window_ns, last_ns, step, dtype=np.int64)
        ends = np.minimum(begins + step - log.window_ns, last_ns)
        pairs = zip(self._times(begins).tolist(), self._times(ends).tolist(), strict=True)
        return [(off, min(on, end)) for off, on in pairs]

    def _pause(self, off: int, on: int) -> None:
        mode = self._otf2.MeasurementMode
        self._write.measurement_on_off(off, mode.OFF)
        self._write.measurement_on_off(on, mode.ON)

    def _completed(self, calls: Table) -> dict[int, list[int]]:
        """By the first row of each call the rows that it saw complete."""
        rows = {int(id_): row for row, id_ in enumerate(calls["id"].tolist())}
        first = np.where(calls["flags"] & Flag.FIRST, np.arange(len(calls)), 0)
        call = np.maximum.accumulate(first).tolist() if len(calls) else []
        found: dict[int, list[int]] = {}
        for row, end in enumerate(calls["end_call"].tolist()):
            if end not in (OPEN, END_UNSEEN) and (at := rows.get(end)) is not None:
                found.setdefault(call[at], []).append(row)
        return found

    def _begin(self, time: int, row: _Record) -> None:
        """What a record begins, told at the entry of its call."""
        blocking = self._blocking[row.operation]
        if row.kind in SENDS:
            comm = self._definitions.communicator(row.comm)
            if comm is None or row.peer < 0:
                return
            message = (self._peer(row), comm, row.tag, row.bytes)
            if blocking:
                self._write.mpi_send(time, *message)
            else:
                self._write.mpi_isend(time, *message, row.request)
        elif row.kind == Kind.RECV and not blocking and row.peer != _PROC_NULL:
            if self._definitions.communicator(row.comm) is not None:
                self._write.mpi_irecv_request(time, row.request)
        elif self._collective(row) is not None:
            if blocking:
                self._write.mpi_collective_begin(time)
            else:
                self._write.non_blocking_collective_request(time, row.request)

    def _complete(self, time: int, row: _Record, *, own: bool) -> None:
        """What a call saw complete, told at its exit. `own`: the call also began it."""
        blocking = own and self._blocking[row.operation]
        comm = self._definitions.communicator(row.comm)
        if row.kind in SENDS:
            if not blocking and comm is not None and row.peer >= 0:
                self._write.mpi_isend_complete(time, row.request)
        elif row.kind == Kind.RECV:
            if row.flags & Flag.CANCELLED and not blocking:
                self._write.mpi_request_cancelled(time, row.request)
            elif comm is not None and row.peer >= 0:
                message = (self._peer(row), comm, row.tag, row.bytes)
                if blocking:
                    self._write.mpi_recv(time, *message)
                else:
                    self._write.mpi_irecv(time, *message, row.request)
        elif (operation := self._collective(row)) is not None:
            sent, received = self._bytes(row)
            root = self._root(row)
            facts = (operation, comm, root, sent, received)
            if blocking:
                self._write.mpi_collective_end(time, *facts)
            else:
                self._write.non_blocking_collective_complete(time, *facts, row.request)

    def _collective(self, row: _Record) -> Any:
        """OTF2's name of a collective on a known communicator; None of what it has none for."""
        if row.kind not in COLLECTIVES or self._definitions.communicator(row.comm) is None:
            return None
        return self._definitions.collective(row.operation)

    def _root(self, row: _Record) -> int:
        if row.kind not in (Kind.FROM_ROOT, Kind.TO_ROOT):
            return _NO_ROOT
        if row.peer == HERE:
            return _ROOT_SELF
        return self._peer(row) if row.peer >= 0 else _ROOT_IN_THIS_GROUP

    def _peer(self, row: _Record) -> int:
        """The peer as a rank of the communicator that is written."""
        return int(self._remote_from.get(row.comm, 0) + row.peer)

    def _bytes(self, row: _Record) -> tuple[int, int]:
        """Sent and received: the log has one number, what the process contributes or obtains."""
        mine = self._log.communicators.get(row.comm)
        root = row.peer == HERE or (mine is not None and row.peer == mine.rank)
        if row.kind == Kind.FROM_ROOT:
            return (row.bytes, 0) if root else (0, row.bytes)
        if row.kind == Kind.TO_ROOT:
            return (0, row.bytes) if root else (row.bytes, 0)
        return row.bytes, row.bytes


def _returns_a_request(operation: str) -> bool:
    """Whether what it begins may be completed by another call."""
    facts = mpi_facts.facts(operation)
    return (
        facts.form == "nonblocking"
        or facts.kind == "start"
        or operation.startswith("MPI_Comm_idup")
    )


_PROC_NULL = -2
# OTF2_COLLECTIVE_ROOT_NONE, _SELF and _THIS_GROUP, which the package does not have as numbers.
_NO_ROOT, _ROOT_SELF, _ROOT_IN_THIS_GROUP = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


class _Record:
    """One record of the log, with its row among those of its thread."""

    __slots__ = ("bytes", "comm", "flags", "kind", "number", "operation", "peer", "site", "tag")

    def __init__(self, values: tuple[Any, ...], at: dict[str, int], number: int) -> None:
        self.number = number
        self.site, self.operation = values[at["site"]], values[at["operation"]]
        self.kind, self.flags = values[at["kind"]], values[at["flags"]]
        self.comm, self.peer = values[at["comm"]], values[at["peer"]]
        self.tag, self.bytes = max(0, values[at["tag"]]), max(0, values[at["bytes"]])

    @property
    def request(self) -> int:
        """A number that no other request of the thread has."""
        return self.number + 1


FORMAT = Format("otf2", ".otf2", "all calls as a trace, for Vampir, Scalasca, Pipit", write_otf2)
