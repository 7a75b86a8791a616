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
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.analysis.requests import started
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, LoopRange, Statement

_NAME = re.compile(
    r"&?\s*(?P<array>(?:this->|\w+(?:\.|->))?\w+)\s*"
    r"(?:\[\s*(?:(?P<index>\d+)|(?:(?P<more>\d+)\s*\+\s*)?(?P<name>[A-Za-z_]\w*))\s*\])?$"
)
_DATA = re.compile(r"\s*\.\s*data\s*\(\s*\)\s*$")  # of a std::array
_MOST = 64  # iterations of a loop that starts messages


@dataclass(frozen=True, slots=True)
class _Use:
    call: Call
    array: str  # as it is written, which is the same for the same object
    first: int
    count: int
    name: str = ""  # of the index that is added to the first one's number

    def elements(self, loop: Statement) -> set[int]:
        """The numbers of the requests, in all iterations of a loop."""
        span = loop.loop if self.name else None
        begins = (0,) if span is None else range(span.low.constant, span.high.constant + 1)
        return {self.first + begin + n for begin in begins for n in range(self.count)}


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
    for statement, loop in _statements(routine):
        mine = [c for c in statement.calls if any(a.base == key for a in c.arguments)]
        if not mine:
            if any(access.variable == key for access in statement.accesses):
                return False
            continue
        if len(statement.calls) != 1 or loop is None:
            return False
        use = _use(mine[0], variable)
        if use is None or not _runs_through(footprints, routine, loop, use):
            return False
        names.add(use.array)
        elements = use.elements(loop)
        if started(use.call) is not None:
            if elements & under_way:
                return False
            under_way |= elements
        elif elements <= under_way:
            under_way -= elements
        else:
            return False
    return len(names) == 1 and not under_way and _stays(footprints, routine, names.pop())


def _statements(routine: Routine) -> Iterator[tuple[Statement, Statement | None]]:
    """All statements; those made whenever the routine is called with themselves, or the loop that
    makes them once for each value of its index."""
    for statement in routine.body.statements:
        each = statement.blocks[0].statements if statement.kind is Kind.LOOP else [statement]
        for inner in statement.walk():
            alone = inner.kind is Kind.SIMPLE and any(inner is one for one in each)
            yield inner, statement if alone else None


def _runs_through(footprints: Footprints, routine: Routine, loop: Statement, use: _Use) -> bool:
    """Whether a use names one element, or another one for each value of a loop's index."""
    if loop.kind is not Kind.LOOP:
        return not use.name
    span = loop.loop
    if span is None or span.low.terms or span.high.terms or not 0 <= _length(span) <= _MOST:
        return False
    variables = footprints.program.variables
    named = {a.variable for inner in loop.walk() for a in inner.accesses if a.variable in variables}
    if {key for key in named if variables[key].name == use.name} != {span.index}:
        return False
    inside = footprints.changed_by(loop.blocks[0].statements, routine.file)
    leaves = any(footprints.of(inner, routine.file).jumps for inner in loop.walk()[1:])
    return span.every and not leaves and span.index not in inside


def _length(span: LoopRange) -> int:
    return span.high.constant - span.low.constant + 1


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
    text = _DATA.sub("", argument.text.strip())
    match = _NAME.match(text)
    if match is None or text.startswith("&") is not (
        match["index"] is not None or match["name"] is not None or not array
    ):
        return None
    count = 1
    if call.name == "MPI_Waitall":
        value = call.arguments[0].value
        if value is None or value.terms:
            return None
        count = value.constant
    if match["name"] is not None and count != 1:
        return None
    first = int(match["index"] or match["more"] or 0)
    return _Use(call, match["array"], first, count, match["name"] or "")


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
    return len(own) == 1 and root not in footprints.program.declared_in(routine)
