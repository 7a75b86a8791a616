"""Who gets which task of a farm on a network: the farm played event by event.

Workers go through the bodies of their tasks; the boss takes the message that is first there, and
gives the next task to whoever asked. Where it finds no message it computes the next task itself, if
it did so in the run, or waits.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field

from imbrex.replay.arrays import ArraySchedule, Flag, Kind
from imbrex.replay.evaluate import Network, Route, as_bytes
from imbrex.replay.farm_begin import Begin
from imbrex.replay.farm_bodies import STOP, Bodies, UnplayableError
from imbrex.replay.farm_links import FarmLinks
from imbrex.replay.farms import Farm

# As numbers: a look-up in an enumeration takes as long as the rest of a step.
_SEND, _RECV, _LOOK = int(Kind.SEND), int(Kind.RECV), int(Kind.WAIT_ARRIVAL)
_WAITS = (_RECV, int(Kind.WAIT_RECV), _LOOK)
_BLOCKING, _PAGES = int(Flag.BLOCKING), int(Flag.PAGES)


@dataclass
class Turn:
    """What the boss does: it computes for `own_ns`, takes a message (by number), and gives a task,
    STOP, or nothing (None)."""

    own_ns: int
    message: int
    gives: int | None


@dataclass
class Order:
    """`turns` of the boss; by worker the tasks that it got, in their order. Of each message the
    send of the run that it is like."""

    turns: list[Turn] = field(default_factory=list)
    given: dict[int, list[int]] = field(default_factory=dict)
    like: list[int] = field(default_factory=list)
    messages: dict[int, list[int]] = field(default_factory=dict)
    """By worker its messages, in the order in which it sends them."""
    own: list[int] = field(default_factory=list)
    """The tasks that the boss takes itself."""


@dataclass
class _Worker:
    stream: int
    steps: list[tuple[float, int, int]]
    at: int = 0
    clock: float = 0.0
    replies: int = 0
    arrived: list[float | None] = field(default_factory=list)
    over: bool = False
    sends: int | None = None
    """The message that it sends, as long as that waits for its receive."""


class Play:
    """One farm on one network, from the time at which each of its streams comes to it."""

    def __init__(self, schedule: ArraySchedule, farm: Farm, network: Network, begin: Begin) -> None:
        self.farm, self.network = farm, network
        ops = schedule.operations
        self.kind, self.flags = ops["kind"].tolist(), ops["flags"].tolist()
        self.peer, self.bytes = ops["peer"].tolist(), ops["bytes"].tolist()
        self.partner = ops["partner"].tolist()
        self.calc = schedule.calc_ns.tolist()
        self.rank, self.node = schedule.rank, schedule.node
        site = schedule.site
        assert site is not None
        self.asks = {send: int(site[send]) in farm.asks for send in farm.takes}
        self.bodies = Bodies(farm, self.calc, self.kind)
        self.order = Order(given={w: [] for w in farm.workers})
        self.order.messages = {w: [] for w in farm.workers}
        self.route = {w: self._route(w) for w in farm.workers}
        self.events: list[tuple[float, int, int, int, int]] = []
        self.place: dict[int, int] = {}
        for send in farm.takes:
            self.place.setdefault(schedule.stream_of(send), len(self.place))
        self.number = 0
        self.seen: deque[int] = deque()
        self.source: list[int] = []
        self.sent: list[float] = []
        self.arrived: list[float | None] = []
        self.links = FarmLinks(schedule.ranks, schedule.streams, network.in_order)
        # Of sends at the same time that of the lower stream is first, and of its own the earlier.
        self.spacing = (1 << 32) // (schedule.streams + 1)
        self.numbered = [0] * schedule.streams
        self.on_link: dict[int, int] = {}
        for flow in begin.flows:
            self._offer(flow.source, flow.target, flow.ready_ns, flow.bytes, None)
        self.replies: list[tuple[int, int]] = []
        self.queue = 0
        self.stops = 0
        self.boss_ns = begin.ns[farm.boss]
        self.own_ns = 0
        self.idle = False
        self.fails = 0
        self.taking: list[tuple[int, int]] | None = None
        self.turn: Turn | None = None
        self.workers = {
            w: _Worker(w, self.bodies.steps(farm.workers[w].first.ops, 0), clock=begin.ns[w])
            for w in farm.workers
        }

    def play(self) -> Order:
        for seed in self.farm.seeds:
            self.boss_ns += self.calc[seed]
            self._give(seed_of=seed)
        for worker in self.workers.values():
            self._go_on(worker)
        self._push_look(self.boss_ns + self.farm.before_ns)
        while True:
            through = self.links.until(self.events[0][0] if self.events else float("inf"))
            if through is not None:
                self._through(*through)
            elif self.events:
                at, looks, _, _, message = heapq.heappop(self.events)
                if looks:
                    self._look(at)
                else:
                    self._shown(at, message)
            else:
                break
        if self.queue < len(self.farm.tasks) or self.seen or self.taking is not None:
            raise UnplayableError
        for worker in self.workers.values():
            # It waits for its last reply alone, where the boss sends that behind the farm.
            left = worker.replies != len(self.order.given[worker.stream])
            if left or (not worker.over and (self.farm.stops or worker.at < len(worker.steps) - 1)):
                raise UnplayableError
        return self.order

    def _route(self, worker: int) -> Route:
        return self._between(self.farm.boss, worker)

    def _between(self, one: int, other: int) -> Route:
        here, there = self.rank[one], self.rank[other]
        if here == there:
            return self.network.itself
        same = self.node[here] == self.node[there]
        return self.network.within if same else self.network.between

    def _push_shown(self, at: float, message: int) -> None:
        """Of two at the same time that goes first whose sender the boss took first in the run."""
        self.number += 1
        place = self.place[self.source[message]]
        heapq.heappush(self.events, (at, 0, place, self.number, message))

    def _push_look(self, at: float) -> None:
        self.number += 1
        heapq.heappush(self.events, (at, 1, 0, self.number, 0))

    def _offer(
        self,
        source: int,
        target: int,
        ready_ns: float,
        size: float,
        about: int | None,
        late_ns: float = 0.0,
    ) -> None:
        route = self._between(source, target)
        number = source * self.spacing + self.numbered[source] % self.spacing
        self.numbered[source] += 1
        if about is not None:
            self.on_link[number] = about
        work_ns = route.gap_ns + route.byte_ns * as_bytes(route, size)
        ends = int(self.rank[source]), int(self.rank[target])
        flies_ns = route.latency_ns - route.gap_ns - late_ns
        self.links.offer(ready_ns, work_ns, flies_ns, number, ends, source)

    def _through(self, number: int, at: float) -> None:
        about = self.on_link.pop(number, None)
        if about is None:
            return
        if about >= 0:
            self._in_through(at, about)
        else:
            self._out_through(at, ~about)

    # Workers

    def _go_on(self, worker: _Worker) -> None:
        route = self.route[worker.stream]
        steps = worker.steps
        while worker.sends is None:
            while worker.at < len(steps):
                calc, kind, op = steps[worker.at]
                if kind == _SEND:
                    worker.clock += calc
                    worker.clock += route.send_ns
                    self._send(worker, op)
                    if worker.sends is not None:
                        worker.at += 1
                        return
                elif kind in _WAITS and not (kind == _RECV and not self.flags[op] & _BLOCKING):
                    given = worker.replies
                    there = worker.arrived[given] if given < len(worker.arrived) else None
                    if there is None:
                        return
                    worker.clock = max(worker.clock + calc, there)
                    if kind != _LOOK:
                        worker.clock += route.receive_ns
                        worker.replies += 1
                else:
                    worker.clock += calc
                worker.at += 1
            if worker.over:
                return
            # It has its next reply.
            given_now = self.order.given[worker.stream]
            if worker.replies > len(given_now):
                worker.over = True
                steps = self.bodies.steps(self.farm.workers[worker.stream].last.ops, 0)
            else:
                steps = self.bodies.of(given_now[worker.replies - 1])
                if given_now[worker.replies - 1] == STOP:
                    worker.over = True
                    steps = self.bodies.steps(self.farm.workers[worker.stream].last.ops, 0)
            worker.steps, worker.at = steps, 0

    def _send(self, worker: _Worker, op: int) -> None:
        if op not in self.farm.takes:
            raise UnplayableError
        route = self.route[worker.stream]
        waits = self._waits(op, route)
        if self.flags[op] & _PAGES or (waits and not self.flags[op] & _BLOCKING):
            raise UnplayableError
        message = len(self.arrived)
        self.arrived.append(None)
        self.source.append(worker.stream)
        self.sent.append(worker.clock)
        self.order.like.append(op)
        self.order.messages[worker.stream].append(message)
        if waits:
            worker.sends = message
            when_sent = self.network.found_when_sent
            self._push_shown(worker.clock if when_sent else self._announced_ns(message), message)
            return
        self._offer(worker.stream, self.farm.boss, worker.clock, self.bytes[op], message)
        if self.network.found_when_sent:
            self._push_shown(worker.clock, message)

    def _waits(self, send: int, route: Route) -> bool:
        """Whether a message waits for its receive."""
        return bool(self.bytes[send] > route.eager_bytes)

    def _in_through(self, at: float, message: int) -> None:
        self.arrived[message] = at
        worker = self.workers[self.source[message]]
        waited = worker.sends == message
        if not waited and not self.network.found_when_sent:
            self._push_shown(at, message)
        if self.turn is not None and self.turn.message == message:
            self._take()
        if waited:
            worker.sends = None
            worker.clock = max(worker.clock, at)
            self._go_on(worker)

    def _out_through(self, at: float, reply: int) -> None:
        stream, place = self.replies[reply]
        worker = self.workers[stream]
        worker.arrived[place] = at
        self._go_on(worker)

    # The boss

    def _shown(self, now: float, message: int) -> None:
        self.seen.append(message)
        if self.idle:
            self.idle = False
            self._look(now)

    def _look(self, now: float) -> None:
        farm = self.farm
        if not self.seen:
            if farm.looks and self.queue < len(farm.tasks):
                cost = (
                    int(self.bodies.cost_ns(self.queue))
                    + farm.before_ns
                    + self.farm.grows_ns * self.fails
                )
                self.own_ns += cost
                self.order.own.append(self.queue)
                self.queue += 1
                self.boss_ns += cost
                self.fails += 1
                self._push_look(self.boss_ns + farm.before_ns + self.farm.grows_ns * self.fails)
            else:
                self.idle = True
            return
        message = self.seen.popleft()
        took = farm.takes[self.order.like[message]]
        self.boss_ns += took.before_ns + self.farm.grows_ns * self.fails
        self.own_ns += self.farm.grows_ns * self.fails
        self.fails = 0
        self.turn = Turn(self.own_ns, message, None)
        self.own_ns = 0
        if self.arrived[message] is not None:
            self._take()
        elif self.workers[self.source[message]].sends == message:
            self._ask_for(message, now)

    def _ask_for(self, message: int, now: float) -> None:
        """The receive of a message that waits for it is posted."""
        send, worker = self.order.like[message], self.source[message]
        posted = self.boss_ns
        for k, i in enumerate(self.farm.takes[send].ops):
            posted += self.calc[i] if k else 0.0
            if self.kind[i] == _LOOK and self.takes(i, send):
                posted = max(posted, self._announced_ns(message))
            if self.kind[i] == _RECV and self.partner[i] == send:
                break
        else:
            raise UnplayableError
        # As in a replay it leaves when both have come, though it was found a latency later.
        leaves = max(self.sent[message], posted)
        late = max(now - leaves, 0.0)
        self._offer(worker, self.farm.boss, leaves + late, self.bytes[send], message, late)

    def _announced_ns(self, message: int) -> float:
        """When it is known that a message waits for its receive."""
        return self.sent[message] + self.route[self.source[message]].latency_ns

    def _take(self) -> None:
        turn = self.turn
        assert turn is not None
        self.turn = None
        message = turn.message
        arrived = self.arrived[message]
        assert arrived is not None
        send = self.order.like[message]
        worker = self.source[message]
        for k, i in enumerate(self.farm.takes[send].ops):
            self.boss_ns += self.calc[i] if k else 0.0
            if self.takes(i, send):
                announced = self.kind[i] == _LOOK and self._waits(send, self.route[worker])
                there = self._announced_ns(message) if announced else arrived
                self.boss_ns = max(self.boss_ns, there)
                if self.kind[i] != _LOOK:
                    self.boss_ns += self.route[worker].receive_ns
        if self.asks[send]:
            if self.queue < len(self.farm.tasks):
                turn.gives = self.queue
                self.queue += 1
                reply = self.farm.tasks[self.bodies.like[turn.gives]].reply
                self._reply(worker, reply, turn.gives)
            elif self.farm.stops:
                if self.stops >= len(self.farm.stops):
                    raise UnplayableError
                reply = self.farm.stops[self.stops]
                self.stops += 1
                turn.gives = STOP
                self._reply(worker, reply, STOP)
        self.order.turns.append(turn)
        self._push_look(self.boss_ns + self.farm.before_ns)

    def takes(self, i: int, send: int) -> bool:
        """Whether an operation waits for a message."""
        kind = self.kind[i]
        waits = kind != _RECV or self.flags[i] & _BLOCKING
        return bool(kind in _WAITS and waits and self.partner[i] == send)

    def _give(self, seed_of: int) -> None:
        task = self.queue
        self.queue += 1
        self._reply(self.peer[seed_of], (seed_of,), task, seeded=True)

    def _reply(self, stream: int, ops: tuple[int, ...], gives: int, seeded: bool = False) -> None:
        route = self.route[stream]
        self.boss_ns += 0.0 if seeded else self.calc[ops[0]]
        self.boss_ns += route.send_ns
        if self._waits(ops[0], route) or self.flags[ops[0]] & _PAGES:
            raise UnplayableError
        self.order.given[stream].append(gives)
        place = len(self.workers[stream].arrived)
        self.workers[stream].arrived.append(None)
        self.replies.append((stream, place))
        about = ~(len(self.replies) - 1)
        self._offer(self.farm.boss, stream, self.boss_ns, self.bytes[ops[0]], about)
        for i in ops[1:]:
            self.boss_ns += self.calc[i]
