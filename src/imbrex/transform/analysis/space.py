"""One iteration space: the loops of a nest, and what one iteration touches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from imbrex.transform.analysis.in_bounds import by_bounds, rooms
from imbrex.transform.model.affine import Affine, widen
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reduction import Reduction
from imbrex.transform.model.remainders import Congruence
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, LoopRange, Statement


@dataclass(slots=True)
class Space:
    """Loops from the outermost inward; ranges and accesses in the terms of the routine it is in."""

    statement: Statement
    loops: list[Statement]
    ranges: list[LoopRange]
    # Of one iteration: sections are points in the indices, or widened over loops inside.
    accesses: list[Access]
    headers: list[Access]
    call: Call | None = None
    callee: Routine | None = None
    # Of a call: the positions of the arguments that bound each loop, (-1, -1) for a fixed loop.
    bounds: list[tuple[int, int]] | None = None
    # Indices and scalars of one iteration; `order_matters` shows that they are no more than that.
    private: frozenset[str] = frozenset()
    # Accesses that each iteration makes, of arrays whose bounds have names.
    certain: frozenset[Access] = frozenset()
    reduced: dict[str, Reduction] = field(default_factory=dict)  # scalars that it adds values to
    counted: frozenset[str] = frozenset()  # arrays whose elements it does nothing but add to
    congruent: tuple[Congruence, ...] = ()  # what holds of the indices in each iteration
    initial: tuple[Statement, ...] = ()  # of a routine: what gives them their first values
    final: tuple[Statement, ...] = ()  # of a routine: what it does behind its loops
    # Of a routine: what it does in front of them in the part that runs last alone.
    begin: tuple[Statement, ...] = ()
    # Of an assignment to a section of an array, which has no loops: its ranges, by number.
    elements: tuple[int, ...] = ()
    # Of a function of Fortran: the caller's variable that is set to its value.
    taken: str = ""
    # Of a call of a routine that calls the one with the loops: the space of that call.
    nested: Space | None = None
    owned: frozenset[str] = frozenset()  # arrays of pointers, to memory of its own in each
    result: str = ""  # of a routine: the local that goes as a value from its first part to the last

    @property
    def loops_in(self) -> Routine | None:
        """The routine that the loops of a call stand in."""
        return self.callee if self.nested is None else self.nested.loops_in

    def shared_headers(self) -> list[Access]:
        """What the headers of the loops touch that is not of one iteration."""
        return [access for access in self.headers if access.variable not in self.private]

    def once(self) -> list[tuple[int, int]]:
        """The bytes of what a routine does in its last part alone; behind the loops, one span."""
        spans = [(statement.start, statement.end) for statement in self.begin]
        return spans + ([(self.final[0].start, self.final[-1].end)] if self.final else [])

    def given(self, numbers: Iterable[int]) -> bool:
        """Whether arguments of the call bound each of these loops.

        A routine that reduces values into a scalar begins anew with each call, and one that does
        something around its loops does it in each.
        """
        if self.reduced or self.final or self.begin:
            return False
        return self.bounds is not None and all(self.bounds[n] != (-1, -1) for n in numbers)

    def fitting(
        self, program: Program, wanted: list[Access], changed: frozenset[str]
    ) -> list[Access]:
        """The others where this has an iteration, whose subscripts are within bounds."""
        if all(access.fit is None for access in wanted):
            return wanted
        known = rooms(program, self.ranges, self.certain)
        found = []
        for access in wanted:
            fit = access.fit
            if fit is not None and not fit.exact and not fit.variables() & changed:
                rest = [fit.room.plus(room, -1) for room in known]
                if any(not r.terms and r.constant >= 0 for r in rest):
                    access = access.at(fit.section)
            found.append(access)
        return found

    def by_bounds(
        self, program: Program, accesses: list[Access], cuts: dict[int, tuple[int, int]]
    ) -> dict[Access, Access]:
        """What `remaining` gives for some accesses, as the bounds of their arrays tell it."""
        found = {}
        for access in accesses:
            if access not in self.certain:
                continue
            for widened in self.remaining([access], cuts):
                told = by_bounds(program, self.ranges, access, cuts, widened)
                if told is not None:
                    found[widened] = told
        return found

    def remaining(self, accesses: list[Access], cuts: dict[int, tuple[int, int]]) -> list[Access]:
        """What these accesses of one iteration touch in all that `cuts` leaves."""
        spans = []
        for number in reversed(range(len(self.ranges))):
            low, high = cuts.get(number, (0, 0))
            span = self.ranges[number]
            spans.append((span.index, span.low.plus(Affine(low)), span.high.plus(Affine(high), -1)))
        found = []
        for access in accesses:
            if access.variable in self.private and not access.through:
                if access.variable in self.reduced:
                    found.append(access)
                continue
            section = access.section
            if any(i.variables() & {index for index, _, _ in spans} for i in access.slot):
                access = access._replace(slot=())  # some of them
                section = section if access.variable in self.owned else None
            for index, first, last in spans:
                section = widen(section, index, first, last)
            found.append(access.anywhere() if section is None else access.at(section))
        return found


def _but_continue(block: Block) -> list[Statement]:
    """The statements of a loop but for a CONTINUE that only ends it."""
    found = block.statements
    if len(found) < 2 or found[-1].text != "terminal" or found[-1].kind is not Kind.SIMPLE:
        return found
    last = found[-1]
    return found if last.accesses or last.calls or last.stop else found[:-1]


def _begins_inner(statements: list[Statement]) -> bool:
    """Whether they are a loop, and in front what sets the value that it begins at."""
    if len(statements) != 2 or statements[1].reach is None:
        return False
    first, loop = statements
    span = statements[1].reach
    written = [access for access in first.accesses if access.write]
    if first.kind is not Kind.SIMPLE or first.calls or first.stop or len(written) != 1:
        return False
    key = written[0].variable
    told = span.low.variables() | span.high.variables()
    told |= span.congruent.difference.variables() if span.congruent is not None else set()
    read = {access.variable for access in loop.accesses if not access.write}
    return not written[0].through and key in read - told


def in_front_of_inner(loops: list[Statement]) -> list[Statement]:
    """What stands in a nest in front of its inner loops, and says where they begin."""
    first = [outer.blocks[0].statements[0] for outer in loops[:-1]]
    return [statement for statement in first if statement.kind is Kind.SIMPLE]


def nest(statement: Statement, *, remainders: bool = False) -> list[Statement]:
    """Loops that contain nothing but each other, from the outermost inward.

    `remainders`: inner ones may begin at a value that is known but for a remainder, to which a
    variable may be set in front of them.
    """
    found: list[Statement] = []
    while statement.kind is Kind.LOOP and not statement.stop:
        if statement.loop is None and not (found and remainders and statement.reach):
            break
        found.append(statement)
        inner = _but_continue(statement.blocks[0]) if len(statement.blocks) == 1 else []
        if remainders and _begins_inner(inner):
            inner = inner[1:]
        if len(inner) != 1:
            break
        statement = inner[0]
        while statement.kind is Kind.BLOCK and len(statement.blocks[0].statements) == 1:
            statement = statement.blocks[0].statements[0]
        known = statement.loop or (remainders and statement.reach)
        if statement.kind is Kind.LOOP and not known:
            return []  # a loop whose range is not known, as in what an earlier division left
    return found
