"""Small schedules written by hand or drawn at random, as a program would make them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from imbrex.replay.arrays import MEETING, NONE, OPERATION, Algorithm, ArraySchedule, Flag, Kind


@dataclass
class Builder:
    """Calls of each rank in the order of its program; matching is by the order of (from, to)."""

    ranks: int
    nodes: list[int] | None = None
    rows: list[list[dict[str, int]]] = field(init=False)
    meetings: list[tuple[int, float, Algorithm]] = field(default_factory=list)
    sites: bool = False

    def __post_init__(self) -> None:
        self.rows = [[] for _ in range(self.ranks)]

    def add(self, rank: int, kind: Kind, **fields: int) -> tuple[int, int]:
        row = {"kind": kind, "flags": int(Flag.CALL), "calc_ns": 0, "bytes": 0, "site": 0}
        self.rows[rank].append(row | fields)
        return rank, len(self.rows[rank]) - 1

    def calc(self, rank: int, ns: int) -> None:
        self.add(rank, Kind.CALC, calc_ns=ns)

    def send(
        self, a: int, b: int, size: int, blocking: bool = False, site: int = 0
    ) -> tuple[int, int]:
        flags = int(Flag.CALL | (Flag.BLOCKING if blocking else 0))
        return self.add(a, Kind.SEND, peer=b, bytes=size, flags=flags, site=site)

    def recv(self, b: int, a: int, blocking: bool = False, site: int = 0) -> tuple[int, int]:
        flags = int(Flag.CALL | (Flag.BLOCKING if blocking else 0))
        return self.add(b, Kind.RECV, peer=a, flags=flags, site=site)

    def wait(self, *begun: tuple[int, int]) -> None:
        for k, (rank, index) in enumerate(begun):
            row = self.rows[rank][index]
            kind = {Kind.SEND: Kind.WAIT_SEND, Kind.RECV: Kind.WAIT_RECV}.get(
                Kind(row["kind"]), Kind.WAIT_MEET
            )
            self.add(rank, kind, begun=index, flags=0 if k else int(Flag.CALL))

    def meet(self, algorithm: Algorithm, size: int = 0, root: int = 0) -> list[tuple[int, int]]:
        number = len(self.meetings)
        self.meetings.append((root, size, algorithm))
        flags = int(Flag.CALL | Flag.BLOCKING)
        return [self.add(r, Kind.MEET, partner=number, flags=flags) for r in range(self.ranks)]

    def schedule(self) -> ArraySchedule:
        first = np.concatenate(([0], np.cumsum([len(rows) for rows in self.rows]))).tolist()
        sends: dict[tuple[int, int], list[int]] = defaultdict(list)
        receives: dict[tuple[int, int], list[int]] = defaultdict(list)
        members: dict[int, list[int]] = defaultdict(list)
        for rank, rows in enumerate(self.rows):
            for k, row in enumerate(rows):
                if row["kind"] == Kind.SEND:
                    sends[rank, row["peer"]].append(first[rank] + k)
                elif row["kind"] == Kind.RECV:
                    receives[row["peer"], rank].append(first[rank] + k)
                elif row["kind"] == Kind.MEET:
                    members[row["partner"]].append(first[rank] + k)
        other = dict[int, int]()
        for pair, own in sends.items():
            for send, receive in zip(own, receives[pair], strict=False):
                other[send], other[receive] = receive, send
        ops = np.zeros(first[-1], OPERATION)
        flat = [row for rows in self.rows for row in rows]
        for rank, rows in enumerate(self.rows):
            for k, row in enumerate(rows):
                i = first[rank] + k
                ops[i]["kind"], ops[i]["flags"] = row["kind"], row["flags"]
                ops[i]["calc_ns"], ops[i]["bytes"] = row["calc_ns"], row["bytes"]
                ops[i]["peer"] = row.get("peer", rank)
                begun = first[rank] + row.get("begun", 0)
                if row["kind"] in (Kind.SEND, Kind.RECV):
                    ops[i]["partner"] = other.get(i, NONE)
                    if row["kind"] == Kind.RECV and i in other:
                        ops[i]["bytes"] = flat[other[i]]["bytes"]
                elif row["kind"] == Kind.WAIT_RECV:
                    ops[i]["partner"], ops[i]["peer"] = other[begun], flat[begun]["peer"]
                elif row["kind"] in (Kind.WAIT_SEND, Kind.WAIT_MEET):
                    ops[i]["partner"] = begun
                elif row["kind"] == Kind.MEET:
                    ops[i]["partner"] = row["partner"]
        meetings = np.zeros(len(self.meetings), MEETING)
        for k, (root, size, algorithm) in enumerate(self.meetings):
            meetings[k] = (k * self.ranks, self.ranks, root, size, algorithm, 0)
        return ArraySchedule(
            operations=ops,
            first=np.array(first, np.uint64),
            rank=np.arange(self.ranks, dtype=np.uint32),
            start_ns=np.zeros(self.ranks),
            node=np.array(self.nodes or range(self.ranks), np.uint32),
            meetings=meetings,
            members=np.array([m for k in sorted(members) for m in members[k]], np.uint32),
            site=np.array([row["site"] for row in flat], np.uint32),
        )
