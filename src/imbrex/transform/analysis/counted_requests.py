"""Requests that a member counts: `MPI_Irecv(..., &requests_[n_++])`, and a wait for `n_` of them.

Where the counter becomes 0 first and nothing else sets it than starts that take the next element,
the elements in front of it are what has been started since then, and no others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.derived import split
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.handles import Handle, Handles
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.analysis.steps import Step, Steps
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_OBJECT = r"(?:this->)?(?P<object>(?:\w+(?:\.|->))*)"
_ARRAY = re.compile(rf"(?P<first>&)?{_OBJECT}(?P<array>\w+)(?(first)\[0\])$")
_COUNTER = re.compile(rf"{_OBJECT}(?P<counter>\w+)$")
_NEXT = re.compile(
    rf"(?P<address>&)?{_OBJECT}(?P<array>\w+)(?(address)\[|\+)"
    r"(?:this->)?(?P=object)(?P<counter>\w+)\+\+(?(address)\])$"
)


@dataclass(frozen=True, slots=True)
class Counter:
    """A member that counts the requests in an array of the same object."""

    key: str  # the member's, of whatever object
    array: str  # the key of the array
    place: str  # the object by the name of the outermost routine
    requests: str  # the array by that name


@dataclass(frozen=True, slots=True)
class CountedStarts:
    """What a statement starts in counted elements, and whether it counts them from 0."""

    starts: list[Handle]
    begins: bool


class Counters:
    """Follows counters of requests through the routines that a statement calls."""

    def __init__(self, footprints: Footprints, handles: Handles) -> None:
        self.footprints = footprints
        self.program = footprints.program
        self.handles = handles
        self.steps = Steps(footprints.program, handles)

    def of_wait(self, wait: Handle) -> Counter | None:
        """The member that says for how many requests of its object a wait is."""
        if wait.call.name != "MPI_Waitall" or not wait.name:
            return None
        count, request = wait.call.arguments[0], request_argument(wait.call)
        array = _ARRAY.match(_without_blanks(request.text))
        counter = _COUNTER.match(_without_blanks(count.text))
        if array is None or counter is None or array["object"] != counter["object"]:
            return None
        value = count.value
        if value is None or value.constant or len(value.terms) != 1 or value.terms[0][1] != 1:
            return None
        key = split(value.terms[0][0])[1]
        base = request.base or ""
        if not self._are_members(key, counter["counter"], base, array["array"]):
            return None
        place = wait.name.removesuffix(array["array"])
        return Counter(key, base, place, wait.name) if place != wait.name else None

    def _are_members(self, key: str, name: str, base: str, array: str) -> bool:
        """Whether a number and an array, by their names, are members of one structure."""
        member, requests = (self.program.variables.get(each) for each in (key, base))
        if member is None or requests is None or member.record != requests.record:
            return False
        if (member.kind, member.name) != ("field", name) or member.bounds or member.volatile:
            return False
        if (requests.kind, requests.name) != ("field", array) or requests.pointer:
            return False
        unknown = self.footprints.aliases.escaped | self.footprints.addressed
        return key not in self.program.overlays and key not in unknown

    def keeps(self, routine: Routine, statement: Statement, wait: Handle) -> bool:
        """Whether a statement sets the counter to nothing but 0, behind the wait in it."""
        counter = self.of_wait(wait)
        steps = self.steps.of(routine, statement)
        if counter is None or steps is None:
            return False
        waited = False
        for step in steps:
            waited = waited or any(call is wait.call for call in step.statement.calls)
            behind = waited and self._is_reset(step, counter)
            if self._changes(step, counter) and not behind:
                return False
        return waited

    def of(self, routine: Routine, statement: Statement, counter: Counter) -> CountedStarts | None:
        """What a statement starts; None where it may change the counter in another way."""
        steps = self.steps.of(routine, statement)
        if steps is None:
            return None
        starts: list[Handle] = []
        begins = False
        for step in steps:
            start = self._next(step, counter)
            if start is not None:
                starts.append(start)
            elif self._changes(step, counter):
                if starts or not step.always or not self._is_reset(step, counter):
                    return None
                begins = True
        return CountedStarts(starts, begins)

    def _changes(self, step: Step, counter: Counter) -> bool:
        """Whether a statement itself may set the counter, or a request of the array."""
        statement, file = step.statement, step.routine.file
        own = {counter.key, counter.array}
        if not own.isdisjoint(self.footprints.changed(statement.accesses)):
            return True
        for call in statement.calls:
            if self.steps.callee(call, step.routine) is None and call.name not in mpi_calls.WAITS:
                effects = self.footprints.of_call(call, file)
                if effects.stop or not own.isdisjoint(self.footprints.changed_in(effects)):
                    return True
        return False

    def _next(self, step: Step, counter: Counter) -> Handle | None:
        """The start that a statement is, in the next element that the counter gives."""
        statement = step.statement
        if statement.kind is not Kind.SIMPLE or len(statement.calls) != 1:
            return None
        call = statement.calls[0]
        if call.name not in mpi_calls.STARTS or call.name not in mpi_calls.REQUEST_OF_START:
            return None
        argument = request_argument(call)
        match = _NEXT.match(_without_blanks(argument.text))
        if match is None or argument.base != counter.array or argument.through:
            return None
        key = counter.key
        if match["counter"] != self.program.variables[key].name:
            return None
        written = [a.variable for a in statement.accesses if a.write]
        effects = self.footprints.changed_in(self.footprints.of_call(call, step.routine.file))
        if written.count(key) != 1 or key in effects:
            return None
        if self._named(step, match["object"] + match["array"], argument) != counter.requests:
            return None
        return Handle(step.routine, statement, call, counter.requests, None, False)

    def _is_reset(self, step: Step, counter: Counter) -> bool:
        """Whether a statement makes the counter 0, and does nothing else."""
        statement = step.statement
        if statement.kind is not Kind.SIMPLE or statement.calls or statement.sets is None:
            return False
        factor, value = statement.sets
        owner, key = split(factor)
        holder = self.program.variables.get(owner)
        if key != counter.key or value != Affine(0) or holder is None:
            return False
        if sum(access.write for access in statement.accesses) != 1:
            return False
        member = Argument("", 0, 0, base=counter.key)
        place = f"{holder.name}.{self.program.variables[key].name}"
        wanted = counter.place + self.program.variables[key].name
        return self._named(step, place, member) == wanted

    def _named(self, step: Step, place: str, argument: Argument) -> str:
        return self.handles.name(step.routine, place, argument, step.names, step.depth)


def _without_blanks(text: str) -> str:
    return "".join(text.split())
