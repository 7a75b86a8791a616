"""Small schedules written by hand or drawn at random, as a program would make them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from imbrex.replay.arrays import MEETING, NONE, OPERATION, Algorithm, ArraySchedule, Flag, Kind
from imbrex.replay.evaluate import Network, Route


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
            meetings[k] = (k * self.ranks, self.ranks, root, size, algorithm, 0, 0)
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


@st.composite
def programs(draw: st.DrawFn, collectives: bool = True) -> Builder:
    """Rounds of exchanges that end: pairs, rings with Waitall, blocking chains, collectives."""
    ranks = draw(st.sampled_from([1, 2, 3, 4, 5]))
    b = Builder(ranks, nodes=[rank // 2 for rank in range(ranks)])
    algorithms = [
        Algorithm.DISSEMINATION,
        Algorithm.TREE_UP_DOWN,
        Algorithm.PAIRWISE,
        Algorithm.BINOMIAL_FROM_ROOT,
        Algorithm.BINOMIAL_TO_ROOT,
        Algorithm.RING_ALLGATHER,
        Algorithm.RING_ALLREDUCE,
        Algorithm.BRUCK,
        Algorithm.CHAIN_SCAN,
        *([Algorithm.RECURSIVE_DOUBLING] if ranks in (1, 2, 4) else []),
    ]
    size = st.sampled_from([0, 8, 99, 100, 101, 5000])
    for _ in range(draw(st.integers(1, 8))):
        for rank in range(ranks):
            b.calc(rank, draw(st.integers(0, 6000)))
        patterns = ["pair", "ring", "waitall", "chain", *(["meet"] if collectives else [])]
        pattern = draw(st.sampled_from(patterns))
        if pattern == "meet":
            b.meet(draw(st.sampled_from(algorithms)), draw(size), draw(st.integers(0, ranks - 1)))
        elif pattern == "pair":
            one, other = draw(st.integers(0, ranks - 1)), draw(st.integers(0, ranks - 1))
            if one != other:
                b.send(one, other, draw(size), blocking=draw(st.booleans()))
                b.recv(other, one, blocking=True)
        elif pattern == "chain":
            for rank in range(ranks):
                if rank:
                    b.recv(rank, rank - 1, blocking=True)
                b.calc(rank, draw(st.integers(0, 500)))
                if rank + 1 < ranks:
                    b.send(rank, rank + 1, draw(size), blocking=True)
        else:
            for rank in range(ranks):
                peers = [(rank + 1) % ranks, (rank - 1) % ranks]
                sends = [b.send(rank, p, draw(size)) for p in peers]
                work = draw(st.integers(0, 9000))
                receives = [b.recv(rank, p) for p in reversed(peers)]
                b.calc(rank, work)
                if pattern == "ring":
                    for begun in draw(st.permutations([*receives, *sends])):
                        b.wait(begun)
                else:
                    b.wait(*receives, *sends)
    return b


@st.composite
def networks(draw: st.DrawFn) -> Network:
    def route() -> Route:
        number = st.integers(0, 2000)
        return Route(
            latency_ns=draw(number),
            byte_ns=draw(st.sampled_from([0.0, 0.25, 1.0, 7.0])),
            gap_ns=draw(number),
            send_ns=draw(number),
            receive_ns=draw(number),
            eager_bytes=draw(st.sampled_from([0, 100, 1 << 20])),
            held_by_sender=draw(st.booleans()),
            held_by_receiver=draw(st.booleans()),
        )

    return Network(route(), route())
