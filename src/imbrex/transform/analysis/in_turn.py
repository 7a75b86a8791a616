"""Receives that one request and one buffer serve in turn: what belongs to each of them.

A turn begins with `MPI_Irecv` and holds its `MPI_Wait` and all that reads what came. Two turns need
share neither the request nor the buffer where each wait and each read is surely behind the start of
its own turn, under the same condition, and reads no more than that receives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.filled import covers, unchanged, within
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.named import names_untold
from imbrex.transform.analysis.null_source import may_fill_nothing
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.analysis.sections import buffer_section
from imbrex.transform.model.affine import Section
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

START = "MPI_Irecv"
_BUFFER = mpi_calls.STARTS[START].buffer


@dataclass(slots=True, eq=False)
class Turn:
    """A receive, the statements that wait for it, and those that read what came."""

    call: Call
    guard: Statement | None  # the conditional that holds the start alone
    branch: list[tuple[Statement, int]]  # the arms of conditionals that it is in
    filled: list[Section]
    statements: list[Statement]
    waited: bool = False
    between: list[Access] = field(default_factory=list)  # what is touched behind its start

    @property
    def buffer(self) -> str:
        return self.call.arguments[_BUFFER].base or ""

    def excludes(self, other: Turn) -> bool:
        """Whether at most one of the two happens in a call of the routine, loops apart."""
        mine = {id(owner): arm for owner, arm in self.branch}
        return any(mine.get(id(owner), arm) != arm for owner, arm in other.branch)


class Turns:
    """Finds the turns of one request variable in a routine of Fortran."""

    def __init__(self, footprints: Footprints, routine: Routine, key: str) -> None:
        self.footprints = footprints
        self.program: Program = footprints.program
        self.routine = routine
        self.key = key
        self.turns: list[Turn] = []
        self.problem: Reason | None = None
        bases = [
            call.arguments[_BUFFER].base or "?"
            for statement in routine.statements()
            for call in statement.calls
            if self._starts(call)
        ]
        self.shared = {base for base in bases if bases.count(base) > 1}
        self.names = {
            self.program.variables[name].name.lower()
            for name in (key, *self.shared)
            if name in self.program.variables
        }

    def find(self) -> list[Turn] | Reason:
        self._block(self.routine.body, [])
        return self.problem or self.turns

    def _starts(self, call: Call) -> bool:
        return call.name == START and _is(call, self.key)

    def _touches(self, statement: Statement) -> bool:
        found = self.footprints.of(statement, self.routine.file)
        wanted = {self.key, *self.shared}
        if any(access.variable in wanted for access in found.accesses):
            return True
        if any(self.names & names_untold(self.program, self.routine, s) for s in statement.walk()):
            return True
        return any(
            argument.base in wanted
            for inner in statement.walk()
            for call in inner.calls
            for argument in call.arguments
        )

    def _block(self, block: Block, branch: list[tuple[Statement, int]]) -> None:
        turn: Turn | None = None
        for statement in block.statements:
            if self.problem is not None:
                return
            footprint = self.footprints.of(statement, self.routine.file)
            if statement.kind is Kind.DECLARE or not self._touches(statement):
                if footprint.stop or footprint.leaves:
                    self._close(turn)
                    turn = None
                self._pass(turn, statement)
                continue
            start = self._start(statement)
            if start is not None:
                self._close(turn)
                turn = self._begun(statement, start, branch)
                continue
            if self._holds_start(statement):
                self._close(turn)
                turn = None
                self._inside(statement, branch)
                continue
            if turn is None:
                self._refuse(statement, self.key, ReasonKind.VALUES_FROM_ELSEWHERE())
                return
            self._use(statement, turn)
            self._pass(turn, statement)
        self._close(turn)

    def _start(self, statement: Statement) -> tuple[Statement, Call] | None:
        """The receive that a statement is, or is about under a condition and nothing else."""
        inner = statement
        if statement.stop is not None:
            return None
        if statement.kind is Kind.IF and len(statement.blocks) == 1:
            inside = statement.blocks[0].statements
            if len(inside) != 1 or statement.condition is None:
                return None
            inner = inside[0]
        if inner.kind is not Kind.SIMPLE or len(inner.calls) != 1 or inner.stop:
            return None
        call = inner.calls[0]
        return (inner, call) if call.is_statement and self._starts(call) else None

    def _holds_start(self, statement: Statement) -> bool:
        return any(self._starts(call) for inner in statement.walk() for call in inner.calls)

    def _begun(
        self,
        statement: Statement,
        start: tuple[Statement, Call],
        branch: list[tuple[Statement, int]],
    ) -> Turn | None:
        inner, call = start
        buffer = call.arguments[_BUFFER].base or ""
        guard = None if inner is statement else statement
        turn = Turn(call, guard, list(branch), [], [statement])
        self.turns.append(turn)
        asked = [] if guard is None else guard.accesses
        if any(self._is_wanted(access.variable) for access in asked) or (guard and guard.calls):
            self._refuse(statement, self.key, ReasonKind.USED_IN_CONDITION())
        if buffer not in self.shared:
            return turn
        if may_fill_nothing(self.footprints, inner, call, self.routine.file):
            self._refuse(statement, buffer, ReasonKind.NULL_SOURCE())
        section = buffer_section(self.program, call, mpi_calls.STARTS[START])
        if section is None or call.arguments[_BUFFER].extends_into:
            self._refuse(statement, buffer, ReasonKind.SET_UNKNOWN())
        else:
            turn.filled = [section]
            self._pass(turn, statement)
        return turn

    def _is_wanted(self, key: str) -> bool:
        return key == self.key or key in self.shared

    def _close(self, turn: Turn | None) -> None:
        """A turn ends here: its message must have come."""
        if turn is not None and not turn.waited:
            self._refuse(turn.statements[0], self.key, ReasonKind.VALUES_FROM_ELSEWHERE())

    def _pass(self, turn: Turn | None, statement: Statement) -> None:
        """Note what a statement of a turn, or in it, changes."""
        if turn is not None:
            changed = self.footprints.changed_by([statement], self.routine.file)
            turn.filled = unchanged(turn.filled, changed)
            if turn.statements[0] is not statement:
                turn.between += self.footprints.of(statement, self.routine.file).accesses

    def _inside(self, statement: Statement, branch: list[tuple[Statement, int]]) -> None:
        if statement.kind not in (Kind.IF, Kind.LOOP):
            self._refuse(statement, self.key, ReasonKind.USED_IN_CONSTRUCT())
            return
        if any(self._is_wanted(access.variable) for access in statement.accesses):
            self._refuse(statement, self.key, ReasonKind.USED_IN_CONDITION())
            return
        for arm, inner in enumerate(statement.blocks):
            deeper = [*branch, (statement, arm)] if statement.kind is Kind.IF else branch
            self._block(inner, deeper)

    def _use(self, statement: Statement, turn: Turn) -> None:
        """Take in a statement that waits for the message of a turn, or reads it."""
        if statement.text == "terminal":  # control may come in from above the start
            self._refuse(statement, self.key, ReasonKind.VALUES_FROM_ELSEWHERE())
            return
        parts = [statement]
        if turn.guard is not None:
            if not self._same_condition(statement, turn):
                self._refuse(statement, self.key, ReasonKind.VALUES_FROM_ELSEWHERE())
                return
            parts = statement.blocks[0].statements
        filled = list(turn.filled)
        for part in parts:
            if self.footprints.of(part, self.routine.file).stop or self.problem is not None:
                self._refuse(statement, self.key, ReasonKind.USED_IN_CONSTRUCT())
                return
            if self._touches(part):
                self._part(part, turn, filled)
            filled = unchanged(filled, self.footprints.changed_by([part], self.routine.file))
        turn.statements.append(statement)

    def _same_condition(self, statement: Statement, turn: Turn) -> bool:
        """Whether a statement is done if and only if the start of the turn has been."""
        guard = turn.guard
        assert guard is not None
        if statement.kind is not Kind.IF or len(statement.blocks) != 1:
            return False
        if guard.condition is None or statement.condition is None:
            return False
        if _plain(guard.condition) != _plain(statement.condition):
            return False
        changed = self.footprints.changed(turn.between)
        start = self.footprints.of(turn.statements[0], self.routine.file).accesses
        written = [access for access in [*start, *turn.between] if access.write]
        return self.footprints.conflict(guard.accesses, written, changed) is None

    def _part(self, part: Statement, turn: Turn, filled: list[Section]) -> None:
        if self._waits(part):
            turn.waited = True
            return
        calls = [call for inner in part.walk() for call in inner.calls]
        if any(argument.base == self.key for call in calls for argument in call.arguments):
            self._refuse(part, self.key, ReasonKind.USED_IN_CONSTRUCT())
            return
        if not turn.waited or self._untold(part):
            self._refuse(part, self.key, ReasonKind.VALUES_FROM_ELSEWHERE())
            return
        for access in self.footprints.of(part, self.routine.file).accesses:
            if not self._is_wanted(access.variable):
                continue
            if access.variable != turn.buffer or access.through:
                self._refuse(part, access.variable, ReasonKind.VALUES_FROM_ELSEWHERE())
                continue
            if access.write:
                self._refuse(part, access.variable, ReasonKind.SET_UNKNOWN())
                continue
            section = within(access.section, self.program.variables[access.variable])
            if access.strides or not any(covers(have, section) for have in filled):
                self._refuse(part, access.variable, ReasonKind.READ_BEYOND())

    def _untold(self, part: Statement) -> bool:
        return any(
            self.names & names_untold(self.program, self.routine, inner) for inner in part.walk()
        )

    def _waits(self, part: Statement) -> bool:
        if part.kind is not Kind.SIMPLE or len(part.calls) != 1:
            return False
        call = part.calls[0]
        return call.is_statement and call.name == "MPI_Wait" and _is(call, self.key)

    def _refuse(self, statement: Statement, key: str, cause: Cause) -> None:
        variable = self.program.variables.get(key)
        name = key if variable is None else variable.name
        place = Location(self.routine.file, statement.line)
        self.problem = self.problem or Reason(
            ReasonKind.NO_OWN_COPY(variable=name, cause=cause), place
        )


def _is(call: Call, key: str) -> bool:
    """Whether a start or a wait is about this request alone."""
    expected = mpi_calls.REQUEST_OF_START.get(call.name)
    if expected is None:
        expected = mpi_calls.REQUEST_OF_WAIT.get(call.name)
    if expected is None or len(call.arguments) <= expected:
        return False
    positions = [n for n, argument in enumerate(call.arguments) if argument.base == key]
    return positions == [expected] and not request_argument(call).through


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text).lower()
