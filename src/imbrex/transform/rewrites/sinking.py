"""Sinking: an exchange goes into the routine that computes right behind it.

A routine whose loops have bounds of their own cannot be divided from outside: its callers could
not ask for the interior alone. With the exchange as its first statement it can, where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from imbrex.transform.analysis.messages import communicates
from imbrex.transform.analysis.outward import callable_in
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.base import Plan
from imbrex.transform.rewrites.proposals import Proposal
from imbrex.transform.rewrites.splitting import NAME as WRAPPERS
from imbrex.transform.rewrites.splitting import RoutineSite, Splitting
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import (
    after_line,
    first_on_line,
    indent_at,
    line_start,
    whole_lines,
)

NAME = "sinking"
_PURE = re.compile(rb"(?i)\b(?:pure|elemental|attributes|entry)\b")


@dataclass(slots=True)
class Sink:
    """A routine, the exchange that goes into it, and the calls of the exchange that it replaces."""

    routine: Routine
    exchange: Routine
    first: Statement  # the exchange goes in front of it
    gone: list[tuple[Routine, Statement]] = field(default_factory=list)


class Sinking(Splitting[Sink]):
    """An exchange in front of every call of a routine becomes the first that the routine does.

    Before:
        exchange();
        compute();
        ...
        void compute(void) { for (int i = 1; i < N; i++) v[i] = u[i - 1] + u[i]; }

    After:
        compute();
        ...
        void compute(void) { exchange(); for (int i = 1; i < N; i++) v[i] = u[i - 1] + u[i]; }
    """

    name = NAME

    def sites(self) -> Iterator[RoutineSite]:
        for routine in self.program.editable():
            if routine.name != "main" and not routine.parameters:
                yield RoutineSite(routine)

    def conditions(self, site: RoutineSite) -> Sink | None:
        """What goes into the routine; None where nothing does, or it must not."""
        routine = site.routine
        if routine.address_taken or routine.generic or routine.conditional or routine.problem:
            return None
        if routine.visible and (not self.program.has_main or self.program.hidden_code):
            return None
        names = {routine.plain_name.lower(), f"{routine.plain_name.lower()}_"}
        if names & self.program.inactive or self._known_elsewhere(routine):
            return None
        first = self._first(routine)
        found = first and self._exchange(routine)
        if not first or not found:
            return None
        exchange, gone = found
        if not self._means(routine, exchange, gone) or self._needed(routine, gone):
            return None
        return Sink(routine, exchange, first, gone)

    def _known_elsewhere(self, routine: Routine) -> bool:
        """Whether code of the other language may call the routine."""
        if any(source.binds_c for source in self.program.files.values()):
            return True
        return f"{routine.name.lower()}_" in self._all_called

    @cached_property
    def _all_called(self) -> frozenset[str]:
        """The names that calls have, whatever stands behind them."""
        return frozenset(call.name for call in self.program.calls())

    def _first(self, routine: Routine) -> Statement | None:
        """The first statement of a routine that computes and does not communicate."""
        statements = [s for s in routine.body.statements if s.kind is not Kind.DECLARE]
        found = [self.footprints.of(s, routine.file) for s in statements]
        if not any(f.heavy for f in found) or any(f.stop or f.leaves or f.events for f in found):
            return None
        first = statements[0]
        data = self.program.files[routine.file].data
        if _PURE.search(b"\n".join(data[: first.start].split(b"\n")[routine.line - 1 :])):
            return None
        plain = first.kind in (Kind.SIMPLE, Kind.LOOP, Kind.IF) and first.code_start == first.start
        room = routine.body.insertable and first_on_line(data, first.start)
        declared = all(
            s.kind is not Kind.DECLARE or s.end <= first.start for s in routine.body.statements
        )
        return first if plain and room and declared else None

    def _exchange(self, routine: Routine) -> tuple[Routine, list[tuple[Routine, Statement]]] | None:
        """The routine that is called right in front of each call of this one, and where."""
        name = routine.name
        gone: list[tuple[Routine, Statement]] = []
        exchanges: dict[str, Routine] = {}
        for user in self.uses.callers(name):
            usable = self.uses.usable(user).get(name, [])
            every = [c for s in user.statements() for c in s.calls if c.name == name]
            if len(usable) != len(every) or user.problem or user.file not in self.program.files:
                return None
            if user is routine:
                return None
            for block, index, call in usable:
                before = block.statements[index - 1] if index else None
                statement = block.statements[index]
                if before is None or call.arguments or statement.stop:
                    return None
                if statement.code_start > statement.start:
                    return None  # a directive in front of it
                exchange = self._called(user, before)
                if exchange is None or exchange is routine:
                    return None
                exchanges[exchange.key] = exchange
                gone.append((user, before))
        if len(exchanges) != 1:
            return None
        (found,) = exchanges.values()
        return found, gone

    def _called(self, user: Routine, statement: Statement) -> Routine | None:
        """The routine with messages that a statement calls without arguments, if it does."""
        if statement.kind is not Kind.SIMPLE or len(statement.calls) != 1 or statement.stop:
            return None
        call: Call = statement.calls[0]
        if not call.is_statement or call.macro or call.unknown or call.arguments:
            return None
        if "::" in call.name:  # a method: only its class may know it
            return None
        found = self.program.callee(call.name, user.file)
        if found is None or found.parameters or statement.text == "terminal":
            return None
        source = self.program.files[user.file].data
        span = (statement.code_start, after_line(source, statement.end))
        if not first_on_line(source, span[0]) or whole_lines(source, *span) == span:
            return None
        plain = statement.parent is not None and statement.parent.insertable
        if not plain or statement.code_start > statement.start or not communicates(found):
            return None
        effects = self.footprints.of(statement, user.file)
        return None if effects.stop or effects.leaves else found

    def _means(
        self, routine: Routine, exchange: Routine, gone: list[tuple[Routine, Statement]]
    ) -> bool:
        """Whether the name of the exchange is that routine's in the routine too."""
        files = self.program.files
        name = gone[0][1].calls[0].name
        if exchange.file not in files:
            return False
        languages = {files[r.file].language is Language.C for r in (routine, exchange, gone[0][0])}
        if len(languages) != 1:
            return False
        if files[routine.file].language is Language.C:
            alike = any(v.name == name for v in self.program.variables.values())
            above = exchange.file == routine.file and exchange.body.end <= routine.body.start
            return above and not alike
        return all(callable_in(self.program, exchange, user, routine, name) for user, _ in gone)

    def _needed(self, routine: Routine, gone: list[tuple[Routine, Statement]]) -> bool:
        """Whether what the routine declares may depend on what the exchange does.

        Values of declarations and sizes of arrays are computed ahead of its first statement.
        """
        user, statement = gone[0]
        effects = self.footprints.of(statement, user.file).accesses
        changed = self.footprints.changed(effects)
        used = set()
        for inner in routine.statements():
            used |= {access.variable for access in self.footprints.of(inner, routine.file).accesses}
            if inner.kind is Kind.DECLARE:
                accesses = self.footprints.of(inner, routine.file).accesses
                if self.footprints.conflict(accesses, effects, changed) is not None:
                    return True
        for key in used:
            variable = self.program.variables.get(key)
            if variable is None or variable.kind != "local":
                continue
            if variable.element.lower().startswith("character"):
                return True  # of a length that may be computed
            for bound in (bound for bounds in variable.bounds for bound in bounds):
                if bound is None or bound.variables():
                    return True
        return False

    def unneeded(self, site: RoutineSite) -> Proposal | None:
        return None

    def apply(self, plan: Plan[RoutineSite, Sink]) -> Proposal:
        sink = plan.content
        routine = sink.routine
        edits: dict[str, list[Edit]] = {name: [] for name in self.program.files}
        for user, statement in sink.gone:
            data = self.program.files[user.file].data
            end = after_line(data, statement.end)
            edits[user.file].append(Edit(*whole_lines(data, statement.code_start, end), ""))
        source = self.program.files[routine.file]
        name = sink.gone[0][1].calls[0].name
        indent = indent_at(source.data, sink.first.code_start)
        said = f"{name}();" if source.language is Language.C else f"call {name}"
        place = line_start(source.data, sink.first.code_start)
        edits[routine.file].append(Edit(place, place, f"{indent}{said}\n"))
        users = ", ".join(sorted({user.name for user, _ in sink.gone}))
        told = ReasonKind.SUNK(call=name, callers=users, routine=routine.name)
        line = sink.first.line
        reason = Reason(told, Location(routine.file, line))
        proposal = Proposal(self.name, routine, line, reason, edits)
        proposal.also = (sink.exchange.name,)
        proposal.leads_to = (WRAPPERS,)
        return proposal
