"""Variables that a routine only writes: statuses that nobody looks at, unread error codes."""

from __future__ import annotations

import re
from functools import lru_cache

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.grouped import grouped
from imbrex.transform.analysis.named import names_untold
from imbrex.transform.analysis.status_checks import status_checks
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language

_NAME = re.compile(rb"[a-z]\w*")
_RENAMED = re.compile(rb"=>\s*([a-z]\w*)")
# They ask a status for how much came, and for nothing else.
_COUNTS = frozenset(
    f"MPI_{name}" for name in ("Get_count", "Get_elements", "Get_elements_x", "Test_cancelled")
)
_STATUS = {**mpi_calls.STATUS, **mpi_calls.STATUS_OF_WAIT}


def never_read(
    program: Program, routine: Routine, key: str, *, whole: bool = False, code: bool = False
) -> Reason | None:
    """None where nothing reads the variable `key`; else what may read it.

    Passing it to an MPI routine as status or error code is not reading it. `whole`: the code of the
    whole program is seen, so that a variable of a module need not be local. `code`: what is read of
    it as the status of an allocation, or of input and output, does not count.
    """
    variable = program.variables.get(key)
    here = Location(routine.file, routine.line)
    of_module = whole and key.startswith("module:") and _is_plain(program, key)
    if variable is None or not (variable.kind in ("local", "host") or of_module):
        name = key if variable is None else variable.name
        return Reason(ReasonKind.RESULT_NOT_LOCAL(variable=name), here)
    if _in_group(program, key):
        return Reason(ReasonKind.RESULT_MAY_BE_READ(variable=variable.name), here)
    for target in program.holders(key):
        if not target.startswith("argument:MPI_"):
            return Reason(ReasonKind.RESULT_ADDRESS(variable=variable.name), here)
    text = program.files.get(routine.file)
    fortran = text is not None and text.language is not Language.C
    # The variables of a host are known in the procedures that it contains.
    known_here = variable.kind == "local"
    everywhere = [routine] if known_here else list(program.routines.values())
    for where in everywhere:
        asking = status_checks(program, where, key) if code and known_here else ()
        apart = frozenset(id(inner) for _, check in asking for inner in check.walk())
        found = _reader(program, where, key, fortran, apart)
        if found is not None:
            return found
    return None


def tells_source(program: Program, routine: Routine, key: str) -> bool:
    """Whether what reads a status may ask it for more than how much came: source or tag."""
    variable = program.variables.get(key)
    if variable is None or variable.kind != "local" or _in_group(program, key):
        return True
    if any(not target.startswith("argument:MPI_") for target in program.holders(key)):
        return True
    fortran = program.in_fortran(routine.file)
    counting = frozenset(
        id(statement)
        for statement in routine.statements()
        if {call.name for call in statement.calls if _takes(call, key)} <= _COUNTS
        and any(_takes(call, key) for call in statement.calls)
    )
    return _reader(program, routine, key, fortran, counting) is not None


def _takes(call: Call, key: str) -> bool:
    return any(argument.base == key for argument in call.arguments)


def _is_plain(program: Program, key: str) -> bool:
    """Whether a variable of a module is known by its own name alone."""
    variable = program.variables[key]
    if key.startswith("module:?") or key in program.overlays or variable.volatile:
        return False
    name = variable.name.lower().encode()
    return not any(name in _renamed(source.data) for source in program.files.values())


def _in_group(program: Program, key: str) -> bool:
    """Whether a variable of Fortran may be read by the name of a group, or by another one."""
    name = program.variables[key].name.lower().encode()
    return any(name in grouped(s.data) for s in program.files.values() if s.is_fortran)


@lru_cache(maxsize=4096)
def _renamed(data: bytes) -> frozenset[bytes]:
    """The names that a text of Fortran gives others, `other => name`."""
    return frozenset(_RENAMED.findall(data.lower()))


def _reader(
    program: Program, routine: Routine, key: str, fortran: bool, apart: frozenset[int]
) -> Reason | None:
    variable = program.variables[key]
    name = variable.name.lower()
    for statement in routine.statements():
        if id(statement) in apart:
            continue
        if fortran and name in names_untold(program, routine, statement):
            place = Location(routine.file, statement.line)
            return Reason(ReasonKind.RESULT_MAY_BE_READ(variable=variable.name), place)
        for access in statement.accesses:
            if access.variable == key and not access.write:
                return Reason(
                    ReasonKind.RESULT_READ(variable=variable.name),
                    Location(routine.file, access.line),
                )
            field = program.variables.get(access.variable) if variable.record else None
            if field is not None and field.kind == "field" and field.record == variable.record:
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
