"""Requests that outlive a routine: over the whole program, which starts a wait may complete.

The memory that a request lies in is a place: a variable, or what a pointer names. Every use of a
place that may be that of the wait must be a start, a completion, or one that brings no handle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from imbrex import mpi_facts
from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.list_changes import follows_start
from imbrex.transform.analysis.places import Place, Places
from imbrex.transform.analysis.points_to import EXTERNAL
from imbrex.transform.analysis.request_arguments import request_section
from imbrex.transform.analysis.requests import constant, passed_to, presets, started
from imbrex.transform.analysis.transfer import Transfer, data_accesses
from imbrex.transform.model.affine import disjoint
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

# Library routines that end or begin the memory of requests; no handle comes out of them.
_MEMORY_ONLY = frozenset(
    {
        *("free", "malloc", "calloc", "aligned_alloc"),
        *("operator new", "operator new[]", "operator delete", "operator delete[]"),
    }
)
# Types of handles that are pointers, but for those of requests.
_OPAQUE = re.compile(r"(?:imbrex|ompi)_(?:comm|communicator_t|datatype|datatype_t|group|group_t)$")


@dataclass(frozen=True, slots=True)
class Started:
    """A start somewhere in the program."""

    routine: Routine
    statement: Statement
    transfer: Transfer
    # File and line of what starts it, where that is another call: of a persistent request.
    begun: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class _Uses:
    """What the program does with one place, as far as calls of MPI do not tell."""

    starts: list[Started] = field(default_factory=list)
    problem: Reason | None = None  # the first use that may bring a handle, or take it away
    takes: set[Place] = field(default_factory=set)  # of a list: whose handles it takes in


def states_of(footprints: Footprints) -> RequestStates:
    """The one for all that asks about the same footprints."""
    known = footprints.kept_for.get(RequestStates)
    if not isinstance(known, RequestStates):
        known = footprints.kept_for[RequestStates] = RequestStates(footprints)
    return known


class RequestStates:
    """Who starts and who completes what a request may be, over the whole program."""

    def __init__(self, footprints: Footprints) -> None:
        self.footprints = footprints
        self.program = footprints.program
        self.places = Places(footprints)
        self._uses: dict[Place, _Uses] | None = None
        self._met: dict[frozenset[Place], list[_Uses]] = {}

    def completed_by(self, routine: Routine, wait: Call) -> list[Started] | Reason:
        """Every start whose request the wait may be about, or why that is not known."""
        here = Location(routine.file, wait.line)
        position = self._expected(wait)
        if position is None or len(wait.arguments) <= position:
            return Reason(ReasonKind.REQUEST_FOREIGN(), here)
        if wait.arguments[position].base is None:
            return Reason(ReasonKind.REQUEST_FOREIGN(), here)
        argument = wait.arguments[position]
        if self.footprints.unseen is not None:
            unseen = self.footprints.unseen
            name = argument.text.strip()
            return Reason(
                ReasonKind.REQUEST_UNSEEN(request=name, cause=unseen.cause), unseen.location
            )
        if len({source.is_fortran for source in self.program.files.values()}) > 1:
            return Reason(ReasonKind.REQUEST_LANGUAGES(request=argument.text.strip()), here)
        mine = self.places.of(argument.base or UNKNOWN_MEMORY, argument.through)
        if mine is None or any(self._brought(*place) for place in mine):
            return self._persistent(argument) or Reason(ReasonKind.REQUEST_FOREIGN(), here)
        found: list[Started] = []
        for uses in self._meeting(mine):
            if uses.problem is not None:
                return uses.problem
            for taken in sorted(uses.takes):
                found += self._all()[taken].starts
            found += [s for s in uses.starts if not self._apart(argument, wait, s.transfer.call)]
        return found

    def _persistent(self, argument: Argument) -> Reason | None:
        """Where a request of this name is made persistent: that says more."""
        for place, uses in self._all().items():
            found = uses.problem if place[0] == argument.base else None
            if found is not None and found.cause.kind is ReasonKind.REQUEST_PERSISTENT:
                return found
        return None

    def _meeting(self, places: frozenset[Place]) -> list[_Uses]:
        """What the program does with each place that may be one of these."""
        if places not in self._met:
            share = self.places.share
            self._met[places] = [u for place, u in self._all().items() if share(places, place)]
        return self._met[places]

    def problem(self, variable: str, through: bool) -> Reason | None:
        """Why a handle may come into a place, or leave it, otherwise than by starts and waits."""
        uses = self._all().get((variable, through))
        return None if uses is None else uses.problem

    def _brought(self, variable: str, through: bool) -> bool:
        """Whether a handle may come into a place otherwise than by a write that is seen."""
        aliases = self.footprints.aliases
        objects = aliases.objects(variable, through)
        if objects & {UNKNOWN_MEMORY, EXTERNAL} or objects & aliases.escaped:
            return True
        variables = [self.program.variables.get(item) for item in objects]
        copied = self._copied_with()
        return any(
            known is not None
            and (known.kind == "parameter" or (known.kind == "field" and known.record in copied))
            for known in variables
        )

    def _copied_with(self) -> set[str]:
        """Structure types that are copied as a whole, and those within them."""
        found = set(self.program.assigned_records)
        fields = [v for v in self.program.variables.values() if v.kind == "field"]
        grown = True
        while grown:
            inner = {
                other.record
                for other in fields
                for known in fields
                if known.record in found
                and (other.record in known.element or other.record == known.object)
            }
            grown = not inner <= found
            found |= inner
        return found

    def _apart(self, argument: Argument, wait: Call, start: Call) -> bool:
        """Whether a start's request is surely another element of the same array."""
        theirs = start.arguments[mpi_calls.REQUEST_OF_START[start.name]]
        variable = self.program.variables.get(argument.base or "")
        if argument.through or theirs.through or argument.base != theirs.base:
            return False
        if variable is None or wait.name not in mpi_calls.WAITS:
            return False
        return disjoint(
            constant(request_section(wait, self.program)),
            constant(request_section(start, self.program)),
        )

    def _all(self) -> dict[Place, _Uses]:
        if self._uses is None:
            self._uses = {}
            for routine in self.program.routines.values():
                for statement in routine.statements():
                    if statement.kind is not Kind.INSERTED:
                        self._statement(routine, statement, self._uses)
        return self._uses

    def _statement(self, routine: Routine, statement: Statement, uses: dict[Place, _Uses]) -> None:
        given: set[Place] = set()  # what calls of MPI set
        for call in statement.calls:
            for place, handle in self._handles(call):
                given.add(place)
                known = uses.setdefault(place, _Uses())
                transfer = self._started(call) if handle else None
                if transfer is not None:
                    known.starts.append(Started(routine, statement, transfer))
                elif not handle or not self._is_plain(call):
                    self._problem(known, place, routine, call.line, call.name)
            if not call.name.startswith("MPI_") and call.name not in _MEMORY_ONLY:
                for access in self._library(call, routine):
                    if not access.write:
                        continue
                    place = (access.variable, access.through)
                    known = uses.setdefault(place, _Uses())
                    self._problem(known, place, routine, call.line, call.name)
        changed = self._list_change(routine, statement, uses)
        passed = {argument.base for call in statement.calls for argument in call.arguments}
        for access in statement.accesses:
            place = (access.variable, access.through)
            if access.variable in passed and not access.write:
                continue
            if place in given | changed or self._harmless(routine, statement, access):
                continue
            self._problem(uses.setdefault(place, _Uses()), place, routine, access.line, "")

    def _list_change(
        self, routine: Routine, statement: Statement, uses: dict[Place, _Uses]
    ) -> set[Place]:
        """Note what a list of requests takes in; the places of which that is all."""
        change = statement.list_change
        if change is None:
            return set()
        listed = (change.key, True)
        known = uses.setdefault(listed, _Uses())
        if not change.taken:
            return {listed}
        taken = (change.taken, False)
        uses.setdefault(taken, _Uses())
        known.takes.add(taken)
        if not follows_start(statement):
            self._problem(known, listed, routine, statement.line, "")
        return {listed, taken}

    def _handles(self, call: Call) -> Iterator[tuple[Place, bool]]:
        """Places that a call of MPI is given, and whether that of its request is among them."""
        if not call.name.startswith("MPI_") or call.name in mpi_calls.LOCAL:
            return
        expected = self._expected(call)
        known = mpi_facts.arguments(call.name) is not None
        modes = mpi_facts.access(call.name) if known else {}
        for position, argument in enumerate(call.arguments):
            if argument.base is None or not argument.pointer or self._is_handle(argument):
                continue
            constant_handle = argument.constant.startswith("MPI_")
            if position == expected:
                yield (argument.base, argument.through), True
            elif not constant_handle and (not known or "w" in modes.get(position, "")):
                yield (argument.base, argument.through), False

    def _expected(self, call: Call) -> int | None:
        """Where the request stands in a call that has one."""
        expected = mpi_calls.REQUEST_OF_START.get(call.name)
        if expected is None:
            expected = mpi_calls.REQUEST_OF_COMPLETION.get(call.name)
        return mpi_calls.REQUEST_OF_PROGRESS.get(call.name) if expected is None else expected

    def _started(self, call: Call) -> Transfer | None:
        """The transfer whose handle a call leaves in its request."""
        return started(call) if call.name in mpi_calls.STARTS else None

    def _is_plain(self, call: Call) -> bool:
        """Whether a call that is given a request brings no other handle into it."""
        return call.name in mpi_calls.REQUEST_OF_COMPLETION

    def _is_handle(self, argument: Argument) -> bool:
        """Whether an argument is a handle that points to an object of the library's own."""
        variable = self.program.variables.get(argument.base or "")
        known = variable is not None and argument.through and "(" not in argument.text
        return known and variable is not None and _OPAQUE.match(variable.element) is not None

    def _library(self, call: Call, routine: Routine) -> list[Access]:
        """What a routine of a library does to what it is given."""
        if call.unknown or self.program.callee(call.name, routine.file) is not None:
            return []
        return self.footprints.of_call(call, routine.file).accesses

    def _harmless(self, routine: Routine, statement: Statement, access: Access) -> bool:
        """Whether a use outside MPI brings no handle into the place, and copies none."""
        stop = statement.stop
        if statement.allocation or (stop is not None and stop.kind is ReasonKind.ALLOCATION):
            return True
        source = self.program.files.get(routine.file)
        if access.write:
            return source is not None and presets(source.data, statement)
        # A condition compares: what it reads goes nowhere.
        asked = statement.kind in (Kind.IF, Kind.LOOP)
        return asked and not any(other.write for other in statement.accesses)

    def _problem(
        self, known: _Uses, place: Place, routine: Routine, line: int, called: str
    ) -> None:
        if known.problem is not None:
            return  # the first one is told
        variable = self.program.variables.get(place[0])
        name = place[0] if variable is None else variable.name
        cause: Cause = ReasonKind.REQUEST_USED(request=name)
        if called:
            cause = passed_to(name, called)
        known.problem = Reason(cause, Location(routine.file, line))

    def released(self, starts: list[Started], routine: Routine) -> list[Access]:
        """The memory of the transfers, as accesses of another routine meet it."""
        found: list[Access] = []
        for start in starts:
            for access in data_accesses(self.program, start.transfer):
                found += self._everywhere(access, routine)
        return list(dict.fromkeys(found))

    def _everywhere(self, access: Access, routine: Routine) -> list[Access]:
        known = self.places.of(access.variable, access.through)
        if known is None:
            return [Access(UNKNOWN_MEMORY, False, access.write, access.line)]
        found = []
        for variable, through in sorted(known):
            place = replace_place(access, variable, through)
            found += self.footprints.later([place], None)
        found += [
            Access(dummy, True, access.write, access.line)
            for dummy in routine.parameters
            if self.places.is_dummy(dummy) and self.places.meet(dummy, known)
        ]
        return found


def replace_place(access: Access, variable: str, through: bool) -> Access:
    """An access to all of another place."""
    return access.anywhere()._replace(variable=variable, through=through)
