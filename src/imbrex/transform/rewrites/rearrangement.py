"""Re-arrangement: a call or loop that needs nothing of a message changes places with one that does.

Behind a receive, what does not use the message comes before what does; before a send, what makes
the message comes before what does not (sancho-potential-overlap, section 3.4, re-arranging
subroutines). Two statements change places only where their summaries show them independent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.copies import calculates, only_copies
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.messages import Messages, around_collectives, communicating_blocks
from imbrex.transform.analysis.scratch import is_scratch
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Plan, Refusal
from imbrex.transform.rewrites.leading import leading
from imbrex.transform.rewrites.proposals import Preparing, Proposal, StatementSite
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import (
    C_COMMENT_LINE,
    FORTRAN_COMMENT_LINE,
    after_line,
    before_comments,
    first_on_line,
    whole_lines,
)

NAME = "rearrangement"
_LABEL = re.compile(rb"[ \t]*\d+[ \t]")


@dataclass(slots=True)
class Exchange:
    """Statements `moved` of a block, in their order, go in front of statement `above`."""

    block: Block
    above: int
    moved: list[int]


@dataclass(slots=True)
class _Way:
    """How far up a statement may go, what it takes along, and what stops it."""

    above: int
    along: list[int]
    blocker: Reason | None = None
    reached: int = -1  # the last statement that was looked at


@dataclass(slots=True)
class Received:
    """What is known in front of a statement of the messages above it in its block."""

    buffers: list[Access] = field(default_factory=list)
    changed: frozenset[str] = frozenset()  # by the messages
    used: int | None = None  # the first statement behind the last message that uses any of them


class Rearrangement(Preparing[StatementSite, Exchange]):
    """A call or loop that needs nothing of a message changes places with one that does.

    Before:
        MPI_Recv(v, n, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
        use(v);
        work(w);

    After:
        MPI_Recv(v, n, MPI_DOUBLE, left, 0, comm, MPI_STATUS_IGNORE);
        work(w);
        use(v);
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.wrappers = around_collectives(program)
        self.messages = Messages(program, footprints, self.wrappers)
        self._received: dict[int, list[Received]] = {}  # by block, from its first statement on

    def sites(self) -> Iterator[StatementSite]:
        for routine, block in communicating_blocks(self.program, self.wrappers):
            if block.insertable and block.braced:
                for index, statement in enumerate(block.statements):
                    if self._movable(routine, statement):
                        yield StatementSite(routine, block, index)

    def proposals(self) -> list[Proposal]:
        """What may be done by itself, and once more for routines that can then be taken apart."""
        found = super().proposals()
        return found + leading(found, self.wrappers)

    def refused(self, site: StatementSite, refusal: Refusal) -> Proposal | None:
        if site.statement.kind is not Kind.SIMPLE:
            return None  # loops are tried in passing
        return Proposal(self.name, site.routine, site.line, refusal.reason, without_window=True)

    def conditions(self, site: StatementSite) -> Exchange | None:
        """Where statement `index` goes; None where no message gains from it.

        Raises Refusal where one would, but what stands in between depends on the statement.
        """
        routine, block, index = site.routine, site.block, site.index
        passed = self._behind_receive(routine, block, index)
        received = passed is not None
        if passed is None:
            passed = self._before_send(routine, block, index)
        if passed is None:
            return None
        way = self._highest(routine, block, index, passed, with_loops=not received)
        statements = block.statements
        passed_by = (n for n in range(way.above, index) if n not in way.along)
        gained = [statements[n] for n in passed_by if self._gains(routine, statements[n])]
        if way.above == passed:
            gained.append(statements[passed])
        works = received and (
            bool(statements[index].calls)
            or calculates(self.program, routine.file, statements[index])
            or self._feeds(routine, block, index)
        )
        if not (gained and works) and all(only_copies(self.program, s) for s in gained):
            looked_at = statements[passed : way.reached + 1]
            worth = received or any(self._gains(routine, s) for s in looked_at)
            if way.blocker is not None and worth and not gained:
                raise Refusal(self.name, way.blocker)
            return None
        moved = [*(number for number in way.along if number > way.above), index]
        reason = self._unreadable(routine, block, [way.above, *moved])
        if reason is not None:
            raise Refusal(self.name, reason)
        return Exchange(block, way.above, moved)

    def _gains(self, routine: Routine, statement: Statement) -> bool:
        """Whether a statement is worth passing: an array that is set to a constant is not."""
        if not self._movable(routine, statement):
            return False
        found = self.footprints.of(statement, routine.file)
        return statement.kind is not Kind.SIMPLE or any(not a.write for a in found.accesses)

    def _movable(self, routine: Routine, statement: Statement) -> bool:
        """Whether a statement is a call or a loop that computes and does nothing else."""
        computes = statement.computes or statement.reduces_arrays
        if statement.kind is not Kind.LOOP and not (
            statement.kind is Kind.SIMPLE and bool(statement.calls) is not computes
        ):
            return False
        found = self.footprints.of(statement, routine.file)
        return found.heavy and not (found.stop or found.leaves or found.events)

    def _feeds(
        self, routine: Routine, block: Block, index: int, *, collective: bool = False
    ) -> bool:
        """Whether a message that is sent further down is made here: it may be under way sooner."""
        leaving = self.messages.waiting(
            routine, block, index, produces=True, nonblocking=False, collective=collective
        )
        if not leaving:
            return False
        found = self.footprints.of(block.statements[index], routine.file)
        written = [access for access in found.accesses if access.write]
        changed = self.footprints.changed_in(found)
        return self.footprints.conflict(written, leaving, changed) is not None

    def _behind_receive(self, routine: Routine, block: Block, index: int) -> int | None:
        """The first statement that uses what is received further up, if this one does not."""
        known = self._received.setdefault(id(block), [Received()])
        while len(known) <= index:
            known.append(self._behind(routine, block, len(known) - 1, known[-1]))
        received = known[index]
        if received.used is None or self._meets(routine, block.statements[index], received):
            return None
        return received.used

    def _behind(self, routine: Routine, block: Block, index: int, above: Received) -> Received:
        """What is known behind a statement of what is known in front of it."""
        statement = block.statements[index]
        # What is sent is used by what sets it anew.
        sides = [self.messages.of(routine, statement, produces=p) for p in (False, True)]
        new = [a for side in sides for a in side.of(nonblocking=False, collective=True)]
        new += self._statuses(routine, statement) if new else []
        if new:
            changed = self.footprints.changed(new)
            if above.used is not None:  # those above have been waited for
                return Received(new, changed)
            return Received(above.buffers + new, above.changed | changed)
        if above.used is None and above.buffers and self._meets(routine, statement, above):
            return Received(above.buffers, above.changed, index)
        return above

    def _statuses(self, routine: Routine, statement: Statement) -> list[Access]:
        """What a statement that receives sets beside the message."""
        places = ((call, mpi_calls.STATUS.get(call.name)) for call in statement.calls)
        names = {
            call.arguments[place].base
            for call, place in places
            if place is not None and place < len(call.arguments)
        }
        found = self.footprints.of(statement, routine.file).accesses
        return [access for access in found if access.variable in names]

    def _before_send(self, routine: Routine, block: Block, index: int) -> int | None:
        """The beginning of the block, if a message that is sent further down is made here."""
        if not self._feeds(routine, block, index, collective=True):
            return None
        for position in range(index - 1, -1, -1):
            statement = block.statements[position]
            if self.footprints.of(statement, routine.file).events:
                return position + 1
        return 0

    def _meets(self, routine: Routine, statement: Statement, received: Received) -> bool:
        found = self.footprints.of(statement, routine.file)
        changed = self.footprints.changed_in(found) | received.changed
        return self.footprints.conflict(found.accesses, received.buffers, changed) is not None

    def _highest(
        self, routine: Routine, block: Block, index: int, least: int, *, with_loops: bool
    ) -> _Way:
        """How far up the statement may go; assignments that it needs go along with it.

        Statement `least` is worth passing also where it computes next to nothing. `with_loops`:
        calls and loops that make what it needs go along, too.
        """
        mine = list(self.footprints.of(block.statements[index], routine.file).accesses)
        changed = self.footprints.changed(mine)
        way = _Way(index, [])
        scratch: dict[str, bool] = {}

        def own(access: Access) -> bool:
            """Whether it is of a scalar that each statement here keeps to itself."""
            key = access.variable
            if access.through:
                return False
            if key not in scratch:
                scratch[key] = is_scratch(self.footprints, routine, block, key)
            return scratch[key]

        for position in range(index - 1, least - 1, -1):
            statement = block.statements[position]
            way.reached = position
            other = self.footprints.of(statement, routine.file)
            place = Location(routine.file, statement.line)
            way.blocker = other.stop or other.leaves
            if other.stop or other.leaves or other.events:
                return way
            if statement.kind is Kind.DECLARE:
                way.blocker = Reason(ReasonKind.DECLARATION_PASSED(), place)
                return way
            changed |= self.footprints.changed_in(other)
            pair = self.footprints.conflict(mine, other.accesses, changed)
            if pair is not None and own(pair[0]):
                left, right = ([a for a in side if not own(a)] for side in (mine, other.accesses))
                pair = self.footprints.conflict(left, right, changed)
            along = _is_assignment(statement) or (with_loops and self._movable(routine, statement))
            if pair is not None and along:
                way.along.insert(0, position)
                mine += other.accesses
                continue
            if pair is not None:
                variable = self.program.variables.get(pair[0].variable)
                cause = ReasonKind.BOTH_USE_UNKNOWN()
                if variable is not None:
                    cause = ReasonKind.BOTH_USE(variable=variable.name)
                way.blocker = Reason(cause, Location(routine.file, pair[1].line))
                return way
            if other.heavy or position == least:
                way.above = position
        return way

    def _unreadable(self, routine: Routine, block: Block, positions: list[int]) -> Reason | None:
        source = self.program.files[routine.file]
        for position in positions:
            statement = block.statements[position]
            place = Location(routine.file, statement.line)
            before = block.statements[position - 1] if position else None
            if before is not None and before.kind is Kind.OPAQUE:
                return Reason(ReasonKind.MAY_BE_DIRECTED(), place)
            if statement.text == "terminal" or statement.code_start > statement.start:
                return Reason(ReasonKind.DIRECTED_OR_LABELLED(), place)
            if any(call.macro for call in statement.calls):
                return Reason(ReasonKind.OF_MACRO(macro=statement.calls[0].macro or ""), place)
            text = source.data[statement.start : statement.end]
            if source.language is not Language.C and _LABEL.match(text):
                return Reason(ReasonKind.HAS_LABEL(), place)
            span = (statement.code_start, after_line(source.data, statement.end))
            if not first_on_line(source.data, span[0]) or whole_lines(source.data, *span) == span:
                return Reason(ReasonKind.SHARES_LINE(), place)
        return None

    def apply(self, plan: Plan[StatementSite, Exchange]) -> Proposal:
        routine, exchange = plan.site.routine, plan.content
        source = self.program.files[routine.file]
        statements = exchange.block.statements
        moved, above = statements[exchange.moved[-1]], statements[exchange.above]
        target, _ = self._lines(source, exchange.block, exchange.above)
        spans = [self._lines(source, exchange.block, number) for number in exchange.moved]
        text = b"".join(source.data[first:last] for first, last in spans).decode()
        edits = [Edit(target, target, text), *(Edit(first, last, "") for first, last in spans)]
        name = moved.calls[0].name if moved.kind is Kind.SIMPLE and moved.calls else "the loop"
        reason = Reason(
            ReasonKind.MOVED_UP(statement=name, line=above.line), Location(routine.file, moved.line)
        )
        return Proposal(self.name, routine, moved.line, reason, {routine.file: edits})

    @staticmethod
    def _lines(source: SourceFile, block: Block, index: int) -> tuple[int, int]:
        """A statement with the comments above it, as whole lines."""
        statement = block.statements[index]
        floor = block.statements[index - 1].end if index else block.start
        end = after_line(source.data, statement.end)
        first, last = whole_lines(source.data, statement.start, end)
        fortran = source.language is not Language.C
        comment = FORTRAN_COMMENT_LINE if fortran else C_COMMENT_LINE
        return before_comments(source.data, first, floor, comment), last


def _is_assignment(statement: Statement) -> bool:
    """Whether a statement does nothing but set something, without a call."""
    return statement.kind is Kind.SIMPLE and not statement.calls and not statement.computes
