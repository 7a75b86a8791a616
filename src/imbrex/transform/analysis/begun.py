"""What a statement completes that others in front of it, in the same block, have begun.

Of `h.begin(u)` and `h.end()` each request that the end waits for must have been started by the
beginning, in all cases: then nothing older can be in it, and what is in use until the end is among
what the beginning touches. That is told in the terms of the block, with its sections.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.closed_lists import ClosedLists
from imbrex.transform.analysis.counted_requests import Counters
from imbrex.transform.analysis.declared_values import declared_at
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.fortran_handles import FortranHandles, are_two, is_own, keeps_place
from imbrex.transform.analysis.handles import Handle, Handles, starts_of
from imbrex.transform.analysis.listed_requests import Lists, RequestList
from imbrex.transform.analysis.messages import statement_waits
from imbrex.transform.analysis.named_requests import stays
from imbrex.transform.analysis.own_variables import is_local_array, is_of_another, own_array
from imbrex.transform.analysis.passed_memory import PassedMemory
from imbrex.transform.analysis.persistent import persistent_of
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.analysis.request_states import states_of
from imbrex.transform.analysis.requests import Requests
from imbrex.transform.analysis.unbegun import Unbegun
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement


@dataclass(frozen=True, slots=True)
class Begun:
    """The statements that begin what another one ends, and what the messages may touch there."""

    statements: tuple[Statement, ...]
    accesses: list[Access]  # in the terms of the end
    calls: tuple[Handle, ...]  # starts and waits


class Beginnings:
    """Finds what statements end, each statement looked at once."""

    def __init__(self, footprints: Footprints) -> None:
        self.footprints = footprints
        self.program: Program = footprints.program
        self.handles = Handles(footprints.program)
        self.of_fortran = FortranHandles(footprints.program)
        self.states = states_of(footprints)
        self.persistent = persistent_of(footprints)
        self.counters = Counters(footprints, self.handles)
        self.lists = Lists(footprints, self.handles)
        self.closed = ClosedLists(footprints, self.handles, self.lists, self.states)
        self.memory = PassedMemory(footprints, self.states.places)
        self._known: dict[int, Begun | None] = {}

    def only_ends(self, routine: Routine, statement: Statement) -> bool:
        """Whether a statement communicates by waiting for messages alone, of others too."""
        if statement.kind is not Kind.SIMPLE or not statement.calls:
            return False
        if self._waiting.isdisjoint(call.name for call in statement.calls):
            return False
        names = {e.name for e in self.footprints.of(statement, routine.file).events}
        return bool(names) and names <= mpi_calls.WAITS

    @cached_property
    def _waiting(self) -> frozenset[str]:
        """The names of calls that may wait, of MPI and of routines, whatever these are given."""
        callers: dict[str, set[str]] = {}
        for name, routine in self.program.routines.items():
            for statement in routine.statements():
                for call in statement.calls:
                    callers.setdefault(call.name, set()).add(name)
        found: set[str] = set()
        new = set(mpi_calls.WAITS)
        while new:
            found |= new
            new = set().union(*(callers.get(name, ()) for name in new)) - found
        return frozenset(found)

    def ended_by(self, routine: Routine, block: Block, index: int) -> Begun | None:
        """What statement `index` of a block ends; None where that is not known."""
        statement = block.statements[index]
        if id(statement) not in self._known:
            self._known[id(statement)] = self._find(routine, block, index)
        return self._known[id(statement)]

    def among(
        self, routine: Routine, block: Block, statements: list[Statement]
    ) -> list[tuple[Statement, Begun]]:
        """Those of some statements of a block that end what others of it have begun."""
        found = []
        for statement in statements:
            begun = self.ended_by(routine, block, block.statements.index(statement))
            found += [] if begun is None else [(statement, begun)]
        return found

    def touched(
        self, routine: Routine, block: Block, index: int, ends: list[tuple[Statement, Begun]]
    ) -> list[Access]:
        """What messages touch that some statements end, and these, as known at statement `index`.

        What an end unpacks is among it.
        """
        found: list[Access] = []
        for statement, begun in ends:
            footprint = self.footprints.of(statement, routine.file)
            first = block.statements.index(statement)
            changed = self.footprints.changed_by(block.statements[first:index], routine.file)
            found += self.footprints.later(begun.accesses + footprint.accesses, changed)
        return found

    def calls_in(self, routine: Routine) -> dict[int, Begun]:
        """What statements of a routine end that its calls have begun, by these statements.

        Calls of the program's routines, that is: what it starts by MPI itself is none of it.
        """
        return self._calls_of(routine, routine.body)

    def _calls_of(self, routine: Routine, block: Block) -> dict[int, Begun]:
        """The same of a block, and of the branches in it: what begins and ends in one of them."""
        found: dict[int, Begun] = {}
        for index, statement in enumerate(block.statements):
            for branch in statement.blocks if statement.kind is Kind.IF else ():
                found |= self._calls_of(routine, branch)
            begun = self.ended_by(routine, block, index)
            starting = (each.walk() for each in (begun.statements if begun else ()))
            calls = [call for each in starting for inner in each for call in inner.calls]
            if begun is not None and not any(call.name.startswith("MPI_") for call in calls):
                found[id(statement)] = begun
        return found

    def opened(
        self, routine: Routine, block: Block, first: int, last: int
    ) -> frozenset[tuple[str, int]]:
        """File and line of the calls whose messages are ended by statements of a part of a block.

        None where these only leave: a wait for them may pass as it is what computes behind it.
        """
        found: set[tuple[str, int]] = set()
        receives = False
        for index in range(first, last):
            statement = block.statements[index]
            if not statement_waits(self.footprints, routine, statement):
                continue
            found |= {(routine.file, call.line) for call in statement.calls}
            begun = self.ended_by(routine, block, index)
            if begun is None:
                places, received = self._completed(routine, statement)
                found |= places
                receives = receives or received
                continue
            found |= {(each.routine.file, each.call.line) for each in begun.calls}
            parts = [mpi_calls.STARTS.get(each.call.name) for each in begun.calls]
            receives = receives or any(part and part.direction != "send" for part in parts)
        return frozenset(found) if receives else frozenset()

    def _completed(
        self, routine: Routine, statement: Statement
    ) -> tuple[set[tuple[str, int]], bool]:
        """Where what a statement waits for is started, and whether some of it is received."""
        requests = Requests(self.footprints, routine)
        places: set[tuple[str, int]] = set()
        receives = False
        for call in statement.calls:
            if call.name not in mpi_calls.REQUEST_OF_WAIT:
                continue
            completed = requests.completed_by(call)
            if not isinstance(completed, Reason):
                places |= {(routine.file, transfer.call.line) for _, transfer in completed}
                receives = receives or any(transfer.receives for _, transfer in completed)
                continue
            lasting = self.persistent.completed_by(routine, call)
            if not isinstance(lasting, Reason):
                places |= {place for start in lasting for place in start.begun}
                receives = receives or any(start.transfer.receives for start in lasting)
        return places, receives

    def _find(self, routine: Routine, block: Block, index: int) -> Begun | None:
        end = block.statements[index]
        if not self.only_ends(routine, end):
            return None
        in_c = self.program.in_c(routine.file)
        waits = self.handles_in(routine).of(routine, end)
        one = in_c and waits and len(waits) == 1 and waits[0].elements is None
        if one and waits and not self._is_own(routine, waits[0]):
            if (listed := self.lists.of_wait(waits[0])) is not None:
                return self._find_listed(routine, block, index, waits[0], listed)
            return self._find_counted(routine, block, index, waits[0])
        every = all(wait.elements is not None for wait in waits or ())
        if not waits or any(not wait.name for wait in waits):
            return None
        if in_c and not every and not all(self._is_own(routine, wait) for wait in waits):
            return None
        wanted = {(w.name, element) for w in waits for element in w.elements or ()}
        position = index
        accesses: list[Access] = []
        begun: list[Handle] = []
        statements: list[Statement] = []
        while (wanted or not every) and position > 0:
            position -= 1
            statement = block.statements[position]
            footprint = self.footprints.of(statement, routine.file)
            if footprint.stop is not None or footprint.leaves is not None:
                return None
            names = {event.name for event in footprint.events}
            if not names:
                continue
            if not names <= mpi_calls.STARTS.keys():
                if names & mpi_calls.STARTS.keys() or not names <= mpi_calls.WAITS:
                    return None
                continue
            handles = self.handles_in(routine).all_of(routine, statement)
            if handles is None:
                return None
            started = [h for h in starts_of(handles) if self._may_be(h, waits, in_c)]
            if not started:
                continue
            between = block.statements[position:index]
            changed = self.footprints.changed_by(between, routine.file)
            accesses += self.footprints.later(footprint.accesses, changed)
            begun += started
            statements.append(statement)
            wanted -= {
                (handle.name, element)
                for handle in started
                if handle.always
                for element in handle.elements or ()
            }
        if (wanted or not every) and not self._is_first(routine, block, position, waits):
            return None
        if not every and not any(_is_in(start, wait) for start in begun for wait in waits):
            return None  # it waits for what is never started here
        if not all(self._stays(routine, w, block, position, index) for w in waits):
            return None
        if not all(self._is_known(wait) for wait in waits):
            return None
        if not in_c:
            used = self.memory.of(routine, end, begun, accesses)
            if used is None:
                return None
            accesses = used
        return Begun(tuple(statements), accesses, (*begun, *waits))

    def handles_in(self, routine: Routine) -> Handles:
        """What finds the starts and completions of a routine's language."""
        return self.handles if self.program.in_c(routine.file) else self.of_fortran

    def _is_first(self, routine: Routine, block: Block, position: int, waits: list[Handle]) -> bool:
        """Whether nothing can be under way, in requests waited for, ahead of a statement."""
        own = [self._key_of_own(routine, wait) for wait in waits]
        keys = {key for key in own if key is not None}
        if position or None in own:
            return False
        in_c = self.program.in_c(routine.file)
        known = Unbegun(
            self.footprints, self.handles_in(routine), lambda h: self._may_be(h, waits, in_c)
        )
        return block is routine.body or (in_c and known.ahead_of(routine, block, keys))

    def _key_of_own(self, routine: Routine, wait: Handle) -> str | None:
        """The variable of a request that begins to exist with the routine, also where it passes
        that to what waits for it; None where it is none."""
        if self._is_own(routine, wait):
            return request_argument(wait.call).base or ""
        if not self.program.in_c(routine.file):
            return None
        return own_array(self.program, routine, wait.name)

    def _is_own(self, routine: Routine, wait: Handle) -> bool:
        """Whether a request is in a variable that begins to exist with the routine."""
        if not self.program.in_c(routine.file):
            return is_own(self.program, wait)
        key = request_argument(wait.call).base or ""
        mine = is_local_array(self.program, key) and wait.routine is routine
        return mine and not is_of_another(self.program, routine, key)

    def _find_counted(
        self, routine: Routine, block: Block, index: int, wait: Handle
    ) -> Begun | None:
        """The same where the end waits for as many requests as a counter says."""
        counter = self.counters.of_wait(wait)
        if counter is None or not self.counters.keeps(routine, block.statements[index], wait):
            return None
        accesses: list[Access] = []
        begun: list[Handle] = []
        statements: list[Statement] = []
        for position in range(index - 1, -1, -1):
            statement = block.statements[position]
            footprint = self.footprints.of(statement, routine.file)
            if footprint.stop is not None or footprint.leaves is not None:
                return None
            names = {event.name for event in footprint.events}
            posts = bool(names & mpi_calls.STARTS.keys())
            if not posts and counter.key not in self.footprints.changed_in(footprint):
                if not names <= mpi_calls.WAITS:
                    return None
                continue
            if not names <= mpi_calls.STARTS.keys():
                return None
            counted = self.counters.of(routine, statement, counter)
            if counted is None:
                return None
            if counted.starts:
                between = block.statements[position:index]
                changed = self.footprints.changed_by(between, routine.file)
                accesses += self.footprints.later(footprint.accesses, changed)
                begun += counted.starts
                statements.append(statement)
            if counted.begins:
                known = self._stays(routine, wait, block, position, index) and self._is_known(wait)
                return Begun(tuple(statements), accesses, (*begun, wait)) if known else None
        return None

    def _find_listed(
        self, routine: Routine, block: Block, index: int, wait: Handle, listed: RequestList
    ) -> Begun | None:
        """The same where the end waits for all of a list."""
        if not self._is_known(wait):
            return None
        statements = self._since_emptied(routine, block, index, wait, listed)
        if statements is None:
            statements = self.closed.filled_by(block.statements[index], wait, listed)
        if not statements:
            return None
        accesses: list[Access] = []
        begun: list[Handle] = []
        for statement in statements:
            between = block.statements[block.statements.index(statement) : index]
            changed = self.footprints.changed_by(between, routine.file)
            footprint = self.footprints.of(statement, routine.file)
            accesses += self.footprints.later(footprint.accesses, changed)
            begun += starts_of(self.handles.within(routine, statement))
        return Begun(tuple(statements), accesses, (*begun, wait))

    def _since_emptied(
        self, routine: Routine, block: Block, index: int, wait: Handle, listed: RequestList
    ) -> list[Statement] | None:
        """What starts messages since the list was emptied; None where that is not seen."""
        found: list[Statement] = []
        for position in range(index - 1, -1, -1):
            statement = block.statements[position]
            footprint = self.footprints.of(statement, routine.file)
            if footprint.stop is not None:
                return None
            names = {event.name for event in footprint.events}
            if names & mpi_calls.STARTS.keys():
                if not names <= mpi_calls.STARTS.keys():
                    return None
                found.append(statement)
            elif not names <= mpi_calls.WAITS:
                return None
            if self.lists.empties(routine, statement, listed):
                first = position + self.lists.declares(statement, listed)
                return found if self._stays(routine, wait, block, first, index) else None
        return None

    def _is_known(self, wait: Handle) -> bool:
        """Whether no handle comes into a request, or leaves it, otherwise than is seen."""
        requests = Requests(self.footprints, wait.routine)
        if not isinstance(requests.completed_by(wait.call), Reason):
            return True
        return not isinstance(self.states.completed_by(wait.routine, wait.call), Reason)

    def _stays(self, routine: Routine, wait: Handle, block: Block, first: int, last: int) -> bool:
        """Whether the name of a request means the same memory from one statement to another."""
        if not self.program.in_c(routine.file):
            return keeps_place(self.program, wait)
        key = self._key_of_own(routine, wait)
        if key is not None:  # what declares it is no other meaning of the name
            declared = [
                number
                for number in range(first, last)
                if declared_at(key, routine.file, block.statements[number])
            ]
            first = declared[-1] + 1 if declared else first
        return stays(self.footprints, routine, wait, block.statements[first : last + 1])

    def _may_be(self, start: Handle, waits: list[Handle], in_c: bool) -> bool:
        """Whether a start may set one of some requests, of which names are known."""
        if not in_c and all(are_two(self.program, start, wait) for wait in waits):
            return False
        if start.elements is None or start.name not in {wait.name for wait in waits}:
            return True
        named = (wait.elements for wait in waits if wait.name == start.name)
        return any(elements is None or start.elements & elements for elements in named)


def _is_in(start: Handle, wait: Handle) -> bool:
    """Whether a start is known to be for an element of what a wait is for."""
    return start.name == wait.name or start.name.startswith(f"{wait.name}[")
