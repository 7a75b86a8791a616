"""Farms in a run's log: one process gives work to whichever of several asks first.

The boss takes messages from any source and answers some of them, the asks, with a reply to their
sender. What a worker calls from where it takes one reply until it has taken the next is the body of
the task that came with the first. Tasks have the order of the replies; the boss may take some of
them itself, where a look for messages (MPI_Iprobe) finds none. What does not fit this is no farm,
and keeps the order that it had.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from imbrex.profile.call_log import Flag as LogFlag
from imbrex.profile.call_log import Kind as LogKind
from imbrex.replay.arrays import NONE, ArraySchedule, Flag, Kind
from imbrex.replay.run_log import IntArray, RunLog

_FEWEST_WORKERS = 2
_FEWEST_COUNTS = 3
_NEXT = 8
_MOST_GUESSED = 16
"""Looks in a row whose number follows from the time in them: more may be one that lasted."""
_LOOKS = frozenset(["MPI_Iprobe", "MPI_Improbe"])
_WAITING = (Kind.RECV, Kind.WAIT_RECV, Kind.WAIT_ARRIVAL)


@dataclass(frozen=True)
class Took:
    """A message as the boss took it: the operations from its first look to where it goes on with
    something else (`ops`), and what it computed or looked for before them, in ns, without tasks
    of its own."""

    ops: tuple[int, ...]
    before_ns: int


@dataclass(frozen=True)
class Body:
    """Operations of a worker, up to and with the one that takes its next reply."""

    ops: range


@dataclass(frozen=True)
class Task:
    """`body` and the operations `reply` of the boss that give it away; of one that the boss took
    itself both are None, and `own_ns` is what it computed."""

    body: Body | None
    reply: tuple[int, ...]
    own_ns: int = 0


@dataclass(frozen=True)
class Worker:
    """What a worker calls before it has its first reply and behind its last. `final`: the send of
    the boss that is its last reply."""

    stream: int
    first: Body
    last: Body
    final: int
    ends: int
    """Operations from here on are no longer the farm's."""


@dataclass(frozen=True)
class Farm:
    """`begins`: by stream its first operation of the farm. `seeds` are operations of the boss
    before it takes anything, with the worker and whether they give a task; `stops` those of its
    replies without a task, in their order. `asks` are the sites whose messages are answered."""

    boss: int
    begin: int
    end: int
    seeds: tuple[int, ...]
    workers: dict[int, Worker]
    tasks: tuple[Task, ...]
    stops: tuple[tuple[int, ...], ...]
    asks: frozenset[int]
    takes: dict[int, Took]
    """By the send of a message."""
    looks: bool
    """Whether the boss takes a task itself where it finds no message."""
    before_ns: int
    """What it does before it looks for the next message, as a rule, and the look."""
    grows_ns: int
    """So much longer each look takes that follows on one which found nothing."""


class _NoFarmError(Exception):
    """The pattern is another."""


@dataclass(frozen=True)
class Own:
    """Of an operation of the boss: how many looks before it found nothing, what a look took there,
    in ns, that found something, and whether it takes a message from any source. `grows_ns`: so much
    longer each look takes that follows on another which found nothing."""

    looks: IntArray
    look_ns: IntArray
    wild: IntArray
    grows_ns: int


