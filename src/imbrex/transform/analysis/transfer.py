"""One transfer that is being moved: its start, its wait, and what each of them touches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.sections import buffer_section, message_fit
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.statements import Statement


@dataclass(slots=True, eq=False)
class Transfer:
    """A send, a receive or a collective between its start and its wait."""

    call: Call
    part: mpi_calls.PointToPoint
    buffer: Argument
    status: Argument | None = None  # None: the status is not wanted
    status_read: bool = False
    error: Argument | None = None  # Fortran's error code
    checked: str = ""  # C: the statement that checks the error code
    assigned: str = ""  # C: what takes the error code, as `rc =`; nothing else needs it
    codes: frozenset[str] = frozenset()  # variables for error codes that its text names
    start: Statement | None = None
    wait: Statement | None = None
    # Further waits, where one stands in the next iteration of a loop or in a branch: whichever
    # comes later finds MPI_REQUEST_NULL.
    more_waits: list[Statement] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)  # conditions to repeat
    conditional: bool = False  # the wait may be reached without the start
    repeats_condition: bool = False  # a wait that leaves an IF does so under its condition
    start_blocker: Reason | None = None
    wait_blocker: Reason | None = None
    request: int = -1
    crossed: int = 0  # computing statements that its start or its wait has been moved over
    beside: int = 0  # messages that its start or its wait has been moved over
    # What the wait itself sets besides the transfer's data: the request, a status that is read.
    control: list[Access] = field(default_factory=list)
    # Of a collective: all memory that it touches, and whether it is written.
    memory: list[tuple[Argument, bool]] = field(default_factory=list)
    # Of a statement that starts or completes several: each of them.
    members: list[Transfer] = field(default_factory=list)

    @property
    def each(self) -> list[Transfer]:
        """The transfers that are started or completed here, one by one."""
        return self.members or [self]

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

    @property
    def sets_status(self) -> Access | None:
        """What its wait sets where the status is read."""
        if self.status is None or not self.status_read:
            return None
        base = self.status.base or UNKNOWN_MEMORY
        return Access(base, self.status.through, True, self.call.line)


@dataclass(frozen=True, slots=True)
class Role:
    """What an inserted statement is."""

    transfer: Transfer
    starts: bool
    render: Render | None = None  # how it reads, where the user's own text is moved


# From what a language supplies (rewrites.emit.Text) and the indentation to lines.
Render = Callable[[Any, str], list[str]]


def evaluation(call: Call) -> list[Access]:
    """What evaluating the arguments of a call reads."""
    results = {mpi_calls.STATUS.get(call.name), mpi_calls.C_ARGUMENTS.get(call.name)}
    return [
        access
        for position, argument in enumerate(call.arguments)
        if position not in results
        for access in argument.reads
    ]


def further(buffer: Argument, write: bool, line: int) -> list[Access]:
    """What a message touches beyond the variable that its buffer names."""
    return [Access(key, False, write, line) for key in buffer.extends_into]


def data_accesses(program: Program, transfer: Transfer) -> list[Access]:
    """What the transfer touches between its start and its wait."""
    call, part = transfer.call, transfer.part
    found = []
    for argument, write in transfer.memory or [(transfer.buffer, transfer.receives)]:
        section, fit = None, None
        if not transfer.collective:
            section = buffer_section(program, call, part)
            fit = message_fit(program, call, part) if section is None else None
        elif call.name in mpi_calls.ONE_COUNT:
            position = next(i for i, other in enumerate(call.arguments) if other is argument)
            section = buffer_section(program, call, replace(part, buffer=position))
        base = UNKNOWN_MEMORY if argument.base is None else argument.base
        strides = argument.strides if section is not None else ()
        found.append(
            Access(
                base,
                argument.through,
                write,
                call.line,
                section,
                strides,
                argument.owner,
                argument.slot,
                when=call.known,
                fit=fit,
            )
        )
        found += further(argument, write, call.line)
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
        if {left.constant, right.constant} & mpi_calls.WILDCARDS:
            continue
        if left.value is None or right.value is None:
            continue
        difference = left.value.plus(right.value, -1)
        names = left.value.variables() | right.value.variables()
        if not difference.terms and difference.constant and not names & changed:
            return True
    return False
