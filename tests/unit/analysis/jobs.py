"""Jobs written down call by call, and what the analysis makes of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.unit.driver import Driver

from imbrex.profile.causes import CAUSES_DTYPE, PARTNERS_DTYPE, WAITS_DTYPE
from imbrex.profile.evidence import EVIDENCE_DTYPE

OPERATIONS = (
    "",
    "MPI_Send",
    "MPI_Ssend",
    "MPI_Bsend",
    "MPI_Recv",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Test",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Alltoall",
    "MPI_Ialltoall",
    "MPI_Alltoallv",
    "MPI_Scan",
    "MPI_File_open",
    "MPI_Probe",
    "MPI_Put",
    "MPI_Win_fence",
    "MPI_Start",
    "MPI_Pready",
    "MPI_Parrived",
)
"""In the order of analysis_driver.c."""

SEND, SYNC_SEND, BUFFERED_SEND, RECV, PROBE, COMPLETION = 1, 2, 3, 5, 6, 7
ALL, FROM_ROOT, TO_ROOT, SCAN = 8, 9, 10, 11
PUT, EPOCH = 13, 15
FIRST, WILDCARD, CANCELLED, VARYING = 1, 2, 16, 128
INTRA = 2
OPEN = -1
ANY = -3
"""The peer of a receive of any source that was not seen complete."""
NOTHING, HERE = -2, -4
"""The peers MPI_PROC_NULL and MPI_ROOT."""
ITSELF = -2

STATES = (
    "not logged",
    "matched",
    "outside",
    "no rule",
    "withdrawn",
    "end unknown",
    "ambiguous",
    "sizes differ",
    "clocks",
)
"""enum ix_match_state of log_view.h."""

Comms = dict[int, Sequence[int | str]]
"""World ranks by the number of a communicator; "|" stands between two groups."""

_BOUNDS = tuple(EVIDENCE_DTYPE.names or ())[7:]
_CAUSES = tuple(CAUSES_DTYPE.names or ())[5:]
_WAITS = tuple(WAITS_DTYPE.names or ())[5:]
_PARTNERS = tuple(PARTNERS_DTYPE.names or ())[2:]


@dataclass
class Op:
    """One record, as in core/call_log.h; `end` is the number of the completing record."""

    enter: int
    exit: int
    operation: str
    kind: int
    bytes: int = 0
    peer: int = -1
    site: int = 1
    tag: int = 0
    comm: int = 1
    sequence: int = 0
    end: int = ITSELF
    thread: int = 0
    flags: int = FIRST
    section: int = 0
    path: int = INTRA


@dataclass
class Rank:
    """The log of one rank; its clock is `ahead` of the common one by an amount known to `error`."""

    ops: list[Op] = field(default_factory=list)
    ahead: int = 0
    error: int = 0
    unlogged: dict[int, int] = field(default_factory=dict)
    """Call time that passed unlogged between record i - 1 and record i, by i."""
    polls: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Since when, and for how long in calls, record i was polled for in vain, by i."""
    silent: int = 0
    """Call time of a second thread, none of whose calls is logged."""
    measured: list[tuple[int, str, int, int, int, int]] = field(default_factory=list)
    """site, operation, section, calls, ns in them, compute ns of the rank."""

    def add(self, *args: int | str, **more: int) -> int:
        """Add an Op; its number."""
        self.ops.append(Op(*args, **more))  # type: ignore[arg-type]
        return len(self.ops) - 1


@dataclass
class Rows:
    """What the analysis left; rows by (rank, site, operation) and as dictionaries."""

    evidence: dict[tuple[int, int, str], dict[str, int]]
    causes: dict[tuple[int, int, str], dict[str, int]]
    waits: dict[tuple[int, int, str, int, str], dict[str, int]]
    partners: dict[tuple[int, int], dict[str, int]]
    states: dict[int, dict[str, int]]


