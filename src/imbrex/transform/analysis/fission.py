"""A loop body in two groups, so that one loop over each does what the loop did.

The iterations of the first group all come before those of the second. That keeps the outcome where
nothing in the first group must wait for anything in the second: what two statements share is
touched by the first one in an earlier iteration, or in the same one further up.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.space import Space
from imbrex.transform.analysis.spaces import Spaces
from imbrex.transform.model.affine import Affine, within
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement


@dataclass(slots=True)
class Groups:
    """Statements of a body: what each of the two loops keeps (some are in both)."""

    first: list[Statement]
    second: list[Statement]


class Fission:
    """The statements of one loop body, and what of them depends on what."""

    def __init__(
        self, program: Program, footprints: Footprints, routine: Routine, spaces: Spaces
    ) -> None:
        self.program = program
        self.footprints = footprints
        self.routine = routine
        self.spaces = spaces

    def prepare(self, space: Space, *, upward: bool, messages: bool = False) -> Reason | None:
        """Read the body of a space; why it cannot be divided at all.

        `upward`: all loops are known to count by one. `messages`: it may communicate.
        """
        self.space = space
        self.upward = upward
        self.tie = ""  # the variable through which two statements were last found to depend
        self.body = space.loops[-1].blocks[0].statements
        place = Location(self.routine.file, space.statement.line)
        whole = self.footprints.of(space.statement, self.routine.file)
        if whole.stop is not None:
            return whole.stop
        if whole.events and not messages:
            return Reason(ReasonKind.LOOP_CALLS(call=whole.events[0].name), place)
        for statement in self.body:
            inner = self.footprints.of(statement, self.routine.file)
            if inner.leaves is not None:
                return inner.leaves
        written = [a for s in self.body for a in self._accesses(s) if a.write]
        changed = self.footprints.changed(written)
        read = [a for a in space.headers if not a.write]
        if self.footprints.conflict(read, written, changed) is not None:
            return Reason(ReasonKind.BOUND_CHANGES(), place)
        self.changed = changed
        indices = {span.index for span in space.ranges}
        self.scalars = frozenset(
            key
            for key in space.private - indices - self.spaces.addressed
            if not self.program.variables[key].bounds
            and self.spaces.private_reason(space, self.routine, key) is None
        )
        self.indices = indices
        return None

    def split(self, seeds: list[Statement], *, forward: bool) -> Groups | None:
        """The least group around the seeds that may stand alone; None if that is all.

        `forward`: the seeds and what they need come first; else they, and what needs them, last.
        """
        units = [s for s in self.body if not self._copyable(s)]
        chosen = {id(s) for s in seeds if not self._copyable(s)}
        if not chosen:
            return None
        grown = True
        while grown:
            grown = False
            for mine in units:
                if id(mine) not in chosen:
                    continue
                for other in units:
                    if id(other) in chosen:
                        continue
                    first, second = (mine, other) if forward else (other, mine)
                    if self._glued(mine, other) or not self._may_go_first(first, second):
                        chosen.add(id(other))
                        grown = True
        if len(chosen) == len(units):
            return None
        taken = [s for s in units if id(s) in chosen]
        rest = [s for s in units if id(s) not in chosen]
        before, behind = (taken, rest) if forward else (rest, taken)
        above, below = self.with_scalars(before), self.with_scalars(behind)
        if above is None or below is None:
            return None
        for group, opposite in ((before, below), (above, behind)):
            # What both loops do must see the same in each of them.
            for mine in group:
                for other in opposite:
                    if mine is not other and not self._may_go_first(mine, other):
                        return None
        return Groups(above, below)

    def writers(self, messages: list[Access], *, write: bool) -> list[Statement]:
        """Statements of the body that write (or read) what is communicated."""
        found = []
        for statement in self.body:
            mine = [a for a in self._wide(statement) if a.write or not write]
            if self.footprints.conflict(mine, messages, self.changed) is not None:
                found.append(statement)
        return found

    def _copyable(self, statement: Statement) -> bool:
        """Whether a statement only sets scalars of one iteration, so that both loops may do it."""
        if statement.kind not in (Kind.SIMPLE, Kind.DECLARE) or statement.blocks:
            return False
        found = self.footprints.of(statement, self.routine.file)
        if found.stop or found.events or found.leaves:
            return False
        writes = [a for a in found.accesses if a.write]
        return all(not a.through and a.variable in self.scalars for a in writes)

    def _scalars_of(self, statement: Statement, *, write: bool) -> frozenset[str]:
        accesses = self.footprints.of(statement, self.routine.file).accesses
        return frozenset(
            a.variable
            for a in accesses
            if a.write is write and not a.through and a.variable in self.scalars
        )

    def _glued(self, mine: Statement, other: Statement) -> bool:
        """Whether a scalar that one of them sets, besides other things, is used by the other."""
        for left, right in ((mine, other), (other, mine)):
            set_here = self._scalars_of(left, write=True)
            used = self._scalars_of(right, write=False) | self._scalars_of(right, write=True)
            if set_here & used:
                self.tie = self.program.variables[min(set_here & used)].name
                return True
        return False

    def with_scalars(self, group: list[Statement]) -> list[Statement] | None:
        """The group and what sets its scalars, in the order of the body."""
        wanted = {id(s) for s in group}
        needed = {k for s in group for w in (True, False) for k in self._scalars_of(s, write=w)}
        grown = True
        while grown:
            grown = False
            for statement in self.body:
                if id(statement) in wanted or not self._scalars_of(statement, write=True) & needed:
                    continue
                if not self._copyable(statement):
                    return None
                wanted.add(id(statement))
                needed |= self._scalars_of(statement, write=False)
                needed |= self._scalars_of(statement, write=True)
                grown = True
        return [s for s in self.body if id(s) in wanted]

    def _accesses(self, statement: Statement) -> list[Access]:
        return self.footprints.of(statement, self.routine.file).accesses

    def own(self, statement: Statement) -> list[Access]:
        """Accesses of one iteration, without the scalars that each iteration has for itself."""
        return self.in_each(self._accesses(statement))

    def in_each(self, accesses: list[Access]) -> list[Access]:
        """Of some accesses of one iteration, the same."""
        return [
            self.footprints.after(a, self.changed)
            for a in accesses
            if a.through or a.variable not in self.scalars | self.indices
        ]

    def _wide(self, statement: Statement) -> list[Access]:
        """Accesses of all iterations."""
        return self.space.remaining(self.own(statement), {})

    def _may_go_first(self, first: Statement, second: Statement) -> bool:
        """Whether all iterations of `first` may be done before any of `second`."""
        above = self.body.index(first) < self.body.index(second)
        return self.all_first(self.own(first), self.own(second), above=above)

    def all_first(self, first: list[Access], second: list[Access], *, above: bool) -> bool:
        """The same of what is touched; `above`: `first` in each iteration before `second`."""
        for mine in first:
            for other in second:
                if not (mine.write or other.write):
                    continue
                if not self.footprints.aliases.may_share(mine, other, self.changed):
                    continue
                if not self._in_order(mine, other, above=above):
                    variable = self.program.variables.get(mine.variable)
                    self.tie = self.tie if variable is None else variable.name
                    return False
        return True

    def _in_order(self, mine: Access, other: Access, *, above: bool) -> bool:
        """Whether an element that both touch is touched by `mine` first as it is."""
        if not self.footprints.aliases.one_array(mine, other):
            return False
        if mine.variable in self.program.overlays or mine.strides != other.strides:
            return False
        if mine.section is None or other.section is None:
            return False
        if len(mine.section) != len(other.section):
            return False
        widened = [self.space.remaining([a], {}) for a in (mine, other)]
        if self.footprints.conflict(widened[0], widened[1], self.changed) is None:
            return True
        if mine.strides and not all(
            side and side[0].section and self._within(side[0], mine.strides) for side in widened
        ):
            return False
        for span in self.space.ranges:
            lags = self._distances(mine, other, span.index)
            if lags is None:
                return False
            if not lags:
                return True  # they never meet
            if min(lags) > 0:
                return self.upward
            if len(lags) > 1 or lags[0] < 0:
                return False
        return above

    def _within(self, access: Access, strides: tuple[Affine, ...]) -> bool:
        assert access.section is not None
        return within(access.section, strides, self.footprints.nonnegative)

    def _distances(self, mine: Access, other: Access, index: str) -> range | None:
        """By how many iterations of a loop `other` may come behind `mine` at one element.

        Both have the elements from `factor * i` and something to `factor * i` and something else.
        """
        assert mine.section is not None and other.section is not None
        for left, right in zip(mine.section, other.section, strict=True):
            ends = (left.low, left.high, right.low, right.high)
            if any(end is None or end.variables() & self.indices != {index} for end in ends):
                continue
            low, high, first, last = (end for end in ends if end is not None)
            factor = low.coefficient(index)
            if not factor or any(end.coefficient(index) != factor for end in ends if end):
                continue
            # factor * (j - i) lies between these two; what has the index cancels out as terms.
            least, most = low.plus(last, -1), high.plus(first, -1)
            if least.terms or most.terms:
                continue
            bounds = sorted((least.constant / factor, most.constant / factor))
            return range(ceil(bounds[0]), floor(bounds[1]) + 1)
        return None
