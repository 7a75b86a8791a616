"""Which local variables are a routine's own."""

from __future__ import annotations

import re
from functools import lru_cache

from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine

_IN_FORTRAN = re.compile(r"@(.*):[^:]*:(\d+)$")
_IN_C = re.compile(r"@(.*):(\d+)$")
_IN_TEMPLATE = re.compile(r"@(.*?):(\d+)\D")  # behind it stands which instance it is of
_MANY = 1 << 16  # keys, each of which is asked for often


@lru_cache(maxsize=_MANY)
def unit_of(key: str) -> tuple[str, int] | None:
    """File and line of the unit of Fortran whose local variable, or dummy argument, a key is."""
    place = _IN_FORTRAN.search(key)
    return None if place is None else (place[1], int(place[2]))


@lru_cache(maxsize=_MANY)
def place_in_c(key: str) -> tuple[str, int] | None:
    """File and byte of the declaration of a local variable or parameter of C."""
    place = _IN_C.search(key) or _IN_TEMPLATE.search(key)
    return None if place is None else (place[1], int(place[2]))


def is_of_another(program: Program, routine: Routine, key: str) -> bool:
    """Whether a local variable is none of a routine's own."""
    if key in routine.parameters:
        return False
    if program.in_fortran(routine.file):
        unit = unit_of(key)
        return unit is not None and unit != (routine.file, routine.line)
    place = place_in_c(key)
    if place is None:
        return False
    inside = routine.body.start <= place[1] < routine.body.end
    return place[0] != routine.file or not inside


def own_array(program: Program, routine: Routine, name: str) -> str | None:
    """The local array of a routine of C that this name means wherever it stands in the routine."""
    found = [
        key
        for key, variable in program.variables.items()
        if variable.name == name and not is_of_another(program, routine, key)
    ]
    return found[0] if len(found) == 1 and is_local_array(program, found[0]) else None


def is_local_array(program: Program, key: str) -> bool:
    """Whether a variable of C is an array that begins to exist with a block, and no vector."""
    variable = program.variables.get(key)
    if variable is None or variable.kind != "local" or variable.pointer or not variable.bounds:
        return False
    return f"vector:{key}" not in program.variables
