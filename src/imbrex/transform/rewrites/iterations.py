"""Loops of which it is known in an iteration whether another one follows."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Refusal
from imbrex.transform.text.braces import can_be_braced
from imbrex.transform.text.loop_guards import LoopGuards, read_guards

# What cannot change the number of iterations, whatever it does: it neither leaves nor enters.
_HARMLESS = frozenset(
    {
        ReasonKind.CALL_UNREAD,
        ReasonKind.CALL_OF,
        ReasonKind.POINTER_CALL,
        ReasonKind.CALL_DOES,
        ReasonKind.INPUT_OUTPUT,
    }
)


class Iterations:
    """Asks loops when an iteration follows."""

    def __init__(self, program: Program, footprints: Footprints, name: str) -> None:
        self.program = program
        self.footprints = footprints
        self.name = name  # of the rewrite that asks

    def of(self, routine: Routine, loop: Statement) -> LoopGuards:
        """When an iteration follows.

        Raises Refusal where that is not known before the iteration ends, or there is no room.
        """
        body = loop.blocks[0]
        source = self.program.files[routine.file]
        place = Location(routine.file, loop.line)
        outside = loop.parent
        room = body.braced and body.insertable and outside is not None
        if not room or outside is None or not has_room(source, outside):
            raise Refusal(self.name, Reason(ReasonKind.NOT_BRACED_STATEMENT(), place))
        if routine.problem or loop.stop is not None:
            cause = routine.problem or loop.stop
            assert cause is not None
            raise Refusal(self.name, Reason(cause, place))
        guards = read_guards(self.program, source, loop)
        if guards is None:
            raise Refusal(self.name, Reason(ReasonKind.NOT_COUNTED(), place))
        bounds = [access for access in loop.accesses if not access.write]
        for statement in body.statements:
            footprint = self.footprints.of(statement, routine.file)
            if footprint.leaves is not None:
                raise Refusal(self.name, footprint.leaves)
            stop = footprint.stop
            if stop is not None and (stop.kind not in _HARMLESS or (source.is_fortran and bounds)):
                raise Refusal(self.name, stop)
            if not source.is_fortran:
                continue
            # The number of iterations is that of the bounds as they were in front of the loop.
            changed = self.footprints.changed_in(footprint)
            pair = self.footprints.conflict(bounds, footprint.accesses, changed)
            waits = {event.name for event in footprint.events} & mpi_calls.COMPLETIONS
            if pair is not None or (waits and any(self._received(a) for a in bounds)):
                line = statement.line if pair is None else pair[1].line
                reason = Reason(ReasonKind.BOUND_CHANGES(), Location(routine.file, line))
                raise Refusal(self.name, reason)
        return guards

    def index(self, loop: Statement, guards: LoopGuards) -> str | None:
        """The index, where it is a plain variable that only the loop itself sets."""
        written = {a.variable for a in loop.accesses if a.write and not a.through}
        if len(written) != 1:
            return None
        (key,) = written
        variable = self.program.variables.get(key)
        plain = variable is not None and variable.name.lower() == guards.index.lower()
        if not plain or key in self.program.overlays or key in self.footprints.addressed:
            return None
        return key

    def _received(self, access: Access) -> bool:
        """Whether a call of MPI is given a variable as something other than a plain number."""
        return any(
            argument.base == access.variable
            for call in self.program.calls()
            if call.name in mpi_calls.STARTS and call.arguments
            for argument in call.arguments[:1]
        )


def has_room(source: SourceFile, block: Block) -> bool:
    """Whether statements may stand in a block; the body of a loop in C may get braces for them."""
    if block.braced or not block.insertable:
        return block.insertable
    return (
        block.owner is not None and block.owner.kind is Kind.LOOP and can_be_braced(source, block)
    )
