"""A recorded run as one list of operations per rank, ready to be replayed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from imbrex import mpi_facts
from imbrex.errors import ImbrexError
from imbrex.profile.recording import RecordedMessage, RecordedRun
from imbrex.profile.recording_format import ARRIVED, CALL, GROUP, POST, SEND
from imbrex.replay.collective_cost import CollectiveCost, collective_cost, mean_bytes
from imbrex.replay.matching import Place, match

COMPUTE, COLLECTIVE = 10, 11
Group = tuple[int, int] | None
"""Of which processes a collective is, and how many they are; None: of all."""
MOST_TREE_MESSAGES = 20_000
"""Beyond them, and beyond the messages of the program, collectives are replayed as one step."""


class ReplayError(ImbrexError):
    """A recording that cannot be replayed, and why."""


_NOWHERE = Place((-1, -1, -1, 0), -1)


@dataclass(frozen=True)
class Operation:
    """COMPUTE: `ns`. SEND, POST, ARRIVED: `message` and its `place`; `blocking` of a send that may
    wait for its receiver. COLLECTIVE: its `cost`, and the `group` of processes that call it."""

    kind: int
    ns: float = 0.0
    message: int = -1
    blocking: bool = False
    cost: CollectiveCost | None = None
    group: Group = None
    place: Place = _NOWHERE


@dataclass(frozen=True)
class Schedule:
    """The operations of every rank."""

    run: RecordedRun
    operations: dict[int, list[Operation]]

    @property
    def size(self) -> int:
        return len(self.operations)

    @cached_property
    def follows_trees(self) -> bool:
        """Whether the messages of collectives are replayed one by one."""
        calls = [
            [op.cost for op in own if op.kind == COLLECTIVE and op.group is None]
            for own in self.operations.values()
        ]
        sends = sum(op.kind == SEND for own in self.operations.values() for op in own)
        messages = 2 * sum(cost.tree_bytes is not None for cost in calls[0] if cost) * self.size
        return messages <= max(sends, MOST_TREE_MESSAGES) and all(c == calls[0] for c in calls)

    @cached_property
    def meeting(self) -> set[Group]:
        """The groups whose processes wait for each other: all make the same calls, or at least
        equally many."""
        calls: dict[Group, list[int]] = {}
        for own in self.operations.values():
            for group, count in Counter(op.group for op in own if op.kind == COLLECTIVE).items():
                calls.setdefault(group, []).append(count)
        return {
            group
            for group, counts in calls.items()
            if len(set(counts)) == 1
            and (group is None or group[0])
            and len(counts) == (group[1] if group else self.size)
        }

    def sent(self, receive: RecordedMessage, place: Place) -> RecordedMessage:
        """The send that a receive took; itself where none was recorded."""
        found = self.run.messages.get(place.key[0], [])
        return found[place.send] if place.send >= 0 else receive

    @cached_property
    def calls_ns(self) -> dict[int, NDArray[np.float64]]:
        """By rank, where on its clock of computation (ns) each MPI call is, from 0 on."""
        result = {}
        for rank, operations in self.operations.items():
            lengths = [op.ns for op in operations if op.kind == COMPUTE]
            result[rank] = np.concatenate([[0.0], np.cumsum(lengths)])
        return result

    def interval_ns(self, rank: int, at_ns: float) -> tuple[float, float]:
        """The stretch of computation between two MPI calls in which a moment lies (ns)."""
        calls = self.calls_ns[rank]
        end = int(np.searchsorted(calls, at_ns, side="right"))
        return float(calls[max(end - 1, 0)]), float(calls[min(end, calls.size - 1)])


def make_schedule(run: RecordedRun) -> Schedule:
    """The schedule of a recording.

    Receives from any rank or tag take what they took. ReplayError where it has no trace, where
    several threads call MPI, or where it is not known what such a receive took.
    """
    if not run.trace.size:
        raise ReplayError("the recording has no trace: record again")
    if run.threads > 1:
        raise ReplayError("several threads of a rank call MPI; their order is not recorded")
    for messages in run.messages.values():
        for m in messages:
            if not m.is_send and m.calls and (m.peer < 0 or m.tag < 0):
                raise ReplayError(f"what {m.site} received from any rank or tag is not known")
    costs = _Costs(run)
    places = match(run)
    return Schedule(run, {r: _operations(run, r, places[r], costs) for r in run.ranks})


class _Costs:
    """What collective calls cost, by function and number of processes."""

    def __init__(self, run: RecordedRun) -> None:
        self._run = run
        self._found: dict[tuple[str, int], CollectiveCost | None] = {}
        self._sizes: dict[int, dict[str, float]] = {}

    def of(self, function: str, group: Group) -> CollectiveCost | None:
        processes = group[1] if group else len(self._run.ranks)
        key = function, processes
        if key not in self._found:
            size = self._mean_bytes(processes).get(function, 0.0)
            self._found[key] = collective_cost(function, processes, size)
        return self._found[key]

    def _mean_bytes(self, processes: int) -> dict[str, float]:
        if processes not in self._sizes:
            everybody = len(self._run.ranks)
            buffers = (b for own in self._run.collectives.values() for b in own)
            own = (b for b in buffers if (b.processes or everybody) == processes)
            self._sizes[processes] = mean_bytes(own)
        return self._sizes[processes]


def _may_wait_for_its_receiver(function: str) -> bool:
    """Whether a call returns when its send is over: not when it is started or buffered."""
    known = mpi_facts.facts(function)
    return known.kind == "send" and known.form == "blocking" and known["mode"] != "buffered"


def _operations(run: RecordedRun, rank: int, places: list[Place], costs: _Costs) -> list[Operation]:
    rows: NDArray[np.void] = run.trace[run.trace["rank"] == rank]
    messages, groups = run.messages[rank], run.groups.get(rank, [])
    following = iter(places)
    found: list[Operation] = []
    blocking = False
    function = ""
    row_kinds, ids, times = rows["kind"].tolist(), rows["id"].tolist(), rows["ns"].tolist()
    for kind, number, ns in zip(row_kinds, ids, times, strict=True):
        if kind == CALL:
            found.append(Operation(COMPUTE, ns=ns))
            function = run.functions[number]
            blocking = _may_wait_for_its_receiver(function)
            if cost := costs.of(function, None):
                found.append(Operation(COLLECTIVE, cost=cost))
        elif kind == GROUP:
            if not 0 <= number < len(groups):
                raise ReplayError("the trace is damaged: record again")
            if found and found[-1].kind == COLLECTIVE:
                group = groups[number]
                cost = costs.of(function, group)
                found[-1] = Operation(COLLECTIVE, cost=cost, group=group)
        elif kind in (SEND, POST, ARRIVED):
            if not 0 <= number < len(messages):
                raise ReplayError("the trace is damaged: record again")
            waits = blocking and kind == SEND
            found.append(Operation(kind, message=number, blocking=waits, place=next(following)))
    return found
