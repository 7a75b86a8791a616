"""Nonblocking code that is there already: its starts move up and its waits down."""

from __future__ import annotations

from dataclasses import replace

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.facts import ProgramFacts
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.operations import own_operation
from imbrex.transform.analysis.request_arguments import (
    request_access,
    request_argument,
    request_section,
)
from imbrex.transform.analysis.requests import started
from imbrex.transform.analysis.transfer import Render, Role, Transfer, data_accesses
from imbrex.transform.analysis.unread import never_read
from imbrex.transform.model.affine import Affine, Range
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.base import Decision, Plan, Refusal, Site
from imbrex.transform.rewrites.calls import sites_in
from imbrex.transform.rewrites.completions import Completing, strictest
from imbrex.transform.rewrites.pieces import Lowered, Piece, places_of
from imbrex.transform.text.emit import Text

_MOST_ELEMENTS = 64  # of a Waitall that is taken apart


class ExistingMotion(Completing[list[Piece], Lowered]):
    """The starts of nonblocking code that is there already move up, and its waits down.

    It takes MPI_Isend, Issend, Irecv, nonblocking collectives, MPI_Wait and MPI_Waitall; a Waitall
    is taken apart where its requests may wait until different places.

    Before:
        work(w);
        MPI_Irecv(v, n, MPI_DOUBLE, left, 0, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        more(w);
        use(v);

    After:
        MPI_Irecv(v, n, MPI_DOUBLE, left, 0, comm, &request);
        work(w);
        more(w);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        use(v);
    """

    name = "motion"

    def __init__(self, program: Program, footprints: Footprints, facts: ProgramFacts) -> None:
        super().__init__(program, footprints, facts)
        self.completed: dict[str, list[Transfer]] = {}

    def applies(self, site: Site) -> bool:
        return site.call.name in mpi_calls.STARTS or site.call.name in mpi_calls.REQUEST_OF_WAIT

    def _takes(self, site: Site) -> list[Access]:
        """What the variable that takes the code of a wait is set by, where a check needs that."""
        keys = self._taking(site)
        if all(never_read(self.program, site.routine, key) is None for key in keys):
            return []
        return self.without_codes(site, [a for a in site.statement.accesses if a.variable in keys])

    def _code_stays(self, site: Site, argument: Argument) -> bool:
        if not super()._code_stays(site, argument):
            return False
        starts = site.call.name in mpi_calls.STARTS  # a wait that moves sets it later
        return starts or self.set_before(site, argument.base or "")

    def tolerates(self, problem: Cause) -> bool:
        """Whether a problem is only that the whole array may be copied.

        If it were, the program would be wrong as it is, since the call is nonblocking already.
        """
        return problem.kind is ReasonKind.MAY_BE_NONCONTIGUOUS

    def conditions(self, site: Site) -> list[Piece]:
        """The pieces that a call is moved as.

        Raises Refusal where the call may not be moved at all.
        """
        if site.call.name in mpi_calls.STARTS:
            return [self._start(site)]
        return self._wait(site)

    def _start(self, site: Site) -> Piece:
        call = site.call
        error = self._check(site)
        transfer = started(call)
        if transfer is None:
            text = ReasonKind.OWN_OPERATION(operation=own_operation(call) or "")
            raise Refusal(self.name, Reason(text, site.location))
        transfer.error = error
        for buffer in transfer.buffers:
            self._check_memory(site, buffer.text, buffer.base)
        request = request_argument(call)
        self._check_memory(site, request.text, request.base)
        transfer.codes = self._taking(site)
        accesses = [*self._evaluation(site), *data_accesses(self.program, transfer)]
        return Piece(transfer, [*accesses, request_access(call, self.program)])

    def _check_memory(self, site: Site, text: str, base: str | None) -> None:
        if (base or "").lstrip("*") not in self.program.variables:
            self._refuse(site, ReasonKind.BUFFER_UNKNOWN(argument=text.strip()))

    def _wait(self, site: Site) -> list[Piece]:
        call, routine = site.call, site.routine
        error = self._check(site)
        completed = self._completed(site)
        if not completed:
            self._refuse(site, ReasonKind.NO_START())
        status = call.arguments[mpi_calls.STATUS_OF_WAIT[call.name]]
        ignored = status.constant in ("MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE")
        control = [*self._evaluation(site), *self._takes(site)]
        status_read = not ignored and (
            never_read(self.program, routine, status.base or "") is not None
        )
        if status_read:
            base = UNKNOWN_MEMORY if status.base is None else status.base
            control.append(Access(base, status.through, True, call.line))
        whole = request_access(call, self.program)
        found = []
        for element in self._elements(site, ignored or not status_read):
            part = whole
            mine = completed
            if element is not None:
                section = request_section(call, self.program)
                assert section is not None and section[0].low is not None
                part = whole.at((Range.point(Affine(element, section[0].low.terms)),))
                mine = [s for s in completed if not self._another(whole, part.section, s)]
            stands = Transfer(
                call,
                strictest([started.transfer for started in mine]),
                request_argument(call),
                error=error,
                status_read=status_read,
                repeats_condition=True,
                control=[*control, part],
                codes=self._taking(site),
            )
            released, completes = self._released(site, mine, error)
            accesses = [*stands.control, *released]
            found.append(Piece(stands, accesses, element, completes, places_of(mine)))
        return found

    def _elements(self, site: Site, unread: bool) -> list[int | None]:
        """The elements of a Waitall that may be waited for apart; [None]: it stays whole.

        `unread`: it has no statuses, or nothing looks at them.
        Taking it apart is sound: a Waitall waits for each of its requests, in any order.
        """
        section = request_section(site.call, self.program)
        if site.call.name != "MPI_Waitall" or not unread or section is None:
            return [None]
        held = request_argument(site.call).fence
        fortran = self.program.files[site.routine.file].is_fortran
        if fortran and held and "%" not in held:  # in an element of an array: no constant name
            return [None]
        base = self.program.variables[request_argument(site.call).base or ""]
        if not fortran and base.kind == "field" and not held:
            return [None]
        low, high = section[0].low, section[0].high
        if low is None or high is None or low.terms or high.terms:
            return [None]
        count = high.constant - low.constant + 1
        if not 1 < count <= _MOST_ELEMENTS:
            return [None]
        return list(range(low.constant, high.constant + 1))

    def lower_all(
        self, routine: Routine, only: frozenset[tuple[str, int]]
    ) -> tuple[list[Lowered], list[Decision]]:
        """Put all calls that may be moved into the model as inserted statements."""
        plans, refused = [], []
        for site in sites_in(routine):
            if not self.applies(site) or (only and (routine.file, site.line) not in only):
                continue
            plan = self.validate(site)
            if isinstance(plan, Refusal):
                refused.append(Decision(site, "refused", plan.reason, site.line, site.line))
            elif plan is not None:
                plans.append(plan)
        return [self.apply(plan) for plan in plans], refused

    def apply(self, plan: Plan[Site, list[Piece]]) -> Lowered:
        """Put the pieces of a call into the model in its place."""
        lowered = Lowered(plan.site, plan.content)
        self._insert(lowered)
        return lowered

    def _insert(self, lowered: Lowered) -> None:
        original = lowered.site.statement
        block = original.parent
        assert block is not None
        position = block.statements.index(original)
        inserted = []
        for piece in lowered.pieces:
            starts = self.starts(lowered.site, piece)
            role = Role(piece.transfer, starts, self._moved_text(lowered.site, piece))
            statement = self._inserted(original, piece.accesses, role)
            statement.parent = block
            piece.inserted = statement
            if starts:
                piece.transfer.start = statement
            else:
                piece.transfer.wait = statement
            inserted.append(statement)
        original.removed = True
        block.statements[position + 1 : position + 1] = inserted
        self.footprints.forget(original)

    def _moved_text(self, site: Site, piece: Piece) -> Render:
        def render(text: Text, indent: str) -> list[str]:
            lines = [text.moved(site.statement, piece.transfer.guards, indent)]
            return lines + text.fences(piece.completes, indent)

        return render

    def finish(self, lowered: list[Lowered]) -> list[Decision]:
        """What became of each call; those that have not moved stand as they stood."""
        decisions = []
        for item in lowered:
            moved = [piece for piece in item.pieces if piece.transfer.crossed]
            decisions.append(self._decision(item, moved))
            if not moved:
                self._restore(item)
                continue
            known = self.completed.setdefault(item.site.routine.key, [])
            known += [transfer for piece in moved for transfer in piece.completes]
            if len(item.pieces) > 1:
                self._join(item)
        return decisions

    def completed_in(self, routine: Routine) -> list[Transfer]:
        """The transfers of the waits that have been moved in a routine."""
        return self.completed.get(routine.key, [])

    def _restore(self, item: Lowered) -> None:
        """Put the call back, behind the waits that have moved up to it and before the starts."""
        original = item.site.statement
        block = original.parent
        assert block is not None
        pieces = [piece.inserted for piece in item.pieces if piece.inserted is not None]
        first = block.statements.index(original)
        last = block.statements.index(pieces[-1])
        between = [s for s in block.statements[first + 1 : last + 1] if s not in pieces]
        waits = [s for s in between if isinstance(s.role, Role) and not s.role.starts]
        computing = [s for s in between if s not in waits]
        block.statements[first : last + 1] = [*waits, original, *computing]
        original.removed = False
        self.footprints.forget(original)

    def _join(self, item: Lowered) -> None:
        """Elements of one Waitall that ended at one place are waited for together."""
        groups: dict[int, list[Piece]] = {}
        for piece in item.pieces:
            assert piece.inserted is not None
            groups.setdefault(id(self._head(piece.inserted)), []).append(piece)
        for members in groups.values():
            first = members[0]
            assert first.inserted is not None
            role = first.inserted.role
            assert isinstance(role, Role)
            if len(members) < len(item.pieces):
                first.inserted.role = replace(role, render=self._split_text(item.site, members))
            joined = [piece.transfer for piece in members]
            for piece in members[1:]:
                assert piece.inserted is not None and piece.inserted.parent is not None
                first.completes += piece.completes
                first.inserted.accesses += piece.inserted.accesses
                first.transfer.control += piece.transfer.control
                piece.inserted.parent.statements.remove(piece.inserted)
            if len(joined) > 1:
                first.transfer.members = joined
                self.footprints.forget(first.inserted)

    @staticmethod
    def _head(statement: Statement) -> Statement:
        """The first of the waits that stand in a row with this one, under the same conditions."""
        block = statement.parent
        assert block is not None and isinstance(statement.role, Role)
        guards = statement.role.transfer.guards
        position = block.statements.index(statement)
        while position > 0:
            before = block.statements[position - 1]
            role = before.role
            if before.kind is not Kind.INSERTED or not isinstance(role, Role) or role.starts:
                break
            if role.transfer.guards != guards:
                break
            position -= 1
        return block.statements[position]

    def _split_text(self, site: Site, members: list[Piece]) -> Render:
        # A part that stays needs no fence that the whole did not need.
        moved = [t for piece in members if piece.transfer.crossed for t in piece.completes]
        argument = request_argument(site.call)
        requests = argument.fence or self.program.variables[argument.base or ""].name
        taken = "" if site.call.is_statement else self.assigned(site)

        def render(text: Text, indent: str) -> list[str]:
            runs: list[list[int]] = []
            for element in sorted(piece.element for piece in members if piece.element is not None):
                if runs and runs[-1][-1] == element - 1:
                    runs[-1].append(element)
                else:
                    runs.append([element])
            transfer = members[0].transfer
            lines = [
                text.part_of_waitall(transfer, requests, run[0], len(run), indent, taken)
                for run in runs
            ]
            return lines + text.fences(moved, indent)

        return render

    def starts(self, site: Site, piece: Piece) -> bool:
        """Whether a piece of a call is a start, not a wait."""
        return site.call.name in mpi_calls.STARTS

    def _subject(self, site: Site, piece: Piece, starts: bool) -> str:
        subject = piece.transfer.buffer if starts else request_argument(site.call)
        return f"{site.call.name} of {subject.text.strip()}"

    def _decision(self, item: Lowered, moved: list[Piece]) -> Decision:
        site = item.site
        line = site.call.line
        starts = self.starts(site, item.pieces[0])
        blockers = [
            blocker
            for piece in item.pieces
            if (blocker := piece.transfer.start_blocker or piece.transfer.wait_blocker) is not None
        ]
        direction = "earlier" if starts else "later"
        subject = self._subject(site, item.pieces[0], starts)
        details = list(dict.fromkeys(f"not {direction}, because {b}" for b in blockers))
        if len(details) > 1:
            requests = request_argument(site.call).text.strip()
            whose = [f"{requests}, request {p.element}: " for p in item.pieces]
            details = [
                name + f"not {direction}, because {blocker}"
                for name, blocker in zip(whose, blockers, strict=True)
            ]
        else:
            details = [f"{subject}: {text}" for text in details]
        if not moved:
            blocker = Reason(ReasonKind.NO_BETTER_PLACE(), site.location)
            blocker = blockers[0] if blockers else blocker
            kind = ReasonKind.NOT_EARLIER if starts else ReasonKind.NOT_LATER
            reason = Reason(kind(cause=blocker.cause), blocker.location)
            return Decision(site, "nothing-to-gain", reason, line, line, [], details)
        crossed = max(piece.transfer.crossed for piece in moved)
        reason = Reason(
            ReasonKind.WIDER_WINDOW(count=crossed),
            Location(site.routine.file, line),
        )
        decision = Decision(site, "rewritten", reason, line, line, [self.name], details)
        decision.crossed = crossed
        decision.begun = frozenset(place for piece in moved for place in piece.begun)
        for piece in moved:
            if starts:
                decision.first_line = min(line, self._line_after(piece.inserted))
            else:
                decision.last_line = max(
                    decision.last_line, self._line_before(piece.inserted, site)
                )
        return decision
