"""Variables that a routine only writes: statuses that nobody looks at, unread error codes."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program, Routine
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language

_STATUS = {**mpi_calls.STATUS, **mpi_calls.STATUS_OF_WAIT}


def never_read(program: Program, routine: Routine, key: str) -> Reason | None:
    """None where nothing reads the local variable `key`; else what may read it.

    Passing it to an MPI routine as status or error code is not reading it.
    """
    variable = program.variables.get(key)
    here = Location(routine.file, routine.line)
    if variable is None or variable.kind not in ("local", "host"):
        name = key if variable is None else variable.name
        return Reason(ReasonKind.RESULT_NOT_LOCAL(variable=name), here)
    for target in program.holders(key):
        if not target.startswith("argument:MPI_"):
            return Reason(ReasonKind.RESULT_ADDRESS(variable=variable.name), here)
    text = program.files.get(routine.file)
    fortran = text is not None and text.language is not Language.C
    # The variables of a host are known in the procedures that it contains.
    everywhere = list(program.routines.values()) if variable.kind == "host" else [routine]
    for where in everywhere:
        found = _reader(program, where, key, fortran)
        if found is not None:
            return found
    return None


def _reader(program: Program, routine: Routine, key: str, fortran: bool) -> Reason | None:
    variable = program.variables[key]
    for statement in routine.statements():
        for access in statement.accesses:
            if access.variable == key and not access.write:
                return Reason(
                    ReasonKind.RESULT_READ(variable=variable.name),
                    Location(routine.file, access.line),
                )
            field = program.variables.get(access.variable)
            if (
                field is not None
                and field.kind == "field"
                and variable.record
                and field.record == variable.record
            ):
                place = Location(routine.file, access.line)
                return Reason(ReasonKind.RESULT_MAY_BE_READ(variable=variable.name), place)
        for call in statement.calls:
            for position, argument in enumerate(call.arguments):
                if argument.base == key and not _is_result(
                    call.name, position, len(call.arguments), fortran
                ):
                    return Reason(
                        ReasonKind.RESULT_PASSED(variable=variable.name, routine=call.name),
                        Location(routine.file, call.line),
                    )
    return None


def _is_result(name: str, position: int, total: int, fortran: bool) -> bool:
    """Whether MPI only writes to the argument: a status, or Fortran's error code."""
    if not name.startswith("MPI_"):
        return False
    if position in (_STATUS.get(name, -1), mpi_calls.FLAG_OF_PROGRESS.get(name, -1)):
        return True
    return fortran and position == total - 1
