"""Iteration spaces: perfect loop nests, and calls of routines that are one, as one thing to split.

A space may be done in two parts, in any order, where no two of its iterations that differ in a
divided index touch the same element with a write among them (sancho-potential-overlap, section
3.4, asks for this test of dependences).
"""

from __future__ import annotations

from imbrex.transform.analysis.behind_loops import may_follow
from imbrex.transform.analysis.binding import Binding
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.in_bounds import made_each_time
from imbrex.transform.analysis.reductions import reductions
from imbrex.transform.analysis.set_first import sets_first
from imbrex.transform.analysis.space import Space, nest
from imbrex.transform.analysis.summary import Footprint
from imbrex.transform.model.affine import Affine, Section, widen, within
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Call, Kind, LoopRange, Program, Routine, Statement
from imbrex.transform.model.reasons import TWICE, ReasonKind
from imbrex.transform.model.reduction import Reduction


class Spaces:
    """Finds spaces in one routine and tests what may be done with them."""

    def __init__(self, program: Program, footprints: Footprints, routine: Routine) -> None:
        self.program = program
        self.footprints = footprints
        self.routine = routine
        self.addressed = footprints.addressed

    def of(self, statement: Statement) -> Space | None:
        if statement.kind is Kind.LOOP:
            return self._of_loops(statement, self.routine)
        if statement.kind is Kind.SIMPLE and len(statement.calls) == 1:
            return self._of_call(statement, statement.calls[0])
        return None

    def _of_loops(self, statement: Statement, routine: Routine) -> Space | None:
        loops = nest(statement)
        ranges = [loop.loop for loop in loops if loop.loop is not None]
        if not loops:
            return None
        body = [
            access
            for inner in loops[-1].blocks[0].statements
            for access in self.footprints.of(inner, routine.file).accesses
        ]
        changed = self.footprints.changed(body)
        headers = [access for loop in loops for access in loop.accesses]
        for span in ranges:
            if (span.low.variables() | span.high.variables()) & changed or span.index in changed:
                return None
        indices = {span.index for span in ranges}
        accesses = [self._one_array(self.footprints.after(a, changed), indices) for a in body]
        private = {span.index for span in ranges}
        private |= {a.variable for a in body if a.write and self._scalar(a)}
        inner = loops[-1].blocks[0].statements
        sure = made_each_time(self.program, self.footprints, routine, ranges, inner)
        return Space(
            statement,
            loops,
            ranges,
            accesses,
            headers,
            private=frozenset(private),
            certain=frozenset(access for access in accesses if access.variable in sure),
            reduced=reductions(self.program, self.footprints, routine, inner),
        )

    def _one_array(self, access: Access, indices: set[str]) -> Access:
        """The access; anywhere where each iteration may have another array, which may overlap."""
        if access.variable in self.footprints.aliases.slotted:
            return access
        moves = any(index.variables() & indices for index in access.slot)
        return access.anywhere() if moves else access

    def _of_call(self, statement: Statement, call: Call) -> Space | None:
        """A call of a routine that is one nest, the bounds of whose loops are its parameters."""
        callee = self.program.routines.get(call.name)
        if callee is None or not call.is_statement or callee.problem == TWICE:
            return None
        steps = callee.body.statements
        at = next((n for n, step in enumerate(steps) if step.kind is Kind.LOOP), None)
        if at is None:
            return None
        before, last, final = steps[:at], steps[at], steps[at + 1 :]
        inner = self._of_loops(last, callee)
        if inner is None or not may_follow(
            self.program, self.footprints, callee, before, last, final
        ):
            return None
        first = _initial(before, callee, inner)
        if not all(_idle(s) or self._sets_locals(s) or s in first for s in before):
            return None
        binding = self.footprints.binding(call, callee)
        indices = {span.index for span in inner.ranges}
        ranges, bounds = [], []
        for loop, span in zip(inner.loops, inner.ranges, strict=True):
            low, high = binding.value(span.low), binding.value(span.high)
            if low is None or high is None:
                return None
            ranges.append(LoopRange(span.index, low, high))
            bounds.append(self._positions(callee, loop, span))
        accesses = []
        certain: set[Access] = set()
        for access in inner.accesses:
            bound = self._bound(callee, binding.keeping(indices), access)
            if bound is None and self._lasts(inner, access):
                accesses.append(access)
            if bound is not None:
                accesses.append(bound)
                if access in inner.certain and self._of_known_bounds(access, bound):
                    certain.add(bound)
        headers = [a for a in statement.accesses if not a.write]
        for access in (a for s in before for a in s.accesses):
            bound = self._bound(callee, binding, access)
            if bound is not None:
                headers.append(bound)
        if any(a.write for a in statement.accesses) or any(s.stop for s in statement.walk()):
            return None
        reduced = self._reduced(inner, callee, call, accesses)
        if first and not reduced:
            return None
        space = Space(
            statement,
            inner.loops,
            ranges,
            accesses,
            headers,
            call,
            callee,
            bounds=bounds,
            private=frozenset(key for key in inner.private if self._ends_with_call(key)),
            certain=frozenset(certain),
            reduced=reduced,
            initial=tuple(first),
            final=tuple(final),
        )
        behind = {a.variable for s in final for w in s.walk() for a in w.accesses}
        reduces_on = bool(behind & inner.reduced.keys())
        return None if reduces_on or any(f.stop for f in self._done(space)) else space

    def _done(self, space: Space) -> list[Footprint]:
        """What a space does; of a routine, up to what is behind its loops."""
        if not space.final or space.callee is None:
            return [self.footprints.of(space.statement, self.routine.file)]
        rest = space.callee.body.statements[: -len(space.final)]
        return [self.footprints.of(statement, space.callee.file) for statement in rest]

    def _lasts(self, inner: Space, access: Access) -> bool:
        """Whether it is of a local array that one iteration may leave to the next."""
        variable = self.program.variables[access.variable]
        outer, life = inner.loops[0], variable.lifetime
        anew = life is not None and outer.start <= life[0] and life[1] <= outer.end
        return bool(variable.bounds) and not access.through and not anew

    def _ends_with_call(self, key: str) -> bool:
        """Whether a scalar of a routine is gone when it returns: no access of a call shows it."""
        return self.program.variables[key].kind in ("local", "parameter")

    def _reduced(
        self, inner: Space, callee: Routine, call: Call, accesses: list[Access]
    ) -> dict[str, Reduction]:
        """The scalars that a call reduces values into, by the caller's names; none if not all."""
        found: dict[str, Reduction] = {}
        for key, reduction in inner.reduced.items():
            position = callee.parameters.index(key) if key in callee.parameters else -1
            base = (call.arguments[position].base or "") if position >= 0 else key
            variable = self.program.variables.get(base)
            addressed = position >= 0 and base in self.addressed
            shared = base in self.program.overlays or addressed or base in found
            if variable is None or variable.bounds or variable.pointer or shared:
                return {}
            if variable.kind == "field" or (position < 0 and variable.kind == "local"):
                return {}
            own = [a for a in inner.accesses if a.variable == key]
            if sum(a.variable == base for a in accesses) != len(own):
                return {}  # it is given under another name, too
            found[base] = reduction
        return found

    def _sets_locals(self, statement: Statement) -> bool:
        """Whether a statement in front of the loops may be made in each part."""
        if statement.calls or statement.stop or statement.blocks or statement.computes:
            return False
        if statement.kind is Kind.DECLARE:
            return True
        variables = self.program.variables
        return statement.kind is Kind.SIMPLE and all(
            not access.through
            and (variable := variables.get(access.variable)) is not None
            and variable.kind == "local"
            and access.variable not in self.addressed
            for access in statement.accesses
            if access.write
        )

    def _of_known_bounds(self, access: Access, bound: Access) -> bool:
        """Whether the array has constant bounds, the same in the routine and at its call."""
        inside = self.program.variables.get(access.variable)
        outside = self.program.variables.get(bound.variable)
        if inside is None or outside is None or inside.bounds != outside.bounds:
            return False
        ends = [end for pair in inside.bounds for end in pair]
        return all(end is not None and not end.terms for end in ends)

    def _bound(self, callee: Routine, binding: Binding, access: Access) -> Access | None:
        variable = self.program.variables.get(access.variable)
        if access.variable in callee.parameters:
            if variable is not None and variable.kind == "parameter" and not access.through:
                return None  # the value passed
            return binding.access(access, callee.parameters.index(access.variable))
        if variable is not None and variable.kind == "local" and not access.through:
            return None  # gone when the call returns; checked where it is defined
        return binding.shared(access)

    def _positions(self, callee: Routine, loop: Statement, span: LoopRange) -> tuple[int, int]:
        """The parameters that are a loop's bounds and nothing else."""
        found = []
        for bound in (span.low, span.high):
            key = next(iter(bound.variables()), "")
            alone = bound == Affine.variable(key) and key in callee.parameters
            uses = [
                statement
                for outer in callee.body.statements
                if not _idle(outer)
                for statement in outer.walk()
                for access in statement.accesses
                if access.variable == key
            ]
            if not alone or any(statement is not loop for statement in uses):
                return -1, -1
            if any(a.write for s in uses for a in s.accesses if a.variable == key):
                return -1, -1
            found.append(callee.parameters.index(key))
        return found[0], found[1]

    def order_matters(self, space: Space, divided: list[int]) -> Reason | None:
        """Why iterations that differ in a divided index may not change places."""
        place = Location(self.routine.file, space.statement.line)
        whole = self._done(space)
        for footprint in whole:
            if footprint.stop or footprint.leaves:
                return footprint.stop or footprint.leaves
        for inner in space.loops[-1].blocks[0].statements:
            body = self.footprints.of(inner, self.routine.file)
            if body.leaves and body.jumps - {"continue", "cycle"}:
                return body.leaves
        for event in (event for footprint in whole for event in footprint.events):
            return Reason(ReasonKind.LOOP_CALLS(call=event.name), place)
        inside = self.routine if space.callee is None else space.callee
        private = space.private - space.reduced.keys()
        for key in sorted(private | space.reduced.keys()):
            reduces = key in space.reduced
            reason = None if reduces else self.private_reason(space, inside, key)
            reason = self._reduction_reason(space, key) if reduces else reason
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
                if write.variable == other.variable and write.variable in space.reduced:
                    continue
                if not self.footprints.aliases.may_share(write, other, changed):
                    continue
                if not self._same_iteration(space, write, other, divided):
                    line = Location(inside.file if space.callee else self.routine.file, other.line)
                    return Reason(self._met(write), line)
        return None

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

    def _scalar(self, access: Access) -> bool:
        variable = self.program.variables.get(access.variable)
        return variable is not None and not variable.bounds and not access.through

    def _same_iteration(
        self, space: Space, write: Access, other: Access, divided: list[int]
    ) -> bool:
        """Whether two iterations that touch one element agree in all divided indices."""
        if not self.footprints.aliases.one_array(write, other):
            return False
        if write.section is None or other.section is None or write.strides != other.strides:
            return False
        if write.variable in self.program.overlays or len(write.section) != len(other.section):
            return False
        if write.strides:
            whole = [self._whole(space, side.section) for side in (write, other)]
            if not all(
                side is not None and within(side, write.strides, self.footprints.nonnegative)
                for side in whole
            ):
                return False
        indices = frozenset(span.index for span in space.ranges)
        for number in divided:
            index = space.ranges[number].index
            if not any(
                mine.low is not None
                and mine.low == mine.high == theirs.low == theirs.high
                and mine.low.coefficient(index)
                and mine.low.variables() & indices == {index}
                for mine, theirs in zip(write.section, other.section, strict=True)
            ):
                return False
        return True

    @staticmethod
    def _whole(space: Space, section: Section | None) -> Section | None:
        for span in reversed(space.ranges):
            section = widen(section, span.index, span.low, span.high)
        return section

    def private_reason(self, space: Space, inside: Routine, key: str) -> Reason | None:
        """A scalar of one iteration: set before it is read in each, and not wanted afterwards."""
        variable = self.program.variables[key]
        place = Location(inside.file, variable.line or space.statement.line)
        text = ReasonKind.CARRIED(variable=variable.name)
        if variable.kind != "local" or key in self.addressed:
            return Reason(text, place)
        outer = space.loops[0]
        start, end = outer.start, outer.end
        if key not in {span.index for span in space.ranges} and not sets_first(
            space.loops[-1].blocks[0].statements, key, self.footprints, inside.file
        ):
            return Reason(text, place)
        life = variable.lifetime
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


def _initial(before: list[Statement], callee: Routine, inner: Space) -> list[Statement]:
    """What sets the scalars that a routine reduces values into, in front of its loops."""
    return [
        statement
        for statement in before
        if statement.kind is Kind.SIMPLE
        and not (statement.calls or statement.stop or statement.computes)
        and any(a.write for a in statement.accesses)
        and all(
            a.write and a.variable in inner.reduced and a.variable in callee.parameters
            for a in statement.accesses
        )
    ]


def _idle(statement: Statement) -> bool:
    """Whether a statement does nothing that can be seen, as a macro that stands for nothing."""
    return all(
        inner.kind in (Kind.SIMPLE, Kind.IF, Kind.BLOCK)
        and not inner.calls
        and not inner.stop
        and not any(access.write for access in inner.accesses)
        for inner in statement.walk()
    )
