"""How far a start may move up and a wait may move down: the minimal region, as legal positions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from imbrex.transform.analysis.copies import only_packs
from imbrex.transform.analysis.facts import ProgramFacts
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.message_order import MessageOrder
from imbrex.transform.analysis.status_checks import checked_statements
from imbrex.transform.analysis.summary import Footprint
from imbrex.transform.analysis.transfer import Role, Transfer, data_accesses
from imbrex.transform.analysis.under_way import under_way
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access, Variable
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

_UNKNOWN_CODE = frozenset({ReasonKind.CALL_UNREAD, ReasonKind.CALL_OF, ReasonKind.POINTER_CALL})


@dataclass(slots=True)
class Position:
    """Between two statements of a block: before `block.statements[index]`."""

    block: Block
    index: int
    guards: list[str]
    crossed: int = 0  # statements that take time between here and the call
    left_if: bool = False  # the position is behind an IF that contains the call
    packed: int = 0  # of those crossed, the ones that only pack or unpack a message
    beside: int = 0  # other messages that are under way meanwhile
    # What evaluating the guards reads.
    reads: list[Access] = field(default_factory=list)
    changed: frozenset[str] = frozenset()  # what may differ between here and the call

    @property
    def useful(self) -> bool:
        """Whether the transfer gains anything by being here."""
        return self.crossed > 0 or self.beside > 0


@dataclass(slots=True)
class Reach:
    """The farthest useful position, and what stops the motion there."""

    position: Position
    blocker: Reason
    end: Block | None = None  # of a wait that passes all of this block: the block
    stopped: Statement | None = None  # what a wait does not pass


def _of_one(transfer: Transfer, role: Role | None) -> Role | None:
    """A start that is one of the same call, as the other half of MPI_Sendrecv is."""
    same = role is not None and role.starts and role.transfer.call is transfer.call
    return role if same else None


class Motion:
    """Moves the starts and waits of transfers within one routine."""

    def __init__(
        self,
        footprints: Footprints,
        facts: ProgramFacts,
        routine: Routine,
        *,
        beside: bool = False,
    ) -> None:
        """`beside`: a place where other messages are under way too is worth moving to."""
        self.footprints = footprints
        self.facts = facts
        self.routine = routine
        self.strict = facts.timing
        self.order = MessageOrder(routine, self.strict)
        self.beside = beside
        self.checked = checked_statements(footprints.program, routine)

    def up(self, transfer: Transfer) -> Reach:
        """How far up the start may move."""
        assert transfer.start is not None and transfer.start.parent is not None
        block = transfer.start.parent
        index = block.statements.index(transfer.start)
        accesses = list(transfer.start.accesses)
        changed: frozenset[str] = frozenset()
        best = Position(block, index, [])
        guards: list[str] = []
        reads: list[Access] = []
        crossed = packed = beside = 0
        while True:
            while index > 0:
                statement = block.statements[index - 1]
                footprint = self.footprints.of(statement, self.routine.file)
                changed |= self.footprints.changed_in(footprint)
                reason = self.start_blocked(transfer, accesses, statement, footprint, changed)
                if reason is None and self._is_leading_declaration(block, statement):
                    reason = Reason(ReasonKind.DECLARATIONS(), self._place(statement))
                if reason is not None:
                    return Reach(best, reason)
                index -= 1
                more = self._under_way(transfer, statement, footprint, starts=False)
                timed = self.takes_time(statement, footprint)
                if (timed or more) and block.braced:
                    crossed += timed
                    packed += timed and self._packs(statement)
                    beside += more
                    best = Position(
                        block, index, list(guards), crossed, False, packed, beside, list(reads)
                    )
            owner = block.owner
            top = Reason(ReasonKind.BLOCK_BEGINS(), Location(self.routine.file, self._line(block)))
            if (
                owner is None
                or owner.kind is not Kind.IF
                or owner.condition is None
                or block is not owner.blocks[0]
                or owner.parent is None
                or not owner.parent.insertable
                or self._meets_condition(owner, accesses)
            ):
                return Reach(best, top)
            guards.insert(0, owner.condition)
            accesses += owner.accesses
            reads += owner.accesses
            block = owner.parent
            index = block.statements.index(owner)

    def down(self, transfer: Transfer) -> Reach:
        """How far down the wait may move."""
        assert transfer.wait is not None and transfer.wait.parent is not None
        block = transfer.wait.parent
        index = block.statements.index(transfer.wait)
        accesses = list(transfer.wait.accesses)
        changed: frozenset[str] = frozenset()
        guards: list[str] = []
        reads: list[Access] = []
        crossed = packed = beside = 0
        left_if = False
        best = Position(block, index, [])
        while True:
            while index + 1 < len(block.statements):
                statement = block.statements[index + 1]
                footprint = self.footprints.of(statement, self.routine.file)
                changed |= self.footprints.changed_in(footprint)
                reason = self.wait_blocked(transfer, accesses, statement, footprint, changed)
                if reason is not None:
                    return Reach(best, reason, stopped=statement)
                index += 1
                if self.takes_time(statement, footprint):
                    crossed += 1
                    packed += self._packs(statement)
                beside += self._under_way(transfer, statement, footprint, starts=True)
                if (crossed or beside) and block.braced:
                    best = Position(
                        block,
                        index,
                        list(guards),
                        crossed,
                        left_if,
                        packed,
                        beside,
                        list(reads),
                        changed,
                    )
            owner = block.owner
            bottom = Reason(ReasonKind.BLOCK_ENDS(), self._end(block))
            if (
                owner is None
                or owner.kind not in (Kind.IF, Kind.BLOCK)
                or owner.parent is None
                or not owner.parent.insertable
                or (owner.kind is Kind.IF and not self._may_leave(transfer, owner, block))
                or self.dies(transfer, block)
                or (
                    transfer.repeats_condition
                    and owner.kind is Kind.IF
                    and self._meets_condition(owner, self._done_until(transfer, block, accesses))
                )
            ):
                return Reach(best, bottom, block)
            if owner.kind is Kind.IF and transfer.repeats_condition:
                guards.insert(0, owner.condition or "")
                accesses += owner.accesses
                reads += owner.accesses
            elif owner.kind is Kind.IF:
                left_if = True
            block = owner.parent
            index = block.statements.index(owner)

    @staticmethod
    def _may_leave(transfer: Transfer, owner: Statement, block: Block) -> bool:
        """Whether a wait may leave an IF: its request is preset, or the condition is repeated."""
        if transfer.repeats_condition:
            return owner.condition is not None and block is owner.blocks[0]
        return not transfer.status_read

    def _meets_condition(self, owner: Statement, accesses: list[Access]) -> bool:
        """Whether an IF that asks once more may come to another end, by what else is touched."""
        changed = self.footprints.changed(accesses)
        return self.footprints.conflict(accesses, owner.accesses, changed) is not None

    def _done_until(self, transfer: Transfer, block: Block, accesses: list[Access]) -> list[Access]:
        """What a branch touches, and the messages that a wait behind it still waits for."""
        rest = [s for s in block.statements if s is not transfer.wait and not s.removed]
        each = (self.footprints.of(statement, self.routine.file) for statement in rest)
        done = [access for found in each for access in found.accesses]
        return done + [access for access in accesses if access not in transfer.control]

    def start_blocked(
        self,
        transfer: Transfer,
        accesses: list[Access],
        statement: Statement,
        footprint: Footprint,
        changed: frozenset[str],
    ) -> Reason | None:
        role = statement.role if isinstance(statement.role, Role) else None
        if any(each.part.mode == "ready" for each in transfer.each):
            return Reason(ReasonKind.READY_SEND(), self._place(statement))
        if self._completes(transfer, statement):
            return Reason(ReasonKind.ITS_WAIT(), self._place(statement))
        reason = self._checks_status(statement)
        reason = reason or (None if role is not None else footprint.stop)
        if statement.kind is Kind.DECLARE and any(
            access.variable in transfer.codes for access in statement.accesses
        ):
            reason = reason or Reason(ReasonKind.DECLARATIONS(), self._place(statement))
        leaves = None if role is not None else footprint.leaves
        for each in transfer.each:
            if role is not None:
                reason = reason or self.order.over_inserted(each, role, statement, changed)
            else:
                reason = reason or self.order.over_events(each, footprint, changed)
        return (
            reason
            or self._conflict(
                statement, transfer, accesses, footprint, changed, True, _of_one(transfer, role)
            )
            or leaves
        )

    def _checks_status(self, statement: Statement) -> Reason | None:
        """What sets a variable for error codes as the status of something else, or asks for it."""
        if not self.checked:
            return None
        for inner in statement.walk():
            if id(inner) in self.checked:
                return Reason(ReasonKind.STATUS_CHECKED(), self._place(inner))
        return None

    @staticmethod
    def _completes(transfer: Transfer, statement: Statement) -> bool:
        """Whether a statement waits for the same transfer, of the iteration before.

        Started above it, the transfer would be waited for there at once: a send, before the
        receive is posted that the other rank's send needs.
        """
        roles = [inner.role for inner in statement.walk() if isinstance(inner.role, Role)]
        waited = [each for role in roles if not role.starts for each in role.transfer.each]
        return any(each in waited for each in transfer.each)

    def wait_blocked(
        self,
        transfer: Transfer,
        accesses: list[Access],
        statement: Statement,
        footprint: Footprint,
        changed: frozenset[str],
        *,
        again: bool = False,
    ) -> Reason | None:
        """Why a wait may not pass a statement; `again`: it is one of the next iteration."""
        if isinstance(statement.role, Role) and not statement.role.starts:
            # Another wait is no use of the data: both transfers may be in flight.
            footprint = replace(footprint, accesses=statement.role.transfer.control)
        used = any(each.receives or each.collective for each in transfer.each)
        causal = used or any(each.part.mode == "synchronous" for each in transfer.each)
        role = statement.role if isinstance(statement.role, Role) else None
        reason = self._checks_status(statement) or self._stop(transfer, footprint)
        if statement.text == "terminal":
            reason = Reason(ReasonKind.LOOP_END(), self._place(statement))
        if reason is None and causal and self.strict:
            if role is not None and role.transfer.call is not transfer.call:
                reason = Reason(
                    ReasonKind.OTHER_COMMUNICATION(because=self.strict), self._place(statement)
                )
            elif role is None and footprint.events:
                event = footprint.events[0]
                reason = Reason(
                    ReasonKind.CALL_AND(call=event.name, because=self.strict), event.location
                )
        # What is sent may be read meanwhile. Where data decide whether control leaves, they are
        # the reason to look at.
        one = None if again else _of_one(transfer, role)  # in the next one it is another call
        conflict = self._conflict(statement, transfer, accesses, footprint, changed, used, one)
        return reason or conflict or footprint.leaves

    def _stop(self, transfer: Transfer, footprint: Footprint) -> Reason | None:
        """What stops at code that is not known, unless the user has a word on it."""
        bases = {buffer.base for buffer in transfer.buffers}
        stated = footprint.independent and bases <= footprint.independent
        unknown = footprint.stop is not None and footprint.stop.kind in _UNKNOWN_CODE
        return None if stated and unknown else footprint.stop

    def _conflict(
        self,
        statement: Statement,
        transfer: Transfer,
        accesses: list[Access],
        footprint: Footprint,
        changed: frozenset[str],
        used: bool,
        one: Role | None,
    ) -> Reason | None:
        """What a statement touches of what is under way; `one`: it starts the same call."""
        if footprint.independent:
            accesses = [a for a in accesses if a.variable not in footprint.independent]
        pair = self.footprints.conflict(accesses, footprint.accesses, changed)
        if pair is not None and one is not None:
            # The buffers of one call do not overlap (MPI 4.0, section 3.10).
            data = data_accesses(self.footprints.program, transfer)
            theirs = data_accesses(self.footprints.program, one.transfer)
            rest = [access for access in footprint.accesses if access not in theirs]
            control = [access for access in accesses if access not in data]
            pair = self.footprints.conflict(
                control, footprint.accesses, changed
            ) or self.footprints.conflict(data, rest, changed)
        if pair is None:
            return None
        mine, other = pair
        variables = self.footprints.program.variables
        place = Location(self.routine.file, other.line)
        if mine.variable in variables:
            name = variables[mine.variable].name
            same = mine.variable == other.variable
            if same:
                kind = ReasonKind.USED if used else ReasonKind.SET
                known = variables[mine.variable]
                declared = statement.kind is Kind.DECLARE and known.kind == "local"
                if declared and other.write and other.line == known.line:
                    kind = ReasonKind.DECLARED
                return Reason(kind(variable=name), place)
            if other.variable in variables:
                kind = ReasonKind.MAY_BE_USED_THROUGH if used else ReasonKind.MAY_BE_SET_THROUGH
                through = variables[other.variable].name
                return Reason(kind(variable=name, other=through), place)
            kind = ReasonKind.MAY_BE_USED if used else ReasonKind.MAY_BE_SET
            return Reason(kind(variable=name), place)
        return Reason(ReasonKind.UNKNOWN_MEMORY_USED(), place)

    def dies(self, transfer: Transfer, block: Block) -> bool:
        """Whether the buffer's memory ends with `block`, or a name that the wait's text needs."""
        variables = self.footprints.program.variables
        assert transfer.wait is not None
        named = frozenset() if transfer.assigned else transfer.codes
        if any(_ends_with(block, variables.get(code)) for code in named):
            return True
        for access in transfer.wait.accesses:
            if access.variable == UNKNOWN_MEMORY:
                return True
            for item in self.footprints.aliases.objects(access.variable, access.through):
                if _ends_with(block, variables.get(item)):
                    return True
        return False

    def takes_time(self, statement: Statement, footprint: Footprint) -> bool:
        return footprint.heavy and not isinstance(statement.role, Role)

    def _under_way(
        self, transfer: Transfer, statement: Statement, footprint: Footprint, *, starts: bool
    ) -> int:
        return under_way(transfer, statement, footprint, starts=starts) if self.beside else 0

    def _packs(self, statement: Statement) -> bool:
        program, messages = self.footprints.program, self.footprints.messages
        return only_packs(program, self.routine.file, statement, messages)

    def _is_leading_declaration(self, block: Block, statement: Statement) -> bool:
        return block is self.routine.body and statement.end <= self.routine.declare_after

    def _place(self, statement: Statement) -> Location:
        return Location(self.routine.file, statement.line)

    def _line(self, block: Block) -> int:
        return block.statements[0].line if block.statements else self.routine.line

    def _end(self, block: Block) -> Location:
        return Location(self.routine.file, block.statements[-1].end_line)


def _ends_with(block: Block, variable: Variable | None) -> bool:
    """Whether a variable lives in a block alone."""
    if variable is None or variable.lifetime is None:
        return False
    start, end = variable.lifetime
    return start >= block.start and end <= block.end