def script(
    ranks: Sequence[Rank], table: Sequence[str] = (), comms: Comms | None = None
) -> list[str]:
    """The lines that tell the driver of a job. Sequences that are 0 are counted here."""
    lines = ["table", "imbrex-table 1", *table, "end"]
    for number, members in (comms or {1: range(len(ranks))}).items():
        lines.append(f"comm {number} {' '.join(map(str, members))}")
    for number, rank in enumerate(ranks):
        lines.append(f"rank {number} {rank.ahead} {rank.error}")
        counted: dict[tuple[int, ...], int] = defaultdict(int)
        before: dict[int, int] = defaultdict(int)
        for i, op in enumerate(rank.ops):
            sequence = op.sequence
            collective = ALL <= op.kind <= SCAN
            if not sequence and (collective or op.kind in (SEND, SYNC_SEND, BUFFERED_SEND, RECV)):
                stream = (op.comm,) if collective else (op.comm, op.peer, op.tag, op.kind == RECV)
                if not op.flags & CANCELLED and op.peer != ANY:
                    counted[stream] += 1
                    sequence = counted[stream]
            before[op.thread] += rank.unlogged.get(i, 0)
            end = i if op.end == ITSELF else op.end
            lines.append(
                f"op {op.enter} {op.exit} {before[op.thread]} {op.bytes} {op.site} "
                f"{OPERATIONS.index(op.operation)} {op.section} {op.comm} {op.peer} {op.tag} "
                f"{sequence} {end} {op.kind} {op.path} {op.thread} {op.flags}"
            )
            if i in rank.polls:
                lines.append("polls {} {}".format(*rank.polls[i]))
            last = i + 1 == len(rank.ops) or rank.ops[i + 1].flags & FIRST
            if last:
                before[op.thread] += op.exit - op.enter
        for site, operation, section, count, call_ns, compute_ns in rank.measured:
            code = OPERATIONS.index(operation)
            lines.append(f"measured {site} {code} {section} {count} {call_ns} {compute_ns}")
        for thread, call in before.items():
            last_exit = max(op.exit for op in rank.ops if op.thread == thread)
            call += rank.unlogged.get(len(rank.ops), 0) if thread == 0 else 0
            lines.append(f"ends {thread} {last_exit + 1000} {call}")
        if rank.silent:
            lines.append(f"ends 1 1000 {rank.silent}")
    return [*lines, "go"]


def rows_of(lines: Sequence[str]) -> Rows:
    """What the driver printed."""
    found = Rows({}, {}, {}, {}, {})
    for line in lines:
        kind, *words = line.split()
        numbers = [int(field) for field in words]
        if kind == "evidence":
            key = (numbers[0], numbers[1], OPERATIONS[numbers[2]])
            row = dict(zip(_BOUNDS, numbers[6:], strict=True))
            there = found.evidence.setdefault(key, dict.fromkeys(_BOUNDS, 0))
            for name, value in row.items():
                there[name] += value
        elif kind == "causes":
            key = (numbers[0], numbers[1], OPERATIONS[numbers[2]])
            found.causes[key] = dict(zip(_CAUSES, numbers[4:], strict=True))
        elif kind == "waits":
            rank, site, operation, start, start_site = numbers[:5]
            found.waits[rank, site, OPERATIONS[operation], start_site, OPERATIONS[start]] = dict(
                zip(_WAITS, numbers[5:], strict=True)
            )
        elif kind == "partners":
            found.partners[numbers[0], numbers[1]] = dict(zip(_PARTNERS, numbers[2:], strict=True))
        elif kind == "states":
            found.states[numbers[0]] = {
                name: count for name, count in zip(STATES, numbers[1:], strict=True) if count
            }
        else:
            raise AssertionError(line)
    return found


class AnalysisDriver(Driver):
    """A running analysis_driver."""

    def analyze(
        self,
        ranks: Sequence[Rank],
        table: Sequence[str] = (),
        comms: Comms | None = None,
    ) -> Rows:
        """The rows of a job."""
        return rows_of(self.run(script(ranks, table, comms)))

    def close(self) -> None:
        if self._process:
            self._process.communicate()
