"""Variables that a routine only writes: statuses that nobody looks at, unread error codes."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.model.program import Language, Location, Program, Reason, Routine

_STATUS = {**mpi_calls.STATUS, "MPI_Wait": 1, "MPI_Waitall": 2}


def never_read(program: Program, routine: Routine, key: str) -> Reason | None:
    """None where nothing reads the local variable `key`; else what may read it.

    Passing it to an MPI routine as status or error code is not reading it.
    """
    variable = program.variables.get(key)
    here = Location(routine.file, routine.line)
    if variable is None or variable.kind not in ("local", "host"):
        name = key if variable is None else variable.name
        return Reason(f"`{name}` is not a local variable: other routines may read it", here)
    for target in program.holders(key):
        if not target.startswith("argument:MPI_"):
            return Reason(f"the address of `{variable.name}` is kept", here)
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
                return Reason(f"`{variable.name}` is read", Location(routine.file, access.line))
            field = program.variables.get(access.variable)
            if (
                field is not None
                and field.kind == "field"
                and variable.record
                and field.record == variable.record
            ):
                place = Location(routine.file, access.line)
                return Reason(f"`{variable.name}` may be read", place)
        for call in statement.calls:
            for position, argument in enumerate(call.arguments):
                if argument.base == key and not _is_result(
                    call.name, position, len(call.arguments), fortran
                ):
                    return Reason(
                        f"`{variable.name}` is passed to {call.name}",
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
