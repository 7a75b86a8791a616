"""The rules of the replay once more, slowly and plainly: what the compiled engine must agree with.

Every operation is looked at again and again until nothing new is found; when nobody can go on, the
message that could start first does. No queue, no marks in arrays, no passes over memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from imbrex.replay.arrays import NONE, PAGE, Algorithm, ArraySchedule, Flag, Kind
from imbrex.replay.evaluate import Network, Route


@dataclass
class Stream:
    number: int
    clock: float
    next: int
    end: int
    begun: bool = False
    entered: float = 0.0
    unsent: list[int] = field(default_factory=list)


class Reference:
    """One replay; `end_ns` of each stream after run()."""

    def __init__(self, schedule: ArraySchedule, network: Network) -> None:
        self.s, self.network = schedule, network
        first = schedule.first.tolist()
        self.streams = [
            Stream(k, float(schedule.start_ns[k]), first[k], first[k + 1])
            for k in range(schedule.streams)
        ]
        self.ops = [
            {name: int(op[name]) for name in op.dtype.names or ()} for op in schedule.operations
        ]
        self.issued: dict[int, float] = {}
        self.posted: dict[int, float] = {}
        self.arrived: dict[int, float] = {}
        self.met: dict[int, float] = {}
        self.completing: dict[int, float] = {}
        self.on_link: dict[int, list[tuple[float, float]]] = {}

    def size(self, op: dict[str, int]) -> float:
        return op["bytes"] * (PAGE if op["flags"] & Flag.PAGES else 1)

    def route(self, a: int, b: int) -> Route:
        p, q = int(self.s.rank[a]), int(self.s.rank[b])
        if p == q:
            return self.network.itself
        same = self.s.node[p] == self.s.node[q]
        return self.network.within if same else self.network.between

    def eager(self, index: int) -> bool:
        op = self.ops[index]
        route = self.route(self.s.stream_of(index), op["peer"])
        return op["partner"] == NONE or self.size(op) <= route.eager_bytes

    def run(self) -> list[float]:
        while True:
            while sum(self.go_on(stream) for stream in self.streams):
                pass
            if not self.start_first():
                break
        assert all(stream.next == stream.end for stream in self.streams), "for ever"
        return [stream.clock for stream in self.streams]

    def go_on(self, stream: Stream) -> bool:
        moved = self.start_in_turn(stream)
        while stream.next < stream.end:
            if not stream.begun:
                self.begin(stream, stream.next)
                stream.begun = moved = True
            done = self.finish(stream, stream.next)
            if not done:
                return moved
            stream.next, stream.begun, moved = stream.next + 1, False, True
        return moved

    def begin(self, stream: Stream, i: int) -> None:
        op = self.ops[i]
        stream.clock += op["calc_ns"] + (op["bytes"] << 32 if op["kind"] == Kind.CALC else 0)
        if op["flags"] & Flag.CALL:
            stream.entered = stream.clock
            k = i
            while k < stream.end and (k == i or not self.ops[k]["flags"] & Flag.CALL):
                self.complete_from(stream, k)
                k += 1
        if op["kind"] == Kind.SEND:
            stream.clock += self.route(stream.number, op["peer"]).send_ns
            self.issued[i] = stream.clock
            stream.unsent.append(i)
            self.start_in_turn(stream)
        elif op["kind"] == Kind.RECV:
            self.posted[i] = stream.clock
            self.start_in_turn(self.streams[op["peer"]])
        elif op["kind"] == Kind.MEET:
            self.met[i] = stream.clock
            self.meet(op["partner"])

    def complete_from(self, stream: Stream, k: int) -> None:
        op = self.ops[k]
        if op["kind"] == Kind.WAIT_SEND:
            self.completing.setdefault(op["partner"], stream.clock)
        elif op["kind"] == Kind.WAIT_RECV:
            self.completing.setdefault(self.ops[op["partner"]]["partner"], stream.clock)
        elif op["kind"] in (Kind.SEND, Kind.RECV) and op["flags"] & Flag.BLOCKING:
            self.completing.setdefault(k, stream.clock)

    def finish(self, stream: Stream, i: int) -> bool:
        op = self.ops[i]
        kind, blocking = op["kind"], op["flags"] & Flag.BLOCKING
        until: float | None = stream.clock
        after = 0.0
        if kind == Kind.WAIT_RECV or (kind == Kind.RECV and blocking and op["partner"] != NONE):
            until = self.arrived.get(op["partner"])
            after = self.route(stream.number, op["peer"]).receive_ns
        elif kind == Kind.WAIT_SEND or (kind == Kind.SEND and blocking):
            send = i if kind == Kind.SEND else op["partner"]
            until = stream.clock if self.eager(send) else self.arrived.get(send)
        elif kind == Kind.WAIT_ARRIVAL:
            until = self.arrived.get(op["partner"])
            if until is None and op["partner"] in self.issued:
                route = self.route(op["peer"], self.ops[op["partner"]]["peer"])
                until = self.issued[op["partner"]] + route.latency_ns
        elif kind == Kind.WAIT_MEET or (kind == Kind.MEET and blocking):
            until = self.met.get(-1 - (i if kind == Kind.MEET else op["partner"]))
        if until is None:
            return False
        stream.clock = max(stream.clock, until) + after
        return True

    def ready(self, i: int, anyhow: bool) -> float | None:
        op = self.ops[i]
        if self.eager(i):
            return self.issued[i]
        receive = op["partner"]
        if receive not in self.posted:
            return None
        at = max(self.issued[i], self.posted[receive])
        sender = self.streams[self.s.stream_of(i)]
        route = self.route(sender.number, op["peer"])
        for held, mine, who in (
            (route.held_by_sender, i, sender),
            (route.held_by_receiver, receive, self.streams[op["peer"]]),
        ):
            if not held:
                continue
            entered = self.completing.get(mine)
            if entered is None and anyhow:
                entered = who.clock if who.next == who.end else who.entered
            if entered is None:
                return None
            at = max(at, entered)
        return at

    def start_in_turn(self, stream: Stream) -> bool:
        moved = False
        while stream.unsent:
            ready = self.ready(stream.unsent[0], False)
            if ready is None:
                break
            self.start(stream, stream.unsent.pop(0), ready)
            moved = True
        return moved

    def start_first(self) -> bool:
        possible = [
            (ready, stream.number, i)
            for stream in self.streams
            for i in stream.unsent
            if (ready := self.ready(i, True)) is not None
        ]
        if not possible:
            return False
        ready, number, i = min(possible)
        stream = self.streams[number]
        stream.unsent.remove(i)
        self.start(stream, i, ready)
        return True

    def start(self, stream: Stream, i: int, ready: float) -> None:
        op = self.ops[i]
        route = self.route(stream.number, op["peer"])
        before = self.on_link.setdefault(int(self.s.rank[stream.number]), [])
        moves = route.byte_ns * self.size(op)
        at = ready
        if all(earlier <= ready for earlier, _ in before):
            at = max([ready, *(end for _, end in before)])
        before.append((ready, at + moves + route.gap_ns))
        turns = 2 if op["flags"] & Flag.ROUND_TRIP else 1
        self.arrived[i] = at + turns * route.latency_ns + moves

    # Collectives go on round by round, each algorithm as its textbook says.

    def meet(self, number: int) -> None:
        row = self.s.meetings[number]
        members = self.s.members[int(row["first"]) : int(row["first"]) + int(row["count"])]
        if any(int(m) not in self.met for m in members):
            return
        at = [self.met[int(m)] for m in members]
        streams = [self.ops[int(m)]["peer"] for m in members]
        link = [float("-inf")] * len(at)

        def exchange(messages: list[tuple[int, int, float]]) -> None:
            comes = []
            for a, b, size in messages:
                route = self.route(streams[a], streams[b])
                at[a] += route.send_ns
                start = max(at[a], link[a])
                link[a] = start + route.gap_ns + route.byte_ns * size
                comes.append((b, start + route.latency_ns + route.byte_ns * size, route))
            for b, when, route in comes:
                at[b] = max(at[b], when) + route.receive_ns

        for messages in rounds(
            Algorithm(int(row["algorithm"])), len(at), int(row["root"]), float(row["bytes"])
        ):
            exchange(messages)
        for m, when in zip(members, at, strict=True):
            self.met[-1 - int(m)] = when


def rounds(
    algorithm: Algorithm, p: int, root: int, size: float
) -> list[list[tuple[int, int, float]]]:
    """Rounds of (from, to, bytes): of a round all sends come before all receives."""
    everybody = range(p)
    if algorithm == Algorithm.DISSEMINATION:
        return [[(a, (a + 2**k) % p, size) for a in everybody] for k in range(_depth(p))]
    if algorithm == Algorithm.PAIRWISE:
        if p & (p - 1) == 0:
            return [[(a, a ^ k, size / p) for a in everybody] for k in range(1, p)]
        return [[(a, (a + k) % p, size / p) for a in everybody] for k in range(1, p)]
    if algorithm == Algorithm.NO_MESSAGES:
        return []
    if algorithm == Algorithm.RING_ALLGATHER:
        return [[(a, (a + 1) % p, size / p) for a in everybody] for _ in range(p - 1)]
    if algorithm == Algorithm.RING_ALLREDUCE:
        return [[(a, (a + 1) % p, size / p) for a in everybody] for _ in range(2 * (p - 1))]
    if algorithm == Algorithm.BRUCK:
        return [[(a, (a + 2**k) % p, size / 2) for a in everybody] for k in range(_depth(p))]
    if algorithm == Algorithm.CHAIN_SCAN:
        return [[(a, a + 1, size)] for a in range(p - 1)]
    if algorithm == Algorithm.BINOMIAL_FROM_ROOT:
        return [[((a + root) % p, (b + root) % p, size)] for a, b in _tree(p)]
    if algorithm == Algorithm.BINOMIAL_TO_ROOT:
        return [[((b + root) % p, (a + root) % p, size)] for a, b in reversed(_tree(p))]
    if algorithm == Algorithm.TREE_UP_DOWN:
        inward = rounds(Algorithm.BINOMIAL_TO_ROOT, p, 0, size)
        return inward + rounds(Algorithm.BINOMIAL_FROM_ROOT, p, 0, size)
    assert algorithm == Algorithm.RECURSIVE_DOUBLING
    assert p & (p - 1) == 0, "only powers of two here"
    return [[(a, a ^ 2**k, size) for a in everybody] for k in range(_depth(p))]


def _depth(p: int) -> int:
    return (p - 1).bit_length()


def _tree(p: int) -> list[tuple[int, int]]:
    """Edges of a binomial tree from process 0, in the order in which a broadcast sends."""
    edges = []
    for k in reversed(range(_depth(p))):
        edges += [(a, a + 2**k) for a in range(0, p, 2 ** (k + 1)) if a + 2**k < p]
    return edges
