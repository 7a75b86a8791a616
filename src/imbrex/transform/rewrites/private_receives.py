"""Private requests: receives that one request serves in turn get requests and buffers apart.

An exchange that posts its second receive where its first one is unpacked has one receive under way
at a time, because both go through one request and mostly one buffer. With two of each, the second
is posted beside the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.in_turn import START, Turn, Turns
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.analysis.requests import Requests
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.rewrites.base import Plan, Refusal
from imbrex.transform.rewrites.private import (
    MOST_COPIES,
    NAME,
    PrivateBuffers,
    SharedVariable,
    colours_of,
    fresh_name,
    is_cut,
    renamed,
    would_pass_margin,
)
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import indent_at, line_start

_KINDS = re.compile(r"integer|type\s*\(\s*mpi_request\s*\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class InTurn:
    """The receives of a request, and the buffers that several of them use."""

    turns: list[Turn]
    buffers: list[Variable]


class PrivateReceives(Preparing[SharedVariable, InTurn]):
    """Receives that go through one request, one after the other, get requests and buffers apart.

    Before:
        call mpi_irecv(buffer, n, MPI_DOUBLE_PRECISION, left, 1, comm, request, ierr)
        call mpi_wait(request, MPI_STATUS_IGNORE, ierr)
        ghost(:, 0) = buffer
        call mpi_irecv(buffer, n, MPI_DOUBLE_PRECISION, right, 2, comm, request, ierr)
        call mpi_wait(request, MPI_STATUS_IGNORE, ierr)
        ghost(:, 1) = buffer

    After:
        call mpi_irecv(buffer, n, MPI_DOUBLE_PRECISION, left, 1, comm, request, ierr)
        call mpi_wait(request, MPI_STATUS_IGNORE, ierr)
        ghost(:, 0) = buffer
        call mpi_irecv(buffer2, n, MPI_DOUBLE_PRECISION, right, 2, comm, request2, ierr)
        call mpi_wait(request2, MPI_STATUS_IGNORE, ierr)
        ghost(:, 1) = buffer2
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.private = PrivateBuffers(program, footprints)

    def sites(self) -> Iterator[SharedVariable]:
        for routine in self.program.editable():
            if not self.program.in_fortran(routine.file):
                continue
            used: dict[str, int] = {}
            for statement in routine.statements():
                for call in statement.calls:
                    if call.name == START and len(call.arguments) > 6:
                        base = request_argument(call).base or ""
                        used[base] = used.get(base, 0) + 1
            for key, count in used.items():
                variable = self.program.variables.get(key)
                if count > 1 and variable is not None and not variable.bounds:
                    yield SharedVariable(routine, variable)

    def refused(self, site: SharedVariable, refusal: Refusal) -> Proposal:
        return Proposal(
            self.name, site.routine, site.line, refusal.reason, about=site.variable.name
        )

    def conditions(self, site: SharedVariable) -> InTurn:
        """The receives that may have requests apart, two of which can be under way together.

        Raises Refusal where one of them may need what another has left, or leaves it to others.
        """
        routine, variable = site.routine, site.variable
        problem = Requests(self.footprints, routine).uses(variable.key).problem
        if problem is not None:
            raise Refusal(self.name, problem)
        if not _KINDS.fullmatch(variable.element) or variable.key in self.footprints.addressed:
            raise self._refusal(site, ReasonKind.DECLARATION(variable=variable.name))
        if routine.declare_after < 0:
            raise self._refusal(site, ReasonKind.NO_DECLARATIONS())
        finder = Turns(self.footprints, routine, variable.key)
        turns = finder.find()
        if isinstance(turns, Reason):
            raise Refusal(self.name, turns)
        colours = colours_of(turns)
        if max(colours, default=0) == 0:
            raise self._refusal(site, ReasonKind.ONE_MESSAGE(variable=variable.name))
        if max(colours) >= MOST_COPIES:
            cause = ReasonKind.TOO_MANY_COPIES(variable=variable.name, most=MOST_COPIES)
            raise self._refusal(site, cause)
        buffers = []
        for key in sorted(finder.shared):
            buffer = self.program.variables.get(key)
            if buffer is None:
                raise self._refusal(site, ReasonKind.BUFFER_UNKNOWN(argument=key))
            if len({c for t, c in zip(turns, colours, strict=True) if t.buffer == key}) < 2:
                continue
            shared = self.private.shares(routine, buffer)
            if shared is not None:
                cause = ReasonKind.NO_OWN_COPY(variable=buffer.name, cause=shared)
                raise self._refusal(site, cause)
            if self.private.declared(routine, buffer) is None:
                raise self._refusal(site, ReasonKind.DECLARATION(variable=buffer.name))
            buffers.append(buffer)
        if not self._can_be_renamed(routine, turns, [variable, *buffers]):
            raise self._refusal(site, ReasonKind.USED_IN_CONSTRUCT())
        return InTurn(turns, buffers)

    def _refusal(self, site: SharedVariable, cause: Cause) -> Refusal:
        return Refusal(self.name, Reason(cause, Location(site.routine.file, site.line)))

    def _can_be_renamed(
        self, routine: Routine, turns: list[Turn], variables: list[Variable]
    ) -> bool:
        """Whether some names can be replaced by others: none is cut by the end of a line.

        Nor stands one in front of `=`, as the name of an argument may.
        """
        names = "|".join(re.escape(variable.name) for variable in variables)
        keyword = re.compile(rf"(?<![\w%])(?:{names})\s*=(?!=)".encode(), re.IGNORECASE)
        source = self.program.files[routine.file]
        statements = [statement for turn in turns for statement in turn.statements]
        if is_cut(source, variables, statements):
            return False
        return not any(keyword.search(source.data, s.start, s.end) for s in statements)

    def apply(self, plan: Plan[SharedVariable, InTurn]) -> Proposal:
        routine, request = plan.site.routine, plan.site.variable
        turns, buffers = plan.content.turns, plan.content.buffers
        source = self.program.files[routine.file]
        colours = colours_of(turns)
        statements = [statement for turn in turns for statement in turn.statements]
        tight = would_pass_margin(source, [request, *buffers], statements)
        taken = set(routine.taken)
        edits: list[Edit] = []
        told: list[str] = []
        end = routine.declare_after
        indent = indent_at(source.data, line_start(source.data, max(end - 1, 0)))
        for variable in (request, *buffers):
            used = sorted(
                {
                    colour
                    for turn, colour in zip(turns, colours, strict=True)
                    if variable is request or turn.buffer == variable.key
                }
            )
            names = {used[0]: variable.name}
            for number, colour in enumerate(used[1:], start=2):
                names[colour] = fresh_name(variable.name, number, taken, tight)
                taken.add(names[colour].lower())
            for turn, colour in zip(turns, colours, strict=True):
                if names.get(colour, variable.name) != variable.name:
                    for statement in turn.statements:
                        edits += renamed(
                            source, statement.start, statement.end, variable, names[colour]
                        )
            listed = [names[colour] for colour in used]
            told.append(", ".join(listed))
            bounds, behind = "", source.data.find(b"\n", end)
            if variable is not request:
                declared = self.private.declared(routine, variable)
                assert declared is not None
                bounds, behind, indent = declared
            declaration = PrivateBuffers.declaration(source, variable, listed, bounds, indent)
            edits.append(Edit(behind, behind, declaration))
        text = ReasonKind.OWN_REQUESTS(variable=request.name, names="; ".join(told))
        line = turns[0].call.line
        return Proposal(
            self.name,
            routine,
            line,
            Reason(text, Location(routine.file, line)),
            {routine.file: edits},
            for_work=True,
        )
