"""Datatypes that functions say: `mpi_type<T>::get()`, where that does nothing but return one."""

from __future__ import annotations

import re

from imbrex.transform import mpi_calls
from imbrex.transform.model.memory import UNKNOWN_MEMORY
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import TWICE
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement

_RETURNS = re.compile(rb"\{\s*return\s+(MPI_\w+)\s*;\s*\}?")


def name_returned(program: Program) -> None:
    """Take calls of such functions as the constants that they return, in arguments of others."""
    for routine in program.routines.values():
        for statement in routine.statements():
            if len(statement.calls) > 1:
                _name(program, routine, statement)


def _name(program: Program, routine: Routine, statement: Statement) -> None:
    made = {(call.start, call.end): call for call in statement.calls if not call.unknown}
    for argument in [argument for call in statement.calls for argument in call.arguments]:
        inner = made.get((argument.start, argument.end))
        callee = None if inner is None else program.callee(inner.name, routine.file)
        value = "" if callee is None else _returned(program, callee)
        if value:
            argument.meaning = value
            argument.base, argument.through = UNKNOWN_MEMORY, False
            statement.calls = [call for call in statement.calls if call is not inner]


def _returned(program: Program, routine: Routine) -> str:
    """The datatype of MPI's own that a function returns, which is all that it does; else none."""
    source = program.files.get(routine.file) or program.headers.get(routine.file)
    if source is None or source.is_fortran or routine.problem == TWICE:
        return ""
    match = _RETURNS.fullmatch(source.data[routine.body.start : routine.body.end].strip())
    value = "" if match is None else match[1].decode()
    return value if value in mpi_calls.PREDEFINED else ""
