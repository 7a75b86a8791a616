"""Hoisting: what a routine communicates first or last is done by its callers instead.

A routine that receives, then computes, has no window of its own; its caller, which has computed
something else before, has. So the call that begins the routine goes in front of its calls, and one
that ends it behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from imbrex.transform.analysis.outward import Outward, said_at
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Plan
from imbrex.transform.rewrites.private import PrivateBuffers
from imbrex.transform.rewrites.proposals import Proposal
from imbrex.transform.rewrites.splitting import NAME as WRAPPERS
from imbrex.transform.rewrites.splitting import RoutineSite, Splitting
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import after_line, first_on_line, indent_at, whole_lines
from imbrex.transform.text.wrapping import wrapped

NAME = "hoisting"


@dataclass(slots=True)
class Caller:
    """A call of the routine, and what stands in front of it and behind it from now on."""

    routine: Routine
    block: Block
    index: int
    call: Call
    before: str = ""
    behind: str = ""

    @property
    def statement(self) -> Statement:
        return self.block.statements[self.index]


@dataclass(slots=True)
class Hoist:
    """A routine whose first or last call goes to its callers."""

    routine: Routine
    first: Statement | None = None
    last: Statement | None = None
    callers: list[Caller] = field(default_factory=list)

    @property
    def moved(self) -> list[Statement]:
        return [s for s in (self.first, self.last) if s is not None]


class Hoisting(Splitting[Hoist]):
    """A routine that communicates first or last leaves that to its callers.

    Before:
        void solve(double *u) { receive(u); sweep(u); }
        ...
        coefficients(a);
        solve(u);

    After:
        void solve(double *u) { sweep(u); }
        ...
        coefficients(a);
        receive(u);
        solve(u);
    """

    name = NAME

    def sites(self) -> Iterator[RoutineSite]:
        for routine in self.program.editable():
            if routine.name != "main" and any(s is not None for s in self._ends(routine)):
                yield RoutineSite(routine)

    def conditions(self, site: RoutineSite) -> Hoist | None:
        """What goes to the callers; None where no caller computes beside it, or it may not go."""
        routine = site.routine
        if routine.address_taken or routine.generic or routine.conditional or routine.problem:
            return None
        if routine.plain_name.lower() in self.program.inactive or routine.views:
            return None
        if routine.visible and (not self.program.has_main or self.program.hidden_code):
            return None
        hoist = Hoist(routine)
        if not self._find_callers(hoist):
            return None
        first, last = self._ends(routine)
        if first is not None and self._worth(hoist, -1) and self._goes(hoist, first, -1):
            hoist.first = first
        if last is not None and self._worth(hoist, 1) and self._goes(hoist, last, 1):
            hoist.last = last
        return hoist if hoist.moved else None

    def _ends(self, routine: Routine) -> tuple[Statement | None, Statement | None]:
        """The calls that communicate and begin or end a routine which computes otherwise."""
        statements = [s for s in routine.body.statements if s.kind is not Kind.DECLARE]
        found = [self.footprints.of(s, routine.file) for s in statements]
        if any(f.stop or f.leaves for f in found):
            return None, None
        quiet = [f.heavy and not f.events for f in found]
        if not any(quiet):
            return None, None
        outward = Outward(self.program, routine)
        candidates: list[Statement | None] = []
        for order in (range(len(statements)), range(len(statements) - 1, -1, -1)):
            end: Statement | None = None
            for position in order:
                statement = statements[position]
                if self._communicates(routine, statement):
                    end = statement
                elif outward.sets_constant(statement):
                    continue
                break
            candidates.append(end)
        return candidates[0], candidates[1]

    def _communicates(self, routine: Routine, statement: Statement) -> bool:
        """Whether a statement is the call of a routine of the program that communicates."""
        if statement.kind is not Kind.SIMPLE or len(statement.calls) != 1:
            return False
        call = statement.calls[0]
        if not call.is_statement or call.macro or call.unknown:
            return False
        if self.program.callee(call.name, routine.file) is None or statement.text == "terminal":
            return False
        source = self.program.files[routine.file].data
        span = (statement.code_start, after_line(source, statement.end))
        if not first_on_line(source, span[0]) or whole_lines(source, *span) == span:
            return False
        plain = statement.parent is not None and statement.parent.insertable
        return plain and bool(self.footprints.of(statement, routine.file).events)

    def _find_callers(self, hoist: Hoist) -> bool:
        """Whether all calls of the routine are statements with room around them."""
        name = hoist.routine.name
        for user in self.uses.callers(name):
            usable = self.uses.usable(user).get(name, [])
            every = [c for s in user.statements() for c in s.calls if c.name == name]
            if len(usable) != len(every) or user.problem or user.file not in self.program.files:
                return False
            if user is hoist.routine:
                return False
            data = self.program.files[user.file].data
            for block, index, call in usable:
                statement = block.statements[index]
                span = (statement.code_start, after_line(data, statement.end))
                if not first_on_line(data, span[0]) or whole_lines(data, *span) == span:
                    return False
                if statement.text == "terminal" or statement.code_start > statement.start:
                    return False
                if any(access.write for access in statement.accesses):
                    return False
                hoist.callers.append(Caller(user, block, index, call))
        return bool(hoist.callers)

    def _worth(self, hoist: Hoist, side: int) -> bool:
        """Whether a caller computes right in front of the call or right behind it."""
        return any(
            self.uses.computes_beside(caller.routine, caller.block, caller.index, side)
            for caller in hoist.callers
        )

    def _goes(self, hoist: Hoist, moved: Statement, side: int) -> bool:
        """Whether a call may be done at all callers; their texts are noted."""
        routine = hoist.routine
        touched = [
            access
            for access in self.footprints.of(moved, routine.file).accesses
            if access.through or not self._local(access.variable)
        ]
        body = self.footprints.of_routine(routine)
        # What is declared with a value is computed ahead of the routine's first statement.
        declared = [
            access
            for statement in routine.body.statements
            if statement.kind is Kind.DECLARE
            for access in self.footprints.of(statement, routine.file).accesses
        ]
        if self._meet(touched, declared):
            return False
        texts = []
        for caller in hoist.callers:
            text = said_at(self.program, routine, moved, caller.routine, caller.call, body)
            if text is None:
                return False
            # The arguments are evaluated on the other side of what is moved, or of the routine.
            evaluated = list(caller.statement.accesses)
            passed = touched if side < 0 else body.accesses
            bound = self.footprints.bound(caller.call, routine, passed)
            if self._meet(evaluated, bound):
                return False
            texts.append(text)
        for caller, text in zip(hoist.callers, texts, strict=True):
            if side < 0:
                caller.before = text
            else:
                caller.behind = text
        return True

    def _local(self, key: str) -> bool:
        variable = self.program.variables.get(key)
        return variable is not None and variable.kind == "local"

    def _meet(self, left: list[Access], right: list[Access]) -> bool:
        changed = self.footprints.changed(left + right)
        return self.footprints.conflict(left, right, changed) is not None

    def unneeded(self, site: RoutineSite) -> Proposal | None:
        return None

    def apply(self, plan: Plan[RoutineSite, Hoist]) -> Proposal:
        hoist = plan.content
        routine = hoist.routine
        edits: dict[str, list[Edit]] = {name: [] for name in self.program.files}
        data = self.program.files[routine.file].data
        for statement in hoist.moved:
            end = after_line(data, statement.end)
            edits[routine.file].append(Edit(*whole_lines(data, statement.code_start, end), ""))
        for caller in hoist.callers:
            source = self.program.files[caller.routine.file]
            statement = caller.statement
            indent = indent_at(source.data, statement.code_start)
            end = after_line(source.data, statement.end)
            start, stop = whole_lines(source.data, statement.code_start, end)
            for text, place in ((caller.before, start), (caller.behind, stop)):
                if text:
                    said = wrapped(source.language, text, len(indent), indent)
                    edits[caller.routine.file].append(Edit(place, place, f"{indent}{said}\n"))
        moved = [statement.calls[0].name for statement in hoist.moved]
        names = ", ".join(sorted({caller.routine.name for caller in hoist.callers}))
        text_of = ReasonKind.HOISTED(
            call=" and ".join(dict.fromkeys(moved)), routine=routine.name, callers=names
        )
        line = hoist.moved[0].line
        proposal = Proposal(
            self.name, routine, line, Reason(text_of, Location(routine.file, line)), edits
        )
        proposal.also = tuple(dict.fromkeys(moved))
        proposal.leads_to = (PrivateBuffers.name, WRAPPERS)
        return proposal
