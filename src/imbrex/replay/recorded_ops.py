"""A recorded run for the compiled engine: its operations in the order in which a mode has them.

Where messages move whole, a mode only puts operations elsewhere on their rank's clock of
computation: a send to where its last element is written, a wait to where the first element is read.
The engine then shares links in the order of time (engine/links.c). Modes that cut messages into
pieces are replayed by replay.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from imbrex.network.points import NetworkPoints
from imbrex.profile.recording import FloatArray, RecordedMessage
from imbrex.profile.recording_format import ARRIVED, POST, SEND
from imbrex.replay.arrays import (
    MEETING,
    NONE,
    OPERATION,
    Algorithm,
    ArraySchedule,
    Flag,
    Kind,
    bytes_and_flags,
)
from imbrex.replay.collective_messages import as_messages
from imbrex.replay.evaluate import Network, Replayer, Route, StuckError
from imbrex.replay.matching import Key
from imbrex.replay.modes import AS_WRITTEN, BOUNDARY_FIRST, BOUNDARY_LAST, Sides
from imbrex.replay.schedule import COLLECTIVE, COMPUTE, Group, Operation, ReplayError, Schedule

WHOLE_MODES = frozenset((AS_WRITTEN, "independent", BOUNDARY_FIRST, BOUNDARY_LAST))
"""Those in which messages move whole."""
RENDEZVOUS_BYTES = 65536
"""From here on a send as written leaves when its receive is posted too."""
_LIMIT_NS = 1 << 32
Message = tuple[Key, int]
"""A row of messages, and the place there."""


@dataclass
class _Op:
    """`at_ns` on its rank's clock, `number` in the order of its program; `cost` is the collective
    that passes before it. Of operations at the same time a send that is made earlier than it was
    stands right behind that numbered `after`."""

    at_ns: float
    number: int
    kind: Kind
    peer: int = -1
    size: int = 0
    flags: int = 0
    message: Message | None = None
    meeting: int = -1
    cost: tuple[float, float, float] = (0.0, 0.0, 0.0)
    after: int | None = None

    @property
    def order(self) -> tuple[float, int, int]:
        return self.at_ns, self.number if self.after is None else self.after, self.number


@dataclass
class _Rank:
    """One rank's operations, and where the messages of each row leave at the earliest."""

    ops: list[_Op] = field(default_factory=list)
    at_ns: float = 0.0
    leaves: dict[Key, tuple[float, int]] = field(default_factory=dict)
    behind: frozenset[int] = frozenset()
    """Messages, by number, that are made behind the collective before their send."""
    met_ns: float = 0.0
    """When the last collective was."""
    met_at: int = -1
    """The last operation of it, by number."""
    met: dict[Group, int] = field(default_factory=dict)

    def add(self, kind: Kind, at_ns: float | None = None, **more: object) -> None:
        at = self.at_ns if at_ns is None else at_ns
        self.ops.append(_Op(at, len(self.ops), kind, **more))  # type: ignore[arg-type]


