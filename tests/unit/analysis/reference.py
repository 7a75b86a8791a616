"""The rules of the analysis a second time, as directly as they can be said, for jobs whose times
are small: every nanosecond of every rank is looked at. For messages between two ranks and
collectives in which all need all; clocks agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.unit.analysis.jobs import ALL, BUFFERED_SEND, COMPLETION, RECV, SEND, SYNC_SEND, Op, Rank

WAITING = ("MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Recv", "MPI_Wait", "MPI_Waitall")
WAITING = (*WAITING, "MPI_Barrier", "MPI_Alltoall")
STARTS = ("MPI_Isend", "MPI_Irecv")


@dataclass(frozen=True)
class Class:
    """`returns`: whether a send returns before its match. Rates in thousandths, (least, most), by
    who is inside MPI: nobody, the sender, the receiver, both."""

    returns: int = -1
    rates: tuple[tuple[int, int], ...] = ((0, 1000),) * 4


@dataclass(frozen=True)
class Handshake:
    """Who has to be inside MPI before a message moves; what may have moved before all the same."""

    sender: bool = False
    receiver: bool = False
    before: int = 0
    latency: int = 0


@dataclass(frozen=True)
class Network:
    """One X for every message and one for every collective with data, whatever its size."""

    x: tuple[int, int]
    collective: tuple[int, int]
    tail: int
    head: int
    path: Class = Class()
    least: int = 0
    """The shortest one-way time of a message."""
    handshake: Handshake = Handshake()
    early: int = -1
    """What moves of a rank's data in a collective before it enters, at most; -1: not known."""


Interval = tuple[int, int]
Bounds = tuple[Interval, Interval]
"""Hidden and exposed."""


