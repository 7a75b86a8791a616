"""Persistent requests: what MPI_Start and MPI_Startall start, over the whole program.

A handle is made once, by MPI_Send_init or MPI_Recv_init, and stays what it is: each start sends, or
receives into, the memory that the call was given then, whatever its names stand for since. What a
wait completes is among what all those calls were given whose handle may be the one waited for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from imbrex import mpi_facts
from imbrex.transform import mpi_calls
from imbrex.transform.analysis.afterwards import Afterwards
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.request_arguments import request_argument, request_section
from imbrex.transform.analysis.request_states import RequestStates, Started
from imbrex.transform.analysis.requests import constant
from imbrex.transform.analysis.transfer import Transfer, data_accesses, evaluation
from imbrex.transform.model.affine import disjoint
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import MOVES, UNKNOWN_MEMORY, Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement

_OWN = ("local", "parameter", "dummy", "host")
_MOST_WAYS = 64  # calls that lead to one call that makes a request


def is_persistent(start: Started) -> bool:
    return start.transfer.call.name in mpi_calls.INITS


def persistent_of(footprints: Footprints) -> Persistent:
    """The one for all that asks about the same footprints."""
    known = footprints.kept_for.get(Persistent)
    if not isinstance(known, Persistent):
        # By footprints of their own, in which a start is not known: these ask about it.
        plain = Footprints(footprints.program, footprints.aliases, footprints.libraries)
        known = footprints.kept_for[Persistent] = Persistent(plain)
    return known


class Persistent(RequestStates):
    """Who makes, starts and completes persistent requests."""

    def __init__(self, footprints: Footprints) -> None:
        super().__init__(footprints)
        self._effects: dict[int, list[Access] | None] = {}

    @cached_property
    def makes_any(self) -> bool:
        """Whether the program has persistent requests at all."""
        return any(call.name in mpi_calls.INITS for call in self.program.calls())

    @cached_property
    def afterwards(self) -> Afterwards:
        return Afterwards(self.footprints)

    def completed_by(self, routine: Routine, wait: Call) -> list[Started] | Reason:
        """The calls that made what the wait may be about, or why they are not known."""
        if not self.makes_any:
            return Reason(ReasonKind.REQUEST_FOREIGN(), Location(routine.file, wait.line))
        found = super().completed_by(routine, wait)
        if isinstance(found, Reason):
            return found
        for start in found:
            problem = start.transfer.buffer.problem
            if problem is not None and problem.kind is not ReasonKind.MAY_BE_NONCONTIGUOUS:
                cause = ReasonKind.ARGUMENT_PROBLEM(
                    argument=start.transfer.buffer.text.strip(), cause=problem
                )
                return Reason(cause, Location(start.routine.file, start.transfer.call.line))
        begun = tuple(self._starts(request_argument(wait)))
        return [replace(start, begun=begun) for start in found]

    def started_by(self, routine: Routine, call: Call) -> list[Access] | None:
        """The memory of all that a start may start; None where it is not known."""
        position = mpi_calls.REQUEST_OF_PERSISTENT[call.name]
        if not self.makes_any or len(call.arguments) <= position:
            return None
        made = self.completed_by(routine, call)
        if isinstance(made, Reason):
            return self.all_started(routine)
        own = self.is_own(routine, call.arguments[position])
        accesses = [a for start in made for a in self.touched(start, routine, own=own)]
        return list(dict.fromkeys(accesses))

    def effect(self, call: Call) -> list[Access] | None:
        """All that a start touches up to its wait, and its handles; None where not all is known."""
        if id(call) not in self._effects:
            self._effects[id(call)] = self._effect(call)
        return self._effects[id(call)]

    def _effect(self, call: Call) -> list[Access] | None:
        routine = self._routine_of.get(id(call))
        position = mpi_calls.REQUEST_OF_PERSISTENT[call.name]
        if routine is None or len(call.arguments) <= position:
            return None
        every = self.started_by(routine, call)
        if not every:
            return None
        argument = call.arguments[position]
        base = UNKNOWN_MEMORY if argument.base is None else argument.base
        evaluated = evaluation(call)
        return [*every, *evaluated, Access(base, argument.through, True, call.line)]

    @cached_property
    def _routine_of(self) -> dict[int, Routine]:
        """The routine of each start, by its identity."""
        return {
            id(call): routine
            for routine in self.program.routines.values()
            for statement in routine.statements()
            for call in statement.calls
            if call.name in mpi_calls.PERSISTENT_STARTS
        }

    def all_started(self, routine: Routine) -> list[Access] | None:
        """The memory of all persistent requests of the program; None where it is not known."""
        if self.footprints.unseen is not None or not self.footprints.facts.persistent_are_plain:
            return None
        found: list[Access] = []
        for user in self.program.routines.values():
            for statement in user.statements():
                for call in statement.calls:
                    transfer = self._started(call)
                    if transfer is not None:
                        start = Started(user, statement, transfer)
                        own = user is routine and self.is_own(routine, request_argument(call))
                        found += self.touched(start, routine, own=own)
        return found

    def is_own(self, routine: Routine, argument: Argument) -> bool:
        """Whether a request is in a variable that each run of a routine has for itself."""
        variable = self.program.variables.get(argument.base or "")
        if variable is None or variable.kind != "local" or argument.through:
            return False
        return self._is_of(routine, variable.key) and variable.key not in self.program.overlays

    def _starts(self, argument: Argument) -> Iterator[tuple[str, int]]:
        """Where requests are started that may be those of an argument."""
        mine = self.places.of(argument.base or UNKNOWN_MEMORY, argument.through)
        for routine in self.program.routines.values():
            for statement in routine.statements():
                for call in statement.calls:
                    if call.name not in mpi_calls.PERSISTENT_STARTS:
                        continue
                    theirs = request_argument(call)
                    place = (theirs.base or UNKNOWN_MEMORY, theirs.through)
                    if mine is None or self.places.share(mine, place):
                        yield routine.file, call.line

    def _expected(self, call: Call) -> int | None:
        for role in ("request", "requests"):
            position = mpi_facts.position(call.name, role)
            if position is not None:
                return position
        return None

    def _started(self, call: Call) -> Transfer | None:
        part = mpi_calls.INITS.get(call.name)
        if part is None or len(call.arguments) <= mpi_calls.REQUEST_OF_PERSISTENT[call.name]:
            return None
        return Transfer(call, part, call.arguments[part.buffer])

    def _is_plain(self, call: Call) -> bool:
        return call.name in mpi_calls.REQUEST_OF_PERSISTENT and call.name not in mpi_calls.INITS

    def released(self, starts: list[Started], routine: Routine) -> list[Access]:
        found: list[Access] = []
        for start in starts:
            found += self.touched(start, routine, own=False)
        return list(dict.fromkeys(found))

    def _apart(self, argument: Argument, wait: Call, start: Call) -> bool:
        theirs = request_argument(start)
        if argument.through or theirs.through or argument.base != theirs.base:
            return False
        return disjoint(
            constant(request_section(wait, self.program)),
            constant(request_section(start, self.program)),
        )

    def touched(self, start: Started, routine: Routine, *, own: bool) -> list[Access]:
        """The memory that a request is about, as it is known in a routine.

        `own`: the handle is of the run of the routine that asks. What a name stands for is told
        by it where nothing sets it any more, else by all that it may be.
        """
        found: list[Access] = []
        wanted = routine.key if own else "main"
        for access in data_accesses(self.program, start.transfer):
            known = self._kept(start.routine, start.statement, access)
            lifted = self._lifted(start, known, wanted)
            if lifted is None:
                found += self._everywhere(access, routine)
                continue
            found += [each for other in lifted for each in self._seen(other, routine, wanted)]
        return found

    def _kept(self, routine: Routine, statement: Statement, access: Access) -> list[Access]:
        """An access as it is known for good where a statement has been given it."""
        changed = self.afterwards.may_change(routine, statement, self._keys(access))
        return self.footprints.later([access], frozenset(changed))

    def _lifted(self, start: Started, accesses: list[Access], wanted: str) -> list[Access] | None:
        """Accesses of a routine in the terms of the one that calls it; None: not all are known."""
        found: list[Access] = []
        waiting = [(start.routine, accesses, frozenset({start.routine.key}))]
        for _ in range(_MOST_WAYS):
            if not waiting:
                return found
            routine, known, inside = waiting.pop()
            if routine.key == wanted:
                found += known
                continue
            given: list[Access] = []
            for access in known:
                own = {key for key in self._keys(access) if self._is_of(routine, key)}
                inner = access.variable in own and access.variable not in routine.parameters
                if inner and access.through:
                    found += self.footprints.later([access], None)
                elif own & set(routine.parameters) and not inner:
                    given.append(access)
                else:
                    found += self.footprints.later([access], frozenset(own))
            if not given:
                continue
            calls = self.afterwards.setters.callers.get(routine.key, [])
            if not calls or routine.address_taken or routine.key == "main":
                return None
            for user, statement in calls:
                if user.key in inside:
                    return None
                for call in statement.calls:
                    if self.program.callee(call.name, user.file) is routine:
                        outer = self._outer(user, statement, call, routine, given)
                        waiting.append((user, outer, inside | {user.key}))
        return None

    def _outer(
        self,
        user: Routine,
        statement: Statement,
        call: Call,
        routine: Routine,
        accesses: list[Access],
    ) -> list[Access]:
        """Accesses of a routine as the caller knows them for good behind a call of it."""
        found: list[Access] = []
        for access in self.footprints.bound(call, routine, accesses):
            keys = self._keys(access)
            changed = self.afterwards.may_change(user, statement, keys)
            changed |= self.afterwards.set_within(routine, keys)
            found += self.footprints.later([access], frozenset(changed))
        return found

    def _is_of(self, routine: Routine, key: str) -> bool:
        """Whether a variable is a routine's own: another run of it has another one."""
        variable = self.program.variables.get(key)
        if variable is None or variable.kind not in _OWN:
            return False
        if key in routine.parameters or key.endswith(f":{routine.name}:{routine.line}"):
            return True
        file, _, offset = key.partition("@")[2].rpartition(":")
        number = re.match(r"\d+", offset)
        inside = number is not None and routine.body.start <= int(number[0]) < routine.body.end
        return inside and file == routine.file

    def _keys(self, access: Access) -> set[str]:
        """The variables that say what an access touches."""
        keys = self.footprints.known_by([access]) | {access.variable}
        return {key for key in keys if key and (key != MOVES or MOVES in self.program.variables)}

    def _seen(self, access: Access, routine: Routine, wanted: str) -> list[Access]:
        """An access of the routine `wanted` as another one meets it."""
        if routine.key == wanted:
            return [access]
        places = self.places.of(access.variable, access.through)
        if places is None:
            return [Access(UNKNOWN_MEMORY, False, access.write, access.line)]
        return [
            access,
            *(
                Access(dummy, True, access.write, access.line)
                for dummy in routine.parameters
                if self.places.is_dummy(dummy) and self.places.meet(dummy, places)
            ),
        ]
