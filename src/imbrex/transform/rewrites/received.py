"""Memory to receive into, so that MPI_Sendrecv_replace becomes MPI_Sendrecv beside other uses.

What is sent around a ring or a torus is read while it waits for its turn: a block that is being
multiplied, bodies whose forces are computed. One that comes into memory of its own may do so
meanwhile, and is copied to its place then, which the library does itself otherwise. As much of it
is copied as has come, which may be less than there is room for, and from MPI_PROC_NULL is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.sections import layout_of
from imbrex.transform.analysis.success import handles_errors
from imbrex.transform.analysis.unread import never_read
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Plan, Site, calls_of
from imbrex.transform.rewrites.private import NAME, free_name, taken_names
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.rewrites.received_fortran import ARGUMENTS, selected
from imbrex.transform.text.call_text import head_of
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import after_line, first_on_line, indent_at, line_start
from imbrex.transform.text.received_text import Names, Selected, c_texts, fortran_texts
from imbrex.transform.text.wrapping import wrapped

_CALL = "MPI_Sendrecv_replace"
_ARGUMENTS = 9
_STATUS = 8
_NAMED = re.compile(r"&?[A-Za-z_]\w*")
_COPIES = re.compile(rb"#\s*include\s*[<\"](?:string\.h|cstring)[>\"]")
ALLOCATES = re.compile(rb"#\s*include\s*[<\"](?:stdlib\.h|cstdlib)[>\"]")


@dataclass(frozen=True, slots=True)
class Apart:
    """The memory that is received into, and the loop around which it lives."""

    variable: Variable
    loop: Statement
    numbers: int  # in an element that is a structure of them; 0: it is one itself
    own_status: bool  # it gets a status of its own; else that of the call serves
    selected: Selected | None = None  # of Fortran


class ReceivedBuffers(Preparing[Site, Apart]):
    """MPI_Sendrecv_replace becomes MPI_Sendrecv, which receives into memory of its own.

    Before:
        for (int k = 0; k < rounds; k++) {
            multiply(n, a, b, c);
            MPI_Sendrecv_replace(a, n * n, MPI_DOUBLE, left, 0, right, 0, comm, MPI_STATUS_IGNORE);
        }

    After:
        double *a_came = malloc(sizeof(double) * (size_t)(n * n));
        int a_count;
        MPI_Status a_status;
        for (int k = 0; k < rounds; k++) {
            multiply(n, a, b, c);
            MPI_Sendrecv(a, n * n, MPI_DOUBLE, left, 0, a_came, n * n, MPI_DOUBLE, right, 0, comm,
                         &a_status);
            MPI_Get_count(&a_status, MPI_DOUBLE, &a_count);
            for (int imbrex_i = 0; imbrex_i < a_count; imbrex_i++)
                a[imbrex_i] = a_came[imbrex_i];
        }
        free(a_came);
    """

    name = NAME

    def sites(self) -> Iterator[Site]:
        return calls_of(self.program, _CALL)

    def conditions(self, site: Site) -> Apart | None:
        """What to do with one call; None where it is not of this kind."""
        routine, statement, call = site.routine, site.statement, site.call
        source = self.program.files[routine.file]
        fortran = source.is_fortran
        expected = ARGUMENTS if fortran else (_ARGUMENTS,)
        if len(call.arguments) not in expected or call.macro:
            return None
        if not (call.is_statement and _on_lines_of_its_own(source, statement)):
            return None
        buffer, number, *_ = call.arguments
        variable = self.program.variables.get(buffer.base or "")
        if variable is None or variable.volatile or not _is_plain(number):
            return None
        numbers = 0 if fortran else self._numbers_in(variable, call)
        if numbers is None:
            return None
        status = call.arguments[_STATUS]
        if status.constant != "MPI_STATUS_IGNORE":
            named = _NAMED.fullmatch(status.text.strip()) is not None
            if not named or never_read(self.program, routine, status.base or "") is not None:
                return None  # how many have come may be asked
        if handles_errors(self.program):
            return None  # an error leaves the status without a number
        loop = _outermost(statement)
        if loop is None or not _on_lines_of_its_own(source, loop):
            return None
        whole = self.footprints.of(loop, routine.file)
        if whole.stop is not None or whole.leaves is not None:
            return None
        changed = self.footprints.changed_in(whole)
        if number.value is None or number.value.variables() & changed:
            return None
        own = status.constant == "MPI_STATUS_IGNORE" or _is_used_elsewhere(site, status)
        if fortran:
            part = selected(self.program, routine, loop, call, changed)
            return None if part is None else Apart(variable, loop, 0, own, part)
        if not (source.is_cxx or ALLOCATES.search(source.data)):
            return None
        if numbers and not _COPIES.search(source.data):
            return None
        return Apart(variable, loop, numbers, own)

    def _numbers_in(self, variable: Variable, call: Call) -> int | None:
        """The numbers in an element of a pointer's or a line's memory that is a structure, else 0.

        None where what is sent are not so many elements, from the first.
        """
        buffer, number, datatype, *_ = call.arguments
        if buffer.text.strip() != variable.name:
            return None
        first = buffer.origin is not None and all(index == Affine(0) for index in buffer.origin)
        if not first or len(variable.bounds) != 1 or number.value is None or variable.rows:
            return None
        if f"vector:{variable.key}" in self.program.variables or variable.kind == "field":
            return None
        return numbers_in(self.program, variable, datatype)

    def apply(self, plan: Plan[Site, Apart]) -> Proposal:
        site, apart = plan.site, plan.content
        routine, statement, call = site.routine, site.statement, site.call
        variable, loop = apart.variable, apart.loop
        source = self.program.files[routine.file]
        taken = taken_names(source.data, routine)
        came, number, extents, own = (
            free_name(f"{variable.name}_{ending}", taken)
            for ending in ("came", "count", "extents", "status")
        )
        index = free_name("imbrex_i", taken)
        names = Names(came, number, index, extents, own if apart.own_status else "")
        outside, here = (indent_at(source.data, each.code_start) for each in (loop, statement))
        if apart.selected is None:
            texts = c_texts(source, variable, call, names, apart.numbers, (outside, here))
        else:
            texts = fortran_texts(
                source, routine, variable, call, names, apart.selected, (outside, here)
            )
        whole = [argument.text.strip() for argument in call.arguments]
        buffer, count, kind, to, tag, origin, other, comm, _, *error = whole
        arguments = [buffer, count, kind, to, tag, came, count, kind, origin, other, comm]
        head = head_of(source.data, call)
        head = re.sub(r"(?i)_replace", "", head)
        text = head + ", ".join([*arguments, texts.status, *error]) + ")"
        front = line_start(source.data, loop.code_start)
        ends = after_line(source.data, statement.end), after_line(source.data, loop.end)
        edits = [
            *texts.declared,
            Edit(front, front, texts.front),
            Edit(call.start, call.end, wrapped(source.language, text, len(here), here)),
            Edit(ends[0], ends[0], texts.behind_call),
            Edit(ends[1], ends[1], texts.behind_loop),
        ]
        reason = Reason(
            ReasonKind.RECEIVED_IN(variable=variable.name, name=came),
            Location(routine.file, call.line),
        )
        proposal = Proposal(self.name, routine, call.line, reason, {routine.file: edits})
        proposal.opens = call.line
        return proposal


def numbers_in(program: Program, variable: Variable, datatype: Argument) -> int | None:
    """The numbers in an element of an array that is a structure, 0 in a number itself.

    None where the datatype is not that of one element.
    """
    if variable.element in mpi_calls.ELEMENT_OF.get(datatype.constant, frozenset()):
        return 0
    if not variable.element_bytes:
        return None
    layout = layout_of(program, datatype)
    if layout is None or layout.count != Affine(1) or layout.length.terms:
        return None
    numbers = layout.length.constant
    size_bytes = mpi_calls.ELEMENT_SIZE.get(layout.element, 0)
    return numbers if numbers * size_bytes == variable.element_bytes else None


def _is_used_elsewhere(site: Site, status: Argument) -> bool:
    """Whether another statement has a status variable, which so stays in use without this one."""
    remaining = [each for each in site.routine.statements() if each is not site.statement]
    return any(
        access.variable == status.base
        for statement in remaining
        if statement.kind is not Kind.DECLARE
        for access in statement.accesses
    ) or any(
        argument.base == status.base
        for statement in remaining
        for call in statement.calls
        for argument in call.arguments
    )


def _is_plain(argument: Argument) -> bool:
    """Whether evaluating an argument once more gives the same and does nothing else."""
    known = argument.value is not None or re.fullmatch(r"\w+", argument.text.strip()) is not None
    return known and argument.problem is None


def _outermost(statement: Statement) -> Statement | None:
    """The outermost loop around a statement."""
    found, block = None, statement.parent
    while block is not None and block.owner is not None:
        if block.owner.kind is Kind.LOOP:
            found = block.owner
        block = block.owner.parent
    return found


def _on_lines_of_its_own(source: SourceFile, statement: Statement) -> bool:
    """Whether lines may be put in front of a statement and behind it."""
    block: Block | None = statement.parent
    if block is None or not (block.insertable and block.braced):
        return False
    behind = after_line(source.data, statement.end)
    ends = source.data[behind : behind + 1] in (b"\n", b"\r")
    return first_on_line(source.data, statement.code_start) and ends
