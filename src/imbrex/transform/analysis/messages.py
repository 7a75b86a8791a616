"""Which messages a statement waits for, or which wait for it, in the block that it stands in."""

from __future__ import annotations

from collections.abc import Iterator, Set

from imbrex import mpi_facts
from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.persistent import persistent_of
from imbrex.transform.analysis.sections import buffer_section, message_fit
from imbrex.transform.analysis.summary import Buffers
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Statement


def buffer_access(program: Program, call: Call, part: mpi_calls.PointToPoint) -> Access:
    """What one transfer of a call reads or writes."""
    argument = call.arguments[part.buffer]
    section = buffer_section(program, call, part)
    return Access(
        UNKNOWN_MEMORY if argument.base is None else argument.base,
        argument.through,
        part.direction == "receive",
        call.line,
        section,
        argument.strides if section is not None else (),
        argument.owner,
        argument.slot,
        when=call.known,
        fit=message_fit(program, call, part) if section is None else None,
    )


def communicates(routine: Routine) -> bool:
    """Whether any message or collective is written in the routine itself."""
    names = mpi_calls.PARTS.keys() | mpi_calls.BLOCKING_COLLECTIVES.keys()
    names |= mpi_calls.PERSISTENT_STARTS
    return any(call.name in names for s in routine.statements() for call in s.calls)


def has_collectives(routine: Routine) -> bool:
    """Whether a routine calls a collective that has a nonblocking form."""
    names = mpi_calls.BLOCKING_COLLECTIVES.keys()
    return any(call.name in names for s in routine.statements() for call in s.calls)


def around_collectives(program: Program) -> frozenset[str]:
    """The names of routines that have collectives, and may be taken apart around these."""
    every = program.routines.values()
    return frozenset(r.name for r in every if r.name != "main" and has_collectives(r))


def communicating_blocks(
    program: Program, wrappers: Set[str] = frozenset()
) -> Iterator[tuple[Routine, Block]]:
    """The blocks of routines that may be edited and communicate, themselves or by `wrappers`."""
    for routine in program.editable():
        named = {call.name for s in routine.statements() for call in s.calls} if wrappers else ()
        if communicates(routine) or not wrappers.isdisjoint(named):
            for block in routine.body.plain():
                if not is_copy(block):
                    yield routine, block


def is_copy(block: Block | None) -> bool:
    """Whether a block stands in a copy of what a rewrite has changed: it stays as it is."""
    while block is not None:
        if block.as_before:
            return True
        block = None if block.owner is None else block.owner.parent
    return False


def statement_waits(footprints: Footprints, routine: Routine, statement: Statement) -> bool:
    """Whether a transfer may be completed in a statement."""
    events = footprints.of(statement, routine.file).events
    return any(event.name in mpi_calls.COMPLETIONS for event in events)


class Messages:
    """Messages by statement, each statement looked at once."""

    def __init__(
        self, program: Program, footprints: Footprints, wrappers: Set[str] = frozenset()
    ) -> None:
        """`wrappers`: routines whose calls are taken for the collectives in them."""
        self.program = program
        self.footprints = footprints
        self.wrappers = wrappers
        self.persistent = persistent_of(footprints)
        self._known = {} if wrappers else footprints.buffers
        self._waiting: dict[tuple[int, bool, bool, bool], list[list[Access]]] = {}

    def waiting(
        self,
        routine: Routine,
        block: Block,
        index: int,
        *,
        produces: bool,
        nonblocking: bool = True,
        collective: bool = False,
    ) -> list[Access]:
        """Buffers that statement `index` waits for, or that wait for it, through other statements.

        `produces`: of what is sent further down; else of what is received further up.
        The list is kept: it is not to be changed, nor the block while it is asked about.
        """
        key = id(block), produces, nonblocking, collective
        known = self._waiting.get(key)
        if known is None:
            statements = block.statements[::-1] if produces else block.statements
            wanted = []
            for statement in statements:
                theirs = self.of(routine, statement, produces=produces)
                wanted.append(theirs.of(nonblocking=nonblocking, collective=collective))
            known = self._waiting[key] = self._passed_on(routine, statements, wanted)
        return known[-1 - index if produces else index]

    def _passed_on(
        self, routine: Routine, statements: list[Statement], wanted: list[list[Access]]
    ) -> list[list[Access]]:
        """For each statement, the buffers `wanted` at those before it, as they are known there.

        What each statement changes is forgotten as the buffers pass it, so that one pass over the
        block is enough, and most statements change nothing of what is known.
        """
        found: list[list[Access]] = []
        carried: list[Access] = []
        known_by: frozenset[str] = frozenset()
        for statement, own in zip(statements, wanted, strict=True):
            changed: frozenset[str] = frozenset()
            if carried or own:
                footprint = self.footprints.of(statement, routine.file)
                changed = self.footprints.changed_in(footprint)
            if not known_by.isdisjoint(changed):
                carried = self.footprints.later(carried, changed)
                known_by = self.footprints.known_by(carried)
            found.append(carried)
            if own:
                own = self.footprints.later(own, changed)
                carried = own + carried
                known_by |= self.footprints.known_by(own)
        return found

    def of(self, routine: Routine, statement: Statement, *, produces: bool) -> Buffers:
        """What a statement sends or receives."""
        known = self._known.get((id(statement), produces))
        if known is None:
            known = self._known[id(statement), produces] = Buffers()
            for inner in statement.walk():
                for call in inner.calls:
                    self._add(known, routine, call, produces)
        return known

    def _add(self, known: Buffers, routine: Routine, call: Call, produces: bool) -> None:
        if call.name in mpi_calls.BLOCKING_COLLECTIVES or call.name in self.wrappers:
            # A buffer that some processes send out of and the others receive into.
            mine = [] if call.name in self.wrappers else mpi_facts.buffers(call.name)
            both = any(buffer.access == "rw" for buffer in mine)
            accesses = self.footprints.of_call(call, routine.file).accesses
            known.collective += [a for a in accesses if both or a.write is not produces]
            return
        if call.name in mpi_calls.PERSISTENT_STARTS:
            started = self.persistent.started_by(routine, call) or []
            known.nonblocking += [access for access in started if access.write is not produces]
            return
        table = mpi_calls.SENDS if produces else mpi_calls.RECEIVES
        part = table.get(call.name)
        if part is None or len(call.arguments) <= part.communicator:
            return
        target = known.blocking if call.name in mpi_calls.BLOCKING else known.nonblocking
        target.append(buffer_access(self.program, call, part))
