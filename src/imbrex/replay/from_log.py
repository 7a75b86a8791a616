"""From the call log of a plain run to a schedule of the whole program."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from imbrex import mpi_facts
from imbrex.errors import ImbrexError
from imbrex.profile.call_log import Flag as LogFlag
from imbrex.profile.call_log import Kind as LogKind
from imbrex.replay.arrays import (
    MOST_STREAMS,
    NONE,
    OPERATION,
    ArraySchedule,
    Flag,
    Kind,
    bytes_and_flags,
)
from imbrex.replay.collectives import Collectives
from imbrex.replay.farms import Farm, find_farms, of_calls
from imbrex.replay.first_come import raced_takes
from imbrex.replay.group_epochs import group_epochs
from imbrex.replay.locks import LOCKS, with_lock_messages
from imbrex.replay.meetings import Meetings, meetings
from imbrex.replay.one_sided import closing_epochs, probed
from imbrex.replay.operations import Operations, merged
from imbrex.replay.pairs import SENDS, partners
from imbrex.replay.partitions import partitions
from imbrex.replay.run_log import NOWHERE, BoolArray, IntArray, RunLog

_LONG_CALC, _READY, _BEFORE, _BEGIN, _GOT, _TELL, _LEFT, _WAIT = range(8)
"""Places of operations in a call: computation; what the other side of a window's epoch has to tell;
what else is waited for before anything begins; what begins; of MPI_Win_complete the gets that must
be there before it tells its targets, and the puts that have left; what is awaited."""
_LIMIT_NS = 1 << 32
_SPINS = 0.5
"""Before a test that succeeds: with more than this share of the time in tests that did not, the
program waited for it, and did not compute beside it."""

_MOST_IN_FARMS = 5_000_000
"""Operations up to which farms are looked for."""


@dataclass(frozen=True)
class LogSchedule:
    """`schedule`; what of it is not replayed (calls by reason and by site, `missing_ns` of them);
    the measured run time, from the first rank's start; by site the collectives whose blocks differ
    in sizes that the log does not tell, so that they are taken to be equal; and by site the
    messages before which another could have come (first_come.py). `farms`: those that give work to
    whoever asks first (farms.py)."""

    schedule: ArraySchedule
    not_replayed: dict[str, Counter[int]]
    missing_ns: int
    measured_ns: int
    calls: int
    divided_equally: Counter[int] = field(default_factory=Counter)
    first_come: Counter[int] = field(default_factory=Counter)
    farms: tuple[Farm, ...] = ()


def schedule_from_log(log: RunLog, collectives: Collectives | None = None) -> LogSchedule:
    """The schedule of a run. ImbrexError where it has more threads than a replay can have."""
    if len(log.stream_rank) > MOST_STREAMS:
        raise ImbrexError(
            f"{len(log.stream_rank)} threads call MPI; a replay has at most {MOST_STREAMS}"
        )
    return _Conversion(with_lock_messages(log), collectives or Collectives()).schedule()


class _Conversion:
    def __init__(self, log: RunLog, collectives: Collectives) -> None:
        self.log = log
        records = log.records
        self.calls = int(log.call[-1]) + 1 if len(records) else 0
        self.first_of_call = np.searchsorted(log.call, np.arange(self.calls))
        self.partner = partners(log)
        self.met: Meetings = meetings(log, collectives)
        self.parts = partitions(log, self.partner)
        self.sends = log.is_kind(*SENDS, LogKind.PARTS_SEND) & ~self.parts.divided
        self.receives = log.is_kind(LogKind.RECV, LogKind.PARTS_RECV) & ~self.parts.divided
        self.one_sided = log.is_kind(LogKind.PUT, LogKind.GET) & (log.peer >= 0)
        self.not_replayed: dict[str, Counter[int]] = {}
        self.as_measured = np.zeros(self.calls, bool)
        self.closed = closing_epochs(log, np.flatnonzero(self.one_sided))
        self.epochs = group_epochs(log, self.closed)
        self.all_there_ns = self._all_there()

    def schedule(self) -> LogSchedule:
        self._name_what_is_not_replayed()
        ops = Operations([], [], [], [], [])
        self._begin(ops)
        self._wait(ops)
        calc = self._calc()
        self._computation(ops, calc)
        return self._assembled(ops, calc)

    def _all_there(self) -> IntArray:
        """Of calls that make communicators, windows and files, when the last had come that this one
        waits for, on the clock of the call; -1 of all others. What they take then is the library's
        own time, which no message of the replay stands for. A call in which nobody waits for others
        has it all, but for an epoch that closes transfers: it waits for those."""
        log, members = self.log, self.met.members
        found = np.full(self.calls, NOWHERE, np.int64)
        alone = self.met.alone
        found[log.call[alone]] = log.records["enter_ns"][alone]
        found[self.closed.call] = NOWHERE
        if not len(members):
            return found
        begins = self.met.table["first"].astype(np.int64)
        shift = log.start_ns[log.stream[members]]
        last = np.maximum.reduceat(log.records["enter_ns"][members] + shift, begins)
        last = np.repeat(last, self.met.table["count"]) - shift
        sets_up = np.isin(members, self.met.set_up)
        found[log.call[members[sets_up]]] = last[sets_up]
        return found

    def _leave_out(self, reason: str, which: NDArray[np.int64]) -> None:
        """These records' calls take as long as they did."""
        if len(which):
            self.not_replayed[reason] = Counter(self.log.records["site"][which].tolist())
            self.as_measured[self.log.call[which]] = True

    def _name_what_is_not_replayed(self) -> None:
        log = self.log
        alone = self.partner == NOWHERE
        real = log.peer >= 0
        real |= (log.records["peer"] != -2) & (self.sends | self.receives)
        unsent = self.receives & alone & real & ~log.has(LogFlag.CANCELLED)
        self._leave_out("receives without a logged send", np.flatnonzero(unsent))
        untaken = np.flatnonzero(self.sends & alone & real)
        if len(untaken):
            reason = "sends without a logged receive"
            self.not_replayed[reason] = Counter(log.records["site"][untaken].tolist())
        self._leave_out("collectives whose members are not all logged", self.met.lost)
        self._leave_out("epochs whose other side is not logged", self.epochs.lost)

    def _begin(self, ops: Operations) -> None:
        log = self.log
        sends = self.sends & (log.peer >= 0)
        for which, kind in (
            (sends, Kind.SEND),
            (self.receives & (self.partner != NOWHERE), Kind.RECV),
            (self.one_sided, Kind.SEND),
            (self.met.number != NOWHERE, Kind.MEET),
        ):
            about = np.flatnonzero(which)
            call = log.call[about]
            if which is sends:
                call = self.parts.leaves[about]
            if which is self.one_sided:
                call[np.searchsorted(about, self.epochs.held)] = self.epochs.held_call
            ops.add(call, _BEGIN, np.full(len(about), kind, np.int64), about)
        moved = np.unique(self.parts.moved)
        ops.add(log.call[moved], _BEGIN, np.full(len(moved), Kind.SEND, np.int64), moved)
        told = self.epochs.told
        ops.add(log.call[told], _TELL, np.full(len(told), Kind.SEND, np.int64), told)

    def _wait(self, ops: Operations) -> None:
        log = self.log
        begun_nonblocking = log.named(
            mpi_facts.of_kind("send", "recv", "sendrecv", form="nonblocking")
        )
        ends_itself = log.end == log.call
        # A library says of a small nonblocking send that it is complete at once.
        waited = (log.end != NOWHERE) & ~(begun_nonblocking & ends_itself & self.sends)
        for which, kind in (
            (self.sends & (self.partner != NOWHERE), Kind.WAIT_SEND),
            (self.receives & (self.partner != NOWHERE), Kind.WAIT_RECV),
            (self.met.number != NOWHERE, Kind.WAIT_MEET),
        ):
            about = np.flatnonzero(which & waited)
            ops.add(log.end[about], _WAIT, np.full(len(about), kind, np.int64), about)
        transfer, call, locally = self.closed.transfer, self.closed.call, self.closed.locally
        gets = log.is_kind(LogKind.GET)[transfer]
        # What a lock waits for it has asked for itself.
        asked = (log.call[transfer] == call) | log.named(LOCKS)[self.first_of_call[call]]
        for here, place in (
            (asked, _WAIT),
            (~locally & ~asked, _BEFORE),
            (locally & gets, _GOT),
            (locally & ~gets, _LEFT),
        ):
            arrivals = np.full(int(here.sum()), Kind.WAIT_ARRIVAL, np.int64)
            ops.add(call[here], place, arrivals, transfer[here])
        ready = np.full(len(self.epochs.waited_for), Kind.WAIT_ARRIVAL, np.int64)
        ops.add(self.epochs.wait_call, _READY, ready, self.epochs.waited_for)
        parts = self.parts
        for here, place in ((~parts.locally, _BEFORE), (parts.locally, _LEFT)):
            arrivals = np.full(int(here.sum()), Kind.WAIT_ARRIVAL, np.int64)
            ops.add(parts.needed_by[here], place, arrivals, parts.moved[here])
        probe, found = (np.concatenate(c) for c in zip(probed(log), parts.looks, strict=True))
        known = (self.partner[found] != NOWHERE) | log.is_kind(LogKind.PART_READY)[found]
        sent = np.where(self.receives[found], self.partner[found], found)[known]
        at = log.call[probe[known]]
        ops.add(at, _BEFORE, np.full(len(at), Kind.WAIT_ARRIVAL, np.int64), sent)

    def _calc(self) -> IntArray:
        """Computation before each call, and after the last of each stream (shape calls + streams).

        What is not replayed passes as computation, and so does what a call that waits for nothing
        needs of its processor.
        """
        log, first = self.log, self.first_of_call
        records = log.records
        enter = records["enter_ns"][first].astype(np.int64)
        leave = records["exit_ns"][first].astype(np.int64)
        stream = log.stream[first]
        kept = np.where(self.as_measured | self._waits_for_nothing(), enter, leave)
        kept = np.where(self.all_there_ns >= 0, np.clip(self.all_there_ns, enter, leave), kept)
        new = np.ones(self.calls, bool)
        new[1:] = stream[1:] != stream[:-1]
        previous = np.concatenate(([0], kept[:-1]))
        calc = enter - np.where(new, 0, previous)
        unlogged = records["call_before_ns"][first].astype(np.int64)
        before = np.concatenate(([0], (unlogged + leave - enter)[:-1]))
        unlogged = np.where(new, 0, unlogged - before)
        gap = enter - np.where(new, 0, np.concatenate(([0], leave[:-1])))
        looks = log.named(_POLLS) & ~log.is_kind(LogKind.PART_ARRIVED)
        looks[self.parts.looks[0]] = True
        polls = looks[first] & (unlogged > _SPINS * gap)
        calc = np.where(polls, calc - gap, calc)
        last = np.flatnonzero(np.append(new[1:], True))
        rest = log.end_ns[stream[last]] - kept[last]
        return np.maximum(np.concatenate((calc, rest)), 0)

    def _waits_for_nothing(self) -> BoolArray:
        """Calls that only begin something: their time is their own, on any network."""
        log = self.log
        elsewhere = log.end != log.call
        begins = log.named(_BEGINS) & ~(self.receives & ~elsewhere)
        begins |= (self.met.number != NOWHERE) & elsewhere
        only = np.ones(self.calls, bool)
        np.logical_and.at(only, log.call, begins)
        return only

    def _computation(self, ops: Operations, calc: IntArray) -> None:
        """Operations for computation that no other operation can carry."""
        log = self.log
        has = np.zeros(self.calls, bool)
        for call in ops.call:
            has[call] = True
        long = np.flatnonzero((calc[: self.calls] >= _LIMIT_NS) | ~has)
        ops.add(
            long,
            _LONG_CALC,
            np.full(len(long), Kind.CALC, np.int64),
            self.first_of_call[long],
        )
        stream = log.stream[self.first_of_call]
        last = np.flatnonzero(np.append(stream[1:] != stream[:-1], True))
        # Behind everything else of the last call.
        ops.add(
            last,
            _WAIT + 1,
            np.full(len(last), Kind.CALC, np.int64),
            np.full(len(last), len(log.records), np.int64),
        )

    def _assembled(self, ops: Operations, calc: IntArray) -> LogSchedule:
        log = self.log
        call, place, order, kind, about = (
            np.concatenate(column)
            for column in (ops.call, ops.place, ops.order, ops.kind, ops.about)
        )
        by_time = np.lexsort((order, place, call))
        call, place, kind, about = call[by_time], place[by_time], kind[by_time], about[by_time]
        count = len(call)
        if count >= NONE:
            raise ImbrexError(f"{count} operations are more than a replay can hold")
        first = np.ones(count, bool)
        first[1:] = call[1:] != call[:-1]
        begin = np.full(len(log.records), NOWHERE, np.int64)
        begins = (place == _BEGIN) | (place == _TELL)
        begin[about[begins]] = np.flatnonzero(begins)
        result = np.zeros(count, OPERATION)
        result["kind"] = kind
        result["flags"] = np.where(first, Flag.CALL, 0)
        result["flags"][place == _LEFT] |= np.uint8(Flag.AT_ORIGIN)
        self._fill_calc(result, calc, call, place, first)
        self._fill_partners(result, begin, kind, about)
        stream = log.stream[self.first_of_call][call]
        site = np.append(log.records["site"], 0)
        at_call = log.records["site"][self.first_of_call][call]
        sites = np.where(begins, site[about], at_call).astype(np.uint32)
        result, sites, stream, moved = merged(result, sites, stream)
        call_of = np.zeros(len(result), np.int64)
        call_of[moved[::-1]] = call[::-1]
        members = moved[begin[self.met.members]]
        schedule = ArraySchedule(
            operations=result,
            first=np.searchsorted(stream, np.arange(len(log.stream_rank) + 1)).astype(np.uint64),
            rank=log.stream_rank.astype(np.uint32),
            start_ns=log.start_ns.astype(np.float64),
            node=log.nodes.astype(np.uint32),
            meetings=self.met.table,
            blocks=self.met.blocks.joined,
            members=members.astype(np.uint32),
            site=np.maximum(sites.astype(np.int64), 0).astype(np.uint32),
        )
        measured = int((log.start_ns + log.end_ns).max(initial=0))
        raced = raced_takes(log, self.partner)
        left = self.first_of_call[self.as_measured]
        missing = int((log.records["exit_ns"][left] - log.records["enter_ns"][left]).sum())
        return LogSchedule(
            schedule,
            self.not_replayed,
            missing,
            measured,
            self.calls,
            self.met.blocks.untold,
            Counter(log.records["site"][raced].tolist()),
            self._farms(schedule, call_of, raced),
        )

    def _farms(self, schedule: ArraySchedule, call: IntArray, raced: IntArray) -> tuple[Farm, ...]:
        if not len(raced) or len(call) > _MOST_IN_FARMS:
            return ()
        first = (schedule.operations["flags"] & Flag.CALL) != 0
        own = of_calls(self.log, np.minimum(call, self.calls - 1), first)
        return find_farms(schedule, own, np.unique(self.log.stream[raced]))

    def _fill_calc(
        self,
        result: NDArray[np.void],
        calc: IntArray,
        call: IntArray,
        place: IntArray,
        first: BoolArray,
    ) -> None:
        before = np.where(first, calc[call], 0)
        last = place == _WAIT + 1
        before[last] += calc[self.calls :]
        long = result["kind"] == Kind.CALC
        result["calc_ns"] = before % _LIMIT_NS
        result["bytes"][long] = before[long] // _LIMIT_NS

    def _fill_partners(
        self, result: NDArray[np.void], begin: IntArray, kind: IntArray, about: IntArray
    ) -> None:
        log = self.log
        other = np.append(self.partner, NOWHERE)
        # A rank of which no call is logged has no stream, and no messages.
        main = np.searchsorted(log.stream_rank, np.arange(log.ranks))
        main = np.minimum(main, len(log.stream_rank) - 1)
        ours = np.append(log.stream, 0)[about]
        opposite = other[about]
        theirs = np.where(opposite != NOWHERE, np.append(log.stream, 0)[opposite], NOWHERE)
        target = np.append(log.peer, 0)[about]
        theirs = np.where(theirs == NOWHERE, main[np.maximum(target, 0)], theirs)
        begun = np.where(opposite != NOWHERE, begin[opposite], NONE)
        size, flags = bytes_and_flags(np.append(log.records["bytes"], 0)[about].astype(np.int64))
        answered = np.append(log.records["kind"] == LogKind.GET, False)
        answered[self.closed.transfer[self.closed.confirmed]] = True
        # A receive may be longer than what comes.
        came = np.append(log.records["bytes"], 0)[np.where(opposite != NOWHERE, opposite, about)]
        came_size, came_flags = bytes_and_flags(came.astype(np.int64))

        def put(which: BoolArray, **fields: IntArray | NDArray[np.generic]) -> None:
            for name, values in fields.items():
                result[name][which] = values[which]

        own = begin[np.minimum(about, len(log.records) - 1)]
        sends, receives = kind == Kind.SEND, kind == Kind.RECV
        put(sends, bytes=size, partner=begun, peer=theirs)
        result["flags"][sends] |= flags[sends]
        result["flags"][sends & answered[about]] |= np.uint8(Flag.ROUND_TRIP)
        put(receives, bytes=came_size, partner=begun, peer=theirs)
        result["flags"][receives] |= came_flags[receives]
        put(kind == Kind.WAIT_SEND, partner=own, peer=theirs)
        put(kind == Kind.WAIT_RECV, partner=begun, peer=theirs)
        put(kind == Kind.WAIT_ARRIVAL, partner=own, peer=ours)
        put(kind == Kind.MEET, partner=np.append(self.met.number, 0)[about], peer=ours)
        put(kind == Kind.WAIT_MEET, partner=own, peer=ours)


_POLLS = frozenset(name for name in mpi_facts.functions() if mpi_facts.is_poll(name))
_BEGINS = frozenset(
    name
    for name, facts in mpi_facts.functions().items()
    if facts.kind == "start"
    or (facts.kind in ("send", "recv", "collective") and facts.form == "nonblocking")
)
