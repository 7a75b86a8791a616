"""The schedule of a run whose farms give their tasks as another network has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from imbrex.replay.arrays import NONE, ArraySchedule, Flag, Kind
from imbrex.replay.collective_messages import as_messages
from imbrex.replay.evaluate import Network, Replayer, StuckError
from imbrex.replay.farm_begin import begin_of
from imbrex.replay.farm_bodies import STOP, UnplayableError
from imbrex.replay.farm_order import Order, Play
from imbrex.replay.farms import Farm

_LIMIT_NS = 1 << 32
# As numbers: a look-up in an enumeration takes as long as the rest of a step.
_SEND, _RECV, _CALC = int(Kind.SEND), int(Kind.RECV), int(Kind.CALC)
_WAIT_RECV, _LOOK = int(Kind.WAIT_RECV), int(Kind.WAIT_ARRIVAL)
_BLOCKING = int(Flag.BLOCKING)
_OFF = 0.02
"""A farm that is played on the run's own network may differ from the run by this share of it."""
_CHANGES = (-0.04, -0.02, 0.02, 0.04)
_MOST_TURNS = 8
"""How often a farm is played until its beginning stays."""


def as_served(
    schedule: ArraySchedule, farms: Sequence[Farm], network: Network
) -> ArraySchedule | None:
    """The schedule with the tasks of its farms given to whoever asks first on this network; None
    where a farm cannot be played."""
    if len(farms) != 1 or not network.takes_links:
        return None
    farm = farms[0]
    try:
        made, begin = None, begin_of(schedule, farm, network)
        for _ in range(_MOST_TURNS):
            play = Play(schedule, farm, network, begin)
            made = _Assembly(schedule, farm, play, play.play()).schedule()
            before, begin = begin, begin_of(schedule, farm, network, made)
            if begin == before:
                break
        return made
    except (UnplayableError, StuckError):
        return None


def serves_as_it_did(
    schedule: ArraySchedule, farms: Sequence[Farm], network: Network, measured_ns: float
) -> bool:
    """Whether a farm that is played on the run's own network takes as long as the run did, or as a
    replay in its order."""
    served = as_served(schedule, farms, network)
    if served is None:
        return False
    since = min(begin_of(schedule, farms[0], network, served).ns.values())
    time_ns = Replayer(as_messages(served)).run(network).run_ns - since
    kept_ns = Replayer(as_messages(schedule)).run(network).run_ns - since
    off = min(abs(time_ns - kept_ns), abs(time_ns - (measured_ns - since)))
    return off <= _OFF * time_ns


def chance_ns(
    schedule: ArraySchedule, farms: Sequence[Farm], network: Network
) -> tuple[float, float]:
    """How much sooner and later a farm may end if the boss's own tasks take a little less or more:
    which ones it takes may hang on that, and long ones keep all workers waiting."""
    farm = farms[0]
    if not farm.looks:
        return 0.0, 0.0
    begin = begin_of(schedule, farm, network)
    ends = []
    for change in (0.0, *_CHANGES):
        tasks = (
            replace(task, own_ns=round(task.own_ns * (1 + change))) if task.body is None else task
            for task in farm.tasks
        )
        play = Play(schedule, replace(farm, tasks=tuple(tasks)), network, begin)
        try:
            play.play()
        except UnplayableError:
            continue
        ends.append(play.boss_ns)
    return min(ends) - ends[0], max(ends) - ends[0]


@dataclass
class _Emitted:
    """Operations to be: which of the old ones each is like, what it computes before, its kind, and
    what it is about: a message (by number), a reply (by worker and number), or nothing."""

    source: list[int] = field(default_factory=list)
    calc: list[float] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    about: list[tuple[int, int] | None] = field(default_factory=list)

    def add(self, source: int, calc: float, kind: int, about: tuple[int, int] | None) -> int:
        self.source.append(source)
        self.calc.append(calc)
        self.kind.append(kind)
        self.about.append(about)
        return len(self.source) - 1


_MESSAGE = -1


