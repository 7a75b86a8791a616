"""Which messages a statement completes that it has not started itself.

A routine whose requests are its own local variables starts what it completes: what its messages
touch is among what the call of it touches.
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.request_states import RequestStates
from imbrex.transform.analysis.taken import Given, statements_taken
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement

Reached = tuple[Routine, Statement, Call]


class OwnCompletions:
    """Completions reached from a statement, told apart by whose requests they are about."""

    def __init__(self, footprints: Footprints, states: RequestStates) -> None:
        self.footprints = footprints
        self.program = footprints.program
        self.states = states

    def foreign(self, routine: Routine, statement: Statement) -> Iterator[Reached]:
        """The calls that may complete what was started before the statement."""
        yield from self._reached(routine, statement.walk(), frozenset(), set(), outermost=True)

    def _reached(
        self,
        routine: Routine,
        statements: list[Statement],
        own: frozenset[str],
        seen: set[tuple[str, Given, frozenset[str]]],
        *,
        outermost: bool,
    ) -> Iterator[Reached]:
        for statement in statements:
            for call in statement.calls:
                if call.name in mpi_calls.COMPLETIONS:
                    position = mpi_calls.REQUEST_OF_COMPLETION.get(call.name)
                    known = position is not None and position < len(call.arguments)
                    request = call.arguments[position or 0] if known else None
                    if request is None or not self._is_own(routine, request, own, outermost):
                        yield routine, statement, call
                    continue
                callee = self.program.callee(call.name, routine.file)
                if callee is None or call.unknown:
                    continue
                passed = frozenset(
                    key
                    for key, argument in zip(callee.parameters, call.arguments, strict=False)
                    if self._is_own(routine, argument, own, outermost)
                )
                given = self.footprints.given(call, callee)
                if (callee.key, given, passed) in seen:
                    continue
                seen.add((callee.key, given, passed))
                values = {**dict.fromkeys(self.footprints.success, 0), **dict(given)}
                taken = statements_taken(callee, values)
                yield from self._reached(callee, taken, passed, seen, outermost=False)

    def _is_own(
        self, routine: Routine, argument: Argument, own: frozenset[str], outermost: bool
    ) -> bool:
        """Whether an argument is a local variable of a routine that the statement calls.

        Nothing else may bring a handle into it.
        """
        base = argument.base or ""
        variable = self.program.variables.get(base)
        if variable is None or self.states.problem(base, argument.through) is not None:
            return False
        if base in routine.parameters:
            return base in own
        return (
            variable.kind == "local"
            and not outermost
            and not variable.pointer
            and base not in self.program.overlays
        )