class Job:
    """A job with complete logs: streams are paired in order."""

    def __init__(self, ranks: Sequence[Rank], network: Network) -> None:
        self.ranks = ranks
        self.network = network
        self.last = max((op.exit for rank in ranks for op in rank.ops), default=0) + 1
        self.inside = [self._inside(rank) for rank in ranks]
        self.partner: dict[tuple[int, int], tuple[int, int]] = {}
        self.members: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._pair()

    def _inside(self, rank: Rank) -> list[bool]:
        inside = [False] * (self.last + 1)
        for op in rank.ops:
            for t in range(op.enter, op.exit):
                inside[t] = True
        return inside

    def _pair(self) -> None:
        """Both sides of a stream have the same number; members of a round too."""
        sends: dict[tuple[int, ...], tuple[int, int]] = {}
        receives: dict[tuple[int, ...], tuple[int, int]] = {}
        rounds: dict[int, list[tuple[int, int]]] = {}
        for r, rank in enumerate(self.ranks):
            for i, op in enumerate(rank.ops):
                if op.kind in (SEND, SYNC_SEND, BUFFERED_SEND):
                    sends[r, op.peer, op.tag, op.sequence] = r, i
                elif op.kind == RECV:
                    receives[op.peer, r, op.tag, op.sequence] = r, i
                elif op.kind == ALL:
                    rounds.setdefault(op.sequence, []).append((r, i))
        for key in sends.keys() & receives.keys():
            self.partner[sends[key]] = receives[key]
            self.partner[receives[key]] = sends[key]
        for parts in rounds.values():
            if len(parts) == len(self.ranks):
                for part in parts:
                    self.members[part] = parts

    def op(self, at: tuple[int, int]) -> Op:
        return self.ranks[at[0]].ops[at[1]]

    def end(self, at: tuple[int, int]) -> Op:
        op = self.op(at)
        return op if op.end == -2 else self.ranks[at[0]].ops[op.end]

    def matched(self, at: tuple[int, int]) -> bool:
        return at in self.partner or at in self.members

    def span(self, rank: int, begin: int, end: int) -> Interval:
        """Compute and call time of a rank."""
        times = range(begin, max(begin, end))
        calls = sum(1 for t in times if 0 <= t < self.last and self.inside[rank][t])
        return len(times) - calls, calls

    def x(self, at: tuple[int, int]) -> Interval:
        return self.network.collective if self.op(at).kind == ALL else self.network.x

    def interval(self, at: tuple[int, int]) -> Interval:
        """From when to when data of a matched transfer can have moved."""
        if at in self.members:
            ops = self.members[at]
            return min(self.op(m).enter for m in ops), max(self.end(m).exit for m in ops)
        op, other = self.op(at), self.partner[at]
        if op.kind == RECV:
            return self.op(other).enter, self.end(at).exit
        return op.enter, self.end(other).exit

    def four(self, at: tuple[int, int], begin: int, end: int, slack: int) -> Bounds:
        x_lo, x_hi = self.x(at)
        compute, call = self.span(at[0], begin, end)
        slack = min(slack, x_hi)
        hidden = max(0, x_lo - call - slack), min(x_hi, compute + slack)
        exposed = max(0, x_lo - compute - slack), min(x_hi, call + slack)
        if x_lo > compute + call + slack:
            return (0, hidden[1]), (0, exposed[1])
        return hidden, exposed

    def by_calls(self, at: tuple[int, int]) -> Bounds:
        op = self.op(at)
        slack = {SEND: self.network.tail, SYNC_SEND: self.network.tail, RECV: self.network.head}
        most = self.x(at)[1]
        return self.four(at, op.enter, self.end(at).exit, slack.get(op.kind, most))

    def evidence(self, at: tuple[int, int]) -> tuple[Bounds, Bounds, Bounds]:
        """By calls, cut with the match, and with the handshake; an empty cut leaves the former."""
        call = self.by_calls(at)
        if not self.matched(at):
            return call, call, call
        begin, end = self.interval(at)
        if end <= begin:
            return call, call, call
        matched = cut(call, self.four(at, begin, end, 0))
        if at in self.members:
            return call, matched, self.behind_its_entry(at, begin, end, matched)
        opened = self.opened(at)
        if opened <= begin:
            return call, matched, matched
        before = self.network.handshake.before
        x_lo, x_hi = self.x(at)
        compute, inside = self.span(at[0], opened, end)
        if x_lo > compute + inside + min(before, x_hi):  # it did not wait for a handshake
            return call, matched, matched
        return call, matched, cut(matched, self.four(at, opened, end, before))

    def behind_its_entry(
        self, at: tuple[int, int], begin: int, end: int, matched: Bounds
    ) -> Bounds:
        """Of a blocking collective hardly anything of a rank's data moves before it enters."""
        op, early = self.op(at), self.network.early
        if early < 0 or op.end != -2 or op.enter <= begin:
            return matched
        compute, inside = self.span(at[0], op.enter, end)
        x_lo, x_hi = self.x(at)
        if x_lo > compute + inside + min(early, x_hi):
            return matched
        return cut(matched, self.four(at, op.enter, end, early))

    def opened(self, at: tuple[int, int]) -> int:
        """Before this moment a message that waits for a handshake cannot have moved."""
        if at not in self.partner:
            return 0
        sides = (at, self.partner[at])
        sender, receiver = sides if self.op(at).kind != RECV else sides[::-1]
        handshake = self.network.handshake
        moment = self.op(sender).enter
        if handshake.receiver:
            moment = self.drives_from(receiver, moment + handshake.latency)
        if handshake.sender:
            moment = self.drives_from(sender, moment + handshake.latency)
        return moment

    def drives_from(self, at: tuple[int, int], moment: int) -> int:
        """The first time from `moment` on at which this side may have driven its message: inside
        the call that starts it, or the one that completes it and later; at any time where it made
        calls meanwhile that do more than start something."""
        rank, number = at
        op, end = self.op(at), self.end(at)
        between = [o for o in self.ranks[rank].ops[number + 1 :] if o.exit <= end.enter]
        anywhere = any(o.operation not in STARTS for o in between) or self.ranks[rank].unlogged
        while not (op.enter <= moment and (moment <= op.exit or anywhere or moment >= end.enter)):
            moment += 1
        return moment

    def completed(self, rank: int, call: int) -> list[tuple[int, int]]:
        ops = self.ranks[rank].ops
        return [
            (rank, i)
            for i, op in enumerate(ops)
            if op.kind != COMPLETION and (op.end == call or (op.end == -2 and i == call))
        ]

    def causes(self, rank: int, call: int) -> dict[str, Interval]:
        """The parts of a call's time that are not nothing, by looking at each of its instants."""
        op = self.ranks[rank].ops[call]
        length = op.exit - op.enter
        if op.operation not in WAITING:
            return {"library": (length, length)}
        completed = self.completed(rank, call)
        if not completed:
            return {"library": (0, length), "unattributed": (0, length)}
        needs = [self.need(at, op) for at in completed]
        least: dict[str, int] = {}
        most: dict[str, int] = {}
        for t in range(op.enter, op.exit):
            certain = [c for c in LATE if any(c == n[0] and t < n[1] for n in needs)]
            possible = [c for c in LATE if any(c == n[0] and t < n[2] for n in needs)]
            # Of two that are late the first in the order of LATE counts.
            candidates = set()
            for cause in possible:
                candidates.add(cause)
                if cause in certain:
                    break
            if not certain:
                candidates.add("rest")
            for cause in candidates:
                most[cause] = most.get(cause, 0) + 1
            if len(candidates) == 1:
                only = candidates.pop()
                least[only] = least.get(only, 0) + 1
        parts = {c: (least.get(c, 0), most.get(c, 0)) for c in LATE}
        rest = least.get("rest", 0), most.get("rest", 0)
        parts.update(self.rest(completed, needs, op, rest))
        return {cause: part for cause, part in parts.items() if part != (0, 0)}

    def need(self, at: tuple[int, int], call: Op) -> tuple[str, int, int, bool]:
        """Why it may be late, until when certainly, until when possibly, and whether the call needs
        somebody for sure."""
        op = self.op(at)
        returns = self.network.path.returns
        local = op.kind == BUFFERED_SEND or (op.kind == SEND and returns == 1)
        if not self.matched(at):
            return ("nothing" if local else "unmatched"), -1, -1, False
        if at in self.members:
            last = max(self.op(m).enter for m in self.members[at])
            return "late_collective", last, last, True
        there = self.op(self.partner[at]).enter
        if op.kind == RECV:
            return "late_sender", there, there, True
        if op.kind == SYNC_SEND or (op.kind == SEND and returns == 0):
            return "late_receiver", there, there, True
        if local:
            return "nothing", -1, -1, False
        return "late_receiver", -1, there if there < call.exit else -1, False

    def rest(
        self,
        completed: Sequence[tuple[int, int]],
        needs: Sequence[tuple[str, int, int, bool]],
        call: Op,
        rest: Interval,
    ) -> dict[str, Interval]:
        need_kinds = {n[0] for n in needs}
        data = [at for at in completed if self.op(at).bytes > 0]
        if "unmatched" in need_kinds:
            return {"unattributed": rest}
        if not data or need_kinds <= {"nothing"}:
            return {"library": rest, **self.for_room(data, call)}
        x_hi = sum(self.x(at)[1] for at in data)
        moved = 0
        begin = call.exit - rest[0]
        for at in data:
            for least, first, last in self.takes(at) if self.matched(at) else ():
                if least <= last - first:
                    outside = max(0, begin - first) + max(0, last - call.exit)
                    moved = max(moved, least - outside)
        moved = min(moved, rest[0])
        needing = any(n[3] for n in needs)
        parts = {
            "transfer": (moved, max(moved, min(rest[1], x_hi))),
            "stalled": (max(0, rest[0] - x_hi) if needing else 0, rest[1] - moved),
        }
        if not needing:
            parts["library"] = (0, rest[1] - moved)
        return parts

    def takes(self, at: tuple[int, int]) -> list[tuple[int, int, int]]:
        """What goes on for some time at least between two moments."""
        found = [(self.x(at)[0], *self.interval(at))]
        if at not in self.members:
            return [*found, (self.network.least, *self.interval(at))]
        ranks = sorted(self.members[at], key=lambda m: self.op(m).enter)
        block = self.x(at)[0] // (len(ranks) - 1)
        last = min(m for m in ranks if self.op(m).enter == self.op(ranks[-1]).enter)
        until = max(self.end(m).exit for m in ranks)
        if at != last:  # the last one's block comes in
            until = self.end(at).exit
        found.append((block, self.op(last).enter, until))
        if len(ranks) == 2 and self.op(at).end == -2 and self.network.early >= 0:
            most = max(self.end(m).exit for m in ranks)
            found.append((self.x(at)[0] - self.network.early, self.op(last).enter, most))
        return found

    def for_room(self, data: Sequence[tuple[int, int]], call: Op) -> dict[str, Interval]:
        """A call that completes sends kept in buffers, and takes longer than their copies."""
        length, copies = call.exit - call.enter, sum(self.x(at)[1] for at in data)
        posted = [
            self.op(self.partner[at]).enter
            for at in data
            if self.op(at).kind == SEND and at in self.partner and self.lags(at, call.enter)
        ]
        waited = min(max(posted, default=call.enter) - call.enter, length)
        if waited <= copies:
            return {}
        late = waited - copies, waited
        return {"late_receiver": late, "library": (length - late[1], length - late[0])}

    def lags(self, at: tuple[int, int], enter: int) -> bool:
        """Whether the message before this one to the same rank was still under way."""
        rank, number = at
        before = [
            (rank, i)
            for i in range(number)
            if self.ranks[rank].ops[i].kind in (SEND, SYNC_SEND, BUFFERED_SEND)
            and (rank, i) in self.partner
            and self.ranks[rank].ops[i].peer == self.op(at).peer
        ]
        return bool(before) and self.end(self.partner[before[-1]]).exit > enter


LATE = ("late_sender", "late_collective", "late_receiver")


def cut(a: Bounds, b: Bounds) -> Bounds:
    both = tuple((max(x[0], y[0]), min(x[1], y[1])) for x, y in zip(a, b, strict=True))
    return a if any(low > high for low, high in both) else (both[0], both[1])