def of_calls(log: RunLog, call: IntArray, first: IntArray) -> Own:
    """By operation (of whose log's call is `call`; `first`: whether it is the first of it) what
    looks say."""
    records = log.records
    begins = np.searchsorted(log.call, np.arange(int(log.call[-1]) + 1))
    looks = (log.is_kind(LogKind.PROBE) & log.named(_LOOKS))[begins]
    took = records["exit_ns"][begins] - records["enter_ns"][begins]
    told, told_ns = log.looks[begins].T
    # Where the log does not tell how many there were it has the time in them.
    unlogged = records["call_before_ns"][begins].astype(np.int64)
    unlogged = np.diff(unlogged, prepend=0) - np.concatenate(([0], took[:-1]))
    common = float(np.median(took[looks])) if looks.any() else 0.0
    each, grows = _time_of_looks(told[looks & (told > 0)], told_ns[looks & (told > 0)], common)
    linear = max(each - grows / 2, 1.0)
    root = np.sqrt(linear**2 + 2 * grows * np.maximum(unlogged, 0)) - linear
    guessed = root / grows if grows else unlogged / linear
    guessed = np.where(guessed > _MOST_GUESSED, 1, np.maximum(np.round(guessed), 1))
    guessed = np.where(unlogged > 0, guessed, 0)
    own = np.where(looks, np.where(told > 0, told, guessed.astype(np.int64)), 0)
    wild = np.zeros(len(begins), np.int64)
    from_any = log.has(LogFlag.WILDCARD)
    at = np.where(log.is_kind(LogKind.RECV) & (log.end >= 0), log.end, log.call)
    np.maximum.at(wild, at[from_any], 1)
    took = np.where(looks, took, 0)
    return Own(np.where(first, own[call], 0), np.where(first, took[call], 0), wild[call], grows)


def _time_of_looks(count: IntArray, took_ns: IntArray, common: float) -> tuple[float, int]:
    """What the first of looks takes that find nothing, and how much longer each further one."""
    if len(np.unique(count)) < _FEWEST_COUNTS:
        return common, 0
    rows = np.stack((count, count * (count - 1) / 2), axis=1)
    (each, grows), *_ = np.linalg.lstsq(rows, took_ns, rcond=None)
    if grows * count.max() < each:
        return common, 0
    return float(each), round(float(grows))


def find_farms(schedule: ArraySchedule, own: Own, bosses: IntArray) -> tuple[Farm, ...]:
    """The farms of a schedule whose boss is one of these streams, in the order of their begins."""
    if schedule.streams != schedule.ranks:
        return ()
    found = []
    for boss in bosses.tolist():
        low, high = (int(x) for x in schedule.first[boss : boss + 2])
        ops = schedule.operations
        met = low + np.flatnonzero(np.isin(ops["kind"][low:high], (Kind.MEET, Kind.WAIT_MEET)))
        edges = [low, *(met + 1).tolist(), high]
        for begin, end in pairwise(edges):
            if not own.wild[begin:end].any():
                continue
            stop = end - 1 if ops["kind"][end - 1] in (Kind.MEET, Kind.WAIT_MEET) else end
            try:
                found.append(_Finder(schedule, own, boss).farm(begin, stop))
            except _NoFarmError:
                return ()
    return tuple(found)


@dataclass
class _Event:
    """One turn of the boss: it takes a message, and may answer."""

    first: int
    send: int
    source: int
    taken: bool = False
    reply: int = -1
    end: int = -1


def _whole(weights: list[float], total: int) -> list[int]:
    ends = np.round(np.cumsum([0.0, *weights]) / sum(weights) * total).astype(np.int64)
    return [int(ns) for ns in np.diff(ends)]


