"""Messages that surely end in the line of the array that they begin, by loops around them or near.

`call mpi_send(u(1, ny), nx, ...)` of an array `u(0:1001, 0:65)` is one of row `ny` where `nx` is at
most 1001. A loop over `u(i + 1, j)` up to `i = nx` shows that, as a subscript is within its bounds,
if it runs whenever the message is made, with the same `nx`.
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.counted_rooms import counts_stored
from imbrex.transform.analysis.derived import Derived
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.in_bounds import rooms
from imbrex.transform.analysis.sections import buffer_fit, buffer_section
from imbrex.transform.analysis.spaces import Spaces
from imbrex.transform.model.affine import Affine, surely_less
from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

_ENTERED = frozenset({ReasonKind.LABEL, ReasonKind.CASE_LABEL})
_ONE = Affine(1)
_CALLERS = 3  # how far up they are looked at


def note_rooms(program: Program, footprints: Footprints) -> None:
    """Note with each message which buffers such loops tell of; footprints become stale."""
    witnesses = _Witnesses(program, footprints)
    found = []
    for routine, statement, call, part in list(_wanted(program)):
        fit = buffer_fit(program, call, part)
        stored = fit is not None and _by_loops(footprints, routine, statement, fit.room)
        if not stored and program.in_fortran(routine.file):
            stored = counts_stored(program, footprints, routine, call, part)
            if not stored and fit is not None and fit.room.terms and witnesses.derived.possible:
                facts = _facts(program, call, part)
                stored = witnesses.show(routine, statement, fit.room, facts)
        if stored:
            found.append((call, part.buffer))
    for call, position in found:
        call.within_line |= {position}


def _by_loops(footprints: Footprints, routine: Routine, statement: Statement, room: Affine) -> bool:
    """Whether the loops around a message leave room for it in each iteration."""
    block = statement.parent
    while block is not None and block.owner is not None and room.terms:
        owner = block.owner
        known = owner.loop if owner.kind is Kind.LOOP else None
        if known is not None and known.index in room.variables() and not known.unsigned:
            changed = footprints.changed_by(block.statements, routine.file)
            slope = room.coefficient(known.index)
            end = known.high if slope is not None and slope < 0 else known.low
            if slope is None or ({known.index} | end.variables()) & changed:
                return False
            room = room.substitute(known.index, end)
        block = owner.parent
    return not room.terms and room.constant >= 0


def _wanted(
    program: Program,
) -> Iterator[tuple[Routine, Statement, Call, mpi_calls.PointToPoint]]:
    """Messages of which the section is not known, unless they end in the line that they begin."""
    for routine in program.routines.values():
        if routine.file not in program.files:
            continue
        for statement in routine.statements():
            if statement.kind is not Kind.SIMPLE:
                continue
            for call in statement.calls:
                for part in mpi_calls.PARTS.get(call.name, ()):
                    if not call.is_statement or len(call.arguments) <= part.communicator:
                        continue
                    if buffer_section(program, call, part) is None:
                        yield routine, statement, call, part


def _facts(program: Program, call: Call, part: mpi_calls.PointToPoint) -> frozenset[Affine]:
    """What is not below 0 where a message has any elements: without them it is in every line."""
    count = call.arguments[part.count].value
    assert count is not None
    known = call.known | {count.plus(_ONE, -1)}
    parts = mpi_calls.PARTS[call.name]
    if (
        len(parts) != 2
        or call.arguments[parts[0].count].value != call.arguments[parts[1].count].value
    ):
        return known
    # The buffers of one call do not overlap (MPI 4.0, section 3.10).
    one, two = (call.arguments[each.buffer] for each in parts)
    if one.base != two.base or one.through != two.through or not one.origin or not two.origin:
        return known
    pairs = [(a, b) for a, b in zip(one.origin, two.origin, strict=True) if a is None or a != b]
    for left, right in pairs if len(pairs) == 1 else ():
        if left is None or right is None:
            return known
        for apart in (left.plus(right, -1), right.plus(left, -1)):
            if apart.terms and surely_less(Affine(-1), apart, known):
                known |= {apart.plus(_ONE, -1)}
    return known


class _Witnesses:
    """Looks for loops that run whenever a statement does."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints
        self.derived = Derived(program, footprints)
        self.setters = self.derived.setters
        self._spaces: dict[str, Spaces] = {}

    def show(
        self, routine: Routine, statement: Statement, room: Affine, facts: frozenset[Affine]
    ) -> bool:
        """Whether a loop shows that `room` is not below 0 where `facts` are not, either."""
        if not self._plain(room):
            return False
        known = frozenset(fact for fact in facts if self._plain(fact))
        return self._beside(routine, statement, room, known, _CALLERS)

    def _plain(self, expression: Affine) -> bool:
        """Whether only what is seen to set the variables of an expression changes it."""
        variables = self.program.variables
        unseen = self.program.overlays.keys() | self.footprints.aliases.escaped
        return all(
            (variable := variables.get(key)) is not None
            and not (variable.bounds or variable.volatile or variable.pointer)
            and key not in unseen
            and key not in self.setters.set_later
            for key in expression.variables()
        )

    def _beside(
        self,
        routine: Routine,
        statement: Statement,
        room: Affine,
        facts: frozenset[Affine],
        callers: int,
    ) -> bool:
        """In the blocks around a statement, and around the calls of its routine."""
        block = statement.parent
        assert block is not None
        if self._ahead(routine, block, block.statements.index(statement), room, facts):
            return True
        while True:
            index = block.statements.index(statement)
            if self._entered(statement):
                return False
            for position in range(index - 1, -1, -1):
                other = block.statements[position]
                if self._shows(routine, other, room, facts):
                    return True
                if self._entered(other) or self._may_set(routine, other, room):
                    return False
                facts = self._kept(routine, other, facts)
            if block.owner is None:
                return self._at_callers(routine, room, facts, callers)
            statement, block = block.owner, block.owner.parent
            if block is None or statement.kind not in (Kind.IF, Kind.BLOCK, Kind.LOOP):
                return False
            if self._may_set(routine, statement, room):
                return False
            facts = self._kept(routine, statement, facts)

    def _ahead(
        self, routine: Routine, block: Block, index: int, room: Affine, facts: frozenset[Affine]
    ) -> bool:
        """Behind a statement, where nothing leaves the block."""
        if self._may_set(routine, block.statements[index], room):
            return False
        facts = self._kept(routine, block.statements[index], facts)
        for other in block.statements[index + 1 :]:
            if self._shows(routine, other, room, facts):
                return True
            footprint = self.footprints.of(other, routine.file)
            if footprint.stop or footprint.leaves or footprint.jumps:
                return False
            if self._may_set(routine, other, room):
                return False
            facts = self._kept(routine, other, facts)
        return False

    def _at_callers(
        self, routine: Routine, room: Affine, facts: frozenset[Affine], callers: int
    ) -> bool:
        """Around each call of a routine, which does not change what is asked for."""
        if not callers or routine.address_taken or routine.key == "main":
            return False
        if self.footprints.of_routine(routine).stop:
            return False
        found = False
        for user in self.program.routines.values():
            for statement in user.statements():
                for call in statement.calls:
                    if self.program.callee(call.name, user.file) is not routine:
                        continue
                    if (
                        user is routine
                        or not call.is_statement
                        or statement.kind is not Kind.SIMPLE
                    ):
                        return False
                    binding = self.footprints.binding(call, routine)
                    there = binding.value(room)
                    known = (binding.value(fact) for fact in facts)
                    if there is None or not self._plain(there):
                        return False
                    holding = frozenset(f for f in known if f is not None and self._plain(f))
                    if not self._beside(user, statement, there, holding, callers - 1):
                        return False
                    found = True
        return found

    def _shows(
        self, routine: Routine, statement: Statement, room: Affine, facts: frozenset[Affine]
    ) -> bool:
        """Whether a statement is such a loop nest, and its loops run."""
        if not self.footprints.of(statement, routine.file).heavy:
            return False
        if routine.key not in self._spaces:
            self._spaces[routine.key] = Spaces(self.program, self.footprints, routine)
        space = self._spaces[routine.key].of(statement)
        if space is None or self._may_set(routine, statement, room):
            return False
        if any(span.first is not None for span in space.ranges):
            return False
        if not all(surely_less(span.low, span.high.plus(_ONE), facts) for span in space.ranges):
            return False
        rest = [room.plus(known, -1) for known in rooms(self.program, space.ranges, space.certain)]
        return any(not each.terms and each.constant >= 0 for each in rest)

    @staticmethod
    def _entered(statement: Statement) -> bool:
        """Whether control may come to a statement, or into it, from elsewhere."""
        return any(s.stop is not None and s.stop.kind in _ENTERED for s in statement.walk())

    def _kept(
        self, routine: Routine, statement: Statement, facts: frozenset[Affine]
    ) -> frozenset[Affine]:
        """What holds on the other side of a statement too."""
        return frozenset(f for f in facts if not self._may_set(routine, statement, f))

    def _may_set(self, routine: Routine, statement: Statement, value: Affine) -> bool:
        """Whether anything in a statement, or in what it calls, may set a variable of it."""
        inside = {id(inner) for inner in statement.walk()}
        called = frozenset[str]().union(
            *(
                self.setters.reached(callee)
                for inner in statement.walk()
                for call in inner.calls
                if (callee := self.program.callee(call.name, routine.file)) is not None
            )
        )
        return any(
            id(writer) in inside or where.key in called
            for name in value.variables()
            for where, writer in self.setters.writers(name)
        )
