"""Boundary-first: a loop nest in two parts, so that a message travels while the larger one runs.

The consumer of a message does its interior, which needs nothing of the message, before the wait;
the producer does the boundary, which is what is sent, before the send (sancho-potential-overlap,
section 3.4, loop indexing).
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.assumed_sizes import assumable, conditions, may_be_asked
from imbrex.transform.analysis.begun import Beginnings
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.kept_spaces import kept_spaces
from imbrex.transform.analysis.messages import Messages, buffer_access, statement_waits
from imbrex.transform.analysis.persistent import persistent_of
from imbrex.transform.analysis.space import Space
from imbrex.transform.analysis.spaces import Spaces
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Statement
from imbrex.transform.rewrites.base import Plan, Refusal
from imbrex.transform.rewrites.cutting import DEEPEST, Cutting
from imbrex.transform.rewrites.dividable import unreadable
from imbrex.transform.rewrites.proposals import Preparing, Proposal, StatementSite
from imbrex.transform.text.division import (
    Cuts,
    Division,
    halves,
)
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.parted import Parted
from imbrex.transform.text.placing import behind, in_front, in_place

NAME = "boundary-first"


class BoundaryFirst(Preparing[StatementSite, Division]):
    """A loop nest in two parts: a message is under way while the larger one, the interior, runs.

    The consumer of a message does its interior before the wait, which may be a call that ends what
    another has begun; the producer does the boundary, which is what is sent, before the send. A
    call of a routine that is one nest is divided too: by its arguments, where they bound the loops,
    else by `work_interior` and `work_boundary`, which are written beside `work`; what it does
    around the nest stays with the part that runs last.

    Before:
        MPI_Recv(&u[0], 1, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
        for (int i = 1; i < n; i++)
            v[i] = u[i - 1] + u[i];

    After:
        for (int i = 2; i < n; i++)
            v[i] = u[i - 1] + u[i];
        MPI_Recv(&u[0], 1, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
        for (int i = 1; i < 2; i++)
            v[i] = u[i - 1] + u[i];
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.messages = Messages(program, footprints)
        self.cutting = Cutting(program, footprints)
        self.beginnings = Beginnings(footprints)
        self.persistent = persistent_of(footprints)
        self._flying: dict[str, list[Access] | None] = {}
        self._spaces: dict[int, Space | None] = {}

    def sites(self) -> Iterator[StatementSite]:
        for routine in self.program.editable():
            if not self._communicates(routine):
                continue
            for block in routine.body.plain():
                for index in range(len(block.statements)):
                    if block.insertable and block.braced:
                        yield StatementSite(routine, block, index, produces=False)
                        yield StatementSite(routine, block, index, produces=True)

    def _communicates(self, routine: Routine) -> bool:
        """Whether a routine has messages of its own, or calls that end some."""
        statements = routine.statements()
        return any(
            call.name in mpi_calls.PARTS or call.name in mpi_calls.PERSISTENT_STARTS
            for each in statements
            for call in each.calls
        ) or any(self.beginnings.only_ends(routine, each) for each in statements)

    def conditions(self, site: StatementSite) -> Division | None:
        """How to divide statement `index` of a block; None where no message waits for it.

        Raises Refusal where one does, but its iterations may not change places.
        """
        routine, block, index = site.routine, site.block, site.index
        statement, produces = site.statement, site.produces
        if not self.footprints.of(statement, routine.file).heavy:
            return None
        between = self._between(routine, block, index, produces)
        wanted = list(self.messages.waiting(routine, block, index, produces=produces))
        begun = [] if produces else self.beginnings.among(routine, block, between)
        wanted += self.beginnings.touched(routine, block, index, begun)
        if not wanted:
            return None
        spaces = kept_spaces(self.program, self.footprints, routine)
        if id(statement) not in self._spaces:
            self._spaces[id(statement)] = spaces.of(statement)
        space = self._spaces[id(statement)]
        if space is not None and space.nested is not None:  # which one depends on the messages
            space = spaces.of(statement, wanted)
        if space is None or (produces and (space.final or space.begin or not between)):
            return None
        deepest = 1 if produces else DEEPEST
        facts: frozenset[Affine] = frozenset()
        if self.cutting.least(space, wanted, deepest) is None:
            facts = frozenset() if produces else self._assumed(routine, space, wanted)
            if not facts:
                return None
        told = {id(statement) for statement, _ in begun}
        while True:
            waits = any(
                statement_waits(self.footprints, routine, s) and id(s) not in told for s in between
            )
            flying = self._under_way(routine) if waits else []
            needed = wanted + (flying or [])
            cuts = self._passing(routine, space, needed, between, deepest, facts)
            if flying is None:
                cuts = None
            if cuts is not None:
                break
            if not between:
                return None
            del between[-1 if produces else 0]
        if not cuts or (produces and not self._reaches(routine, between)):
            return None
        reason = spaces.order_matters(space, sorted(cuts))
        if reason is None:
            reason = unreadable(self.program, routine, space, cuts)
            if reason is not None and begun and reason.cause.kind is ReasonKind.HEADER:
                return None  # what a division has left for the end of these messages
        if reason is not None:
            raise Refusal(self.name, reason)
        positions = [block.statements.index(s) for s in between]
        if produces:
            return Division(space, cuts, block, index, True, max(positions))
        asked = self._conditions(space, facts)
        return Division(space, cuts, block, min(positions, default=index), False, asked=asked)

    def _assumed(self, routine: Routine, space: Space, wanted: list[Access]) -> frozenset[Affine]:
        """The least that must hold of sizes for a called nest to have an interior; else nothing."""
        source = self.program.files.get(routine.file)
        if space.call is None or source is None or not may_be_asked(source, space.statement):
            return frozenset()
        changed = self.footprints.changed(wanted)
        changed |= self.footprints.changed_by([space.statement], routine.file)
        facts: frozenset[Affine] = frozenset()
        for depth in range(1, DEEPEST + 1):
            cuts = dict.fromkeys(range(len(space.ranges)), (depth, depth))
            left = space.remaining(space.accesses, cuts)
            facts = assumable(self.footprints, self.program, space.call, left, wanted, changed)
            facts = frozenset(f for f in facts if f.variables().isdisjoint(changed))
            if facts and self.cutting.least(space, wanted, depth, facts):
                break
        else:
            return frozenset()
        for fact in sorted(facts):
            if len(facts) > 1 and self.cutting.least(space, wanted, DEEPEST, facts - {fact}):
                facts -= {fact}
        return facts

    def _conditions(self, space: Space, facts: frozenset[Affine]) -> tuple[str, ...]:
        return () if space.call is None else conditions(self.program, space.call, facts)

    def _under_way(self, routine: Routine) -> list[Access] | None:
        if routine.key not in self._flying:
            self._flying[routine.key] = self._in_flight(routine)
        return self._flying[routine.key]

    def _passing(
        self,
        routine: Routine,
        space: Space,
        needed: list[Access],
        between: list[Statement],
        deepest: int,
        facts: frozenset[Affine],
    ) -> Cuts | None:
        """What must be cut off for the rest to pass these statements; None if nothing helps."""
        passed: list[Access] = []
        for statement in between:
            found = self.footprints.of(statement, routine.file)
            if found.stop or found.leaves:
                return None
            passed += found.accesses
        return self.cutting.least(space, needed + passed, deepest, facts)

    def _reaches(self, routine: Routine, between: list[Statement]) -> bool:
        return any(self._starts(routine, statement) for statement in between)

    def _in_flight(self, routine: Routine) -> list[Access] | None:
        """Buffers of all transfers that a wait in the routine may complete; None if not known."""
        found: list[Access] = []
        for statement in routine.statements():
            for call in statement.calls:
                position = mpi_calls.REQUEST_OF_WAIT.get(call.name)
                if position is not None:
                    request = self.program.variables.get(call.arguments[position].base or "")
                    own = request is not None and request.kind == "local"
                    if not own and isinstance(self.persistent.completed_by(routine, call), Reason):
                        return None
        lasting: list[Access] = []
        for event in self.footprints.of_routine(routine).events:
            if event.name in mpi_calls.BLOCKING or event.name in mpi_calls.WAITS:
                continue
            if event.name in mpi_calls.PERSISTENT_STARTS:
                every = self.persistent.all_started(routine)
                if every is None:
                    return None
                lasting = every
                continue
            if event.call is None or event.name not in mpi_calls.NONBLOCKING:
                return None
            parts = mpi_calls.PARTS[event.name]
            buffers = [buffer_access(self.program, event.call, part) for part in parts]
            found += self.footprints.later(buffers, self._changed_since(routine, event.call))
        return found + lasting

    def _changed_since(self, routine: Routine, call: Call) -> frozenset[str]:
        """Variables that may be set once a call has been made, in further iterations too."""
        changed: frozenset[str] = frozenset()
        inner = next((s for s in routine.statements() if any(c is call for c in s.calls)), None)
        while inner is not None and inner.parent is not None:
            siblings = inner.parent.statements
            changed |= self.footprints.changed_by(siblings[siblings.index(inner) :], routine.file)
            inner = inner.parent.owner
        return changed

    def _between(
        self, routine: Routine, block: Block, index: int, produces: bool
    ) -> list[Statement]:
        """Statements that the interior passes: up to the last message, or down to it."""
        statements = block.statements
        if produces:
            last = max(
                (
                    i
                    for i in range(index + 1, len(statements))
                    if self._starts(routine, statements[i])
                ),
                default=index,
            )
            return statements[index + 1 : last + 1]
        first = index
        while first > 0 and not self._starts(routine, statements[first - 1]):
            first -= 1
        return statements[first:index]

    def _starts(self, routine: Routine, statement: Statement) -> bool:
        """Whether a statement communicates otherwise than by waiting."""
        events = self.footprints.of(statement, routine.file).events
        return any(event.name not in mpi_calls.WAITS for event in events)

    def apply(self, plan: Plan[StatementSite, Division]) -> Proposal:
        routine, division = plan.site.routine, plan.content
        source = self.program.files[routine.file]
        space = division.space
        parted = Parted(self.program)
        interior, boundary = self._halves(routine, division, parted)
        statements = division.block.statements
        whole = not division.produces and statements[division.at] is space.statement
        if division.produces:
            edits = [
                in_place(source, space.statement, boundary),
                behind(source, statements[division.until], interior),
            ]
        elif whole:
            edits = [in_place(source, space.statement, f"{interior}\n{boundary}")]
        else:
            if division.at:
                edits = [behind(source, statements[division.at - 1], interior)]
            else:
                edits = [in_front(source, statements[0].start, interior)]
            edits.append(in_place(source, space.statement, boundary))
        order = ReasonKind.BOUNDARY_FIRST if division.produces else ReasonKind.INTERIOR_FIRST
        reason = Reason(order(), Location(routine.file, space.statement.line))
        every = parted.edits()
        every[routine.file] = edits + every.get(routine.file, [])
        proposal = Proposal(self.name, routine, space.statement.line, reason, every, divides=whole)
        if not division.produces:
            last = statements.index(space.statement)
            opened = self.beginnings.opened(routine, division.block, division.at, last)
            proposal.opened = opened
            proposal.worth = int(bool(proposal.opened))
        return proposal

    def divide(
        self,
        routine: Routine,
        block: Block,
        spaces: Spaces,
        space: Space,
        wanted: list[Access],
        at: int,
    ) -> Division | None:
        """The space with an interior that touches none of the others, if it has one."""
        if self.why_whole(routine, spaces, space, wanted) is not None:
            return None
        cuts, facts = self._cuts_if(routine, space, wanted)
        if not cuts:
            return None
        return Division(space, cuts, block, at, False, asked=self._conditions(space, facts))

    def _cuts_if(
        self, routine: Routine, space: Space, wanted: list[Access]
    ) -> tuple[Cuts | None, frozenset[Affine]]:
        """What must be cut off, and what must hold of sizes for that to be enough."""
        cuts = self.cutting.least(space, wanted)
        if cuts is not None:
            return cuts, frozenset()
        facts = self._assumed(routine, space, wanted)
        return (self.cutting.least(space, wanted, DEEPEST, facts) if facts else None), facts

    def why_whole(
        self, routine: Routine, spaces: Spaces, space: Space, wanted: list[Access]
    ) -> Reason | None:
        """Why the space cannot be divided, although its interior touches none of the others."""
        cuts, _ = self._cuts_if(routine, space, wanted)
        if not cuts:
            return None
        return spaces.order_matters(space, sorted(cuts)) or unreadable(
            self.program, routine, space, cuts
        )

    def _halves(self, user: Routine, division: Division, parted: Parted) -> tuple[str, str]:
        return halves(self.program, user, division, self.footprints.nonnegative, parted)

    def pieces(
        self, routine: Routine, division: Division, parted: Parted
    ) -> tuple[str, list[Edit]]:
        """The text of the interior, and the edits that leave the boundary in its place."""
        source = self.program.files[routine.file]
        space = division.space
        interior, boundary = self._halves(routine, division, parted)
        return interior, [in_place(source, space.statement, boundary)]
