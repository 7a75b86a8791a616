"""Finds what whole statements, calls and routines may do."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.binding import Binding
from imbrex.transform.analysis.by_value import ByValue
from imbrex.transform.analysis.call_effects import (
    argument_effects,
    evaluated,
    fence,
    fortran_error_code,
)
from imbrex.transform.analysis.changes import Changes
from imbrex.transform.analysis.copies import message_arrays
from imbrex.transform.analysis.facts import ProgramFacts
from imbrex.transform.analysis.found_once import FoundOnce
from imbrex.transform.analysis.library import Libraries
from imbrex.transform.analysis.local_pointers import LocalPointers
from imbrex.transform.analysis.operations import any_time, own_operation
from imbrex.transform.analysis.seen_by_callers import SeenByCallers
from imbrex.transform.analysis.summary import Buffers, Event, Footprint, different
from imbrex.transform.analysis.taken import NOTHING_GIVEN, Given, blocks_taken, given_by, tested
from imbrex.transform.analysis.transfer import Role
from imbrex.transform.model.affine import forget, widen
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

_NONE: frozenset[str] = frozenset()
_NULL = re.compile(r"(?:\([\w\s]+\*\s*\)\s*)?(?:NULL|nullptr|0)")
_INSERTED = Kind.INSERTED  # before Python 3.12 a member of an Enum is found slowly


def _is_null(call: Call, position: int) -> bool:
    """Whether a function of the library is passed no memory there, as in `time(NULL)`."""
    if position >= len(call.arguments):
        return False
    argument = call.arguments[position]
    named = argument.base not in (None, UNKNOWN_MEMORY)
    return not named and _NULL.fullmatch(argument.text.strip()) is not None


class Footprints(Changes):
    """Footprints of statements and routines, computed once each."""

    def __init__(
        self,
        program: Program,
        aliases: Aliases,
        libraries: Libraries,
        once: FoundOnce | None = None,
    ) -> None:
        """`once`: what other footprints of the same program have found."""
        super().__init__(program, aliases)
        self.libraries = libraries
        self._once = once or FoundOnce(program, libraries)
        self.local_pointers = LocalPointers(program)
        self._statements: dict[int, Footprint] = {}
        self._plain = self._statements
        self._routines: dict[tuple[str, Given], Footprint] = {}
        self._active: set[str] = set()
        self._given: Given = NOTHING_GIVEN
        self._asked: dict[str, frozenset[str]] = {}
        # What statements send and receive, as `Messages` finds out.
        self.buffers: dict[tuple[int, bool], Buffers] = {}
        self._seen_by_callers = SeenByCallers(self)
        # What a start of persistent requests touches; None: what it starts is not known.
        self.starting: Callable[[Call], list[Access] | None] | None = None
        self.kept_for: dict[type, object] = {}  # analyses that are made once, by their types

    @cached_property
    def by_value(self) -> ByValue:
        """What calls touch for each value that they may pass."""
        return ByValue(self)

    @cached_property
    def facts(self) -> ProgramFacts:
        """What holds of the whole program."""
        return ProgramFacts(self.program, self.libraries)

    @property
    def unseen(self) -> Reason | None:
        """Why code may run that is not seen; None where all of the program is."""
        return self._once.unseen

    @property
    def success(self) -> frozenset[str]:
        """Variables that hold nothing but MPI_SUCCESS."""
        return self._once.success

    @cached_property
    def operates_any_time(self) -> bool:
        return any_time(self.program)

    @cached_property
    def messages(self) -> frozenset[str]:
        return message_arrays(self.program)

    @property
    def addressed(self) -> frozenset[str]:
        """Variables whose address is taken somewhere."""
        return self._once.addressed

    def of(self, statement: Statement, file: str) -> Footprint:
        """Everything that executing `statement` may do."""
        if statement.removed:
            return Footprint()
        if statement.kind is _INSERTED:
            role = statement.role
            assert isinstance(role, Role)
            place = Location(file, role.transfer.call.line)
            events = [Event(t.call.name, place, t.call) for t in role.transfer.each]
            return Footprint(accesses=statement.accesses, events=events)
        known = self._statements.get(id(statement))
        if known is None:
            known = self._statements[id(statement)] = self._compute(statement, file)
        return known

    def forget(self, statement: Statement) -> None:
        """Compute anew what encloses a statement that has changed."""
        block = statement.parent
        while block is not None and block.owner is not None:
            self._statements.pop(id(block.owner), None)
            block = block.owner.parent

    def _compute(self, statement: Statement, file: str) -> Footprint:
        found = Footprint(evaluated(self.program, statement), independent=statement.independent)
        place = Location(file, statement.line)
        if statement.stop:
            found.stop = Reason(statement.stop, place)
        if statement.leaves:
            found.jumps.add(statement.text)
            found.leaves = Reason(ReasonKind.LEAVES(statement=statement.text), place)
        for call in statement.calls:
            found.add(self.of_call(call, file))
        if statement.blocks:
            self._enclose(statement, file, found)
        else:
            found.heavy = found.heavy or self._computes(statement)
        found.accesses = different(found.accesses)
        if statement.known:
            found.accesses = [access.where(statement.known) for access in found.accesses]
        return found

    def _enclose(self, statement: Statement, file: str, found: Footprint) -> None:
        """Add what the blocks of a statement may do."""
        inner = Footprint()
        for block in self._taken(statement):
            for child in block.statements:
                inner.add(self.of(child, file))
        heavy = found.heavy
        found.add(inner)
        found.heavy = heavy or self._takes_time(statement, file)
        if statement.kind is Kind.LOOP:
            found.jumps -= {"break", "continue", "cycle", "exit"}
        elif statement.kind is Kind.SWITCH:
            found.jumps -= {"break"}
            found.stop = self._without_case_labels(found.stop)
        if not found.jumps:
            found.leaves = None
        found.accesses = self._settle(statement, found.accesses, inner)

    def _takes_time(self, statement: Statement, file: str) -> bool:
        """Whether it computes; of alternative branches each must, or a rank may have no window."""
        if self._computes(statement):
            return True
        branches = [
            any(self.of(child, file).heavy for child in block.statements)
            for block in self._taken(statement)
        ]
        return bool(branches) and all(branches)

    @staticmethod
    def _computes(statement: Statement) -> bool:
        """Whether it takes time by itself."""
        return statement.kind is Kind.LOOP or statement.computes or statement.reduces_arrays

    def _taken(self, statement: Statement) -> list[Block]:
        """The blocks of a statement that may run, as far as is known."""
        if statement.test is None:
            return statement.blocks
        tests = [statement.test, *(test for test in statement.more_tests if test is not None)]
        codes = _NONE.union(*(test.difference.variables() for test in tests)) & self.success
        return blocks_taken(statement, {**dict.fromkeys(codes, 0), **dict(self._given)})

    @staticmethod
    def _without_case_labels(stop: Reason | None) -> Reason | None:
        return None if stop is not None and stop.kind is ReasonKind.CASE_LABEL else stop

    def _settle(
        self, statement: Statement, accesses: list[Access], inner: Footprint
    ) -> list[Access]:
        """Express sections in terms of values from before the statement, or drop them."""
        changed = self.changed(accesses)
        loop = statement.loop
        if loop is not None:
            inside = self.changed(inner.accesses)
            bounds = loop.low.variables() | loop.high.variables()
            if loop.index in inside or bounds & changed:
                loop = None
        if loop is not None:
            accesses = [
                part
                for access in accesses
                for part in (access.over(loop.index) if access.cases else (access,))
            ]
        settled = []
        for access in accesses:
            if access.is_plain():
                settled.append(access)
                continue
            if self._moved(access, changed):
                access = access.anywhere()
            section = access.section
            if loop is not None:
                section = widen(section, loop.index, loop.low, loop.high)
            if access.strides and any(s.variables() & changed for s in access.strides):
                section = None
            settled.append(access.settled(forget(section, changed), changed))
        return settled

    def of_call(self, call: Call, file: str) -> Footprint:
        """What a call does besides evaluating its arguments."""
        place = Location(file, call.line)
        if call.unknown:
            operator = call.name and not call.name.isidentifier()  # as of a stream
            cause = ReasonKind.CALL_OF(routine=call.name) if operator else ReasonKind.POINTER_CALL()
            return Footprint(stop=Reason(cause, place))
        if call.name.startswith("MPI_"):
            return self._mpi(call, place)
        routine = self.program.callee(call.name, file)
        if routine is not None:
            return self._bound(call, routine, place)
        library = self.libraries.of(file)
        effects = library.effects.get(call.name)
        if effects is None:
            given = self.program.written_in_c(call.name, file) is not None
            unread = not (given or call.library or library.calls_no_mpi(call.name))
            kind = ReasonKind.CALL_UNREAD if unread else ReasonKind.CALL_OF
            cause = kind(routine=call.name)
            return Footprint(stop=Reason(cause, place))
        effects = {at: modes for at, modes in effects.items() if not _is_null(call, at)}
        accesses = argument_effects(self.program, call, effects, place)
        accesses += library.own_accesses(call.name, place.line)
        return Footprint(accesses, heavy=call.name in library.loops)

    def _mpi(self, call: Call, place: Location) -> Footprint:
        effects = mpi_calls.EFFECTS.get(call.name)
        if effects is None:
            starts = call.name in mpi_calls.PERSISTENT_STARTS
            events = [Event(call.name, place, call)] if starts else []
            started = self.starting(call) if starts and self.starting is not None else None
            if started is not None:
                return Footprint([*started, *fortran_error_code(call, place)], events)
            cause = ReasonKind.CALL_OF(routine=call.name)
            return Footprint(events=events, stop=Reason(cause, place))
        operation = own_operation(call)
        if operation is not None:
            cause = ReasonKind.CALL_OPERATES(routine=call.name, operation=operation)
            return Footprint(stop=Reason(cause, place))
        if call.name in mpi_calls.COMPLETIONS and self.operates_any_time:
            cause = ReasonKind.CALL_WHILE_OPERATING(routine=call.name)
            return Footprint(stop=Reason(cause, place))
        accesses = argument_effects(self.program, call, effects, place)
        accesses += fortran_error_code(call, place)
        events = [] if call.name in mpi_calls.LOCAL else [Event(call.name, place, call)]
        return Footprint(accesses, events)

    def _bound(self, call: Call, routine: Routine, place: Location) -> Footprint:
        summary = self.of_routine(routine, self.given(call, routine))
        accesses = self.by_value.of(call, routine, summary.accesses)
        events = list(
            dict.fromkeys(Event(event.name, event.location, None) for event in summary.events)
        )
        stop = summary.stop
        if stop is not None:
            stop = Reason(
                ReasonKind.CALL_DOES(routine=routine.name, cause=stop.cause), stop.location
            )
        return Footprint(accesses, events, stop, heavy=summary.heavy)

    def bound(self, call: Call, routine: Routine, summary: list[Access]) -> list[Access]:
        """Accesses that a routine, or a part of it, makes, as a caller of it sees them."""
        return self._seen_by_callers.of(call, routine, summary)

    def moved_in(self, whole: Footprint) -> frozenset[str]:
        """Variables whose values may be others when a routine returns, of its summary."""
        changed = self.changed_in(whole)
        return changed if whole.stop is None else changed | self.aliases.escaped

    def by_pointers(self, routine: Routine, accesses: list[Access]) -> list[Access]:
        """Accesses through local pointers of a routine as those to the memory that these name."""
        fixed = self.local_pointers.fixed(routine)
        if not fixed:
            return accesses
        moved = self.moved_in(self.of_routine(routine))
        return [
            self.local_pointers.meant(routine, access, moved)
            if access.variable in fixed
            else access
            for access in accesses
        ]

    def is_active(self, routine: Routine) -> bool:
        """Whether the summary of a routine is being made."""
        return routine.key in self._active

    def binding(self, call: Call, routine: Routine) -> Binding:
        return Binding(self.program, call, routine, self.changed_in(self.of_routine(routine)))

    def given(self, call: Call, routine: Routine) -> Given:
        """The constants that a call passes to a routine that asks for them and keeps them."""
        if routine.key in self._active:
            return NOTHING_GIVEN
        if routine.key not in self._asked:
            asked = tested(routine)
            self._asked[routine.key] = asked
            if asked:
                set_there = {a.variable for a in self.of_routine(routine).accesses if a.write}
                self._asked[routine.key] = asked - set_there - self.addressed
        asked = self._asked[routine.key]
        return given_by(self.program, call, routine, asked) if asked else NOTHING_GIVEN

    def of_routine(self, routine: Routine, given: Given = NOTHING_GIVEN) -> Footprint:
        """The summary of a routine: all that a call of it may do.

        `given`: values of its parameters, where those of one call are known.
        """
        if routine.key in self._active:
            place = Location(routine.file, routine.line)
            return Footprint(
                stop=Reason(ReasonKind.RECURSION(routine=routine.name), place), heavy=True
            )
        known = self._routines.get((routine.key, given))
        if known is not None:
            return known
        outside = self._statements, self._given
        self._statements, self._given = ({} if given else self._plain), given
        self._active.add(routine.key)
        found = Footprint()
        for statement in routine.body.statements:
            named = fence(self.program, statement, Location(routine.file, statement.line))
            done = self.of(statement, routine.file) if named is None else Footprint(named)
            found.add(done)
        self._active.discard(routine.key)
        self._statements, self._given = outside
        found.leaves = None
        found.jumps = set()
        found.accesses = different(found.accesses)
        self._routines[routine.key, given] = found
        return found

    def changed_by(self, statements: list[Statement], file: str) -> frozenset[str]:
        """Variables whose value may differ after these statements."""
        return _NONE.union(*[self.changed_in(self.of(s, file)) for s in statements])

    def changed_in(self, footprint: Footprint) -> frozenset[str]:
        """Variables whose value may differ after what has this footprint."""
        known = footprint.changed
        if known is None:
            known = footprint.changed = self.changed(footprint.accesses)
        return known