class _Finder:
    def __init__(self, schedule: ArraySchedule, own: Own, boss: int) -> None:
        self.schedule, self.own, self.boss = schedule, own, boss
        ops = schedule.operations
        self.kind, self.partner, self.peer = ops["kind"], ops["partner"], ops["peer"]
        self.flags, self.calc = ops["flags"], schedule.calc_ns

    def farm(self, begin: int, end: int) -> Farm:
        self.events: list[_Event] = []
        self.seeds: list[int] = []
        self.after: list[int] = []
        self._read_boss(begin, end)
        if not self.events:
            raise _NoFarmError
        first, last = self.events[0].first, self.events[-1].end
        begins = min([first, *self.seeds])
        sources = {e.source for e in self.events}
        if len(sources) < _FEWEST_WORKERS or not {self._to(s) for s in self.seeds} <= sources:
            raise _NoFarmError
        return self._assembled(begins, last, sorted(sources))

    def _to(self, send: int) -> int:
        return int(self.peer[send])

    def _read_boss(self, begin: int, end: int) -> None:
        now: _Event | None = None
        for i in range(begin, end):
            kind = int(self.kind[i])
            completes = kind == Kind.WAIT_RECV or (
                kind == Kind.RECV and self.flags[i] & Flag.BLOCKING
            )
            if kind == Kind.WAIT_ARRIVAL or completes:
                send = int(self.partner[i])
                if now is None or now.send != send:
                    if not self.own.wild[i]:
                        if self.events and now is not None:
                            raise _NoFarmError
                        continue
                    if now is not None and not now.taken:
                        raise _NoFarmError
                    if self.after:
                        raise _NoFarmError
                    if now is not None:
                        now.end = i
                    now = _Event(i, send, int(self.peer[i]))
                    self.events.append(now)
                now.taken |= bool(completes)
            elif kind == Kind.SEND:
                if now is None:
                    self.seeds.append(i)
                elif self._to(i) == now.source and now.taken and now.reply < 0 and not self.after:
                    now.reply = i
                else:
                    self.after.append(i)
        if now is not None:
            if not now.taken:
                raise _NoFarmError
            if self.after and len(self.events) > 1 and self.events[-2].reply < 0 <= now.reply:
                # What it sends to all in the end, the last that it heard of first.
                self.after.insert(0, now.reply)
                now.reply = -1
            now.end = now.reply + 1 if now.reply >= 0 else self._taken_at(now, end) + 1
        # What it sent to others before the first ask is no part of the farm.
        sources = {e.source for e in self.events}
        self.seeds = [s for s in self.seeds if self._to(s) in sources]

    def _taken_at(self, event: _Event, end: int) -> int:
        at = event.first
        for i in range(event.first, min(end, event.first + 8)):
            if self.kind[i] in _WAITING and int(self.partner[i]) == event.send:
                at = i
        return at

    def _assembled(self, begin: int, end: int, sources: list[int]) -> Farm:
        replies: dict[int, list[int]] = defaultdict(list)
        for s in self.seeds:
            replies[self._to(s)].append(s)
        for e in self.events:
            if e.reply >= 0:
                replies[e.source].append(e.reply)
        late = [s for s in self.after if self._to(s) in sources]
        for s in late:
            replies[self._to(s)].append(s)
        if len({self._to(s) for s in late}) < len(late):
            raise _NoFarmError
        workers, bodies = {}, dict[int, Body]()
        for w in sources:
            workers[w] = self._worker(w, replies[w], bodies)
        finals = {worker.final for worker in workers.values()}
        common = self._common_ns()
        tasks: list[Task] = []
        stops: list[tuple[int, ...]] = []
        for s in self.seeds:
            if s not in bodies:
                raise _NoFarmError
            tasks.append(Task(bodies[s], (s,)))
        takes: dict[int, Took] = {}
        last_task = -1
        for number, e in enumerate(self.events):
            before = int(self.calc[e.first]) + int(self.own.look_ns[e.first])
            count = int(self.own.looks[e.first])
            looked = (count + 1) * common + self.own.grows_ns * count * (count + 1) // 2
            if count and before > looked:
                shares = self._shares(tasks, number, count, before - looked, bodies)
                tasks += [Task(None, (), ns) for ns in shares]
                before, last_task = common, number
            ops = tuple(range(e.first, e.reply if e.reply >= 0 else e.end))
            takes[e.send] = Took(ops, before)
            if e.reply < 0:
                continue
            reply = tuple(range(e.reply, e.end))
            if e.reply in finals:
                stops.append(reply)
                continue
            tasks.append(Task(bodies[e.reply], reply))
            last_task = number
            if stops:
                raise _NoFarmError
        asks = self._asks(last_task)
        return Farm(
            boss=self.boss,
            begin=begin,
            end=end,
            seeds=tuple(self.seeds),
            workers=workers,
            tasks=tuple(tasks),
            stops=tuple(stops),
            asks=asks,
            takes=takes,
            looks=any(task.body is None for task in tasks),
            before_ns=common,
            grows_ns=self.own.grows_ns,
        )

    def _shares(
        self, before: list[Task], number: int, count: int, total: int, bodies: dict[int, Body]
    ) -> list[int]:
        """What each of some tasks took of which only the sum is known: as those next to them in the
        queue let expect."""
        following = [
            self._cost(bodies[e.reply].ops)
            for e in self.events[number : number + _NEXT]
            if e.reply in bodies
        ]
        ratio = 1.0
        if not before and len(following) > 1:
            ratio = max(following[0], 1) / max(following[1], 1)
        return _whole([ratio ** (count - k) for k in range(count)], total)

    def _cost(self, ops: range) -> int:
        return int(self.calc[ops.start : ops.stop].sum())

    def _common_ns(self) -> int:
        before = [
            int(self.calc[e.first]) + int(self.own.look_ns[e.first])
            for e in self.events[1:]
            if not self.own.looks[e.first]
        ]
        return int(np.median(before)) if before else 0

    def _asks(self, last_task: int) -> frozenset[int]:
        """The sites whose messages have a reply as long as there are tasks."""
        site = self.schedule.site
        assert site is not None
        answered: dict[int, set[bool]] = defaultdict(set)
        behind: dict[int, set[bool]] = defaultdict(set)
        for number, e in enumerate(self.events):
            into = answered if number <= last_task else behind
            into[int(site[e.send])].add(e.reply >= 0)
        if any(len(found) > 1 for found in (*answered.values(), *behind.values())):
            raise _NoFarmError
        asks = {s for s, found in answered.items() if True in found}
        after = {next(iter(behind[s])) for s in asks if s in behind}
        if len(after) > 1 or any(True in found for s, found in behind.items() if s not in asks):
            raise _NoFarmError
        return frozenset(asks)

    def _worker(self, stream: int, replies: list[int], bodies: dict[int, Body]) -> Worker:
        """What belongs to each of its replies."""
        low, high = (int(x) for x in self.schedule.first[stream : stream + 2])
        sends = [e.send for e in self.events if e.source == stream]
        given = {s: k for k, s in enumerate(replies)}
        if not replies:
            raise _NoFarmError
        about = [low + int(k) for k in np.flatnonzero(self._is_of(low, high, set(sends), given))]
        taken = [NONE] * len(replies)
        for i in about:
            if self._completes(i):
                taken[given[int(self.partner[i])]] = i
        if NONE in taken or taken != sorted(taken):
            raise _NoFarmError
        begin = about[0]
        ends = max(taken[-1], max(sends)) + 1
        mine = set(about)
        for i in range(begin, ends):
            if i not in mine and self.kind[i] not in (Kind.CALC, Kind.WAIT_SEND):
                raise _NoFarmError
        for k, reply in enumerate(replies[:-1]):
            bodies[reply] = Body(range(taken[k] + 1, taken[k + 1] + 1))
        first = Body(range(begin, taken[0] + 1))
        return Worker(stream, first, Body(range(taken[-1] + 1, ends)), replies[-1], ends)

    def _completes(self, i: int) -> bool:
        kind = self.kind[i]
        return bool(kind == Kind.WAIT_RECV or (kind == Kind.RECV and self.flags[i] & Flag.BLOCKING))

    def _is_of(self, low: int, high: int, sends: set[int], replies: dict[int, int]) -> np.ndarray:
        kind, partner = self.kind[low:high], self.partner[low:high].astype(np.int64)
        own = np.isin(np.arange(low, high), np.fromiter(sends, np.int64, len(sends)))
        waits = np.isin(kind, _WAITING)
        return own | (waits & np.isin(partner, np.fromiter(replies, np.int64, len(replies))))
