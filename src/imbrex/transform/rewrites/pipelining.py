"""Pipelining: a receive is posted in the iteration before the one that waits for it.

A stage of a pipeline receives, computes and passes on. Its receive has no window of its own; but
once the message of one iteration is unpacked, its buffer is free for that of the next, which then
comes while the iteration computes. The order of all receives stays, and so does their number: the
first is posted in front of the loop, the last iteration posts none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from imbrex.transform.analysis.advanced import Advanced
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.motion import Motion
from imbrex.transform.analysis.own_completions import OwnCompletions
from imbrex.transform.analysis.transfer import Render, Role, Transfer
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Plan, Refusal, Site
from imbrex.transform.rewrites.blocking import BlockingToNonblocking
from imbrex.transform.rewrites.climb import Climb
from imbrex.transform.rewrites.iterations import Iterations
from imbrex.transform.rewrites.motion import ExistingMotion
from imbrex.transform.rewrites.pieces import Piece
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.rewrites.statement_motion import StatementMotion
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.emit import Emitter, Text, number_requests
from imbrex.transform.text.languages import text_of
from imbrex.transform.text.loop_guards import LoopGuards

NAME = "pipelining"


@dataclass(frozen=True, slots=True)
class LoopSite:
    """A loop with receives in it."""

    routine: Routine
    loop: Statement

    @property
    def line(self) -> int:
        return self.loop.line

    @property
    def body(self) -> Block:
        return self.loop.blocks[0]


@dataclass(slots=True, eq=False)
class Ahead:
    """A receive that is posted in the iteration before, and where."""

    site: Site
    transfer: Transfer
    piece: Piece | None = None  # of a start that is there already
    start: Statement | None = None  # in the model, while that is changed
    anchor: Statement | None = None  # the statement in front of which the next one is posted
    guards: list[str] = field(default_factory=list)
    varies: bool = False  # it depends on the loop's index
    crossed: int = 0
    worked: int = 0  # of those in the iteration before, the ones that do more than pack


class Pipelining(Preparing[LoopSite, list[Ahead]]):
    """A receive is posted in the iteration before the one that waits for it.

    Before:
        for (int k = 0; k < n; k++) {
            MPI_Recv(edge, m, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
            unpack(u, edge, k);
            compute(u, k);
        }

    After:
        if (0 < n)
            MPI_Irecv(edge, m, MPI_DOUBLE, left, 0, comm, &imbrex_request);
        for (int k = 0; k < n; k++) {
            MPI_Wait(&imbrex_request, MPI_STATUS_IGNORE);
            unpack(u, edge, k);
            if (k + 1 < n)
                MPI_Irecv(edge, m, MPI_DOUBLE, left, 0, comm, &imbrex_request);
            compute(u, k);
        }
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        facts = footprints.facts
        self.messages = BlockingToNonblocking(program, footprints, facts)
        self.existing = ExistingMotion(program, footprints, facts)
        self.whole = StatementMotion(program, footprints, facts)
        self.iterations = Iterations(program, footprints, self.name)
        self.completions = OwnCompletions(footprints, self.whole.states)

    def sites(self) -> Iterator[LoopSite]:
        for routine in self.program.editable():
            for statement in routine.statements():
                if statement.kind is Kind.LOOP and statement.blocks:
                    site = LoopSite(routine, statement)
                    if any(self._receives(inner) for inner in self._direct(site)):
                        yield site

    def _direct(self, site: LoopSite) -> Iterator[Site]:
        """The calls in an iteration, also under conditions; not those of loops inside."""

        def inside(block: Block) -> Iterator[Site]:
            for statement in block.statements:
                if statement.kind is Kind.SIMPLE and len(statement.calls) == 1:
                    yield Site(site.routine, statement, statement.calls[0])
                elif statement.kind is Kind.IF and statement.blocks:
                    yield from inside(statement.blocks[0])

        yield from inside(site.body)

    def _receives(self, site: Site) -> bool:
        """Whether a statement receives, or does nothing but start receives."""
        if site.call.name in ("MPI_Recv", "MPI_Irecv"):
            return True
        if site.call.name.startswith("MPI_") or not self.whole.applies(site):
            return False
        events = self.footprints.of(site.statement, site.routine.file).events
        return {event.name for event in events} == {"MPI_Irecv"}

    def refused(self, site: LoopSite, refusal: Refusal) -> Proposal | None:
        lines = frozenset((s.routine.name, s.line) for s in self._direct(site) if self._receives(s))
        return Proposal(self.name, site.routine, site.line, refusal.reason, posts=lines)

    def conditions(self, site: LoopSite) -> list[Ahead] | None:
        """The receives that are posted in the iteration before; None where none passes work.

        Raises Refusal where it cannot be told which iteration is the last.
        """
        found = self._candidates(site)
        if not found:
            return None
        guards = self.iterations.of(site.routine, site.loop)
        first: Reason | None = None
        try:
            for item in found:
                self.lower(item)
            while found:
                reasons = [self._climb(site, item, guards) for item in found]
                first = first or next((r for r in reasons if r is not None), None)
                failed = [i for i, r in zip(found, reasons, strict=True) if r is not None]
                for item in failed:
                    self._restore(item)
                    found.remove(item)
                if not failed:
                    break
        finally:
            for item in found:
                self._restore(item)
        if any(item.worked for item in found):
            return found
        if first is not None:
            raise Refusal(self.name, first)
        return None

    def _candidates(self, site: LoopSite) -> list[Ahead]:
        """The receives of an iteration that may be nonblocking, and move."""
        found = []
        messages = self.messages.anew(site.routine.file)
        for inner in self._direct(site):
            if not self._receives(inner):
                continue
            try:
                if inner.call.name == "MPI_Recv":
                    found.append(Ahead(inner, messages.conditions(inner)[0]))
                    continue
                plain = inner.call.name == "MPI_Irecv"
                pieces = (self.existing if plain else self.whole).conditions(inner)
            except Refusal:
                continue
            if len(pieces) == 1 and all(each.receives for each in pieces[0].transfer.each):
                found.append(Ahead(inner, pieces[0].transfer, pieces[0]))
        return found

    def _climb(self, site: LoopSite, item: Ahead, guards: LoopGuards) -> Reason | None:
        """Move a start, in thought, to the iteration before; why that fails."""
        start = item.start
        assert start is not None and start.parent is not None
        motion = Motion(self.footprints, self.footprints.facts, site.routine)
        accesses = list(start.accesses)
        dying = self._dies(site, accesses)
        if dying is not None:
            return Reason(ReasonKind.ENDS_WITH_ITERATION(variable=dying), item.site.location)
        climb = Climb(self.released, motion, item.transfer, accesses)
        conditions: list[str] = []
        block, index = start.parent, start.parent.statements.index(start)
        while True:
            while index > 0:
                index -= 1
                reason = climb.passes(block.statements[index])
                if reason is not None:
                    return reason
            owner = block.owner
            assert owner is not None and owner.parent is not None
            if owner is site.loop:
                break
            if owner.condition is None or not owner.parent.insertable:
                cause = ReasonKind.CALL_INSIDE(cause=ReasonKind.IF())
                return Reason(cause, Location(site.routine.file, owner.line))
            conditions.insert(0, owner.condition)
            climb.accesses += owner.accesses
            block, index = owner.parent, owner.parent.statements.index(owner)
        header = site.loop.accesses
        counter = self.iterations.index(site.loop, guards)
        climb.changed |= self.footprints.changed(header)
        mine = climb.accesses
        item.varies = any(a.variable == counter and not a.write for a in mine)
        if item.varies and item.piece is None and guards.step is not None and counter is not None:
            advanced = Advanced(counter, guards.step, site.loop.loop)
            climb.advance(advanced, counter)
            mine = [a for a in climb.accesses if a.variable != counter or a.write]
        pair = self.footprints.conflict(mine, header, climb.changed)
        if pair is not None:
            name = self.program.variables[pair[1].variable].name
            return Reason(ReasonKind.EACH_ITERATION(variable=name), item.site.location)
        climb.accesses += [access for access in header if not access.write]
        before = climb.crossed
        statements = site.body.statements
        own = self._position(site, start)
        anchor, worked, crossed = None, 0, before
        for statement in reversed(statements[own + 1 :]):
            reason = climb.passes(statement)
            if reason is not None or statement.text == "terminal":
                break
            if climb.crossed > crossed and statement.kind is not Kind.INSERTED:
                anchor, crossed, worked = statement, climb.crossed, climb.worked
        else:
            reason = None
        if anchor is None:
            return reason or Reason(ReasonKind.BLOCK_ENDS(), item.site.location)
        item.anchor, item.guards = anchor, conditions
        item.crossed, item.worked = crossed, worked
        return None

    def _position(self, site: LoopSite, start: Statement) -> int:
        """The position in the loop's body of the statement that a start is in."""
        inner = start
        while inner.parent is not site.body:
            assert inner.parent is not None and inner.parent.owner is not None
            inner = inner.parent.owner
        return site.body.statements.index(inner)

    def _dies(self, site: LoopSite, accesses: list[Access]) -> str | None:
        """What the start touches or reads and begins or ends with an iteration."""
        for access in accesses:
            objects = self.footprints.aliases.objects(access.variable, access.through)
            for key in {access.variable, *objects}:
                variable = self.program.variables.get(key)
                if variable is not None and variable.lifetime is not None:
                    begins, ends = variable.lifetime
                    if begins >= site.body.start and ends <= site.body.end:
                        return variable.name
        return None

    def released(self, routine: Routine, statement: Statement) -> list[Access]:
        """The memory of the messages that a statement completes.

        Raises Refusal where it is not known which these are.
        """
        found: list[Access] = []
        for inner, where, call in self.completions.foreign(routine, statement):
            starts = self.whole._completed(Site(inner, where, call))
            found += self.whole.states.released(starts, routine)
        return found

    def lower(self, item: Ahead) -> None:
        """Put the start into the model in the place of the call, with its wait if it has none."""
        statement = item.site.statement
        if item.piece is None:
            self.messages.lower(item.site, [item.transfer])
            item.start = item.transfer.start
        else:
            block = statement.parent
            assert block is not None
            role = Role(item.transfer, True)
            item.start = self.existing._inserted(statement, item.piece.accesses, role)
            item.start.parent = block
            statement.removed = True
            block.statements.insert(block.statements.index(statement) + 1, item.start)
        self.footprints.forget(statement)

    def _restore(self, item: Ahead) -> None:
        if item.piece is None:
            self.messages.undo(item.site, [item.transfer])
        else:
            assert item.start is not None and item.start.parent is not None
            item.start.parent.statements.remove(item.start)
            item.site.statement.removed = False
        item.start = None
        self.footprints.forget(item.site.statement)

    def apply(self, plan: Plan[LoopSite, list[Ahead]]) -> Proposal:
        site, items = plan.site, plan.content
        routine = site.routine
        source = self.program.files[routine.file]
        guards = self.iterations.of(site.routine, site.loop)
        added: list[Statement] = []
        for item in items:
            self.lower(item)
        try:
            for item in items:
                added += self._post(site, item, guards)
            ordered = number_requests(routine)
            text = text_of(self.program, source, routine, len(ordered))
            edits: list[Edit] = list(text.declarations(ordered, []))
            edits += Emitter(source, text).emit(routine.body)
        finally:
            for statement in added:
                assert statement.parent is not None
                statement.parent.statements.remove(statement)
            for item in items:
                assert item.start is not None and item.start.parent is not None
                item.start.parent.statements.append(item.start)
                self._restore(item)
        line = items[0].site.line
        posts = {(routine.name, item.site.line) for item in items}
        also: set[str] = set()
        for item in items:
            if item.piece is not None and not item.site.call.name.startswith("MPI_"):
                walked = self.whole._calls(routine, item.site.statement.walk(), set())
                inside = [(r.name, call.line) for r, _, call in walked]
                posts |= set(inside)
                also |= {name for name, _ in inside}
        return Proposal(
            self.name,
            routine,
            line,
            Reason(
                ReasonKind.POSTED_AHEAD(count=max(item.worked for item in items)),
                Location(routine.file, site.loop.line),
            ),
            {routine.file: edits},
            worth=sum(item.crossed for item in items),
            posts=frozenset(posts),
            also=tuple(sorted(also - {routine.name})),
        )

    def _post(self, site: LoopSite, item: Ahead, guards: LoopGuards) -> list[Statement]:
        """The two places of a start, in the place of its own."""
        start = item.start
        assert start is not None and start.parent is not None
        assert item.anchor is not None and site.loop.parent is not None
        start.parent.statements.remove(start)
        item.transfer.conditional = True
        outside = site.loop.parent
        first = [guards.first] if guards.first else []
        role = self._role(item, first, guards.at_first)
        ahead = replace(start, parent=outside, role=role)
        outside.statements.insert(outside.statements.index(site.loop), ahead)
        role = self._role(item, [guards.more], guards.at_next)
        again = replace(start, parent=site.body, role=role)
        site.body.statements.insert(site.body.statements.index(item.anchor), again)
        return [ahead, again]

    def _role(self, item: Ahead, conditions: list[str], at: Callable[[str], str]) -> Role:
        said = at if item.varies else str
        conditions = [*conditions, *map(said, item.guards)]

        def render(text: Text, indent: str) -> list[str]:
            if item.piece is not None:
                return [text.moved(item.site.statement, conditions, indent)]
            call = item.transfer.call
            arguments = [replace(argument, text=said(argument.text)) for argument in call.arguments]
            call = replace(call, arguments=arguments)
            return [text.start(replace(item.transfer, call=call, guards=conditions), indent)]

        drawn: Render = render
        return Role(item.transfer, True, drawn)
