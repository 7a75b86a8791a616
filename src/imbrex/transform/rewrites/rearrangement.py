"""Re-arrangement: a call or loop that needs nothing of a message changes places with one that does.

Behind a receive, what does not use the message comes before what does; before a send, what makes
the message comes before what does not (sancho-potential-overlap, section 3.4, re-arranging
subroutines). Two statements change places only where their summaries show them independent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform.analysis.copies import only_copies
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.messages import Messages, communicating_blocks
from imbrex.transform.edits import Edit
from imbrex.transform.model.program import (
    Access,
    Block,
    Kind,
    Language,
    Location,
    Program,
    Reason,
    Routine,
    SourceFile,
    Statement,
)
from imbrex.transform.rewrites.base import Refusal
from imbrex.transform.rewrites.layout import (
    C_COMMENT_LINE,
    FORTRAN_COMMENT_LINE,
    after_line,
    before_comments,
    first_on_line,
    whole_lines,
)
from imbrex.transform.rewrites.proposals import Preparing, Proposal

NAME = "rearrangement"
_LABEL = re.compile(rb"[ \t]*\d+[ \t]")


@dataclass(slots=True)
class Exchange:
    """Statement `moved` of a block goes in front of statement `above`."""

    block: Block
    above: int
    moved: int


class Rearrangement(Preparing):
    """Lets independent calls and loops change places around messages."""

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.messages = Messages(program, footprints)

    def proposals(self) -> list[Proposal]:
        found = []
        for routine, block in communicating_blocks(self.program):
            if not block.insertable or not block.braced:
                continue
            for index, statement in enumerate(block.statements):
                if not self._movable(routine, statement):
                    continue
                try:
                    exchange = self.validate(routine, block, index)
                except Refusal as refusal:
                    if statement.kind is not Kind.SIMPLE:
                        continue  # loops are tried in passing
                    at = (routine, statement.line)
                    found.append(Proposal(self.name, *at, refusal.reason, without_window=True))
                    continue
                if exchange is not None:
                    found.append(self.apply(routine, exchange))
        return found

    # Conditions ------------------------------------------------------------------------

    def validate(self, routine: Routine, block: Block, index: int) -> Exchange | None:
        """Where statement `index` goes; None where no message gains from it.

        Raises Refusal where one would, but what stands in between depends on the statement.
        """
        passed = self._behind_receive(routine, block, index)
        if passed is None:
            passed = self._before_send(routine, block, index)
        if passed is None:
            return None
        above, blocker = self._highest(routine, block, index, passed)
        statements = block.statements
        gained = [s for s in statements[above:index] if self._movable(routine, s)]
        if all(only_copies(self.program, s) for s in gained):
            if blocker is not None and passed < index and not gained:
                raise Refusal(self.name, blocker)
            return None
        reason = self._unreadable(routine, block, above, index)
        if reason is not None:
            raise Refusal(self.name, reason)
        return Exchange(block, above, index)

    def _movable(self, routine: Routine, statement: Statement) -> bool:
        """Whether a statement is a call or a loop that computes and does nothing else."""
        if statement.kind is not Kind.LOOP and not (
            statement.kind is Kind.SIMPLE and statement.calls and not statement.computes
        ):
            return False
        found = self.footprints.of(statement, routine.file)
        return found.heavy and not (found.stop or found.leaves or found.events)

    def _behind_receive(self, routine: Routine, block: Block, index: int) -> int | None:
        """The first statement that uses what is received further up, if this one does not."""
        arrived: list[Access] = []
        first = None
        for position in range(index):
            statement = block.statements[position]
            here = self.messages.of(routine, statement, produces=False)
            new = here.of(nonblocking=False, collective=True)
            if new:
                arrived, first = arrived + new, None
            elif first is None and arrived and self._meets(routine, statement, arrived):
                first = position
        if first is None or self._meets(routine, block.statements[index], arrived):
            return None
        return first

    def _before_send(self, routine: Routine, block: Block, index: int) -> int | None:
        """The beginning of the block, if a message that is sent further down is made here."""
        leaving = self.messages.around(
            routine, block, index, produces=True, nonblocking=False, collective=True
        )
        if not leaving:
            return None
        written = [
            access
            for access in self.footprints.of(block.statements[index], routine.file).accesses
            if access.write
        ]
        changed = self.footprints.changed(written)
        if self.footprints.conflict(written, leaving, changed) is None:
            return None
        for position in range(index - 1, -1, -1):
            statement = block.statements[position]
            if self.footprints.of(statement, routine.file).events:
                return position + 1
        return 0

    def _meets(self, routine: Routine, statement: Statement, others: list[Access]) -> bool:
        accesses = self.footprints.of(statement, routine.file).accesses
        changed = self.footprints.changed(accesses + others)
        return self.footprints.conflict(accesses, others, changed) is not None

    def _highest(
        self, routine: Routine, block: Block, index: int, least: int
    ) -> tuple[int, Reason | None]:
        """How far up the statement may go, and what stops it."""
        mine = self.footprints.of(block.statements[index], routine.file).accesses
        changed = self.footprints.changed(mine)
        best = index
        for position in range(index - 1, least - 1, -1):
            statement = block.statements[position]
            other = self.footprints.of(statement, routine.file)
            place = Location(routine.file, statement.line)
            if other.stop or other.leaves or other.events:
                return best, other.stop or other.leaves
            if statement.kind is Kind.DECLARE:
                return best, Reason("a declaration", place)
            changed |= self.footprints.changed(other.accesses)
            pair = self.footprints.conflict(mine, other.accesses, changed)
            if pair is not None:
                variable = self.program.variables.get(pair[0].variable)
                name = "memory that is not known" if variable is None else f"`{variable.name}`"
                text = f"it and what it would pass both use {name}"
                return best, Reason(text, Location(routine.file, pair[1].line))
            if other.heavy:
                best = position
        return best, None

    def _unreadable(self, routine: Routine, block: Block, above: int, index: int) -> Reason | None:
        source = self.program.files[routine.file]
        for position in (above, index):
            statement = block.statements[position]
            place = Location(routine.file, statement.line)
            before = block.statements[position - 1] if position else None
            if before is not None and before.kind is Kind.OPAQUE:
                return Reason("a directive may belong to it", place)
            if statement.text == "terminal" or statement.code_start > statement.start:
                return Reason("a directive or a label belongs to it", place)
            if any(call.macro for call in statement.calls):
                return Reason(f"it comes from the macro {statement.calls[0].macro}", place)
            text = source.data[statement.start : statement.end]
            if source.language is not Language.C and _LABEL.match(text):
                return Reason("it has a statement label", place)
            span = (statement.code_start, after_line(source.data, statement.end))
            if not first_on_line(source.data, span[0]) or whole_lines(source.data, *span) == span:
                return Reason("it shares its line with other statements", place)
        return None

    # Doing it --------------------------------------------------------------------------

    def apply(self, routine: Routine, exchange: Exchange) -> Proposal:
        source = self.program.files[routine.file]
        statements = exchange.block.statements
        moved, above = statements[exchange.moved], statements[exchange.above]
        first, last = self._lines(source, exchange.block, exchange.moved)
        target, _ = self._lines(source, exchange.block, exchange.above)
        text = source.data[first:last].decode()
        edits = [Edit(target, target, text), Edit(first, last, "")]
        name = moved.calls[0].name if moved.kind is Kind.SIMPLE and moved.calls else "the loop"
        reason = Reason(
            f"{name} goes in front of line {above.line}", Location(routine.file, moved.line)
        )
        return Proposal(self.name, routine, moved.line, reason, {routine.file: edits})

    @staticmethod
    def _lines(source: SourceFile, block: Block, index: int) -> tuple[int, int]:
        """A statement with the comments above it, as whole lines."""
        statement = block.statements[index]
        floor = block.statements[index - 1].end if index else block.start
        end = after_line(source.data, statement.end)
        first, last = whole_lines(source.data, statement.code_start, end)
        fortran = source.language is not Language.C
        comment = FORTRAN_COMMENT_LINE if fortran else C_COMMENT_LINE
        return before_comments(source.data, first, floor, comment), last
