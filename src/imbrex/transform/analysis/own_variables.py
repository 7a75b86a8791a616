"""Which local variables are a routine's own."""

from __future__ import annotations

import re

from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine

_IN_FORTRAN = re.compile(r"@(.*):[^:]*:(\d+)$")


def is_of_another(program: Program, routine: Routine, key: str) -> bool:
    """Whether a local variable is none of a routine's own."""
    if key in routine.parameters:
        return False
    if program.in_fortran(routine.file):
        place = _IN_FORTRAN.search(key)
        return place is not None and (place[1], int(place[2])) != (routine.file, routine.line)
    file, _, offset = key.partition("@")[2].rpartition(":")
    number = re.match(r"\d+", offset)
    if number is None:
        return False
    inside = routine.body.start <= int(number[0]) < routine.body.end
    return file != routine.file or not inside
