"""Requests that are members of an object, started and completed by one routine of its.

They live on when the routine returns, so that a wait could complete what another call has started.
It does not where each request that it names has been started in the routine before, in all cases:
what the request held until then is lost, and no wait can be about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.handles import declared_in
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.analysis.requests import started
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_NAME = re.compile(r"&?\s*(?P<array>(?:this->|\w+(?:\.|->))?\w+)\s*(?:\[\s*(?P<index>\d+)\s*\])?$")


@dataclass(frozen=True, slots=True)
class _Use:
    call: Call
    array: str  # as it is written, which is the same for the same object
    first: int
    count: int


def own_members(footprints: Footprints, routine: Routine, key: str) -> bool:
    """Whether all that a routine waits for in a member is what it has started in it itself."""
    variable = footprints.program.variables.get(key)
    if variable is None or variable.kind != "field" or variable.rows:
        return False
    if len(variable.bounds) > 1 or key in footprints.program.overlays:
        return False
    if variable.pointer and not _keeps(footprints, routine, key):
        return False
    names: set[str] = set()
    under_way: set[int] = set()
    for statement, top in _statements(routine):
        mine = [c for c in statement.calls if any(a.base == key for a in c.arguments)]
        if not mine:
            if any(access.variable == key for access in statement.accesses):
                return False
            continue
        if len(statement.calls) != 1 or not top:
            return False
        use = _use(mine[0], variable)
        if use is None:
            return False
        names.add(use.array)
        elements = set(range(use.first, use.first + use.count))
        if started(use.call) is not None:
            if elements & under_way:
                return False
            under_way |= elements
        elif elements <= under_way:
            under_way -= elements
        else:
            return False
    return len(names) == 1 and not under_way and _stays(footprints, routine, names.pop())


def _statements(routine: Routine) -> Iterator[tuple[Statement, bool]]:
    """All statements, and whether each is made whenever the routine is called."""
    for statement in routine.body.statements:
        for inner in statement.walk():
            yield inner, inner is statement and inner.kind is Kind.SIMPLE


def _keeps(footprints: Footprints, routine: Routine, key: str) -> bool:
    """Whether a field that points to requests keeps what it points to while a routine runs."""
    variable = footprints.program.variables[key]
    return len(variable.bounds) == 1 and key not in footprints.changed_in(
        footprints.of_routine(routine)
    )


def _use(call: Call, variable: Variable) -> _Use | None:
    key, array = variable.key, bool(variable.bounds)
    argument = None
    if started(call) is not None or call.name in ("MPI_Wait", "MPI_Waitall"):
        argument = request_argument(call)
    if argument is None or argument.base != key or argument.through is not variable.pointer:
        return None
    if sum(other.base == key for other in call.arguments) != 1:
        return None
    match = _NAME.match(argument.text.strip())
    if match is None or bool(argument.text.strip().startswith("&")) is not (
        match["index"] is not None or not array
    ):
        return None
    count = 1
    if call.name == "MPI_Waitall":
        value = call.arguments[0].value
        if value is None or value.terms:
            return None
        count = value.constant
    return _Use(call, match["array"], int(match["index"] or 0), count)


def _stays(footprints: Footprints, routine: Routine, array: str) -> bool:
    """Whether the name means one object wherever it stands in the routine."""
    root = re.split(r"\.|->", array)[0]
    if root == array or root == "this":
        return routine.on_object
    for key in footprints.changed_in(footprints.of_routine(routine)):
        variable = footprints.program.variables.get(key)
        if variable is not None and variable.name == root:
            return False
    known = [footprints.program.variables.get(key) for key in routine.parameters]
    own = [variable for variable in known if variable is not None and variable.name == root]
    return len(own) == 1 and root not in declared_in(footprints.program, routine)
