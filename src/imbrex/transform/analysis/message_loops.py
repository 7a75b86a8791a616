"""Loops whose iterations send and receive: whether all of it may be under way at once.

Each iteration waits for its messages before the next one begins. Where no iteration touches what a
message of an earlier one sends or receives, all may be started, in their order, and waited for
behind the loop: then as many are under way as there are.
"""

from __future__ import annotations

from dataclasses import dataclass

from imbrex.transform.analysis.fission import Fission
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.space import Space
from imbrex.transform.analysis.spaces import Spaces
from imbrex.transform.analysis.transfer import Transfer, data_accesses, evaluation
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement


@dataclass(slots=True)
class MessageLoop:
    """A loop that may start all of its messages."""

    space: Space
    transfers: dict[int, list[Transfer]]  # by the identity of each statement that is a call
    ahead: list[Statement]  # what its body keeps
    # Statements at the end of the body that need what is received, with what sets their scalars:
    # they go into a loop of their own behind the wait.
    behind: list[Statement]


@dataclass(slots=True, eq=False)
class _Unit:
    """What one iteration does at once: a statement, or the condition of one with messages."""

    statement: Statement
    position: int  # of the statement of the body that it is, or that it is in
    touched: list[Access]
    data: list[Access]  # the messages that it starts
    opaque: bool = False  # messages stand in it where they cannot be started one by one


class MessageLoops:
    """Looks at the loops of one routine."""

    def __init__(
        self, program: Program, footprints: Footprints, routine: Routine, spaces: Spaces
    ) -> None:
        self.program = program
        self.footprints = footprints
        self.routine = routine
        self.fission = Fission(program, footprints, routine, spaces)

    def find(self, space: Space, transfers: dict[int, list[Transfer]]) -> MessageLoop | Reason:
        """The loop with what must stand behind the wait, or why iterations must end one by one.

        `transfers`: of every statement in the space that communicates, which is a call alone.
        """
        reason = self.fission.prepare(space, upward=True, messages=True)
        if reason is not None:
            return reason
        body = self.fission.body
        units: list[_Unit] = []
        last = -1
        for position, statement in enumerate(body):
            if any(id(inner) in transfers for inner in statement.walk()):
                last = position
            units += self._units(statement, position, transfers)
        for unit in units:
            if unit.opaque:
                return Reason(ReasonKind.MESSAGES_GUARDED(), self._at(unit.statement))
            reused = next((a for a in unit.data if self._is_one(space, a)), None)
            if reused is not None:
                name = self.program.variables[reused.variable].name
                return Reason(ReasonKind.ITERATIONS(variable=name), self._at(unit.statement))
        first_behind = len(body)
        for unit in units:
            problem = self._meets(unit, units)
            if problem is not None and unit.position <= last:
                return problem
            if problem is not None:
                first_behind = min(first_behind, unit.position)
        kept, behind = body[:first_behind], body[first_behind:]
        if behind:
            tail = self.fission.with_scalars(behind)
            if tail is None:
                return Reason(ReasonKind.ONE_PART(variable=self.fission.tie), self._at(behind[0]))
            ahead = [unit for unit in units if unit.position < first_behind]
            for second in tail:
                theirs = self.fission.own(second)
                for unit in ahead:
                    mine = unit.touched
                    if unit.statement is second or self.fission.all_first(mine, theirs, above=True):
                        continue
                    tie = ReasonKind.ONE_PART(variable=self.fission.tie)
                    return Reason(tie, self._at(second))
            behind = tail
        return MessageLoop(space, transfers, kept, behind)

    def _units(
        self, statement: Statement, position: int, transfers: dict[int, list[Transfer]]
    ) -> list[_Unit]:
        """A statement of the body as what is done one after the other."""
        fission = self.fission
        own = transfers.get(id(statement))
        if own is not None:
            # All of it: a scalar of one iteration is one variable for all of its messages.
            data = [a for each in own for a in data_accesses(self.program, each)]
            data = [self.footprints.after(a, fission.changed) for a in data]
            # What a call of MPI sets besides, an error code or a status, nobody reads.
            touched = fission.in_each(evaluation(own[0].call)) + data
            return [_Unit(statement, position, touched, data)]
        if not any(id(inner) in transfers for inner in statement.walk()):
            return [_Unit(statement, position, fission.own(statement), [])]
        guard = _Unit(statement, position, fission.in_each(list(statement.accesses)), [])
        if statement.kind is not Kind.IF or statement.condition is None or statement.stop:
            guard.opaque = True
            return [guard]
        found = [guard]
        for block in statement.blocks:
            for inner in block.statements:
                found += self._units(inner, position, transfers)
        return found

    @staticmethod
    def _is_one(space: Space, access: Access) -> bool:
        """Whether each iteration sets a buffer anew, which all of them have together."""
        return access.variable in space.private and not access.through

    def _meets(self, unit: _Unit, units: list[_Unit]) -> Reason | None:
        """Why a statement may not be done while messages of iterations before are under way."""
        for number, other in enumerate(units):
            above = units.index(unit) <= number
            if other.data and not self.fission.all_first(unit.touched, other.data, above=above):
                cause = ReasonKind.ITERATIONS(variable=self.fission.tie)
                return Reason(cause, self._at(unit.statement))
        return None

    def _at(self, statement: Statement) -> Location:
        return Location(self.routine.file, statement.line)
