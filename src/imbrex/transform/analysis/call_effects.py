"""What single statements and calls of MPI and of libraries touch, without what they call."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.request_arguments import request_position, request_section
from imbrex.transform.analysis.sections import buffer_section, element_of, whole_of
from imbrex.transform.analysis.transfer import further
from imbrex.transform.model.calls import Call
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.statements import Statement

_IN_PLACE = "MPI_IN_PLACE"


def evaluated(program: Program, statement: Statement) -> list[Access]:
    """What a statement touches by itself; an address is that of an array as it is declared."""
    accesses = list(statement.accesses)
    for call in statement.calls:
        if call.name == "MPI_Get_address" and call.arguments:
            named = call.arguments[0]
            whole = whole_of(program, named)
            accesses = [
                access._replace(section=whole) if access.variable == named.base else access
                for access in accesses
            ]
    return accesses


def fence(program: Program, statement: Statement, place: Location) -> list[Access] | None:
    """What callers see of a fence behind a wait of Fortran; None where a statement is none.

    It keeps a compiler from moving what the message has over the wait, and reads nothing. What a
    caller has beside a call of a routine with both is on one side of the two, so that all that
    counts is that the element is named. MPI_Get_address is one where Imbrex has written it.
    """
    call = statement.calls[0] if len(statement.calls) == 1 else None
    if statement.blocks or call is None or not call.arguments:
        return None
    named, *rest = call.arguments
    element = element_of(program, named) or whole_of(program, named)
    if call.name == "MPI_F_sync_reg" and element is not None:
        return [*statement.accesses, Access(named.base or "", False, False, place.line, element)]
    variable = program.variables.get(rest[0].base or "") if rest else None
    own = variable is not None and variable.name.lower().startswith("imbrex_address")
    if call.name != "MPI_Get_address" or not own:
        return None
    found = [
        access._replace(section=element) if access.variable == named.base else access
        for access in statement.accesses
    ]
    found += argument_effects(program, call, mpi_calls.EFFECTS[call.name], place)
    return found + fortran_error_code(call, place)


def argument_effects(
    program: Program, call: Call, effects: dict[int, str], place: Location
) -> list[Access]:
    """What a function of MPI or of a library does to what it is given."""
    found = []
    sections = {
        part.buffer: buffer_section(program, call, part)
        for part in mpi_calls.PARTS.get(call.name, ())
        if len(call.arguments) > part.communicator
    }
    if call.name in mpi_calls.STARTS or call.name in mpi_calls.WAITS:
        sections[request_position(call)] = request_section(call, program)
    single = [(at, letter == "w") for at, modes in effects.items() for letter in modes]
    in_place = {at for at, argument in enumerate(call.arguments) if argument.constant == _IN_PLACE}
    if in_place:  # what is written is what is sent
        single = [(at, write) for at, write in single if at not in in_place]
        single = [(at, False) for at, write in single if write] + single
    for position, write in single:
        if position >= len(call.arguments) or not call.arguments[position].pointer:
            continue
        argument = call.arguments[position]
        if argument.constant in mpi_calls.NO_STATUS:
            continue
        found.append(
            Access(
                UNKNOWN_MEMORY if argument.base is None else argument.base,
                argument.through,
                write,
                place.line,
                sections.get(position),
                argument.strides if sections.get(position) is not None else (),
                argument.owner,
                argument.slot,
            )
        )
        found += further(argument, write, place.line)
    return found


def fortran_error_code(call: Call, place: Location) -> list[Access]:
    """The variable that takes the error code of a call of Fortran."""
    expected = mpi_calls.C_ARGUMENTS.get(call.name)
    if call.name in mpi_calls.PERSISTENT_STARTS:
        expected = mpi_calls.error_position(call.name)
    if expected is None or len(call.arguments) != expected + 1:
        return []
    last = call.arguments[-1]
    return [Access(last.base or UNKNOWN_MEMORY, last.through, True, place.line)]
