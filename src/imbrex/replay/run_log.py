"""The call logs of all ranks of a run as one table, on one clock, with ranks of MPI_COMM_WORLD."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from imbrex.errors import ImbrexError
from imbrex.profile.block_sizes import BlockSizes, Collective, block_sizes
from imbrex.profile.call_log import CALL_DTYPE, END_UNSEEN, OPEN, CallLog, Flag, Kind, read_call_log
from imbrex.profile.run import Run

LOGS = "log"
COLLECTIVES = (Kind.ALL, Kind.FROM_ROOT, Kind.TO_ROOT, Kind.SCAN, Kind.NEIGHBOURS)
NOWHERE = -1
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Group:
    """A communicator or window as its members see it: world ranks, ascending by their rank in it;
    of an intercommunicator both groups, the local one of the lowest member first."""

    members: tuple[int, ...]
    inter: bool
    window: bool


@dataclass(frozen=True)
class RunLog:
    """Records of all ranks: rank after rank, thread after thread, each in the order of time.

    `records` has CALL_DTYPE; beside each stand its `rank`, its `stream` (a thread of a rank), the
    number of its `call` and, of what it began, the number of the call that saw it complete (`end`,
    NOWHERE: nobody did); `peer` is the world rank that it names (NOWHERE: none). `operations` are
    the names of all, `nodes` the host of each rank. `blocks` are the sizes of collectives' blocks
    as each rank's log has them. `looks`: of each record, how many calls like it found nothing right
    before (0: none, or the log does not tell), and the time in them.
    """

    records: NDArray[np.void]
    rank: IntArray
    stream: IntArray
    call: IntArray
    end: IntArray
    peer: IntArray
    stream_rank: IntArray
    start_ns: IntArray
    origin_ns: IntArray
    end_ns: IntArray
    groups: dict[int, Group]
    operations: tuple[str, ...]
    nodes: IntArray
    wall_ns: int
    blocks: dict[int, dict[Collective, BlockSizes]] = field(default_factory=dict)
    looks: IntArray = field(default_factory=lambda: np.zeros((0, 2), np.int64))

    @property
    def ranks(self) -> int:
        return len(self.nodes)

    def is_kind(self, *wanted: Kind) -> BoolArray:
        return np.isin(self.records["kind"], wanted)

    def has(self, flag: Flag) -> BoolArray:
        return np.asarray((self.records["flags"] & flag) != 0)

    def paused_ns(self) -> int:
        """What lies around pauses of the program (MPI_Pcontrol), of the thread with most: from the
        last call before, or the start, to the next that is logged."""
        after = np.flatnonzero(self.has(Flag.AFTER_PAUSE))
        if not len(after):
            return 0
        exits = self.origin_ns[self.stream[after]]
        inside = (after > 0) & (self.stream[after] == self.stream[after - 1])
        exits = np.where(inside, self.records["exit_ns"][after - 1], exits)
        paused = np.bincount(self.stream[after], self.records["enter_ns"][after] - exits)
        return int(paused.max())

    def named(self, holds: frozenset[str]) -> BoolArray:
        """Records whose operation is one of these."""
        numbers = [k for k, name in enumerate(self.operations) if name in holds]
        return np.isin(self.records["operation"], numbers)


def has_log(folder: Path) -> bool:
    return (folder / LOGS).is_dir() and any((folder / LOGS).glob("rank-*.log"))


def read_run_log(run: Run) -> RunLog:
    """The kept logs of a run.

    ImbrexError where logs are missing or cover a part of the run, or clocks were not compared.
    """
    logs = _logs(run)
    several = len({bytes(host) for host in run.ranks["host"]}) > 1
    for rank, log in enumerate(logs):
        if several and log.common_end_ns <= log.common_start_ns:
            raise ImbrexError(
                f"{log.file}: the clock of rank {rank} was not compared with the others', so that "
                "ranks of several hosts cannot be put in order; run again"
            )
    _, nodes = np.unique(run.ranks["host"], return_inverse=True)
    joined = _joined(logs, run.job.operations, nodes.astype(np.int64), run)
    _without_a_call(joined, logs)
    return joined


def _without_a_call(joined: RunLog, logs: list[CallLog]) -> None:
    """A rank without a logged call has nothing to replay, unless others know better."""
    silent = [rank for rank, log in enumerate(logs) if not len(log.calls)]
    if len(silent) == len(logs):
        raise ImbrexError(
            f"{logs[0].file.parent}: no rank called anything that communicates: nothing to replay"
        )
    collective = joined.is_kind(*COLLECTIVES)
    met = [joined.groups.get(int(k)) for k in np.unique(joined.records["comm"][collective])]
    for rank in silent:
        met_it = any(group is not None and rank in group.members for group in met)
        if met_it or bool((joined.peer == rank).any()):
            raise ImbrexError(
                f"{logs[rank].file}: rank {rank} has no logged call, but others communicate with "
                "it: the log is empty; run again with --keep-log"
            )


def _logs(run: Run) -> list[CallLog]:
    """Whole logs of all ranks, else what is wrong and what to do."""
    count = len(run.ranks)
    files = [run.directory / LOGS / f"rank-{rank}.log" for rank in range(count)]
    missing = [rank for rank in range(count) if not files[rank].exists()]
    if missing:
        told = f"the log of rank {missing[0]} of {count} is"
        if len(missing) > 1:
            told = f"the logs of rank {missing[0]} and {len(missing) - 1} more of {count} are"
        raise ImbrexError(f"{files[missing[0]]}: {told} missing; run again with --keep-log")
    logs = [read_call_log(file) for file in files]
    for rank, log in enumerate(logs):
        if log.missing_bytes:
            size = log.file.stat().st_size
            raise ImbrexError(
                f"{log.file}: the file has {size:,} of the {size + log.missing_bytes:,} bytes of "
                f"the log of rank {rank}: copy the run directory again, or run again with "
                "--keep-log"
            )
        own = _rank_of(log)
        if own not in (None, rank):
            raise ImbrexError(
                f"{log.file}: this is the log of rank {own}, not of {rank}: "
                "copy the run directory again, or run again with --keep-log"
            )
    partial = [rank for rank, log in enumerate(logs) if not log.complete]
    if partial:
        worst = max(partial, key=lambda rank: logs[rank].level)
        raise ImbrexError(_too_small(worst, logs[worst]))
    for rank, log in enumerate(logs):
        if log.end_ns <= 0:
            raise ImbrexError(
                f"{log.file}: rank {rank} did not come to MPI_Finalize: nothing to replay until "
                "the program ends by itself (give it less to do, and run again)"
            )
    return logs


def _rank_of(log: CallLog) -> int | None:
    """The rank that its communicators say; None where they do not."""
    for c in log.communicators.values():
        if c.own is not None and 0 <= c.rank < len(c.own) and c.own[c.rank] >= 0:
            return c.own[c.rank]
    return None


def _too_small(rank: int, log: CallLog) -> str:
    """At level n one of 2^n windows of time was kept, all that there was memory for."""
    share = log.covered_ns(log.end_ns) / max(log.end_ns - log.origin_ns, 1)
    enough = (log.budget_bytes << max(log.level, 1)) >> 20
    return (
        f"{log.file}: the log of rank {rank} covers {100 * share:.0f} % of the run, and a replay "
        f"needs all of it; run again with --keep-log --log {enough + 1}M"
    )


def _joined(logs: list[CallLog], operations: tuple[str, ...], nodes: IntArray, run: Run) -> RunLog:
    records = np.concatenate([log.calls for log in logs]) if logs else np.zeros(0, CALL_DTYPE)
    sizes = [len(log.calls) for log in logs]
    rank = np.repeat(np.arange(len(logs), dtype=np.int64), sizes)
    thread = records["thread"].astype(np.int64)
    keys, stream = np.unique(rank * 256 + thread, return_inverse=True)
    # The records of a call are one; a record without its first begins one too.
    first = (records["flags"] & Flag.FIRST) != 0
    first[1:] |= stream[1:] != stream[:-1]
    first[:1] = True
    call = np.cumsum(first) - 1
    common = [int(log.common_start_ns) for log in logs]
    begin = min(common, default=0)
    stream_rank = keys // 256
    ends = np.array([log.end_ns for log in logs], dtype=np.int64)
    return RunLog(
        records=records,
        rank=rank,
        stream=stream.astype(np.int64),
        call=call.astype(np.int64),
        end=_ends(records, call, sizes),
        peer=_world_peers(records, logs),
        stream_rank=stream_rank,
        start_ns=np.array([common[r] - begin for r in stream_rank], dtype=np.int64),
        origin_ns=np.array([logs[r].origin_ns for r in stream_rank], dtype=np.int64),
        end_ns=ends[stream_rank],
        groups=_groups(logs),
        operations=operations,
        nodes=nodes,
        wall_ns=int(run.ranks["wall_ns"].max(initial=0)),
        blocks={rank: block_sizes(log.blocks) for rank, log in enumerate(logs)},
        looks=np.concatenate([_looks(log) for log in logs]) if logs else np.zeros((0, 2), np.int64),
    )


def _looks(log: CallLog) -> IntArray:
    found = np.zeros((len(log.calls), 2), np.int64)
    _, row, told = np.intersect1d(log.calls["id"], log.polls["id"], return_indices=True)
    before = np.where(row > 0, log.calls["exit_ns"][row - 1], 0)
    alone = (log.polls["since_ns"][told] >= before) | (row == 0)
    found[row[alone], 0] = log.polls["calls"][told][alone]
    found[row[alone], 1] = log.polls["call_ns"][told][alone]
    return found


def _ends(records: NDArray[np.void], call: IntArray, sizes: list[int]) -> IntArray:
    """The number of the call that saw each record's transfer complete."""
    end = np.full(len(records), NOWHERE, np.int64)
    begin = 0
    for size in sizes:
        own = records[begin : begin + size]
        ids = own["id"]
        order = np.argsort(ids, kind="stable")
        place = np.searchsorted(ids[order], own["end_call"])
        found = place < size
        index = order[np.minimum(place, max(size - 1, 0))] if size else place
        found &= ids[index] == own["end_call"]
        found &= (own["end_call"] != OPEN) & (own["end_call"] != END_UNSEEN)
        end[begin : begin + size] = np.where(found, call[begin + index], NOWHERE)
        begin += size
    return end


def _world_peers(records: NDArray[np.void], logs: list[CallLog]) -> IntArray:
    world = np.full(len(records), NOWHERE, np.int64)
    begin = 0
    for log in logs:
        size = len(log.calls)
        own = records[begin : begin + size]
        out = world[begin : begin + size]
        for number in np.unique(own["comm"]):
            known = log.communicators.get(int(number))
            if known is None or known.peers is None:
                continue
            peers = np.array(known.peers, np.int64)
            here = (own["comm"] == number) & (own["peer"] >= 0) & (own["peer"] < len(peers))
            out[here] = peers[own["peer"][here]]
        begin += size
    return world


def _groups(logs: list[CallLog]) -> dict[int, Group]:
    found: dict[int, Group] = {}
    for log in logs:
        for number, c in log.communicators.items():
            if number in found or c.own is None:
                continue
            remote = c.peers if c.inter and c.peers is not None else []
            found[number] = Group((*c.own, *remote), c.inter, c.window)
    return found
