"""Requests of C that are no elements of arrays, which both halves of a routine are given.

The caller has an array of one, and a half `MPI_Wait(request, ...)` for `MPI_Wait(&request, ...)`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine

_FIRST = Affine(0)
_TYPE = "MPI_Request"


def as_array_of_one(variable: Variable) -> Variable:
    """What the callers declare in the place of a request."""
    return replace(variable, element=_TYPE, pointer=False, bounds=((_FIRST, _FIRST),))


def lone_request_fits(program: Program, routine: Routine, variable: Variable) -> bool:
    """Whether calls are given its address, and it is named nowhere else but where it is declared.

    There it may begin with MPI_REQUEST_NULL.
    """
    text = _text(program, routine)
    name = re.escape(variable.name)
    named = len(re.findall(rf"\b{name}\b", text))
    addresses = len(re.findall(rf"[(,]\s*&\s*{name}\s*[,)]", text))
    calls = [call for statement in routine.statements() for call in statement.calls]
    given = sum(a.base == variable.key for call in calls for a in call.arguments)
    values = re.findall(rf"\b{name}\s*=(?!=)\s*([^,;]*)", text)
    begins = all(value.strip() == "MPI_REQUEST_NULL" for value in values)
    return named - 1 == addresses == given and begins


def _lone(program: Program, kept: Sequence[Variable]) -> list[Variable]:
    pairs = ((each, program.variables[each.key]) for each in kept)
    return [v for v, own in pairs if v.element == _TYPE and (own.pointer or not own.bounds)]


def in_half(program: Program, kept: Sequence[Variable], body: str) -> str:
    """The text of a half with the names of the arrays for the addresses of the requests."""
    for variable in _lone(program, kept):
        body = re.sub(rf"&\s*{re.escape(variable.name)}\b", variable.name, body)
    return body


def begun_requests(program: Program, routine: Routine, kept: Sequence[Variable]) -> list[str]:
    """What the start does in the place of their declarations."""
    text = _text(program, routine)
    names = [variable.name for variable in _lone(program, kept)]
    begin = (name for name in names if re.search(rf"\b{re.escape(name)}\s*=(?!=)", text))
    return [f"{name}[0] = MPI_REQUEST_NULL;" for name in begin]


def _text(program: Program, routine: Routine) -> str:
    data = program.files[routine.file].data
    return data[routine.body.start : routine.body.end].decode(errors="replace")
