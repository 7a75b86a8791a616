"""What a wait that is there already completes, and the memory that it releases."""

from __future__ import annotations

import re
from dataclasses import replace

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.facts import ProgramFacts
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.persistent import is_persistent, persistent_of
from imbrex.transform.analysis.request_arguments import (
    request_access,
    request_argument,
    request_section,
)
from imbrex.transform.analysis.request_states import Started, states_of
from imbrex.transform.analysis.requests import Requests, constant
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.affine import Section, disjoint
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.rewrites.base import ContentT, DoneT, Refusal, Site
from imbrex.transform.rewrites.calls import CallRewrite

# Why the routine alone does not tell what a wait completes: the whole program may.
_OUTLIVES = (
    ReasonKind.REQUEST_FOREIGN,
    ReasonKind.REQUEST_NOT_LOCAL,
    ReasonKind.REQUEST_COPIED,
    ReasonKind.REQUEST_PASSED,
    ReasonKind.REQUEST_PERSISTENT,
    ReasonKind.REQUEST_USED,
)


def strictest(transfers: list[Transfer]) -> mpi_calls.PointToPoint:
    """The kind of transfer whose wait may be moved least."""

    def rank(part: mpi_calls.PointToPoint) -> int:
        if part.direction == "receive":
            return 3
        return 2 if part.direction == "collective" else int(part.mode == "synchronous")

    parts = [transfer.part for transfer in transfers]
    return max(parts, key=rank, default=mpi_calls.STARTS["MPI_Isend"])


class Completing(CallRewrite[ContentT, DoneT]):
    """A rewrite that asks which transfers a wait is about."""

    def __init__(self, program: Program, footprints: Footprints, facts: ProgramFacts) -> None:
        super().__init__(program, footprints, facts)
        self.requests: dict[str, Requests] = {}
        self.states = states_of(footprints)
        self.persistent = persistent_of(footprints)

    def requests_of(self, routine: Routine) -> Requests:
        return self.requests.setdefault(routine.key, Requests(self.footprints, routine))

    def _completed(self, site: Site) -> list[Started]:
        """The starts that a wait may complete, of a request that outlives the routine too."""
        routine = site.routine
        requests = self.requests_of(routine)
        completed = requests.completed_by(site.call)
        if not isinstance(completed, Reason):
            return [Started(routine, statement, transfer) for statement, transfer in completed]
        if completed.kind not in _OUTLIVES:
            raise Refusal(self.name, completed)
        everywhere = self.states.completed_by(routine, site.call)
        if isinstance(everywhere, Reason):
            everywhere = self._lasting(site, everywhere)
        if isinstance(everywhere, Reason):
            raise Refusal(self.name, everywhere)
        return everywhere

    def _lasting(self, site: Site, otherwise: Reason) -> list[Started] | Reason:
        """What made the persistent requests that a wait is about, or why it is not known."""
        found = self.persistent.completed_by(site.routine, site.call)
        if not isinstance(found, Reason):
            return found or otherwise
        started = otherwise.kind is ReasonKind.REQUEST_PASSED and "MPI_Start" in otherwise.text
        told = started or otherwise.kind is ReasonKind.REQUEST_PERSISTENT
        return found if told and found.kind is not ReasonKind.REQUEST_FOREIGN else otherwise

    def _another(self, whole: Access, element: Section | None, start: Started) -> bool:
        """Whether a start surely sets another element of the request array than this one."""
        if whole.through and is_persistent(start):
            return False  # the pointer may have been another one when the request was made
        theirs = request_access(start.transfer.call, self.program)
        if (theirs.variable, theirs.through) != (whole.variable, whole.through):
            return False
        return disjoint(element, request_section(start.transfer.call, self.program))

    def _released(
        self,
        site: Site,
        starts: list[Started],
        error: Argument | None,
    ) -> tuple[list[Access], list[Transfer]]:
        """What a wait releases; in Fortran also what must be fenced behind it."""
        if any(map(is_persistent, starts)):
            return self._of_persistent(site, starts, error)
        requests = self.requests_of(site.routine)
        own = [s for s in starts if s.routine is site.routine and self._known(site, requests, s)]
        remaining = [s for s in starts if s not in own]
        accesses = requests.released(site.statement, [(s.statement, s.transfer) for s in own])
        completes = [replace(s.transfer, error=error) for s in own]
        elsewhere = self.states.released(remaining, site.routine)
        return accesses + elsewhere, completes + self._named(site.routine, elsewhere, error)

    def _of_persistent(
        self, site: Site, starts: list[Started], error: Argument | None
    ) -> tuple[list[Access], list[Transfer]]:
        """The same of persistent requests."""
        routine = site.routine
        own = self.persistent.is_own(routine, request_argument(site.call))
        accesses = [
            access
            for start in starts
            for access in self.persistent.touched(start, routine, own=own)
        ]
        fenced = [replace(s.transfer, error=error) for s in starts if s.routine is routine]
        return accesses, fenced + self._named(routine, accesses, error)

    def _known(self, site: Site, requests: Requests, start: Started) -> bool:
        """Whether what a start names is what the wait releases, not what another start named."""
        argument = request_argument(site.call)
        if requests.is_own(argument.base or "") and requests.is_named(argument):
            return True
        block, theirs = site.statement.parent, request_argument(start.transfer.call)
        first = start.statement.parent
        if block is None or first is not block or argument.through or theirs.through:
            return False
        variable = self.program.variables.get(theirs.base or "")
        one = variable is not None and not variable.bounds
        fixed = constant(request_section(start.transfer.call, self.program)) is not None
        if variable is not None and variable.kind == "field":
            # Of one object, that is: what is on the way to the field may differ.
            mine, other = (re.sub(r"\(.*\)$", "", a.text.strip()) for a in (argument, theirs))
            if mine.lower() != other.lower() or re.search(r"[(\[>]", mine):
                return False
        before = block.statements.index(start.statement) < block.statements.index(site.statement)
        return before and argument.base == theirs.base and (one or fixed)

    def _named(
        self, routine: Routine, accesses: list[Access], error: Argument | None
    ) -> list[Transfer]:
        """Variables of a Fortran routine that messages of other routines are in, for fences."""
        if not self.program.files[routine.file].is_fortran:
            return []
        found = []
        for key in dict.fromkeys(access.variable for access in accesses):
            variable = self.program.variables.get(key)
            if variable is None or not self._is_of(routine, key):
                continue
            if variable.kind == "field":  # there is no name for the object that it is in
                cause = ReasonKind.COMPONENT_ELSEWHERE(variable=variable.name)
                raise Refusal(self.name, Reason(cause, Location(routine.file, routine.line)))
            if variable.kind not in ("local", "dummy", "host", "static"):
                continue
            buffer = Argument(variable.name, 0, 0, base=key)
            call = Call("MPI_Isend", [], routine.body.start, routine.body.start, routine.line)
            transfer = Transfer(call, mpi_calls.STARTS["MPI_Isend"], buffer, error=error)
            found.append(transfer)
        return found

    @staticmethod
    def _is_of(routine: Routine, key: str) -> bool:
        """Whether a variable of Fortran is one of the routine's own."""
        return key in routine.parameters or any(
            key in {access.variable for access in statement.accesses}
            or key in {argument.base for call in statement.calls for argument in call.arguments}
            for statement in routine.statements()
        )
