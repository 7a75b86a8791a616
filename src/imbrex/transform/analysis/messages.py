"""Which messages a statement waits for, or which wait for it, in the block that it stands in."""

from __future__ import annotations

from collections.abc import Iterator

from imbrex import mpi_facts
from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Buffers, Footprints
from imbrex.transform.analysis.sections import buffer_section
from imbrex.transform.model.program import (
    UNKNOWN_MEMORY,
    Access,
    Block,
    Call,
    Program,
    Routine,
    Statement,
)


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
    )


def communicates(routine: Routine) -> bool:
    """Whether any message or collective is written in the routine itself."""
    names = mpi_calls.PARTS.keys() | mpi_calls.BLOCKING_COLLECTIVES.keys()
    return any(call.name in names for s in routine.statements() for call in s.calls)


def communicating_blocks(program: Program) -> Iterator[tuple[Routine, Block]]:
    """The blocks of routines that may be edited and communicate."""
    for routine in program.editable():
        if communicates(routine):
            for block in routine.body.plain():
                yield routine, block


def statement_waits(footprints: Footprints, routine: Routine, statement: Statement) -> bool:
    """Whether a transfer may be completed in a statement."""
    events = footprints.of(statement, routine.file).events
    return any(event.name in mpi_calls.COMPLETIONS for event in events)


class Messages:
    """Messages by statement, each statement looked at once."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints
        self._known = footprints.buffers

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
        """
        here = block.statements[index]
        behind = block.statements[index + 1 :]
        siblings = behind if produces else block.statements[:index][::-1]
        found: list[Access] = []
        passed = [here]
        changed: frozenset[str] = frozenset()
        for sibling in siblings:
            passed.append(sibling)
            theirs = self.of(routine, sibling, produces=produces)
            if not theirs.any():
                continue
            buffers = theirs.of(nonblocking=nonblocking, collective=collective)
            if buffers:
                changed |= self.footprints.changed_by(passed, routine.file)
                passed = []
                found += self.footprints.later(buffers, changed)
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
        if call.name in mpi_calls.BLOCKING_COLLECTIVES:
            # A buffer that some processes send out of and the others receive into.
            both = any(buffer.access == "rw" for buffer in mpi_facts.buffers(call.name))
            accesses = self.footprints.of_call(call, routine.file).accesses
            known.collective += [a for a in accesses if both or a.write is not produces]
            return
        table = mpi_calls.SENDS if produces else mpi_calls.RECEIVES
        part = table.get(call.name)
        if part is None or len(call.arguments) <= part.communicator:
            return
        target = known.blocking if call.name in mpi_calls.BLOCKING else known.nonblocking
        target.append(buffer_access(self.program, call, part))
