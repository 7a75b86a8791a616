"""One transfer that is being moved: its start, its wait, and what each of them touches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from imbrex.transform import mpi_calls
from imbrex.transform.model.affine import Affine, Range, Section, surely_less
from imbrex.transform.model.program import (
    UNKNOWN_MEMORY,
    Access,
    Argument,
    Call,
    Program,
    Reason,
    Statement,
)


@dataclass(slots=True, eq=False)
class Transfer:
    """A send, a receive or a collective between its start and its wait."""

    call: Call
    part: mpi_calls.PointToPoint
    buffer: Argument
    status: Argument | None = None  # None: the status is not wanted
    status_read: bool = False
    error: Argument | None = None  # Fortran's error code
    start: Statement | None = None
    wait: Statement | None = None
    guards: list[str] = field(default_factory=list)  # conditions to repeat
    conditional: bool = False  # the wait may be reached without the start
    start_blocker: Reason | None = None
    wait_blocker: Reason | None = None
    request: int = -1
    # Of a collective: all memory that it touches, and whether it is written.
    memory: list[tuple[Argument, bool]] = field(default_factory=list)

    @property
    def collective(self) -> bool:
        return self.part.direction == "collective"

    @property
    def start_arguments(self) -> list[Argument]:
        """What the start takes before the request."""
        part, arguments = self.part, self.call.arguments
        if self.collective:
            return arguments[: mpi_calls.C_ARGUMENTS[self.call.name]]
        positions = (part.buffer, part.count, part.datatype, part.peer, part.tag, part.communicator)
        return [arguments[position] for position in positions]

    @property
    def buffers(self) -> list[Argument]:
        return [argument for argument, _ in self.memory] or [self.buffer]

    @property
    def receives(self) -> bool:
        return self.part.direction == "receive"


@dataclass(frozen=True, slots=True)
class Role:
    """What an inserted statement is."""

    transfer: Transfer
    starts: bool


def buffer_section(program: Program, call: Call, part: mpi_calls.PointToPoint) -> Section | None:
    """The elements of its variable that a message is made of; None where they are not known."""
    argument = call.arguments[part.buffer]
    variable = program.variables.get(argument.base or "")
    count = call.arguments[part.count].value
    if variable is None or argument.origin is None or count is None or None in argument.origin:
        return None
    datatype = call.arguments[part.datatype].text.strip().upper()
    if variable.element not in mpi_calls.ELEMENT_OF.get(datatype, frozenset()):
        return None
    if len(argument.origin) != len(variable.bounds) or not variable.bounds:
        return None
    first = argument.origin[0]
    assert first is not None
    last = first.plus(count).plus(Affine(1), -1)
    rest = tuple(Range.point(index) for index in argument.origin[1:])
    if rest:
        limit = variable.bounds[0][1]
        if limit is None or not surely_less(last, limit.plus(Affine(1))):
            return None
    return (Range(first, last), *rest)


def evaluation(call: Call) -> list[Access]:
    """What evaluating the arguments of a call reads."""
    results = {mpi_calls.STATUS.get(call.name), mpi_calls.C_ARGUMENTS.get(call.name)}
    return [
        access
        for position, argument in enumerate(call.arguments)
        if position not in results
        for access in argument.reads
    ]


def data_accesses(program: Program, transfer: Transfer) -> list[Access]:
    """What the transfer touches between its start and its wait."""
    call, part = transfer.call, transfer.part
    found = []
    for argument, write in transfer.memory or [(transfer.buffer, transfer.receives)]:
        section = None
        if not transfer.collective:
            section = buffer_section(program, call, part)
        elif call.name in mpi_calls.ONE_COUNT:
            position = next(i for i, other in enumerate(call.arguments) if other is argument)
            section = buffer_section(program, call, replace(part, buffer=position))
        base = UNKNOWN_MEMORY if argument.base is None else argument.base
        found.append(Access(base, argument.through, write, call.line, section))
    return found


def cannot_match(
    mine: Transfer, other: Call, part: mpi_calls.PointToPoint, changed: frozenset[str]
) -> bool:
    """Whether two receives surely never take the same message (by constant tags or sources)."""
    pairs = (
        (mine.call.arguments[mine.part.tag], other.arguments[part.tag]),
        (mine.call.arguments[mine.part.peer], other.arguments[part.peer]),
    )
    for left, right in pairs:
        if {left.text.strip().upper(), right.text.strip().upper()} & mpi_calls.WILDCARDS:
            continue
        if left.value is None or right.value is None:
            continue
        difference = left.value.plus(right.value, -1)
        names = left.value.variables() | right.value.variables()
        if not difference.terms and difference.constant and not names & changed:
            return True
    return False
