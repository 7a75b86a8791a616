"""Reductions by an operation of the program: MPI then calls a function of the program's own.

It may do so in the reduction, or, of a nonblocking one, in any call of MPI until its wait returns.
"""

from __future__ import annotations

from imbrex import mpi_facts
from imbrex.transform import mpi_calls
from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program

_ANY_TIME = frozenset(
    name for name in mpi_calls.OPERATION_OF if mpi_facts.facts(name).form != "blocking"
)


def own_operation(call: Call) -> str | None:
    """The operation of a reduction that is not surely one of MPI's; None for all other calls."""
    position = mpi_calls.OPERATION_OF.get(call.name)
    if position is None or len(call.arguments) <= position:
        return None
    argument = call.arguments[position]
    return None if argument.constant in mpi_calls.PREDEFINED_OPERATIONS else argument.text.strip()


def any_time(program: Program) -> bool:
    """Whether a wait may run an operation of the program."""
    return any(
        call.name in _ANY_TIME and own_operation(call) is not None for call in program.calls()
    )
