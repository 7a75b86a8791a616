"""Lists of requests: a `std::vector<MPI_Request>` that is emptied, filled, and waited for whole.

Where the list is emptied in front of the starts that fill it, it holds what has been started since
then and nothing older, in whatever element: no handle comes into it otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.handles import Handle, Handles
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.analysis.steps import Step, Steps
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_CAST = re.compile(r"\(int\)|static_cast<int>\(|int\(")
_WHOLE = re.compile(r"(?P<list>[\w.>-]+?)\.size\(\)(?P<closed>\)?)$")
_PLACE = re.compile(r"\w+(?:(?:\.|->)\w+)*$")


@dataclass(frozen=True, slots=True)
class RequestList:
    """A list that is waited for as a whole."""

    key: str
    name: str  # in the terms of the outermost routine


class Lists:
    """Follows lists of requests through the routines that a statement calls."""

    def __init__(self, footprints: Footprints, handles: Handles) -> None:
        self.program = footprints.program
        self.handles = handles
        self.steps = Steps(footprints.program, handles)

    def of_wait(self, wait: Handle) -> RequestList | None:
        """The list that a wait is for, all of it."""
        if wait.call.name != "MPI_Waitall" or not wait.name:
            return None
        argument = request_argument(wait.call)
        key = argument.base or ""
        if key not in self.program.request_vectors or not argument.through:
            return None
        if key in wait.routine.parameters and f"vector:{key}" in self.program.variables:
            return None  # a copy of the caller's
        place = counted(wait.call.arguments[0].text)
        first = "".join(argument.text.split())
        if not place or first not in (f"{place}.data()", f"&{place}[0]", f"&{place}.front()"):
            return None
        return RequestList(key, wait.name)

    def empties(self, routine: Routine, statement: Statement, wanted: RequestList) -> bool:
        """Whether a statement empties a list whenever it is made, or makes it."""
        if self.declares(statement, wanted):
            return True
        steps = self.steps.of(routine, statement)
        return steps is not None and any(self._empties(step, wanted) for step in steps)

    def declares(self, statement: Statement, wanted: RequestList) -> bool:
        """Whether a statement of the outermost routine makes a list, with no handle in it."""
        if statement.kind is not Kind.DECLARE:
            return False
        lists = self.program.request_vectors
        made = [
            self.program.variables[a.variable]
            for a in statement.accesses
            if a.write and a.variable in lists
        ]
        return any(known.kind == "local" and known.name == wanted.name for known in made)

    def _empties(self, step: Step, wanted: RequestList) -> bool:
        change = step.statement.list_change
        if change is None or not change.empties or not step.always:
            return False
        place = "".join(change.place.split())
        if _PLACE.match(place) is None:
            return False
        argument = Argument("", 0, 0, base=change.key, through=True)
        name = self.handles.name(step.routine, place, argument, step.names, step.depth)
        return name == wanted.name


def counted(text: str) -> str:
    """The list whose size an expression is, as it is written; else nothing."""
    plain = "".join(text.split())
    cast = _CAST.match(plain)
    inner = plain[cast.end() :] if cast is not None else plain
    whole = _WHOLE.match(inner)
    if whole is None:
        return ""
    closes = cast is not None and cast[0] != "(int)"
    return whole["list"] if bool(whole["closed"]) is closes else ""