class _Assembly:
    def __init__(self, schedule: ArraySchedule, farm: Farm, play: Play, order: Order) -> None:
        self.old, self.farm, self.play, self.order = schedule, farm, play, order
        ops = schedule.operations
        self.kind, self.partner = play.kind, ops["partner"].tolist()
        self.flags, self.calc = play.flags, play.calc
        self.emitted = _Emitted()
        self.sent: dict[tuple[int, int], int] = {}
        self.received: dict[tuple[int, int], int] = {}
        self.moved = np.full(len(ops), -1, np.int64)
        self.first: list[int] = []
        self.stops = 0
        self.finals: dict[int, tuple[int, int]] = {}
        """Replies that the boss sends behind the farm, and what they are."""

    def schedule(self) -> ArraySchedule:
        starts = self.old.first.astype(np.int64).tolist()
        for stream, (low, high) in enumerate(pairwise(starts)):
            self.first.append(len(self.emitted.source))
            if stream == self.farm.boss:
                self._verbatim(range(low, self.farm.begin))
                self._boss()
                self._verbatim(range(self.farm.end, high))
            elif stream in self.farm.workers:
                worker = self.farm.workers[stream]
                self._verbatim(range(low, worker.first.ops.start))
                self._worker(stream)
                self._verbatim(range(worker.ends, high))
            else:
                self._verbatim(range(low, high))
        self.first.append(len(self.emitted.source))
        return self._linked()

    def _verbatim(self, ops: Iterable[int]) -> None:
        for i in ops:
            self.moved[i] = self.emitted.add(i, self.calc[i], self.kind[i], None)

    def _boss(self) -> None:
        farm, order = self.farm, self.order
        given = dict.fromkeys(farm.workers, 0)
        before_first = min(took.ops[0] for took in farm.takes.values())
        seeds = set(farm.seeds)
        for i in range(farm.begin, before_first):
            if i not in seeds:
                kind = self.kind[i] if self.kind[i] == _SEND else _CALC
                self.emitted.add(i, self.calc[i], kind, None)
                if kind == _SEND:
                    self.moved[i] = len(self.emitted.source) - 1
                continue
            self._reply((i,), self.play.peer[i], given)
        for turn in order.turns:
            took = farm.takes[order.like[turn.message]]
            about = (_MESSAGE, turn.message)
            send = order.like[turn.message]
            waits = {i for i in took.ops if self._is_of(i, send)}
            for k, i in enumerate(took.ops):
                calc = self.calc[i] if k else took.before_ns + turn.own_ns
                self._take(i, calc, about, i in waits)
            if turn.gives is None:
                continue
            worker = self.play.source[turn.message]
            if turn.gives == STOP:
                reply = farm.stops[self.stops]
                self.stops += 1
            else:
                reply = farm.tasks[self.play.bodies.like[turn.gives]].reply
            self._reply(reply, worker, given)

    def _is_of(self, i: int, send: int) -> bool:
        return self.kind[i] in (_RECV, _WAIT_RECV, _LOOK) and self.partner[i] == send

    def _take(self, i: int, calc: float, about: tuple[int, int], takes: bool) -> None:
        place = self.emitted.add(i, calc, self.kind[i] if takes else _CALC,
                                 about if takes else None)  # fmt: skip
        if takes and self.kind[i] == _RECV:
            self.received[about] = place

    def _reply(self, ops: tuple[int, ...], worker: int, given: dict[int, int]) -> None:
        about = (worker, given[worker])
        given[worker] += 1
        self.sent[about] = self.emitted.add(ops[0], self.calc[ops[0]], _SEND, about)
        for i in ops[1:]:
            self.emitted.add(i, self.calc[i], _CALC, None)

    def _worker(self, stream: int) -> None:
        worker = self.farm.workers[stream]
        given = self.order.given[stream]
        tasks = [task for task in given if task != STOP]
        messages = iter(self.order.messages[stream])
        parts = [worker.first.ops, *(self.play.bodies.ops(task) for task in tasks)]
        more = [0.0, *(self.play.bodies.more_ns(task) for task in tasks)]
        for number, (ops, more_ns) in enumerate(zip(parts, more, strict=True)):
            self._part(stream, ops, more_ns, number, messages)
        if len(given) == len(tasks):
            self.finals[worker.final] = (stream, len(tasks))
        self._part(stream, worker.last.ops, 0.0, -1, messages)

    def _part(
        self, stream: int, ops: range, more_ns: float, number: int, messages: Iterator[int]
    ) -> None:
        steps = self.play.bodies.steps(ops, more_ns)
        takes = {i for i in ops if self._completes_or_looks(i)}
        last = self.partner[ops[-1]] if len(ops) and number >= 0 else None
        for calc, kind, i in steps:
            if kind == _SEND:
                message = next(messages, None)
                if message is None:
                    raise UnplayableError
                about = (_MESSAGE, message)
                self.sent[about] = self.emitted.add(i, calc, kind, about)
            elif i in takes or (kind == _RECV and self.partner[i] == last):
                about = (stream, number)
                place = self.emitted.add(i, calc, kind, about)
                if kind == _RECV:
                    self.received[about] = place
            else:
                self.emitted.add(i, calc, _CALC, None)

    def _completes_or_looks(self, i: int) -> bool:
        kind = self.kind[i]
        blocking = bool(kind == _RECV and self.flags[i] & _BLOCKING)
        return kind in (_WAIT_RECV, _LOOK) or blocking

    def _linked(self) -> ArraySchedule:
        emitted, old = self.emitted, self.old
        source = np.array(emitted.source, np.int64)
        made = old.operations[source].copy()
        kind = np.array(emitted.kind, np.int64)
        changed = kind != made["kind"]
        made["kind"] = kind
        made["bytes"][changed] = 0
        made["partner"][changed] = NONE
        calc = np.array(emitted.calc)
        if (calc[kind != Kind.CALC] >= _LIMIT_NS).any():
            raise UnplayableError
        whole = calc.astype(np.int64)
        made["calc_ns"] = whole % _LIMIT_NS
        long = kind == Kind.CALC
        made["bytes"][long] = whole[long] // _LIMIT_NS
        partner = made["partner"].astype(np.int64)
        own = [k for k, about in enumerate(emitted.about) if about is not None]
        theirs = np.zeros(len(made), bool)
        theirs[own] = True
        for final, about in self.finals.items():
            self.sent[about] = int(self.moved[final])
            emitted.about[int(self.moved[final])] = about
            own.append(int(self.moved[final]))
        theirs[own] = True
        refers = ~theirs & ~np.isin(kind, (Kind.MEET, Kind.CALC)) & (partner != NONE)
        to = self.moved[partner[refers]]
        lost = np.flatnonzero(refers)[to < 0]
        if not np.isin(kind[lost], (Kind.WAIT_SEND,)).all():
            raise UnplayableError
        partner[refers] = to
        made["kind"][lost], made["bytes"][lost] = Kind.CALC, 0
        partner[lost] = NONE
        stream_of = np.repeat(np.arange(old.streams), np.diff(self.first))
        linked = [self._other(k) for k in own]
        at, to = np.array(own, np.int64), np.array(linked, np.int64)
        partner[at] = to
        at, to = at[to != NONE], to[to != NONE]
        made["peer"][at] = stream_of[to]
        receives = kind[at] == Kind.RECV
        made["bytes"][at[receives]] = made["bytes"][to[receives]]
        made["partner"] = partner
        return replace(
            old,
            operations=made,
            first=np.array(self.first, np.uint64),
            members=self.moved[old.members.astype(np.int64)].astype(np.uint32),
            site=None if old.site is None else old.site[source],
        )

    def _other(self, k: int) -> int:
        """Where the other side of a message of the farm is: of a send its receive, if there is one;
        of all others the send."""
        about = self.emitted.about[k]
        assert about is not None
        if self.emitted.kind[k] == _SEND:
            return self.received.get(about, NONE)
        if about not in self.sent:
            raise UnplayableError
        return self.sent[about]
