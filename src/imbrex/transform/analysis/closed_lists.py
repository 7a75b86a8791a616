"""Lists of requests that hold none under way but between what fills and what ends a filling.

Of each start in the program that puts a request into the list, the way is followed on which it is
left: the first wait met that may be for the list must be for all of it, always made, by the same
name. Then a wait completes what statements of its own block have started in front of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.handles import DEEPEST, Handle, Handles
from imbrex.transform.analysis.list_changes import taken_by
from imbrex.transform.analysis.listed_requests import Lists, RequestList
from imbrex.transform.analysis.named_requests import stays
from imbrex.transform.analysis.places import Place
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.analysis.request_states import RequestStates, Started
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_ELEMENT = re.compile(r"&(?P<place>\w+(?:(?:\.|->)\w+)*)(?:\[.*\]|\.back\(\)|\.front\(\))$")
_ROOT = re.compile(r"(?P<root>\w+)(?P<rest>(?:\W.*)?)$")


@dataclass(frozen=True, slots=True)
class Filling:
    """A statement that starts messages, and the one of the same block that waits for them."""

    routine: Routine
    begins: Statement
    ends: Statement


class _OpenError(Exception):
    """A request may be left under way."""


class ClosedLists:
    """Follows what fills lists to what ends that."""

    def __init__(
        self, footprints: Footprints, handles: Handles, lists: Lists, states: RequestStates
    ) -> None:
        self.footprints = footprints
        self.program = footprints.program
        self.handles = handles
        self.lists = lists
        self.states = states
        self._calls: dict[str, list[tuple[Routine, Statement, Call]]] | None = None

    def filled_by(self, end: Statement, wait: Handle, listed: RequestList) -> list[Statement]:
        """The statements in front of `end` whose messages the wait in it may complete, and no
        others; empty where that is not known."""
        starts = self.states.completed_by(wait.routine, wait.call)
        place = self.states.places.of(listed.key, True)
        if isinstance(starts, Reason) or place is None:
            return []
        try:
            found = [filling for s in starts for filling in self._of(s, place)]
        except _OpenError:
            return []
        for filling in found:
            if filling.ends is not end and self._reaches(filling, end):
                return []
        mine = [filling.begins for filling in found if filling.ends is end]
        return list({id(statement): statement for statement in mine}.values())

    def _of(self, start: Started, place: frozenset[Place]) -> list[Filling]:
        """What a start is part of, for each way that leads to it."""
        name = self._name(start)
        if not name:
            raise _OpenError
        return list(self._behind(start.routine, start.statement, name, place, 0))

    def _name(self, start: Started) -> str:
        """The list that the request of a start comes into, in the terms of its routine."""
        argument = request_argument(start.transfer.call)
        change = taken_by(start.statement)
        if change is not None:
            written = "".join(change.place.split())
            argument = Argument("", 0, 0, base=change.key, through=True)
        else:
            match = _ELEMENT.match("".join(argument.text.split()))
            written = "" if match is None else match["place"]
        return self.handles.name(start.routine, written, argument, {}, 0) if written else ""

    def _behind(
        self,
        routine: Routine,
        statement: Statement,
        name: str,
        place: frozenset[Place],
        depth: int,
    ) -> Iterator[Filling]:
        """The filling that a statement is part of, in its routine or in those that call it."""
        inner, block = statement, statement.parent
        while block is not None:
            if self._waits(routine, inner, place):
                raise _OpenError  # by what is left of the statement, or in its next round
            for later in block.statements[block.statements.index(inner) + 1 :]:
                footprint = self.footprints.of(later, routine.file)
                if footprint.stop is not None or footprint.leaves is not None:
                    raise _OpenError
                if not self._waits(routine, later, place):
                    continue
                wait = self._whole(routine, later, name, place)
                first, last = block.statements.index(inner), block.statements.index(later)
                if wait is None or not stays(
                    self.footprints, routine, wait, block.statements[first : last + 1]
                ):
                    raise _OpenError
                yield Filling(routine, inner, later)
                return
            if block.owner is None:
                break
            inner, block = block.owner, block.owner.parent
        calls = self._calls_of(routine)
        if depth == DEEPEST or routine.address_taken or not calls:
            raise _OpenError
        for user, outer, call in calls:
            yield from self._behind(
                user, outer, self._outside(user, call, routine, name), place, depth + 1
            )

    def _outside(self, user: Routine, call: Call, routine: Routine, name: str) -> str:
        """What a list is called where a routine is called that knows it by a name."""
        if name.startswith("::"):
            return name
        match = _ROOT.match(name)
        outer = ""
        if match is not None and not self.handles.is_set(routine, match["root"]):
            outer = self.handles.passed(user, call, routine, {}, 0).get(match["root"], "")
        if match is None or not outer or "@" in outer:
            raise _OpenError
        return outer + match["rest"]

    def _whole(
        self, routine: Routine, statement: Statement, name: str, place: frozenset[Place]
    ) -> Handle | None:
        """The wait for all of the list that a statement always makes, if it makes no other."""
        handles = self.handles.of(routine, statement)
        waits = [
            handle
            for handle in handles or ()
            if handle.call.name in mpi_calls.COMPLETIONS and self._is_for(handle.call, place)
        ]
        if len(waits) != 1 or not waits[0].always:
            return None
        listed = self.lists.of_wait(waits[0])
        return waits[0] if listed is not None and listed.name == name else None

    def _waits(self, routine: Routine, statement: Statement, place: frozenset[Place]) -> bool:
        """Whether a statement may complete requests of the list."""
        events = self.footprints.of(statement, routine.file).events
        if not any(event.name in mpi_calls.REQUEST_OF_COMPLETION for event in events):
            return False
        if statement.kind is Kind.INSERTED:
            return True
        steps = self.lists.steps.of(routine, statement)
        return steps is None or any(
            call.name in mpi_calls.REQUEST_OF_COMPLETION and self._is_for(call, place)
            for step in steps
            for call in step.statement.calls
        )

    def _is_for(self, call: Call, place: frozenset[Place]) -> bool:
        """Whether the requests of a completion may be those of the list."""
        position = mpi_calls.REQUEST_OF_COMPLETION[call.name]
        if position >= len(call.arguments):
            return True
        argument = call.arguments[position]
        if argument.base is None:
            return True
        return self.states.places.share(place, (argument.base, argument.through))

    def _reaches(self, filling: Filling, end: Statement) -> bool:
        steps = self.lists.steps.of(filling.routine, filling.ends)
        return steps is None or any(step.statement is end for step in steps)

    def _calls_of(self, routine: Routine) -> list[tuple[Routine, Statement, Call]]:
        if self._calls is None:
            self._calls = {}
            for user in self.program.routines.values():
                for statement in user.statements():
                    for call in statement.calls:
                        callee = self.lists.steps.callee(call, user)
                        if callee is not None:
                            found = self._calls.setdefault(callee.key, [])
                            found.append((user, statement, call))
        return self._calls.get(routine.key, [])
