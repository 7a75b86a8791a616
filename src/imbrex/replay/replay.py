"""Replay a recorded run on other networks, with messages started and awaited when they could be.

Modes that move messages whole are replayed by the compiled engine (recorded_ops.py), the others,
and what collectives cost alone, here.

Time is max-plus arithmetic over the recorded order: computation keeps its length, a message takes
EEL + G * size (Sancho et al., section 4.2) and shares the link out of its process, which it needs
for g + G * size, with others that are under way (link.py). Of EEL the processors' own parts, o_s
and o_r of LogGP, pass in the calls: nothing is computed beside them. Collectives take 2 log2(N) EEL
and the time of their bytes (collective.py). Which messages move when is the mode. Simulating what a
trace would be with overlap follows the idea of the authors' later Dimemas studies; every network is
one column of an array, so that a sweep costs as much as a single one.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator

import numpy as np

from imbrex.network.points import NetworkPoints
from imbrex.profile.recording import FloatArray, RecordedMessage
from imbrex.profile.recording_format import ARRIVED, POST, SEND
from imbrex.replay.collective_cost import parent_and_children
from imbrex.replay.convergence import Convergence
from imbrex.replay.link import OnLink, on_link
from imbrex.replay.matching import Key, Place
from imbrex.replay.modes import AS_WRITTEN, NONE, Side, Sides
from imbrex.replay.recorded_ops import RENDEZVOUS_BYTES, WHOLE_MODES, RecordedOps
from imbrex.replay.schedule import (
    COLLECTIVE,
    COMPUTE,
    Group,
    Operation,
    ReplayError,
    Schedule,
)
from imbrex.replay.state import Channel, RankState

_TREE_TAG = -2
_MOST_PASSES = 8


class Replay:
    """One replay of a schedule: shape (points,) of walls in ns at the end of every rank."""

    def __init__(
        self,
        schedule: Schedule,
        network: NetworkPoints,
        mode_of: Callable[[RecordedMessage], str],
        messages_cost: bool = True,
        on_link: dict[int, OnLink] | None = None,
    ) -> None:
        """`mode_of` gives the mode of a message, which both its sides share (by the send).

        Without `messages_cost` only collectives take network time. `on_link` is, by rank, when each
        of its sends is on the link; without it messages of a process follow each other.
        """
        shape = np.broadcast_shapes(
            np.shape(network.latency_s), np.shape(network.gap_s_per_byte), (1,)
        )
        self.schedule = schedule
        self.latency = np.broadcast_to(np.asarray(network.latency_s) * 1e9, shape)
        self._shape, self._bytes_ns = shape, dict[float, FloatArray]()
        self.messages_cost = messages_cost
        self.message_gap = np.asarray(network.message_gap_s) * 1e9
        self.overhead = np.asarray(network.overhead_s) * 1e9
        self.receive_overhead = np.asarray(network.receive_overhead_s) * 1e9
        self.points = shape[0]
        self.ranks = {rank: RankState(self.points) for rank in schedule.operations}
        self.channels: dict[Key, Channel] = {}
        self.sides = Sides(schedule, mode_of)
        self.network = network
        # Each message takes the link for g and its bytes (LogGP); EEL has the g of one in it.
        self.each = np.minimum(self.message_gap, self.latency)
        # Those of collectives cost in any case.
        self.network_latency = self.latency
        self.network_each = self.each
        if not messages_cost:
            self.latency, self.each = np.zeros(shape), np.zeros(shape)
            self.overhead = self.receive_overhead = np.zeros(1)
        self.place = {rank: place for place, rank in enumerate(schedule.run.ranks)}
        self.meetings: dict[tuple[Group, int], tuple[int, FloatArray]] = {}
        self.on_link = on_link
        self.starts: dict[int, list[FloatArray]] = {rank: [] for rank in self.ranks}
        self.work: dict[int, list[FloatArray]] = {rank: [] for rank in self.ranks}
        self.peers: dict[int, list[int]] = {rank: [] for rank in self.ranks}

    def network_ns(self, size_bytes: float) -> FloatArray:
        """What the bytes of a message take of the link."""
        if size_bytes not in self._bytes_ns:
            bytes_ns = np.broadcast_to(self.network.bytes_s(size_bytes) * 1e9, self._shape)
            self._bytes_ns[size_bytes] = bytes_ns
        return self._bytes_ns[size_bytes]

    def bytes_ns(self, size_bytes: float) -> FloatArray:
        """The same of a message of the program, which may cost nothing."""
        return self.network_ns(size_bytes if self.messages_cost else 0.0)

    def channel(self, key: Key) -> Channel:
        return self.channels.setdefault(key, Channel())

    def run(self) -> dict[int, FloatArray]:
        """Wall times in ns at the end, by rank; ReplayError where ranks wait for ever.

        Where only the first part was recorded, ranks end where the others' part of it is over.
        """
        going = {rank: self._steps(rank, ops) for rank, ops in self.schedule.operations.items()}
        while going:
            moved = False
            for rank, steps in list(going.items()):
                for progress in steps:
                    if not progress:
                        break
                    moved = True
                else:
                    moved = True
                    del going[rank]
            if not moved and self.schedule.run.is_partial:
                break
            if not moved:
                raise ReplayError("messages are missing in the recording: ranks wait for ever")
        return {rank: state.wall for rank, state in self.ranks.items()}

    # The steps of a rank are generators that yield whether they moved on; False asks others to go
    # first.

    def _steps(self, rank: int, operations: list[Operation]) -> Iterator[bool]:
        state = self.ranks[rank]
        for op in operations:
            if op.kind == COMPUTE:
                yield from self._compute(state, op.ns)
                state.entered = state.wall
            elif op.kind == COLLECTIVE:
                yield from self._collective(rank, state, op)
            else:
                message = self.schedule.run.messages[rank][op.message]
                if op.kind == SEND:
                    yield from self._send(rank, state, message, op)
                elif op.kind == POST and op.place.number >= 0:
                    self.channel(op.place.key).posted.append(state.wall)
                elif op.kind == ARRIVED:
                    yield from self._arrived(state, message, op.place)
            yield True
        while state.pending:
            yield from self._needed(state)

    def _compute(self, state: RankState, length_ns: float) -> Iterator[bool]:
        target = state.at_ns + length_ns
        while state.pending and state.pending[0][0] <= target:
            yield from self._needed(state)
        state.wall = state.wall + (target - state.at_ns)
        state.at_ns = target

    def _needed(self, state: RankState) -> Iterator[bool]:
        """Go to the first moment at which data are needed, and wait for them."""
        at, _, channel, number, piece = state.pending[0]
        while len(channel.sent) <= number:
            yield False
        heapq.heappop(state.pending)
        if at > state.at_ns and math.isfinite(at):
            state.wall = state.wall + (at - state.at_ns)
            state.at_ns = at
        arrivals = channel.sent[number]
        self._take(state, arrivals[min(piece, len(arrivals) - 1)], piece == 0)

    def _take(self, state: RankState, arrival: FloatArray, first: bool = True) -> None:
        """Wait for data, which the receiver takes by itself the first time."""
        if first:
            arrival = np.maximum(arrival, state.wall + self.receive_overhead)
        state.wait_until(arrival)

    def _collective(self, rank: int, state: RankState, op: Operation) -> Iterator[bool]:
        cost, group = op.cost, op.group
        assert cost is not None
        if cost.tree_bytes is not None and group is None and self.schedule.follows_trees:
            yield from self._through_tree(rank, state, cost.tree_bytes)
            return
        takes = cost.seconds(self.network) * 1e9
        if group not in self.schedule.meeting:
            state.wait_until(state.wall + takes)
            return
        number = state.collectives.get(group, 0)
        state.collectives[group] = number + 1
        count, latest = self.meetings.get((group, number), (0, state.wall))
        self.meetings[group, number] = count + 1, np.maximum(latest, state.wall)
        while self.meetings[group, number][0] < (group[1] if group else len(self.ranks)):
            yield False
        latest = self.meetings[group, number][1]
        state.wait_until(latest + takes)

    def _through_tree(self, rank: int, state: RankState, size: float) -> Iterator[bool]:
        """Up a binomial tree and down again. Sends are buffered: who has sent goes on, and what it
        sends next shares its link with them."""
        ranks = self.schedule.run.ranks
        parent, children = parent_and_children(self.place[rank], len(ranks))
        for child in children:
            yield from self._through_tree_from(ranks[child], rank, state)
        if parent >= 0:
            self._through_tree_to(rank, ranks[parent], state, size)
            yield True
            yield from self._through_tree_from(ranks[parent], rank, state)
        for child in reversed(children):
            self._through_tree_to(rank, ranks[child], state, size)

    def _through_tree_to(self, rank: int, peer: int, state: RankState, size: float) -> None:
        work = self.network_each + self.network_ns(size)
        _, end = self._on_link(rank, peer, state, state.wall, work)
        flight = self.network_latency - self.network_each
        self.channel((rank, peer, _TREE_TAG, 0)).sent.append([end + flight])

    def _through_tree_from(self, peer: int, rank: int, state: RankState) -> Iterator[bool]:
        channel = self.channel((peer, rank, _TREE_TAG, 0))
        number = channel.taken
        channel.taken += 1
        while len(channel.sent) <= number:
            yield False
        state.wait_until(channel.sent[number][0])

    def _on_link(
        self, rank: int, peer: int, state: RankState, start: FloatArray, work: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """When a message that starts is on the link of its rank: from, and until."""
        number = len(self.starts[rank])
        self.starts[rank].append(start)
        self.work[rank].append(work)
        self.peers[rank].append(peer)
        if self.on_link is not None:
            shares = self.on_link[rank]
            return start + shares.begins[number], start + shares.ends[number]
        queued = np.maximum(start, state.out_free)
        # Nothing waits for a message that leaves only later.
        begin = np.where(start >= state.out_start, queued, start)
        state.out_start = np.maximum(state.out_start, start)
        state.out_free = np.maximum(state.out_free, begin + work)
        return begin, begin + work

    def _send(
        self, rank: int, state: RankState, m: RecordedMessage, op: Operation
    ) -> Iterator[bool]:
        channel = self.channel(op.place.key)
        mode = self.sides.mode(m)
        if mode == NONE:
            channel.sent.append([state.wall])
            return
        start = state.wall
        waits = op.blocking and mode == AS_WRITTEN and m.size_bytes >= RENDEZVOUS_BYTES
        if waits:
            number = len(channel.sent)
            while len(channel.posted) <= number:
                yield False
            start = np.maximum(start, channel.posted[number])
        side = self.sides.side(m, mode)
        if mode == "fine-grained":
            channel.sent.append(self._pieces_sent(rank, state, m, side, channel))
            return
        if mode != AS_WRITTEN:
            start = state.wall_at(self.sides.ready_ns(m, mode, state.at_ns))
        start = channel.after(start)
        work = self.each + self.bytes_ns(m.size_bytes)
        begin, end = self._on_link(rank, m.peer, state, start, work)
        # A message is as good as there when its last byte is; pieces of it earlier.
        pieces = len(side.pieces_ns)
        first, lasts = begin + self.latency, end - begin - self.each
        arrivals = [first + lasts * (k / pieces) for k in range(1, pieces + 1)]
        channel.sent.append(arrivals)
        state.wait_until(arrivals[-1] if waits else state.wall + self.overhead)

    def _pieces_sent(
        self, rank: int, state: RankState, m: RecordedMessage, side: Side, channel: Channel
    ) -> list[FloatArray]:
        """Every piece leaves when its last element is written, in the order of production, and no
        sooner than the link has had the time for those before it."""
        count = len(side.pieces_ns)
        part = self.bytes_ns(m.size_bytes) / count
        one = np.maximum(part, self.message_gap * (m.elements / count))
        order = sorted(range(count), key=lambda k: -side.pieces_ns[k])
        ready = [state.wall_at(state.at_ns - side.pieces_ns[piece]) for piece in order]
        first = channel.after(ready[0])
        begin, end = self._on_link(rank, m.peer, state, first, one * count)
        arrivals: list[FloatArray] = [state.wall] * count
        free = begin
        for number, piece in enumerate(order):
            free = np.maximum(ready[number], free) + one
            left = np.maximum(free, begin + (end - begin) * ((number + 1) / count))
            arrivals[piece] = left - one + self.latency + part
        # Each send costs its overhead, of the processor that would compute instead.
        state.wait_until(state.wall + self.overhead * count)
        return arrivals

    def _arrived(self, state: RankState, m: RecordedMessage, place: Place) -> Iterator[bool]:
        channel, number = self.channel(place.key), place.number
        mode = self.sides.mode(self.schedule.sent(m, place))
        if mode in (AS_WRITTEN, NONE):
            while len(channel.sent) <= number:
                yield False
            moment = channel.sent[number][-1]
            if mode == NONE:
                flight = self.latency - self.each
                start = np.maximum(np.maximum(moment, state.entered) + flight, state.in_free)
                moment = start + self.each + self.bytes_ns(m.size_bytes)
                state.in_free = moment
            self._take(state, moment)
            return
        for piece, at in enumerate(self.sides.needed_ns(m, mode, state.at_ns)):
            # Whoever sent in one piece has only its end to offer.
            heapq.heappush(state.pending, (at, state.awaited, channel, number, piece))
            state.awaited += 1


def replay_s(
    schedule: Schedule,
    network: NetworkPoints,
    mode: str,
    *,
    other_mode: str = AS_WRITTEN,
    only: Callable[[RecordedMessage], bool] | None = None,
    messages_cost: bool = True,
    in_order: bool = True,
) -> FloatArray:
    """Run time in s on every network, shape (points,): until the last rank has ended.

    With `only`, messages for whose send it holds are in `mode`, the others in `other_mode`. Where
    messages move whole, those to one peer follow each other (`in_order`), or share links too.
    """

    def mode_of(message: RecordedMessage) -> str:
        return mode if only is None or only(message) else other_mode

    if messages_cost and mode in WHOLE_MODES and other_mode in WHOLE_MODES:
        return RecordedOps(schedule, mode_of).run_ns(network, in_order) * 1e-9
    replay = Replay(schedule, network, mode_of, messages_cost)
    convergence = Convergence(_latest(replay))
    shares = _on_link(replay)
    # When messages leave decides who shares the link, which decides when others leave: again, until
    # it no longer changes the run time.
    for number in range(_MOST_PASSES):
        replay = Replay(schedule, network, mode_of, messages_cost, shares)
        if convergence.take(_latest(replay)):
            break
        # Half way only, once it does not settle by itself: a full link makes it swing.
        part = 1.0 if number < 2 else 0.5
        fresh = _on_link(replay)
        shares = {rank: _between(shares[rank], fresh[rank], part) for rank in fresh}
    return convergence.found * 1e-9


def _latest(replay: Replay) -> FloatArray:
    return np.asarray(np.max(np.stack(list(replay.run().values())), axis=0))


def _on_link(replay: Replay) -> dict[int, OnLink]:
    """When each message is on its link if all left when they just did."""
    return {
        rank: on_link(np.stack(starts), np.stack(replay.work[rank]), np.array(replay.peers[rank]))
        for rank, starts in replay.starts.items()
        if starts
    }


def _between(old: OnLink, new: OnLink, part: float) -> OnLink:
    return OnLink(
        old.begins + part * (new.begins - old.begins), old.ends + part * (new.ends - old.ends)
    )
