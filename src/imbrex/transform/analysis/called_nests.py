"""A call of a routine that is one loop nest, with little around it, as one thing to divide.

What the routine does in front of the nest is made in both parts where it sets locals for the loops,
else in the part that runs last, as is what it does behind the nest (see `around_loops`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from imbrex.transform.analysis.around_loops import (
    Parts,
    idle,
    opened,
    parted_at_calls,
    parted_from,
    result_of,
    starts_and_ends_alone,
)
from imbrex.transform.analysis.binding import Binding
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.loop_spaces import space_of_loops
from imbrex.transform.analysis.sizing import sizes_arrays
from imbrex.transform.analysis.space import Space
from imbrex.transform.analysis.summary import Footprint
from imbrex.transform.analysis.taken_values import target_of, value_is_taken
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import TWICE
from imbrex.transform.model.reduction import Reduction
from imbrex.transform.model.remainders import Congruence
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, LoopRange, Statement

_DEEPEST = 3  # calls around the one that has the loops


def done(footprints: Footprints, routine: Routine, space: Space) -> list[Footprint]:
    """What a space in a routine does; of a call, without what the last part alone does."""
    if space.callee is None or not (space.final or space.begin):
        return [footprints.of(space.statement, routine.file)]
    left_out = {id(statement) for statement in (*space.begin, *space.final)}
    body = opened(space.callee)
    return [footprints.of(s, space.callee.file) for s in body if id(s) not in left_out]


class CalledNests:
    """Finds the spaces of calls in one routine."""

    def __init__(self, program: Program, footprints: Footprints, routine: Routine) -> None:
        self.program = program
        self.footprints = footprints
        self.routine = routine
        self.addressed = footprints.addressed

    def of(self, statement: Statement, depth: int = 0) -> Space | None:
        """The first space of a statement that is a call, or takes the value of one."""
        return next(self.each(statement, depth), None)

    def each(self, statement: Statement, depth: int = 0) -> Iterator[Space]:
        """The spaces of such a statement: of the routine's own loops, else of those that it calls.

        `depth`: how many calls there are around it that are read for it.
        """
        if len(statement.calls) != 1:
            return
        call = statement.calls[0]
        callee = self.program.routines.get(call.name)
        if callee is None or callee.problem == TWICE or callee is self.routine:
            return
        plain = statement.kind is Kind.SIMPLE and call.is_statement
        if plain and any(a.write for a in statement.accesses):
            return
        if any(s.stop for s in statement.walk()):
            return
        taken = ""
        if not plain and not value_is_taken(self.program, self.routine, statement, call):
            taken = target_of(self.program, self.footprints, self.routine, statement, call, callee)
            if not taken:
                return
        for parts in parted_from(self.program, self.footprints, callee):
            space = self._parted_at(statement, call, callee, parts, taken)
            if space is not None:
                yield space
                return
        if not plain or depth == _DEEPEST:
            return
        for parts in parted_at_calls(callee):
            if self.footprints.of(parts.loops, callee.file).heavy:
                space = self._parted_at(statement, call, callee, parts, taken, depth)
                if space is not None:
                    yield space
                if not self.program.in_c(callee.file):
                    return

    def _inner(self, parts: Parts, callee: Routine, depth: int) -> Space | None:
        """The space that a routine is divided at: its own loops, or a call of what has them."""
        if parts.loops.kind is Kind.LOOP or parts.loops.elementwise:
            return space_of_loops(self.program, self.footprints, parts.loops, callee)
        found = CalledNests(self.program, self.footprints, callee).of(parts.loops, depth + 1)
        if found is None or found.reduced or found.initial or found.taken or found.elements:
            return None
        return found

    def _parted_at(
        self,
        statement: Statement,
        call: Call,
        callee: Routine,
        parts: Parts,
        taken: str,
        depth: int = 0,
    ) -> Space | None:
        """`taken`: of a function of Fortran, the variable that is set to its value."""
        inner = self._inner(parts, callee, depth)
        if inner is None:
            return None
        result = result_of(self.program, callee, inner, parts.final)
        first = _initial(parts.before, callee, inner)
        if taken and not _only_gathered(callee, inner, parts, first):
            return None
        begin = starts_and_ends_alone(self.program, self.footprints, callee, parts, first, result)
        if begin is None:
            return None
        before = [s for s in parts.before if s not in begin]
        binding = self.footprints.binding(call, callee)
        indices = {span.index for span in inner.ranges}
        ranges, bounds = [], []
        for loop, span in zip(inner.loops, inner.ranges, strict=True):
            low, high = binding.value(span.low), binding.value(span.high)
            if low is None or high is None:
                return None
            ranges.append(replace(span, low=low, high=high, congruent=None))
            own = inner.call is None
            bounds.append(self._positions(callee, loop, span) if own else (-1, -1))
        accesses = []
        certain: set[Access] = set()
        for access in inner.accesses:
            if taken and access.variable == callee.result:
                accesses.append(Access(taken, False, access.write, access.line))
                continue
            bound = self._bound(callee, binding.keeping(indices), access)
            if bound is None and (self._lasts(inner, access) or access.variable == result):
                accesses.append(access)
            if bound is not None:
                accesses.append(bound)
                if access in inner.certain and self._of_known_bounds(access, bound):
                    certain.add(bound)
        headers = [a for a in statement.accesses if not a.write]
        for access in (*inner.headers, *(a for s in before for a in s.accesses)):
            bound = self._bound(callee, binding, access)
            if bound is not None:
                headers.append(bound)
        reduced = self._reduced(inner, callee, call, accesses, result, taken)
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
            private=frozenset(
                key for key in inner.private if self._ends_with_call(key) and key != callee.result
            ),
            certain=frozenset(certain),
            reduced=reduced,
            initial=tuple(first),
            final=tuple(parts.final),
            begin=tuple(begin),
            result=result if result in reduced else "",
            elements=inner.elements,
            owned=inner.owned,
            congruent=tuple(
                Congruence(difference, each.modulus)
                for each in inner.congruent
                if (difference := binding.keeping(indices).value(each.difference)) is not None
            ),
            taken=taken,
            nested=inner if inner.call is not None else None,
        )
        behind = {a.variable for s in parts.final for w in s.walk() for a in w.accesses}
        reduces_on = bool(behind & inner.reduced.keys() - {space.result})
        stopped = any(f.stop for f in done(self.footprints, self.routine, space))
        return None if reduces_on or stopped else space

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
        self,
        inner: Space,
        callee: Routine,
        call: Call,
        accesses: list[Access],
        result: str,
        taken: str,
    ) -> dict[str, Reduction]:
        """The scalars that a call reduces values into, by the caller's names; none if not all."""
        found: dict[str, Reduction] = {}
        for key, reduction in inner.reduced.items():
            if key == result:
                found[key] = reduction
                continue
            position = callee.parameters.index(key) if key in callee.parameters else -1
            base = (call.arguments[position].base or "") if position >= 0 else key
            base = taken if taken and key == callee.result else base
            variable = self.program.variables.get(base)
            addressed = position >= 0 and base in self.addressed
            shared = base in self.program.overlays or addressed or base in found
            if variable is None or variable.bounds or variable.pointer or shared:
                return {}
            inside = position < 0 and base != taken and variable.kind == "local"
            if variable.kind == "field" or inside:
                return {}
            own = [a for a in inner.accesses if a.variable == key]
            if sum(a.variable == base for a in accesses) != len(own):
                return {}  # it is given under another name, too
            found[base] = reduction
        return found

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
                if not idle(outer)
                for statement in outer.walk()
                for access in statement.accesses
                if access.variable == key
            ]
            if not alone or any(statement is not loop for statement in uses):
                return -1, -1
            if any(a.write for s in uses for a in s.accesses if a.variable == key):
                return -1, -1
            if sizes_arrays(self.program, callee, self.program.variables[key].name):
                return -1, -1  # each part would take its arrays for others
            found.append(callee.parameters.index(key))
        return found[0], found[1]


def _initial(before: list[Statement], callee: Routine, inner: Space) -> list[Statement]:
    """What sets the scalars that a routine reduces values into, in front of its loops."""
    return [
        statement
        for statement in before
        if statement.kind is Kind.SIMPLE
        and not (statement.calls or statement.stop or statement.computes)
        and any(a.write for a in statement.accesses)
        and all(
            a.write
            and a.variable in inner.reduced
            and (a.variable in callee.parameters or a.variable == callee.result)
            for a in statement.accesses
        )
    ]


def _only_gathered(callee: Routine, inner: Space, parts: Parts, first: list[Statement]) -> bool:
    """Whether a function's value is what its loops reduce values into, from what `first` sets."""
    rest = [s for s in parts.before if s not in first] + parts.final
    named = {a.variable for statement in rest for w in statement.walk() for a in w.accesses}
    begun = any(a.variable == callee.result for s in first for a in s.accesses)
    return begun and callee.result in inner.reduced and callee.result not in named
