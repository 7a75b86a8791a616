"""What of a communication routine can be done at its start, and what belongs to its finish.

The routine's statements are taken in their order. What a wait must come before, or what depends on
such a statement, is late; all else is early. Early statements pass late ones that they do not
depend on, so that the result is that of the routine as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.transfer import Transfer, data_accesses
from imbrex.transform.model.program import (
    Access,
    Block,
    Call,
    Kind,
    Location,
    Reason,
    Routine,
    Statement,
)


@dataclass(slots=True)
class Item:
    """A statement, at the top or inside one conditional; a call becomes starts that are early."""

    statement: Statement
    guard: Statement | None
    accesses: list[Access]
    transfers: list[Transfer] = field(default_factory=list)
    # From an indentation to the text, where it is not the statement's own.
    render: Callable[[str], str] | None = None


@dataclass(slots=True)
class Schedule:
    early: list[Item] = field(default_factory=list)
    late: list[Item] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    requests: int = 0  # those of the routines that it calls
    problem: Reason | None = None
    data: dict[int, list[Access]] = field(default_factory=dict)  # of each transfer

    @property
    def flying(self) -> list[Access]:
        """Memory in use from the start to the finish."""
        return [
            access for item in self.early for t in item.transfers for access in self.data[id(t)]
        ]


class Scheduler:
    """Divides one routine."""

    def __init__(self, footprints: Footprints, routine: Routine) -> None:
        self.footprints = footprints
        self.routine = routine
        self.found = Schedule()
        self.blocked: list[Access] = []  # of what is late
        self.changed: frozenset[str] = frozenset()  # what may differ from when that was looked at
        self.waiting = False  # a communication is late: the order of all further ones is kept

    def run(self, transfers_of: dict[int, list[Transfer]]) -> Schedule:
        """`transfers_of`: by the identity of each call that may become nonblocking."""
        self.transfers_of = transfers_of
        for statement in self.routine.body.statements:
            if statement.kind is Kind.DECLARE:
                continue
            footprint = self.footprints.of(statement, self.routine.file)
            if footprint.stop or footprint.leaves:
                self.found.problem = footprint.stop or footprint.leaves
                return self.found
            inner = self._inside(statement)
            if inner is not None and footprint.events:
                for child in inner.statements:
                    self._place(child, statement)
            else:
                self._place(statement, None)
            if self.found.problem:
                break
        return self.found

    @staticmethod
    def _inside(statement: Statement) -> Block | None:
        """The body of a conditional that may be taken apart: its condition can be repeated."""
        if statement.kind is not Kind.IF or len(statement.blocks) != 1:
            return None
        return None if statement.condition is None else statement.blocks[0]

    def _place(self, statement: Statement, guard: Statement | None) -> None:
        footprint = self.footprints.of(statement, self.routine.file)
        accesses = list(footprint.accesses)
        if guard is not None:
            accesses += guard.accesses
        self.changed |= self.footprints.changed(accesses)
        call = self._call(statement)
        if call is not None and not self.waiting and not self._meets(accesses):
            transfers = self.transfers_of[id(call)]
            item = Item(statement, guard, accesses, transfers)
            self.found.early.append(item)
            self.found.transfers += transfers
            for transfer in transfers:
                data = data_accesses(self.footprints.program, transfer)
                self.found.data[id(transfer)] = data
                self.blocked += data
            return
        item = Item(statement, guard, accesses)
        if footprint.events or self._meets(accesses):
            if any(e.name not in mpi_calls.BLOCKING for e in footprint.events):
                name = footprint.events[0].name
                place = Location(self.routine.file, statement.line)
                self.found.problem = Reason(f"the routine also calls {name}", place)
            self.waiting = self.waiting or bool(footprint.events)
            self.found.late.append(item)
            self.blocked += accesses
            return
        self.found.early.append(item)

    def _call(self, statement: Statement) -> Call | None:
        for call in statement.calls:
            if id(call) in self.transfers_of:
                return call
        return None

    def _meets(self, accesses: list[Access]) -> bool:
        """Whether something late must stay ahead; a section counts while its bounds stay."""
        return self.footprints.conflict(accesses, self.blocked, self.changed) is not None
