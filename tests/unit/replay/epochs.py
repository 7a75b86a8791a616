"""Calls on a window as the log of a run has them, and when ranks then end in a replay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from imbrex.profile.call_log import CALL_DTYPE, NOBODY, Kind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.from_log import LogSchedule, schedule_from_log
from imbrex.replay.run_log import Group, RunLog

OPERATIONS = tuple(
    f"MPI_{name}"
    for name in (
        "Win_post",
        "Win_start",
        "Win_complete",
        "Win_wait",
        "Win_test",
        "Put",
        "Get",
        "Win_lock",
        "Win_lock_all",
        "Win_unlock_all",
        "Win_flush_local",
        "Win_flush",
        "Win_unlock",
    )
)
MEMBERS = {"Win_start": Kind.ACCESS, "Win_complete": Kind.ACCESS}
LOCKS = ("Win_lock", "Win_flush_local", "Win_flush", "Win_unlock")
OF_ALL = ("Win_lock_all", "Win_unlock_all")
TRANSFERS = {"Put": Kind.PUT, "Get": Kind.GET}
ROUTE = Route(latency_ns=1000, byte_ns=1, eager_bytes=500)
EAGER = replace(ROUTE, eager_bytes=1000)
NETWORK = Network(ROUTE, ROUTE)

Call = tuple[str, int, int, list[int], int]
"""Operation, enter, exit, the peers, and the bytes of a transfer, the type of a lock, or else which
epoch it is."""


def made_of(
    calls: list[list[Call]], end: int, flags: int = 0, shift: tuple[int, ...] = ()
) -> LogSchedule:
    """`flags` are those of starts and locks; `shift` when ranks began, on the clock of all."""
    rows: list[tuple[int, int, Call, Kind, int, int, int]] = []
    number = 0
    for rank, own in enumerate(calls):
        for call in own:
            name, _, _, peers, last = call
            if name in TRANSFERS:
                rows.append((rank, number, call, TRANSFERS[name], peers[0], last, 0))
            elif name in LOCKS:
                rows.append((rank, number, call, Kind.EPOCH, peers[0], 0, 0))
            elif name in OF_ALL:
                rows.append((rank, number, call, Kind.EPOCH, NOBODY, 0, 0))
            else:
                rows.append((rank, number, call, Kind.EPOCH, NOBODY, 0, 0))
                kind = MEMBERS.get(name, Kind.EXPOSURE)
                rows += [(rank, number, call, kind, peer, 0, last) for peer in peers]
            number += 1
    records = np.zeros(len(rows), CALL_DTYPE)
    for k, (_, _, (name, enter, leave, _, last), kind, peer, size, sequence) in enumerate(rows):
        records[k]["enter_ns"], records[k]["exit_ns"] = enter, leave
        records[k]["operation"] = OPERATIONS.index(f"MPI_{name}")
        records[k]["kind"], records[k]["comm"], records[k]["peer"] = kind, 1, peer
        records[k]["bytes"], records[k]["sequence"] = size, sequence
        checked = name == "Win_lock" or (name == "Win_start" and kind == Kind.ACCESS)
        records[k]["flags"] = flags if checked else 0
        records[k]["tag"] = last if name == "Win_lock" else 0
    ranks = np.array([row[0] for row in rows])
    call_of = np.array([row[1] for row in rows])
    count = len(calls)
    streams = np.arange(count)
    transfers = np.isin(records["kind"], (Kind.PUT, Kind.GET))
    log = RunLog(
        records=records,
        rank=ranks,
        stream=ranks,
        call=call_of,
        end=np.where(transfers, -1, call_of),
        peer=records["peer"].astype(np.int64),
        stream_rank=streams,
        start_ns=np.array(shift or [0] * count, np.int64),
        origin_ns=np.zeros(count, np.int64),
        end_ns=np.full(count, end),
        groups={1: Group(tuple(range(count)), inter=False, window=True)},
        operations=OPERATIONS,
        nodes=streams,
        wall_ns=end,
    )
    return schedule_from_log(log)


def ends(made: LogSchedule, network: Network = NETWORK) -> list[float]:
    times: list[float] = Replayer(made.schedule).run(network).end_ns.tolist()
    return times
