"""From a GOAL schedule to one that the engine replays.

Each processor of a rank is a stream: its operations in the order of `goal_order`, and before each
the waits for what it requires. Where one requires something of another processor of its rank, a
message to oneself, which takes no time, says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.replay.arrays import (
    MOST_STREAMS,
    NONE,
    OPERATION,
    ArraySchedule,
    Flag,
    Kind,
    bytes_and_flags,
)
from imbrex.replay.evaluate import Route
from imbrex.replay.goal_file import GoalFile, Op
from imbrex.replay.goal_order import GoalOrder, goal_order

_CALC_LIMIT = 1 << 32


def goal_schedule(goal: GoalFile, route: Route) -> ArraySchedule:
    """The schedule as it runs on a network, its ranks on a node each.

    ImbrexError with rank, operation and line where it cannot come to its end.
    """
    return _Conversion(goal, goal_order(goal, route)).schedule()


@dataclass
class _Stream:
    """Rows: computation before, kind, message, stream of the other side, flags, site."""

    rows: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    calc_ns: int = 0


class _Conversion:
    """Messages are numbered: those of the file as their sends, those to oneself behind them."""

    def __init__(self, goal: GoalFile, order: GoalOrder) -> None:
        self.goal, self.order = goal, order
        nodes = goal.nodes
        keys = {(node.rank, node.cpu) for node in nodes} | {(r, 0) for r in range(goal.ranks)}
        self.keys = sorted(keys)
        if len(self.keys) > MOST_STREAMS:
            raise ImbrexError(f"{goal.file}: a replay has at most {MOST_STREAMS} processors")
        self.number = {key: number for number, key in enumerate(self.keys)}
        self.of = [self.number[node.rank, node.cpu] for node in nodes]
        self.streams = [_Stream() for _ in self.keys]
        self.received = {send: receive for receive, send in order.sent.items()}
        self.messages = len(nodes)
        self.tokens: dict[tuple[int, int, bool], tuple[int, int]] = {}
        self.taken: set[tuple[int, int, bool]] = set()
        self.waited: set[tuple[int, int]] = set()
        self.begin_elsewhere: dict[int, list[int]] = {}
        self.end_elsewhere: dict[int, list[int]] = {}
        for n, node in enumerate(nodes):
            for needed, where in ((node.needs, self.end_elsewhere),
                                  (node.follows, self.begin_elsewhere)):  # fmt: skip
                for other in needed:
                    if self.of[other] != self.of[n]:
                        where.setdefault(other, []).append(self.of[n])

    def schedule(self) -> ArraySchedule:
        for n in self.order.begun:
            self._add(n)
        for n in self.order.begun:  # the program is over when all of it is
            self._wait(self.of[n], n, True)
        for stream in self.streams:
            if stream.calc_ns or not stream.rows:
                self._row(stream, Kind.CALC, -1, 0, 0, 0)
        return self._arrays()

    def _row(
        self, stream: _Stream, kind: Kind, message: int, peer: int, flags: int, site: int
    ) -> None:
        if stream.calc_ns >= _CALC_LIMIT and kind != Kind.CALC:
            stream.rows.append((stream.calc_ns, Kind.CALC, -1, 0, 0, 0))
            stream.calc_ns = 0
        stream.rows.append((stream.calc_ns, kind, message, peer, flags, site))
        stream.calc_ns = 0

    def _add(self, n: int) -> None:
        node, own = self.goal.nodes[n], self.of[n]
        stream = self.streams[own]
        first = True
        for other in node.needs:
            first = not self._wait(own, other, first) and first
        for other in node.follows:
            self._take_token(own, other, True)
        for where in self.begin_elsewhere.get(n, ()):
            self._give_token(own, n, where, True)
        if node.op == Op.CALC:
            stream.calc_ns += node.size
            for where in self.end_elsewhere.get(n, ()):
                self._give_token(own, n, where, False)
        elif node.op == Op.SEND:
            peer = self.of[self.received[n]]
            self._row(stream, Kind.SEND, n, peer, Flag.CALL, node.site)
        else:
            send = self.order.sent[n]
            self._row(stream, Kind.RECV, send, self.of[send], Flag.CALL, node.site)

    def _wait(self, own: int, n: int, first: bool) -> bool:
        """Before the next operation of stream `own`, `n` must be over: whether that is a wait."""
        node = self.goal.nodes[n]
        if node.op == Op.CALC:
            self._take_token(own, n, False)
            return False
        if (n, own) in self.waited:
            return False
        flags = int(Flag.CALL) if first else 0
        stream = self.streams[own]
        if node.op == Op.SEND:
            self.waited.add((n, own))
            peer = self.of[self.received[n]]
            self._row(stream, Kind.WAIT_SEND, n, peer, flags, node.site)
            return True
        if (n, own, False) in self.tokens:  # another stream takes it, and tells
            self._take_token(own, n, False)
            return False
        send = self.order.sent[n]
        self._row(stream, Kind.WAIT_RECV, send, self.of[send], flags, node.site)
        self.waited.add((n, own))
        for where in {*self.end_elsewhere.get(n, ()), self.of[n]} - {own}:
            self._give_token(own, n, where, False)
        return True

    def _give_token(self, own: int, n: int, where: int, begins: bool) -> None:
        if (n, where, begins) not in self.tokens:
            self.tokens[n, where, begins] = self.messages, own
            self._row(self.streams[own], Kind.SEND, self.messages, where, Flag.CALL, 0)
            self.messages += 1

    def _take_token(self, own: int, n: int, begins: bool) -> None:
        """Nothing where `n` is of this stream: then it stands before."""
        key = n, own, begins
        if key in self.tokens and key not in self.taken:
            self.taken.add(key)
            flags = int(Flag.CALL | Flag.BLOCKING)
            message, giver = self.tokens[key]
            self._row(self.streams[own], Kind.RECV, message, giver, flags, 0)

    def _arrays(self) -> ArraySchedule:
        sizes = [len(stream.rows) for stream in self.streams]
        first = np.concatenate(([0], np.cumsum(sizes)))
        count = int(first[-1])
        if count >= NONE:
            raise ImbrexError(f"{self.goal.file}: {count} operations are more than a replay holds")
        calc, kind, message, peer, flags, site = (
            np.fromiter((row[k] for s in self.streams for row in s.rows), np.int64, count)
            for k in range(6)
        )
        ops = np.zeros(count, OPERATION)
        ops["kind"], ops["peer"], ops["flags"] = kind, peer, flags
        ops["calc_ns"] = calc % _CALC_LIMIT
        of_file = (message >= 0) & (message < len(self.goal.nodes))
        sizes_bytes = np.array([n.size for n in self.goal.nodes], np.int64)
        size, paged = bytes_and_flags(sizes_bytes[np.where(of_file, message, 0)])
        moves = of_file & np.isin(kind, (Kind.SEND, Kind.RECV))
        ops["bytes"] = np.where(moves, size, 0)
        ops["flags"] |= np.where(moves, paged, 0).astype(np.uint8)
        ops["bytes"][kind == Kind.CALC] = (calc // _CALC_LIMIT)[kind == Kind.CALC]
        place = np.zeros((2, self.messages), np.int64)
        for side, of_kind in enumerate((Kind.SEND, Kind.RECV)):
            which = np.flatnonzero(kind == of_kind)
            place[side, message[which]] = which
        for of_kind, side in ((Kind.SEND, 1), (Kind.RECV, 0), (Kind.WAIT_SEND, 0),
                              (Kind.WAIT_RECV, 0)):  # fmt: skip
            which = kind == of_kind
            ops["partner"][which] = place[side, message[which]]
        return ArraySchedule(
            operations=ops,
            first=first.astype(np.uint64),
            rank=np.array([rank for rank, _ in self.keys], np.uint32),
            start_ns=np.zeros(len(self.keys)),
            node=np.arange(self.goal.ranks, dtype=np.uint32),
            site=site.astype(np.uint32),
        )
