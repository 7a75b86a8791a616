"""Statements that only start messages, or only complete some: exchanges split by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.beside import has_work
from imbrex.transform.analysis.operations import own_operation
from imbrex.transform.analysis.persistent import is_persistent
from imbrex.transform.analysis.request_states import Started
from imbrex.transform.analysis.requests import started
from imbrex.transform.analysis.taken import Given, statements_taken
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.base import Decision, Refusal, Site
from imbrex.transform.rewrites.completions import strictest
from imbrex.transform.rewrites.motion import ExistingMotion
from imbrex.transform.rewrites.pieces import Lowered, Piece, places_of

_EDGES = (ReasonKind.BLOCK_BEGINS, ReasonKind.BLOCK_ENDS)
_MOVED = (Kind.SIMPLE, Kind.LOOP)


class StatementMotion(ExistingMotion):
    """Calls that only start messages move up, and calls that only complete some move down.

    Of an exchange split by hand each half is moved as a start or a wait is; so is a loop of starts,
    and one that waits for any message and unpacks it.

    Before:
        work(w);
        exchange_begin(u);
        exchange_end(u);
        more(w);
        use(u);

    After:
        exchange_begin(u);
        work(w);
        more(w);
        exchange_end(u);
        use(u);
    """

    def applies(self, site: Site) -> bool:
        statement = site.statement
        if statement.kind not in _MOVED or statement.removed:
            return False
        alone = statement.kind is Kind.SIMPLE and site.call.name.startswith("MPI_")
        if alone and (site.call.is_statement or self.assigned(site)):
            return False  # it is moved as such
        events = self.footprints.of(statement, site.routine.file).events
        names = {event.name for event in events}
        return bool(names) and (names <= mpi_calls.STARTS.keys() or names <= mpi_calls.COMPLETIONS)

    def in_routine(self, routine: Routine) -> Iterator[Site]:
        """Statements that may be moved as a whole; not those that others have moved parts of."""
        within: set[int] = set()
        for statement in routine.statements():
            if id(statement) in within or statement.kind not in _MOVED:
                continue
            inner = statement.walk()
            call = next((call for s in inner for call in s.calls), None)
            if call is None or any(s.kind is Kind.INSERTED or s.removed for s in inner):
                continue
            site = Site(routine, statement, self._first(inner) or call)
            if self.applies(site):
                within |= {id(s) for s in inner}
                yield site

    def _first(self, inner: list[Statement]) -> Call | None:
        """The call that a statement is told by: the first that communicates."""
        calls = [call for statement in inner for call in statement.calls]
        communicating = [
            call
            for call in calls
            if call.name in mpi_calls.STARTS
            or call.name in mpi_calls.COMPLETIONS
            or self._communicates(call)
        ]
        return communicating[0] if communicating else None

    def _communicates(self, call: Call) -> bool:
        routine = self.program.routines.get(call.name)
        return routine is not None and bool(self.footprints.of_routine(routine).events)

    def conditions(self, site: Site) -> list[Piece]:
        self._check_statement(site)
        footprint = self.footprints.of(site.statement, site.routine.file)
        calls = list(self._calls(site.routine, site.statement.walk(), set()))
        accesses = self.without_codes(site, footprint.accesses)
        if all(call.name in mpi_calls.STARTS for _, _, call in calls):
            members = [self._started(routine, call) for routine, _, call in calls]
            transfer = self._as_one(site, members)
            transfer.codes = self._codes(footprint.accesses, accesses)
            return [Piece(transfer, accesses)]
        starts: list[Started] = []
        members = []
        for routine, statement, call in calls:
            mine = self._completed(Site(routine, statement, call))
            if not mine:
                text = ReasonKind.NO_START()
                raise Refusal(self.name, Reason(text, Location(routine.file, call.line)))
            starts += [s for s in mine if s not in starts]
            part = strictest([s.transfer for s in mine])
            members.append(Transfer(_constant_values(call), part, call.arguments[0]))
        transfer = self._as_one(site, members)
        transfer.control = accesses
        transfer.codes = self._codes(footprint.accesses, accesses)
        transfer.repeats_condition = True
        lasting = [s for s in starts if is_persistent(s)]
        released = self.states.released([s for s in starts if s not in lasting], site.routine)
        released += self.persistent.released(lasting, site.routine)
        completes = self._named(site.routine, released, self._error_variable(site))
        self._check_fences(site, completes)
        begun = places_of(starts)
        return [Piece(transfer, [*accesses, *released], completes=completes, begun=begun)]

    @staticmethod
    def _codes(accesses: list[Access], rest: list[Access]) -> frozenset[str]:
        """The variables of what is not in the rest."""
        return frozenset(access.variable for access in accesses if access not in rest)

    def _check_statement(self, site: Site) -> None:
        statement, routine = site.statement, site.routine
        if routine.problem:
            self._refuse(site, routine.problem)
        if self.facts.threads:
            raise Refusal(self.name, self.facts.threads)
        footprint = self.footprints.of(statement, routine.file)
        reason = footprint.stop or footprint.leaves
        if reason is not None:
            raise Refusal(self.name, reason)
        for inner in statement.walk():
            for call in inner.calls:
                if call.macro:
                    self._refuse(site, ReasonKind.CALL_OF_MACRO(macro=call.macro))
        if statement.code_start > statement.start:
            self._refuse(site, ReasonKind.DIRECTED_OR_LABELLED())
        self._check_surroundings(site)

    def _calls(
        self, routine: Routine, statements: list[Statement], seen: set[tuple[str, Given]]
    ) -> Iterator[tuple[Routine, Statement, Call]]:
        """The calls of MPI that starting or completing is done by, through the call graph."""
        for statement in statements:
            for call in statement.calls:
                if call.name in mpi_calls.STARTS or call.name in mpi_calls.COMPLETIONS:
                    yield routine, statement, call
                    continue
                callee = self.program.callee(call.name, routine.file)
                if callee is None or call.unknown:
                    continue
                given = self.footprints.given(call, callee)
                if (callee.key, given) not in seen:
                    seen.add((callee.key, given))
                    values = {**dict.fromkeys(self.footprints.success, 0), **dict(given)}
                    yield from self._calls(callee, statements_taken(callee, values), seen)

    def _started(self, routine: Routine, call: Call) -> Transfer:
        """A start inside the statement, as far as it is the same whenever it is done."""
        place = Location(routine.file, call.line)
        found = started(call)
        if found is None:
            text = ReasonKind.OWN_OPERATION(operation=own_operation(call) or "")
            raise Refusal(self.name, Reason(text, place))
        return replace(found, call=_constant_values(call))

    def _as_one(self, site: Site, members: list[Transfer]) -> Transfer:
        buffer = Argument(site.call.name, site.call.start, site.call.end)
        part = strictest(members)
        return Transfer(site.call, part, buffer, members=members)

    def _error_variable(self, site: Site) -> Argument | None:
        """A variable for error codes that the routine has, for the calls that fence buffers."""
        if site.routine.interface in ("", "mpi_f08"):
            return None
        for statement in site.routine.statements():
            for call in statement.calls:
                expected = mpi_calls.C_ARGUMENTS.get(call.name)
                if expected is None or len(call.arguments) != expected + 1:
                    continue
                variable = self.program.variables.get(call.arguments[-1].base or "")
                if variable is not None and variable.kind == "local" and not variable.bounds:
                    return call.arguments[-1]
        return None

    def _check_fences(self, site: Site, completes: list[Transfer]) -> None:
        """A Fortran compiler may keep a local buffer in registers over a call without it."""
        interface = site.routine.interface
        for transfer in completes:
            if interface == "" or (interface != "mpi_f08" and transfer.error is None):
                name = transfer.buffer.text
                self._refuse(site, ReasonKind.REQUEST_KEPT(variable=name))

    def lower_all(
        self, routine: Routine, only: frozenset[tuple[str, int]]
    ) -> tuple[list[Lowered], list[Decision]]:
        """Put all statements that may be moved into the model as inserted ones."""
        plans, refused = [], []
        for site in list(self.in_routine(routine)):
            if only and (routine.file, site.line) not in only:
                continue
            plan = self.validate(site)
            if isinstance(plan, Refusal):
                refused.append(Decision(site, "refused", plan.reason, site.line, site.line))
            elif plan is not None:
                plans.append(plan)
        return [self.apply(plan) for plan in plans], refused

    def tell(
        self, decisions: list[Decision], moved: list[Decision], refused: list[Decision]
    ) -> list[Decision]:
        """All decisions: what a statement's motion means is said at the calls of MPI in it."""
        of_place: dict[tuple[str, int], list[Decision]] = {}
        for decision in decisions:
            key = (decision.site.routine.file, decision.site.line)
            of_place.setdefault(key, []).append(decision)
        own = []
        for whole in [*moved, *refused]:
            site = whole.site
            inside = self._calls(site.routine, site.statement.walk(), set())
            told = [
                decision
                for routine, _, call in inside
                for decision in of_place.get((routine.file, call.line), [])
                if decision.site.call is call
            ]
            same = [decision for decision in told if decision.site.call is site.call]
            if not same and (whole.decision == "rewritten" or not told):
                own.append(whole)
            for decision in told:
                self._note(decision, whole)
        return [*decisions, *own]

    def _note(self, decision: Decision, whole: Decision) -> None:
        """Say at a call of MPI what became of the statement that it is in."""
        site = whole.site
        if whole.decision == "rewritten" and decision.decision != "rewritten":
            decision.decision, decision.rewrites = "rewritten", [self.name]
            decision.reason = Reason(ReasonKind.MOVED_WITH(routine=site.call.name), site.location)
            if decision.site.call is site.call:
                decision.reason, decision.details = whole.reason, whole.details
                decision.first_line, decision.last_line = whole.first_line, whole.last_line
                decision.crossed = whole.crossed
            decision.begun |= whole.begun
        elif whole.decision == "refused":
            text = f"{site.call.name} at {site.location} is not moved, because {whole.reason}"
            decision.details += [text] if text not in decision.details else []
        elif whole.decision != "rewritten":
            new = [detail for detail in whole.details if detail not in decision.details]
            decision.details += new
            inner = dict(decision.reason.cause.parameters).get("cause")
            if isinstance(inner, Cause) and inner.kind in _EDGES:
                decision.reason = whole.reason  # what stands beyond the routine that holds it
                decision.work = has_work(self.footprints, site.routine, site.statement)

    def starts(self, site: Site, piece: Piece) -> bool:
        return all(each.call.name in mpi_calls.STARTS for each in piece.transfer.each)

    def _subject(self, site: Site, piece: Piece, starts: bool) -> str:
        return site.call.name


def _constant_values(call: Call) -> Call:
    """The call with those arguments that are the same wherever and whenever it is made."""
    arguments = [
        argument
        if argument.value is None or not argument.value.terms
        else replace(argument, value=None)
        for argument in call.arguments
    ]
    return replace(call, arguments=arguments)
