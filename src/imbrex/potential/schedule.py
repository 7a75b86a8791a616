"""A recorded run as one list of operations per rank, ready to be replayed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from imbrex.errors import ImbrexError
from imbrex.potential.collective import CollectiveCost, collective_cost, mean_bytes
from imbrex.potential.recording import RecordedMessage, RecordedRun
from imbrex.potential.trace import ARRIVED, CALL, POST, SEND

COMPUTE, COLLECTIVE = 10, 11
MOST_TREE_MESSAGES = 20_000
"""Beyond them, and beyond the messages of the program, collectives are replayed as one step."""

_BLOCKING_SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Rsend"}


class ReplayError(ImbrexError):
    """A recording that cannot be replayed, and why."""


@dataclass(frozen=True)
class Operation:
    """COMPUTE: `ns`. SEND, POST, ARRIVED: `message`; `blocking` of a send that may wait for its
    receiver. COLLECTIVE: its `cost`."""

    kind: int
    ns: float = 0.0
    message: int = -1
    blocking: bool = False
    cost: CollectiveCost | None = None


@dataclass(frozen=True)
class Schedule:
    """The operations of every rank. `collectives_agree`: all ranks make the same, or at least
    equally many."""

    run: RecordedRun
    operations: dict[int, list[Operation]]
    collectives_agree: bool

    @property
    def size(self) -> int:
        return len(self.operations)

    @cached_property
    def follows_trees(self) -> bool:
        """Whether the messages of collectives are replayed one by one."""
        calls = [
            [op.cost for op in own if op.kind == COLLECTIVE] for own in self.operations.values()
        ]
        sends = sum(op.kind == SEND for own in self.operations.values() for op in own)
        messages = 2 * sum(cost.tree_bytes is not None for cost in calls[0] if cost) * self.size
        return messages <= max(sends, MOST_TREE_MESSAGES) and all(c == calls[0] for c in calls)

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

    ReplayError where it has no trace, where several threads call MPI, or where a receive takes
    what any rank or tag sent: which, would depend on the network.
    """
    if not run.trace.size:
        raise ReplayError("the recording has no trace: record again")
    if run.threads > 1:
        raise ReplayError("several threads of a rank call MPI; their order is not recorded")
    for messages in run.messages.values():
        for m in messages:
            if not m.is_send and (m.peer < 0 or m.tag < 0):
                raise ReplayError(f"{m.site} receives from any rank or tag")
    sizes = mean_bytes(buffer for own in run.collectives.values() for buffer in own)
    costs = [collective_cost(f, len(run.ranks), sizes.get(f, 0.0)) for f in run.functions]
    operations = {}
    for rank in run.ranks:
        rows = run.trace[run.trace["rank"] == rank]
        operations[rank] = _operations(run, run.messages[rank], rows, costs)
    counts = {sum(op.kind == COLLECTIVE for op in ops) for ops in operations.values()}
    return Schedule(run, operations, len(counts) == 1)


def _operations(
    run: RecordedRun,
    messages: list[RecordedMessage],
    rows: NDArray[np.void],
    costs: list[CollectiveCost | None],
) -> list[Operation]:
    found = []
    blocking = False
    kinds, ids, times = rows["kind"].tolist(), rows["id"].tolist(), rows["ns"].tolist()
    for kind, number, ns in zip(kinds, ids, times, strict=True):
        if kind == CALL:
            found.append(Operation(COMPUTE, ns=ns))
            blocking = run.functions[number] in _BLOCKING_SENDS
            if costs[number]:
                found.append(Operation(COLLECTIVE, cost=costs[number]))
        elif kind in (SEND, POST, ARRIVED):
            if not 0 <= number < len(messages):
                raise ReplayError("the trace is damaged: record again")
            found.append(Operation(kind, message=number, blocking=blocking and kind == SEND))
    return found
