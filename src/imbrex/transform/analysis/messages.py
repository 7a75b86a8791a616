"""Which messages a statement waits for, or which wait for it, in the block that it stands in."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.transfer import buffer_section
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


def messages(
    program: Program, block: Block, index: int, *, produces: bool, blocking: bool = False
) -> list[Access]:
    """Buffers that statement `index` waits for, or that wait for it, through other statements.

    `blocking`: only of calls that block.
    """
    table = mpi_calls.SENDS if produces else mpi_calls.RECEIVES
    siblings = block.statements[index + 1 :] if produces else block.statements[:index]
    found: list[Access] = []
    for sibling in siblings:
        for inner in sibling.walk():
            for call in inner.calls:
                part = table.get(call.name)
                if blocking and call.name not in mpi_calls.BLOCKING:
                    continue
                if part is not None and len(call.arguments) > part.communicator:
                    found.append(buffer_access(program, call, part))
    return found


def collective_messages(
    footprints: Footprints, routine: Routine, block: Block, index: int, *, produces: bool
) -> list[Access]:
    """What the collectives before (or behind) a statement write (or read)."""
    siblings = block.statements[index + 1 :] if produces else block.statements[:index]
    found: list[Access] = []
    for sibling in siblings:
        for inner in sibling.walk():
            for call in inner.calls:
                if call.name not in mpi_calls.BLOCKING_COLLECTIVES:
                    continue
                accesses = footprints.of_call(call, routine.file).accesses
                found += [a for a in accesses if a.write is not produces or _both(call)]
    return found


def _both(call: Call) -> bool:
    return call.name == "MPI_Bcast"


def communicates(routine: Routine) -> bool:
    """Whether any message or collective is written in the routine itself."""
    names = mpi_calls.PARTS.keys() | mpi_calls.BLOCKING_COLLECTIVES.keys()
    return any(call.name in names for s in routine.statements() for call in s.calls)


def statement_waits(footprints: Footprints, routine: Routine, statement: Statement) -> bool:
    """Whether a transfer may be completed in a statement."""
    events = footprints.of(statement, routine.file).events
    return any(event.name in mpi_calls.WAITS for event in events)