class RecordedOps:
    """A schedule whose messages are each in a mode of WHOLE_MODES."""

    def __init__(self, schedule: Schedule, mode_of: Callable[[RecordedMessage], str]) -> None:
        self.schedule = schedule
        self.sides = Sides(schedule, mode_of)
        self.numbers = {rank: number for number, rank in enumerate(schedule.run.ranks)}
        self.meetings: dict[tuple[Group, int], int] = {}
        self.tables: list[tuple[Algorithm, float]] = []
        self.never: list[int] = []
        ranks = [self._rank(rank) for rank in schedule.run.ranks]
        self.costs = np.zeros((0, 3))
        self.arrays = self._arrays(ranks)

    def _rank(self, rank: int) -> list[_Op]:
        messages = self.schedule.run.messages[rank]
        own = _Rank(behind=_made_behind(self.schedule.operations[rank], messages))
        for op in self.schedule.operations[rank]:
            if op.kind == COMPUTE:
                own.at_ns += op.ns
            elif op.kind == COLLECTIVE:
                self._collective(own, op)
            elif op.kind == SEND:
                self._send(own, messages[op.message], op)
            elif op.kind == POST and op.place.number >= 0:
                peer = self.numbers[op.place.key[0]]
                own.add(Kind.RECV, peer=peer, message=(op.place.key, op.place.number))
            elif op.kind == ARRIVED and op.place.number >= 0:
                self._arrived(own, messages[op.message], op)
        own.add(Kind.CALC)
        return sorted(own.ops, key=lambda op: op.order)

    def _collective(self, own: _Rank, op: Operation) -> None:
        assert op.cost is not None
        own.met_ns = own.at_ns
        size = op.cost.tree_bytes
        tree = size is not None and op.group is None and self.schedule.follows_trees
        if op.group in self.schedule.meeting or tree:
            count = own.met.get(op.group, 0)
            own.met[op.group] = count + 1
            key = op.group, count
            if key not in self.meetings:
                self.meetings[key] = len(self.tables)
                algorithm = Algorithm.TREE_UP_DOWN if tree else Algorithm.NO_MESSAGES
                self.tables.append((algorithm, size or 0.0 if tree else 0.0))
            own.add(Kind.MEET, meeting=self.meetings[key], flags=int(Flag.BLOCKING))
        if not tree:
            cost = op.cost.latencies, op.cost.link_bytes, op.cost.gaps
            own.add(Kind.CALC, cost=cost)
        own.met_at = len(own.ops) - 1

    def _send(self, own: _Rank, m: RecordedMessage, op: Operation) -> None:
        mode, flags = self.sides.mode(m), 0
        leaves = own.at_ns, len(own.ops)
        if mode != AS_WRITTEN:
            first = own.met_ns if op.message in own.behind else 0.0
            ready = self.sides.ready_ns(m, mode, own.at_ns)
            # What was ready before the collective waits for nothing that is waited for behind it.
            leaves = (first, own.met_at) if ready < first else (ready, len(own.ops))
            flags = int(Flag.UNASKED)
        elif op.blocking and m.size_bytes >= RENDEZVOUS_BYTES:
            flags = int(Flag.BLOCKING)
        # Behind those that were sent before it.
        leaves = max(leaves, own.leaves.get(op.place.key, leaves))
        own.leaves[op.place.key] = leaves
        at, after = leaves
        message = (op.place.key, op.place.number)
        peer = self.numbers.get(m.peer, -1)
        own.add(
            Kind.SEND, at, peer=peer, size=m.size_bytes, flags=flags, message=message, after=after
        )

    def _arrived(self, own: _Rank, m: RecordedMessage, op: Operation) -> None:
        mode, at = self.sides.mode(self.schedule.sent(m, op.place)), own.at_ns
        if mode != AS_WRITTEN:
            at = self.sides.needed_ns(m, mode, at)[0]
        message = (op.place.key, op.place.number)
        own.add(Kind.WAIT_RECV, at, peer=self.numbers[op.place.key[0]], message=message)

    def _arrays(self, ranks: list[list[_Op]]) -> ArraySchedule:
        first = np.cumsum([0, *(len(ops) for ops in ranks)])
        flat = [op for ops in ranks for op in ops]
        sends: dict[Message, int] = {}
        receives: dict[Message, int] = {}
        members: dict[int, list[int]] = defaultdict(list)
        for index, op in enumerate(flat):
            if op.message is not None and op.kind == Kind.SEND:
                sends[op.message] = index
            elif op.message is not None and op.kind == Kind.RECV:
                receives[op.message] = index
            elif op.kind == Kind.MEET:
                members[op.meeting].append(index)
        ops = np.zeros(len(flat), OPERATION)
        self.costs = np.array([op.cost for op in flat]).reshape(-1, 3)
        self.calc_ns = _calc_ns(ranks)
        ops["flags"] = [op.flags for op in flat]
        streams = np.repeat(np.arange(len(ranks)), [len(own) for own in ranks])
        for index, op in enumerate(flat):
            kind, peer, partner = op.kind, max(op.peer, 0), NONE
            if op.kind == Kind.SEND:
                partner = receives.get(op.message, NONE)  # type: ignore[arg-type]
            elif op.kind == Kind.RECV:
                partner = sends.get(op.message, NONE)  # type: ignore[arg-type]
            elif op.kind == Kind.WAIT_RECV:
                partner = sends.get(op.message, NONE)  # type: ignore[arg-type]
                if partner == NONE:
                    kind, peer, partner = Kind.MEET, int(streams[index]), self._never(index)
            elif op.kind == Kind.MEET:
                peer, partner = int(streams[index]), op.meeting
            ops[index]["kind"], ops[index]["peer"], ops[index]["partner"] = kind, peer, partner
            if kind == Kind.MEET:
                ops[index]["flags"] |= int(Flag.BLOCKING)
        size, paged = bytes_and_flags(np.array([op.size for op in flat], np.int64))
        ops["bytes"] = size
        ops["flags"] |= paged
        table = np.zeros(len(self.tables) + len(self.never), MEETING)
        joined: list[int] = []
        for number, (algorithm, size_bytes) in enumerate(self.tables):
            table[number]["first"], table[number]["count"] = len(joined), len(members[number])
            table[number]["algorithm"], table[number]["bytes"] = algorithm, size_bytes
            joined += members[number]
        for number, index in enumerate(self.never, len(self.tables)):
            # Somebody is missing: it stands there twice, and comes once.
            table[number]["first"], table[number]["count"] = len(joined), 2
            table[number]["algorithm"] = Algorithm.NO_MESSAGES
            joined += [index, index]
        return ArraySchedule(
            operations=ops,
            first=first.astype(np.uint64),
            rank=np.arange(len(ranks), dtype=np.uint32),
            start_ns=np.zeros(len(ranks)),
            node=np.arange(len(ranks), dtype=np.uint32),
            meetings=table,
            members=np.array(joined, np.uint32),
        )

    def _never(self, index: int) -> int:
        """A meeting that nobody leaves, of a rank that waits for what nobody sent."""
        self.never.append(index)
        return len(self.tables) + len(self.never) - 1

    def run_ns(self, network: NetworkPoints, in_order: bool) -> FloatArray:
        """Run time on each network, shape (points,); ReplayError where ranks wait for ever.

        Where only the first part was recorded, ranks end where the others' part of it is over.
        """
        shape = np.broadcast_shapes(
            np.shape(network.latency_s), np.shape(network.gap_s_per_byte), (1,)
        )
        fields = (
            network.latency_s,
            network.gap_s_per_byte,
            network.message_gap_s,
            network.overhead_s,
            network.receive_overhead_s,
        )
        rows = np.stack([np.broadcast_to(np.asarray(value) * 1e9, shape) for value in fields], 1)
        found = np.zeros(shape)
        replayer: Replayer | None = None
        for point, (latency, byte, gap, send, receive) in enumerate(rows.tolist()):
            cost = self.costs @ np.array([latency, byte, gap])
            if replayer is None or self.costs.any():
                replayer = Replayer(as_messages(self._with_costs(cost)))
            send = min(send, latency)
            receive = min(receive, latency - send)
            sizes = network.sizes[point] if network.sizes else ()
            route = Route(
                latency_ns=latency - send - receive,
                byte_ns=byte,
                gap_ns=min(gap, latency),
                send_ns=send,
                receive_ns=receive,
                eager_bytes=RENDEZVOUS_BYTES - 1,
                sizes=tuple((size, time_s * 1e9 / byte) for size, time_s in sizes if byte),
            )
            at = Network(route, route, route, in_order)
            try:
                found[point] = replayer.run(at, partial=self.schedule.run.is_partial).run_ns
            except StuckError as error:
                raise ReplayError(
                    "messages are missing in the recording: ranks wait for ever"
                ) from error
        return found

    def _with_costs(self, cost_ns: FloatArray) -> ArraySchedule:
        """The schedule with what collectives take that have no messages."""
        calc = np.rint(np.cumsum(self.calc_ns + cost_ns))
        calc = np.diff(np.concatenate(([0.0], calc))).astype(np.int64)
        ops = self.arrays.operations.copy()
        ops["calc_ns"] = calc % _LIMIT_NS
        long = calc >= _LIMIT_NS
        if not long.any():
            return replace(self.arrays, operations=ops)
        return _lengthened(replace(self.arrays, operations=ops), np.flatnonzero(long), calc)


