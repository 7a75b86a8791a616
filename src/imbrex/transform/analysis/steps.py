"""All statements that one makes, through the routines that it calls, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.transform.analysis.handles import DEEPEST, Handles, Names, may_return
from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_PLAIN = (Kind.SIMPLE, Kind.DECLARE, Kind.JUMP)


@dataclass(frozen=True, slots=True)
class Step:
    """A statement that is made within another one, where objects have these names."""

    routine: Routine
    statement: Statement
    names: Names
    depth: int
    always: bool


class Steps:
    """Goes through what statements make."""

    def __init__(self, program: Program, handles: Handles) -> None:
        self.program = program
        self.handles = handles

    def of(self, routine: Routine, statement: Statement) -> list[Step] | None:
        """All statements that one makes, in their order; None where they are too deep."""
        try:
            return list(self._within(routine, statement, {}, 0, True))
        except _TooDeepError:
            return None

    def callee(self, call: Call, routine: Routine) -> Routine | None:
        """The routine of the program that a call makes."""
        if call.unknown or call.name.startswith("MPI_"):
            return None
        return self.program.callee(call.name, routine.file)

    def _within(
        self, routine: Routine, statement: Statement, names: Names, depth: int, always: bool
    ) -> Iterator[Step]:
        plain = statement.kind in _PLAIN
        for each in statement.walk():
            here = always and plain
            for call in each.calls:
                callee = self.callee(call, routine)
                if callee is None:
                    continue
                if depth == DEEPEST:
                    raise _TooDeepError
                inner = self.handles.passed(routine, call, callee, names, depth)
                certain = here and self.handles.is_made(routine, each, call)
                for outer in callee.body.statements:
                    yield from self._within(callee, outer, inner, depth + 1, certain)
                    certain = certain and not may_return(outer)
            yield Step(routine, each, names, depth, here)


class _TooDeepError(Exception):
    """Calls within calls, more than are followed."""
