"""Where callers of a routine around MPI put its start and its finish."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from imbrex.transform.analysis.divided import Schedule
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.guarded_calls import call_alone, may_ask_again
from imbrex.transform.analysis.kept_spaces import kept_spaces
from imbrex.transform.analysis.unread import never_read
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.boundary import BoundaryFirst
from imbrex.transform.text.division import Division
from imbrex.transform.text.specification import identifiers


@dataclass(slots=True)
class Use:
    """A call of the wrapper: where its start and its finish go, and what they pass."""

    routine: Routine
    statement: Statement  # what stands in the block: the call, or the `if` that it stands in
    call: Call
    block: Block
    first: int  # the start goes before this statement of the block
    last: int  # the finish goes behind this one
    finish: list[Access]  # what the finish touches, and the messages until then
    inside: Statement | None = None  # the call, where it stands in an `if` of the block
    passed: int = 0
    slot: int = 0  # those of one caller that are under way at one time have numbers apart
    division: Division | None = None
    joins: Use | None = None  # the later call beside whose finish this one's stands

    @property
    def given(self) -> list[Access]:
        """What the arguments of the call name, and the condition that it is made on."""
        return [*self.statement.accesses, *(self.inside.accesses if self.inside else [])]

    @property
    def has_window(self) -> bool:
        return bool(self.passed or self.division)


@dataclass(frozen=True, slots=True)
class Place:
    """A call in a block, or `inside` an `if` of the block."""

    block: Block
    index: int
    call: Call
    inside: Statement | None = None


@dataclass(slots=True)
class Split:
    """A wrapper that may be split, and its uses."""

    wrapper: Routine
    schedule: Schedule
    kept: list[Variable]  # local arrays that must live from the start to the finish
    uses: list[Use] = field(default_factory=list)
    # Routines that call it, do nothing else, and are split with it: it gains nothing by itself.
    passed_on: tuple[str, ...] = ()


class Uses:
    """Finds the calls of routines, and how far apart the two halves of each may stand."""

    def __init__(self, program: Program, footprints: Footprints, boundary: BoundaryFirst) -> None:
        self.program = program
        self.footprints = footprints
        self.boundary = boundary
        self._callers: dict[str, list[Routine]] = {}
        self._calls_in: dict[str, dict[str, list[tuple[Block, int, Call]]]] = {}
        self._places_in: dict[str, dict[str, list[Place]]] = {}
        self._may_pass_on: dict[str, bool] = {}
        self._every_call: dict[str, dict[str, list[Call]]] = {}

    def find(self, split: Split) -> None:
        """Note the uses of a wrapper, and which of them are under way beside each other."""
        for user in self.callers(split.wrapper.name):
            self._find_in(split, user)
        number_slots(split.uses)

    @staticmethod
    def one_at_a_time(split: Split) -> None:
        """Where a caller has one variable for each that is kept, it has one use under way."""
        if not split.kept:
            return
        for position, use in enumerate(split.uses):
            for other in split.uses[:position]:
                if other.routine is use.routine and meet(other, use):
                    other.first = other.last = other.block.statements.index(other.statement)
                    other.passed, other.division = 0, None
        number_slots(split.uses)

    def callers(self, name: str) -> list[Routine]:
        """The routines that call one of this name."""
        if not self._callers:
            for routine in self.program.routines.values():
                names = {call.name for s in routine.statements() for call in s.calls}
                for called in names:
                    self._callers.setdefault(called, []).append(routine)
        return self._callers.get(name, [])

    def calls_in(self, user: Routine, name: str) -> list[Call]:
        """All calls in a routine of one of this name."""
        if user.key not in self._every_call:
            known = self._every_call[user.key] = defaultdict(list)
            for statement in user.statements():
                for call in statement.calls:
                    known[call.name].append(call)
        return self._every_call[user.key].get(name, [])

    def _find_in(self, split: Split, user: Routine) -> None:
        """Note the calls of a routine, those in an `if` with what follows that, if need be."""
        last: Block | None = None
        floor = -1
        places = self.places(user, split.wrapper.name)
        in_branch: dict[int, bool] = {}  # whether calls have work beside them in their branch
        taken: set[int] = set()
        for place in places:
            if place.inside is not None:
                branch = place.inside.parent
                assert branch is not None
                if id(branch) not in in_branch:
                    mine = [other for other in places if other.block is branch]
                    in_branch[id(branch)] = self._work_beside(split, user, mine)
                if in_branch[id(branch)]:
                    continue
                taken.add(id(place.call))
            elif id(place.call) in taken:
                continue
            if place.block is not last:
                last, floor = place.block, -1  # no start passes the finish of the call before it
            use = self._use(split, user, place, floor)
            split.uses.append(use)
            floor = use.last

    def _work_beside(self, split: Split, user: Routine, places: list[Place]) -> bool:
        floor = -1
        for place in places:
            use = self._use(split, user, place, floor)
            if use.has_window:
                return True
            floor = use.last
        return False

    def computes_beside(self, user: Routine, block: Block, index: int, side: int) -> bool:
        """Whether a routine computes right in front of a statement (-1), or right behind it (1)."""
        position = index + side
        while 0 <= position < len(block.statements):
            found = self.footprints.of(block.statements[position], user.file)
            if found.stop or found.leaves or found.events:
                return False
            if found.heavy:
                return True
            position += side
        return False

    def may_pass_on(self, user: Routine) -> bool:
        """Whether a routine may be taken apart around what it calls: it ends as it began.

        What it packs or unpacks, or computes of what comes in, is done by one of its halves; it
        has no work beside its messages.
        """
        if user.key not in self._may_pass_on:
            self._may_pass_on[user.key] = self._ends_as_begun(user)
        return self._may_pass_on[user.key]

    def _ends_as_begun(self, user: Routine) -> bool:
        if user.name == "main" or user.problem or user.address_taken:
            return False
        statements = [s for s in user.body.statements if s.kind is not Kind.DECLARE]
        each = [self.footprints.of(statement, user.file) for statement in statements]
        if any(found.stop for found in each):
            return False
        asks = {Kind.IF, Kind.JUMP}  # where there is nothing to exchange it may return
        leaving = (s for f, s in zip(each, statements, strict=True) if f.leaves)
        if not all(statement.kind in asks for statement in leaving):
            return False
        messages = [access for found in each if found.events for access in found.accesses]
        return all(
            found.events or not found.heavy or self._share(found.accesses, messages)
            for found in each
        )

    def _share(self, accesses: list[Access], messages: list[Access]) -> bool:
        """Whether work needs what messages bring, or makes what they carry."""
        changed = self.footprints.changed(accesses + messages)
        return self.footprints.conflict(accesses, messages, changed) is not None

    def places(self, user: Routine, name: str) -> list[Place]:
        """The calls that may be divided in two, those in an `if` also as part of that."""
        return self._places(user).get(name, [])

    def _places(self, user: Routine) -> dict[str, list[Place]]:
        known = self._places_in.get(user.key)
        if known is None:
            known = self._places_in[user.key] = {}
            source = self.program.files.get(user.file)
            in_c = source is not None and source.language is Language.C
            for block in user.body.plain():
                open_block = block.insertable and block.braced
                for index, statement in enumerate(block.statements):
                    call = call_alone(statement)
                    if call is not None and (open_block or (in_c and not block.braced)):
                        known.setdefault(call.name, []).append(Place(block, index, call))
                    for inside in self._guarded(user, statement) if open_block else []:
                        call = inside.calls[0]
                        known.setdefault(call.name, []).append(Place(block, index, call, inside))
        return known

    def _guarded(self, user: Routine, guard: Statement) -> list[Statement]:
        """The calls that communicate in one branch of an `if` that changes no answer to it."""
        if not may_ask_again(guard):
            return []
        every = [s for block in guard.blocks for s in block.statements]
        each = {id(s): self.footprints.of(s, user.file) for s in every}
        done = [access for found in each.values() for access in found.accesses]
        changed = self.footprints.changed(done)
        if self.footprints.conflict(done, guard.accesses, changed) is not None:
            return []
        talking = [
            block for block in guard.blocks if any(each[id(s)].events for s in block.statements)
        ]
        if len(talking) != 1 or any(each[id(s)].stop for s in every):
            return []
        calls = [s for s in talking[0].statements if each[id(s)].events]
        declared = [s for s in talking[0].statements if s.kind is Kind.DECLARE]
        if any(call_alone(s) is None or s.calls[0].name.startswith("MPI_") for s in calls):
            return []
        return [s for s in calls if not any(self._hides(user, s, other) for other in declared)]

    def usable(self, user: Routine) -> dict[str, list[tuple[Block, int, Call]]]:
        """The calls in a routine that may be divided in two, by the name called."""
        known = self._calls_in.get(user.key)
        if known is None:
            known = self._calls_in[user.key] = {}
            for block in user.body.plain():
                if not block.insertable or not block.braced:
                    continue
                for index, statement in enumerate(block.statements):
                    call = call_alone(statement)
                    if call is not None:
                        known.setdefault(call.name, []).append((block, index, call))
        return known

    def _use(self, split: Split, user: Routine, place: Place, floor: int) -> Use:
        block, index, call = place.block, place.index, place.call
        use = Use(user, block.statements[index], call, block, index, index, [], place.inside)
        arguments = use.given
        finish = use.finish = self.finish(split, call) + arguments
        schedule = split.schedule
        if not self.leaves_branch(use, ()):
            return use
        start = self.start(split, call) + arguments
        position = index + 1
        while position < len(block.statements) and self.may_pass(
            user, block, index, position, finish, communication=schedule.only_sends
        ):
            if self.footprints.of(block.statements[position], user.file).heavy:
                use.passed, use.last = use.passed + 1, position
            position += 1
        position_up = index - 1
        if sum(len(branch.statements) for branch in use.statement.blocks) > 1:
            floor = position_up  # what else the `if` does stays where it is
        while position_up > floor and self.may_pass(user, block, index, position_up, start):
            if self.footprints.of(block.statements[position_up], user.file).heavy:
                use.passed, use.first = use.passed + 1, position_up
            position_up -= 1
        if not use.passed:
            last = self._light(user, block, index, finish)
            passed = self.footprints.changed_by(block.statements[index + 1 : last + 1], user.file)
            known = self.footprints.later(finish, passed)
            use.division = self.division(user, block, last, known)
            if use.division is not None:
                use.last = last
        return use

    def leaves_branch(self, use: Use, window: Collection[int]) -> bool:
        """Whether the finish of a call in an `if` may stand behind that.

        `window`: the identities of calls that are under way at the same time.
        """
        if use.inside is None or use.inside.parent is None:
            return True
        branch = use.inside.parent
        index = branch.statements.index(use.inside)
        return all(
            self.may_pass(
                use.routine,
                branch,
                index,
                position,
                use.finish,
                communication=id(branch.statements[position]) in window,
            )
            for position in range(index + 1, len(branch.statements))
        )

    def start(self, split: Split, call: Call) -> list[Access]:
        """What the start of a call touches, but for evaluating its arguments."""
        early = split.schedule.accesses(split.schedule.early)
        return self.footprints.bound(call, split.wrapper, early)

    def finish(self, split: Split, call: Call) -> list[Access]:
        """What the finish of a call touches, and the messages until then."""
        schedule = split.schedule
        late = schedule.accesses(schedule.late) + schedule.flying
        return self.footprints.bound(call, split.wrapper, late)

    def _light(self, user: Routine, block: Block, index: int, finish: list[Access]) -> int:
        """The last of the statements in front of a loop nest that the finish may pass."""
        last = index
        while last + 1 < len(block.statements):
            statement = block.statements[last + 1]
            if self.footprints.of(statement, user.file).heavy:
                break
            if statement.kind is Kind.DECLARE and self._hides(
                user, block.statements[index], statement
            ):
                break
            if not self.may_pass(user, block, index, last + 1, finish, declared=True):
                break
            last += 1
        return last

    def _hides(self, user: Routine, call: Statement, declaration: Statement) -> bool:
        """Whether a declaration may give what a call names another meaning behind it."""
        source = self.program.files[user.file]
        if source.is_fortran or declaration.start != declaration.code_start:
            return True
        told = (source.data[s.start : s.end].decode(errors="replace") for s in (call, declaration))
        first, second = (identifiers(text, fold=False) for text in told)
        return bool(first & second)

    def may_pass(
        self,
        user: Routine,
        block: Block,
        index: int,
        position: int,
        accesses: list[Access],
        *,
        declared: bool = False,
        communication: bool = False,
        part: list[Access] | None = None,
    ) -> bool:
        """Whether accesses of the call at `index` may go past a statement and all in between.

        `declared`: a declaration may be among these. `communication`: so may be other messages, of
        which none depends on the order of what goes past it. `part`: what of the statement is
        passed, if not all.
        """
        statement = block.statements[position]
        footprint = self.footprints.of(statement, user.file)
        if footprint.stop or footprint.leaves:
            return False
        if statement.kind is Kind.DECLARE and not declared:
            return False
        if (footprint.events and not communication) or statement.text == "terminal":
            return False  # another exchange may want the same channel
        low, high = min(index + 1, position), max(index, position + 1)
        changed = self.footprints.changed_by(block.statements[low:high], user.file)
        accesses = [a for a in accesses if a.variable not in footprint.independent]
        passed = footprint.accesses if part is None else part
        while (meeting := self.footprints.conflict(accesses, passed, changed)) is not None:
            key = meeting[0].variable
            if not communication or never_read(self.program, user, key, whole=True) is not None:
                return False
            # An error code of the program's that nothing asks for is set by both.
            accesses, passed = ([a for a in s if a.variable != key] for s in (accesses, passed))
        return True

    def division(
        self, user: Routine, block: Block, index: int, finish: list[Access]
    ) -> Division | None:
        """The next loop nest, divided so that its interior needs nothing of the exchange."""
        spaces = kept_spaces(self.program, self.footprints, user)
        between: list[Access] = []
        for position in range(index + 1, len(block.statements)):
            statement = block.statements[position]
            footprint = self.footprints.of(statement, user.file)
            space = spaces.of(statement, finish + between) if footprint.heavy else None
            alone = space is not None and (space.final or space.begin)
            if (footprint.leaves or footprint.events) and not alone:
                return None
            if space is not None:
                return self.boundary.divide(user, block, spaces, space, finish + between, index + 1)
            if footprint.stop:
                return None
            between += footprint.accesses
        return None


def number_slots(uses: list[Use]) -> None:
    """Tell those apart whose requests a caller has under way at one time."""
    for position, use in enumerate(uses):
        earlier = [u for u in uses[:position] if u.routine is use.routine and meet(u, use)]
        taken = {each.slot for each in earlier}
        use.slot = next(number for number in range(len(uses)) if number not in taken)


def meet(one: Use, other: Use) -> bool:
    """Whether the text between the halves of two uses has a part in common."""
    (low, high), (first, last) = (
        (use.block.statements[use.first].start, use.block.statements[use.last].end)
        for use in (one, other)
    )
    return low < last and first < high
