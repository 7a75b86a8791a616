"""Iteration spaces: perfect loop nests, and calls of routines that are one, as one thing to split.

A space may be done in two parts, in any order, where no two of its iterations that differ in a
divided index touch the same element with a write among them (sancho-potential-overlap, section
3.4, asks for this test of dependences).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from imbrex.transform.analysis.called_nests import CalledNests, done
from imbrex.transform.analysis.congruent import never_equal_in
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.loop_spaces import space_of_loops
from imbrex.transform.analysis.named import names_untold
from imbrex.transform.analysis.radix import told_by
from imbrex.transform.analysis.set_first import sets_first
from imbrex.transform.analysis.space import Space
from imbrex.transform.model.affine import Section, widen, within
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement


class Spaces:
    """Finds spaces in one routine and tests what may be done with them."""

    def __init__(self, program: Program, footprints: Footprints, routine: Routine) -> None:
        self.program = program
        self.footprints = footprints
        self.routine = routine
        self.addressed = footprints.addressed

    def of(self, statement: Statement, wanted: list[Access] | None = None) -> Space | None:
        """The space of a statement; of several that a call has the first that touches `wanted`."""
        if statement.kind is Kind.LOOP or statement.elementwise:
            return next(self._each(statement), None)
        first = None
        for space in self._each(statement):
            if wanted is None or space.nested is None or self._meets(space, wanted):
                return space
            first = first or space
        return first

    def _each(self, statement: Statement) -> Iterator[Space]:
        """All spaces of a statement, which is a nest or calls one."""
        if statement.kind is not Kind.LOOP and not statement.elementwise:
            yield from CalledNests(self.program, self.footprints, self.routine).each(statement)
            return
        found = space_of_loops(self.program, self.footprints, statement, self.routine)
        if found is not None:
            yield found

    def _meets(self, space: Space, wanted: list[Access]) -> bool:
        touched = space.remaining(space.accesses, {})
        changed = self.footprints.changed(wanted + touched)
        return self.footprints.conflict(wanted, touched, changed) is not None

    def order_matters(self, space: Space, divided: list[int]) -> Reason | None:
        """Why iterations that differ in a divided index may not change places."""
        place = Location(self.routine.file, space.statement.line)
        whole = done(self.footprints, self.routine, space)
        for footprint in whole:
            if footprint.stop or footprint.leaves:
                return footprint.stop or footprint.leaves
        for inner in [] if space.elements else space.loops[-1].blocks[0].statements:
            body = self.footprints.of(inner, self.routine.file)
            if body.leaves and body.jumps - {"continue", "cycle"}:
                return body.leaves
        for event in (event for footprint in whole for event in footprint.events):
            return Reason(ReasonKind.LOOP_CALLS(call=event.name), place)
        inside = space.loops_in or self.routine
        private = space.private - space.reduced.keys()
        for key in sorted(private):
            reason = self.private_reason(space, inside, key)
            if reason is not None:
                return reason
        changed = self.footprints.changed(space.accesses)
        if space.callee is not None:  # each part reads anew what its declarations read
            everything = space.remaining(space.accesses, {})
            headers = [a for a in space.shared_headers() if a.variable not in space.reduced]
            meeting = self.footprints.conflict(headers, everything, changed)
            if meeting is not None:
                return Reason(self._met(meeting[0]), Location(inside.file, inside.line))
        for write in space.accesses:
            if not write.write or (write.variable in private and not write.through):
                continue
            for other in space.accesses:
                added = write.variable in space.reduced or write.variable in space.counted
                if write.variable == other.variable and added:
                    continue
                if not self.footprints.aliases.may_share(write, other, changed):
                    continue
                if not self._same_iteration(space, write, other, divided):
                    if self._never_meet(space, write, other):
                        continue
                    line = Location(inside.file if space.callee else self.routine.file, other.line)
                    return Reason(self._met(write), line)
        # The user may permit what is said of these: of use where nothing else is in the way.
        told = (self._reduction_reason(space, key) for key in sorted(space.reduced))
        return next((reason for reason in told if reason is not None), None)

    def _reduction_reason(self, space: Space, key: str) -> Reason | None:
        """Why a scalar may not be reduced in another order."""
        reduction, variable = space.reduced[key], self.program.variables[key]
        if key in {a.variable for a in space.headers} and space.callee is None:
            return Reason(ReasonKind.CARRIED(variable=variable.name), self._place(space))
        if reduction.exact or self.program.reassociation:
            return None
        kind = ReasonKind.SUM_ORDER if reduction.operation == "sum" else ReasonKind.EXTREME_ORDER
        return Reason(kind(variable=variable.name), self._place(space))

    def _place(self, space: Space) -> Location:
        return Location(self.routine.file, space.statement.line)

    def _met(self, access: Access) -> Cause:
        variable = self.program.variables.get(access.variable)
        if variable is None:
            return ReasonKind.ITERATIONS_UNKNOWN()
        return ReasonKind.ITERATIONS(variable=variable.name)

    def _same_iteration(
        self, space: Space, write: Access, other: Access, divided: list[int]
    ) -> bool:
        """Whether two iterations that touch one element agree in all divided indices."""
        sections = self._compared(space, write, other)
        if sections is None:
            return False
        indices = frozenset(span.index for span in space.ranges)
        for number in divided:
            index = space.ranges[number].index
            if not any(
                mine.low is not None
                and mine.low == mine.high == theirs.low == theirs.high
                and mine.low.coefficient(index)
                and (
                    mine.low.variables() & indices == {index}
                    or index in told_by(mine.low, space.ranges)
                )
                for mine, theirs in zip(*sections, strict=True)
            ):
                return False
        return True

    def _never_meet(self, space: Space, write: Access, other: Access) -> bool:
        """Whether no two iterations touch one element, by the remainders of their indices."""
        sections = self._compared(space, write, other) if space.congruent else None
        return sections is not None and never_equal_in(*sections, space.congruent, space.ranges)

    def _compared(
        self, space: Space, write: Access, other: Access
    ) -> tuple[Section, Section] | None:
        """What both touch in an iteration, where elements are one if all their subscripts are."""
        if not self.footprints.aliases.one_array(write, other):
            return None
        if write.section is None or other.section is None or write.strides != other.strides:
            return None
        if write.variable in self.program.overlays or len(write.section) != len(other.section):
            return None
        if write.strides:
            whole = [self._whole(space, side.section) for side in (write, other)]
            if not all(
                side is not None and within(side, write.strides, self.footprints.nonnegative)
                for side in whole
            ):
                return None
        return write.section, other.section

    @staticmethod
    def _whole(space: Space, section: Section | None) -> Section | None:
        for span in reversed(space.ranges):
            section = widen(section, span.index, span.low, span.high)
        return section

    def _named_behind(self, routine: Routine, nest: Statement, name: str) -> bool:
        """Whether what is not analysed, as output, names a variable once the nest is done.

        The index of a list, `(u(i), i = 1, n)`, is set there.
        """
        block = nest.parent
        while block is not None and not (block.owner and block.owner.kind is Kind.LOOP):
            block = block.owner.parent if block.owner else None
        data = self.program.files[routine.file].data
        listed = re.search(rb"(?im)^\s*namelist\b.*\b" + name.encode() + rb"\b", data)
        for statement in routine.statements():
            again = block is not None and block.start <= statement.start < block.end
            inside = nest.start <= statement.start < nest.end
            if inside or (statement.start < nest.end and not again):
                continue
            untold = names_untold(self.program, routine, statement)
            if untold and listed:
                return True
            if name in untold:
                said = data[statement.start : statement.end].decode("latin-1")
                if not re.search(rf"(?i)\b{name}\s*=[^=]", said):
                    return True
        return False

    def private_reason(self, space: Space, inside: Routine, key: str) -> Reason | None:
        """A scalar of one iteration: set before it is read in each, and not wanted afterwards."""
        variable = self.program.variables[key]
        if variable.bounds:
            return None  # a work array: the space is made with what is no more than that
        place = Location(inside.file, variable.line or space.statement.line)
        text = ReasonKind.CARRIED(variable=variable.name)
        outer, body, life = space.loops[0], space.loops[-1].blocks[0], variable.lifetime
        start, end = outer.start, outer.end
        # No address of what each iteration makes anew is good in another one.
        anew = life is not None and body.start <= life[0] and life[1] <= body.end
        if variable.kind != "local" or (key in self.addressed and not anew):
            return Reason(text, place)
        if self._named_behind(inside, outer, variable.name.lower()):
            return Reason(text, place)
        if key not in {span.index for span in space.ranges} and not sets_first(
            space.loops[-1].blocks[0].statements, key, self.footprints, inside.file
        ):
            return Reason(text, place)
        if life is not None and start <= life[0] and life[1] <= end:
            return None
        block, statement = outer.parent, outer
        while block is not None:
            for sibling in block.statements:
                if sibling is not statement and not sets_first(
                    [sibling], key, self.footprints, inside.file
                ):
                    return Reason(text, place)
            if block.owner is None:
                return None
            statement, block = block.owner, block.owner.parent
            if any(a.variable == key and not a.write for a in statement.accesses):
                return Reason(text, place)
        return None
