"""The requests that a call of MPI is given: what it names them by, and which elements these are."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program


def request_section(call: Call, program: Program) -> Section | None:
    """The elements of a request array that a start sets or a wait completes."""
    argument = request_argument(call)
    variable = program.variables.get(argument.base or "")
    if variable is None or argument.origin is None or None in argument.origin:
        return None
    if len(argument.origin) != 1 or len(variable.bounds) != 1 or argument.origin[0] is None:
        return None
    first = argument.origin[0]
    one = call.name in ("MPI_Wait", "MPI_Start")
    if one or call.name in mpi_calls.STARTS or call.name in mpi_calls.INITS:
        return (Range.point(first),)
    if call.name not in ("MPI_Waitall", "MPI_Startall"):
        return None
    count = call.arguments[0].value
    return None if count is None else (Range(first, first.plus(count).plus(Affine(1), -1)),)


def request_access(call: Call, program: Program) -> Access:
    """The use of the request variable: starts set it, waits set it to MPI_REQUEST_NULL."""
    argument = request_argument(call)
    base = UNKNOWN_MEMORY if argument.base is None else argument.base
    return Access(base, argument.through, True, call.line, request_section(call, program))


def request_position(call: Call) -> int:
    """Which argument of a start or a completion is the request."""
    position = mpi_calls.REQUEST_OF_COMPLETION.get(call.name)
    if position is None:
        position = mpi_calls.REQUEST_OF_START.get(call.name)
    return mpi_calls.REQUEST_OF_PERSISTENT[call.name] if position is None else position


def request_argument(call: Call) -> Argument:
    return call.arguments[request_position(call)]
