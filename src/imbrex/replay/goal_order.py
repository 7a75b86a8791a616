"""In which order the operations of a GOAL schedule begin, and which message each receive takes.

Where several operations of a processor could begin GOAL leaves open which does first. Here it is
what LogGOPSim takes: the one that is ready first, of several the first in the file. When that is
depends on the network: a message is there o_s + L + G bytes after its send began, above the eager
limit from when its receive is posted. Links are not shared for this; the replay shares them.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from dataclasses import dataclass

from imbrex.errors import ImbrexError
from imbrex.replay.evaluate import Route
from imbrex.replay.goal_file import ANY, GoalFile, Node, Op

_TOLD = 6


@dataclass(frozen=True)
class GoalOrder:
    """`begun` are operations in the order in which they begin; `sent` is the send that each receive
    takes, by number."""

    begun: list[int]
    sent: dict[int, int]


def goal_order(goal: GoalFile, route: Route) -> GoalOrder:
    """The order of a schedule on a network.

    ImbrexError with rank, operation and line where operations require each other, where a message
    has no other side, or where ranks wait for each other for ever.
    """
    _refuse_cycles(goal)
    _refuse_unmatched(goal)
    return _Order(goal, route).run()


def _refuse_cycles(goal: GoalFile) -> None:
    nodes = goal.nodes
    left = [len(node.needs) + len(node.follows) for node in nodes]
    wanted_by = _dependents(nodes)
    free = [n for n, count in enumerate(left) if not count]
    for n in free:
        for other, _ in wanted_by[n]:
            left[other] -= 1
            if not left[other]:
                free.append(other)
    if len(free) == len(nodes):
        return
    at = next(n for n, count in enumerate(left) if count)
    way: dict[int, int] = {}
    while at not in way:  # all that is left requires something that is left
        way[at] = len(way)
        at = next(n for n in (*nodes[at].needs, *nodes[at].follows) if left[n])
    ring = list(way)[way[at] :]
    names = [nodes[n].label for n in ring]
    if len(names) > _TOLD:
        names[_TOLD - 1 :] = ["..."]
    through = f" through {', '.join(names[1:])}" if len(ring) > 1 else ""
    raise goal.error(nodes[ring[0]], f"requires itself{through}")


def _dependents(nodes: list[Node]) -> list[list[tuple[int, bool]]]:
    """Who waits for each operation, and whether only for its beginning."""
    found: list[list[tuple[int, bool]]] = [[] for _ in nodes]
    for n, node in enumerate(nodes):
        for other in node.needs:
            found[other].append((n, False))
        for other in node.follows:
            found[other].append((n, True))
    return found


def _refuse_unmatched(goal: GoalFile) -> None:
    """Where no receive takes any rank or tag, both sides of each message can be counted."""
    open_to_any = {n.rank for n in goal.nodes if n.op == Op.RECV and ANY in (n.peer, n.tag)}
    sides: dict[tuple[int, int, int], tuple[list[Node], list[Node]]] = {}
    for node in goal.nodes:
        if node.op != Op.CALC:
            ends = (node.rank, node.peer) if node.op == Op.SEND else (node.peer, node.rank)
            if ends[1] not in open_to_any:
                side = sides.setdefault((*ends, node.tag), ([], []))
                side[node.op == Op.RECV].append(node)
    for sends, receives in sides.values():
        both = min(len(sends), len(receives))
        for node in (*sends[both:], *receives[both:]):
            raise _unmatched(goal, node)


def _unmatched(goal: GoalFile, node: Node) -> ImbrexError:
    problem = "is taken by no receive" if node.op == Op.SEND else "takes what nobody sends"
    return goal.error(node, problem)


class _Order:
    def __init__(self, goal: GoalFile, route: Route) -> None:
        self.goal, self.nodes, self.route = goal, goal.nodes, route
        self.wanted_by = _dependents(goal.nodes)
        self.left = [len(node.needs) + len(node.follows) for node in goal.nodes]
        self.ready = [0.0] * len(goal.nodes)
        self.ready_now: list[tuple[float, int]] = []
        self.busy_until: dict[tuple[int, int], float] = defaultdict(float)
        self.begun: list[int] = []
        self.sent: dict[int, int] = {}
        # By receiver, and what a receive names: source and tag. Each number with when it came.
        self.posted: dict[int, dict[tuple[int, int], deque[tuple[int, int]]]] = defaultdict(dict)
        self.unexpected: dict[int, dict[tuple[int, int], deque[tuple[int, int]]]] = defaultdict(
            dict
        )
        self.began: dict[int, float] = {}

    def run(self) -> GoalOrder:
        self.ready_now = [(0.0, n) for n, count in enumerate(self.left) if not count]
        heapq.heapify(self.ready_now)
        while self.ready_now:
            at, n = heapq.heappop(self.ready_now)
            node = self.nodes[n]
            cpu = node.rank, node.cpu
            if self.busy_until[cpu] > at:
                heapq.heappush(self.ready_now, (self.busy_until[cpu], n))
                continue
            self._begin(n, node, at)
        self._refuse_what_waits()
        return GoalOrder(self.begun, self.sent)

    def _begin(self, n: int, node: Node, at: float) -> None:
        self.began[n] = at
        self.begun.append(n)
        self._tell(n, at, begins=True)
        if node.op == Op.CALC:
            self.busy_until[node.rank, node.cpu] = at + node.size
            self._tell(n, at + node.size, begins=False)
        elif node.op == Op.SEND:
            over = at if node.peer == node.rank else at + self.route.send_ns
            self.busy_until[node.rank, node.cpu] = over
            if not self._waits(node):
                self._tell(n, over, begins=False)
            receive = self._take(
                self.posted[node.peer],
                [(s, t) for s in (node.rank, ANY) for t in (node.tag, ANY)],
            )
            if receive is None:
                self._keep(self.unexpected[node.peer], (node.rank, node.tag), n)
            else:
                self._match(n, receive)
        else:
            came = self.unexpected[node.rank]
            names = [(node.peer, node.tag)]
            if ANY in names[0]:
                names = [(s, t) for s, t in came if node.peer in (ANY, s) and node.tag in (ANY, t)]
            send = self._take(came, names)
            if send is None:
                self._keep(self.posted[node.rank], (node.peer, node.tag), n)
            else:
                self._match(send, n)

    def _keep(
        self, queue: dict[tuple[int, int], deque[tuple[int, int]]], name: tuple[int, int], n: int
    ) -> None:
        queue.setdefault(name, deque()).append((len(self.begun), n))

    @staticmethod
    def _take(
        queue: dict[tuple[int, int], deque[tuple[int, int]]], names: list[tuple[int, int]]
    ) -> int | None:
        """The first that came of those with one of these names."""
        there = [name for name in names if queue.get(name)]
        if not there:
            return None
        return queue[min(there, key=lambda name: queue[name][0])].popleft()[1]

    def _match(self, send: int, receive: int) -> None:
        self.sent[receive] = send
        route, node, posted = self.route, self.nodes[send], self.began[receive]
        if node.peer == node.rank:  # no network
            self._tell(receive, max(self.began[send], posted), begins=False)
            return
        there = self.began[send] + route.send_ns
        takes = route.latency_ns + route.byte_ns * node.size
        if self._waits(node):
            there = max(there, posted)
            self._tell(send, there + takes, begins=False)
        self._tell(receive, max(there + takes, posted) + route.receive_ns, begins=False)

    def _waits(self, node: Node) -> bool:
        """Whether a send is over only when it was received."""
        return node.size > self.route.eager_bytes and node.peer != node.rank

    def _tell(self, n: int, at: float, begins: bool) -> None:
        for other, of_beginning in self.wanted_by[n]:
            if of_beginning == begins:
                self.ready[other] = max(self.ready[other], at)
                self.left[other] -= 1
                if not self.left[other]:
                    heapq.heappush(self.ready_now, (self.ready[other], other))

    def _refuse_what_waits(self) -> None:
        unmatched = [
            n for queues in (*self.unexpected.values(), *self.posted.values())
            for queue in queues.values() for _, n in queue
        ]  # fmt: skip
        if len(self.begun) == len(self.nodes):
            for n in sorted(unmatched):
                raise _unmatched(self.goal, self.nodes[n])
            return
        # No graph of one rank has a cycle, so that a message is waited for.
        n = next(n for n in sorted(unmatched) if self._holds_something(n))
        node = self.nodes[n]
        above = ""
        if node.op == Op.SEND:
            above = f", above the eager limit of {self.route.eager_bytes:.0f} bytes,"
        raise self.goal.error(node, f"waits for ever{above} for its other side")

    def _holds_something(self, n: int) -> bool:
        waits = self.nodes[n].op == Op.RECV or self._waits(self.nodes[n])
        return waits and any(not begins for _, begins in self.wanted_by[n])