def _made_behind(operations: list[Operation], messages: list[RecordedMessage]) -> frozenset[int]:
    """The messages most of which are made behind the collective before their send, by number.

    T_AP is a mean over all sends of a message. Made behind the collective, it is not longer than
    what passes from there to the send. Where it is longer by less than it varies, a few are made
    before: of two values, one of which is 0, the mean is below the standard deviation where that
    is the more frequent one.
    """
    at_ns = met_ns = 0.0
    passed: dict[int, list[float]] = defaultdict(list)
    for op in operations:
        if op.kind == COMPUTE:
            at_ns += op.ns
        elif op.kind == COLLECTIVE:
            met_ns = at_ns
        elif op.kind == SEND:
            passed[op.message].append(at_ns - met_ns)
    return frozenset(
        number
        for number, times in passed.items()
        if messages[number].beside_ns - float(np.mean(times)) <= messages[number].beside_spread_ns
    )


def _calc_ns(ranks: list[list[_Op]]) -> FloatArray:
    """Computation before each operation; what is never needed stands at the end."""
    found = []
    for own in ranks:
        at = np.array([op.at_ns for op in own])
        last = at[np.isfinite(at)].max(initial=0.0)
        found.append(np.diff(np.where(np.isfinite(at), at, last), prepend=0.0))
    return np.concatenate(found) if found else np.zeros(0)


def _lengthened(
    schedule: ArraySchedule, long: NDArray[np.int64], calc: NDArray[np.int64]
) -> ArraySchedule:
    """With an operation of its own for what is longer than four seconds."""
    repeats = np.ones(len(schedule.operations), np.int64)
    repeats[long] = 2
    places = np.concatenate(([0], np.cumsum(repeats)))
    ops = schedule.operations[np.repeat(np.arange(len(repeats)), repeats)]
    moved = places[1:] - 1
    refers = ~np.isin(ops["kind"], (Kind.MEET, Kind.CALC)) & (ops["partner"] != NONE)
    ops["partner"][refers] = moved[ops["partner"][refers].astype(np.int64)]
    added = places[long]
    ops["kind"][added], ops["flags"][added], ops["partner"][added] = Kind.CALC, 0, NONE
    ops["bytes"][added] = calc[long] // _LIMIT_NS
    ops["calc_ns"][added] = calc[long] % _LIMIT_NS
    ops["calc_ns"][added + 1] = 0
    return replace(
        schedule,
        operations=ops,
        first=places[schedule.first.astype(np.int64)].astype(np.uint64),
        members=moved[schedule.members.astype(np.int64)].astype(np.uint32),
    )
