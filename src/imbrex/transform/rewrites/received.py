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
from imbrex.transform.analysis.unread import never_read
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Argument, Block, Call, Kind, Program, Statement
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.rewrites.base import Plan, Site, calls_of
from imbrex.transform.rewrites.private import NAME, free_name, taken_names
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import after_line, first_on_line, indent_at, line_start
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
        if source.is_fortran or len(call.arguments) != _ARGUMENTS or call.macro:
            return None
        if not (call.is_statement and _on_lines_of_its_own(source, statement)):
            return None
        buffer, number, *_ = call.arguments
        variable = self.program.variables.get(buffer.base or "")
        if variable is None or variable.volatile or buffer.text.strip() != variable.name:
            return None
        numbers = self._numbers_in(variable, call)
        if numbers is None or not _is_plain(number):
            return None
        status = call.arguments[_STATUS]
        if status.constant != "MPI_STATUS_IGNORE":
            named = _NAMED.fullmatch(status.text.strip()) is not None
            if not named or never_read(self.program, routine, status.base or "") is not None:
                return None  # how many have come may be asked
        loop = _outermost(statement)
        if loop is None or not _on_lines_of_its_own(source, loop):
            return None
        whole = self.footprints.of(loop, routine.file)
        if whole.stop is not None or whole.leaves is not None:
            return None
        assert number.value is not None
        if number.value.variables() & self.footprints.changed_in(whole):
            return None
        if not (source.is_cxx or ALLOCATES.search(source.data)):
            return None
        if numbers and not _COPIES.search(source.data):
            return None
        own = status.constant == "MPI_STATUS_IGNORE" or _is_used_elsewhere(site, loop, status)
        return Apart(variable, loop, numbers, own)

    def _numbers_in(self, variable: Variable, call: Call) -> int | None:
        """The numbers in an element of a pointer's or a line's memory that is a structure, else 0.

        None where what is sent are not so many elements, from the first.
        """
        buffer, number, datatype, *_ = call.arguments
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
        name, number, own = (
            free_name(f"{variable.name}_{ending}", taken) for ending in ("came", "count", "status")
        )
        whole = [argument.text.strip() for argument in call.arguments]
        buffer, count, kind, to, tag, origin, other, comm, status = whole
        status = f"&{own}" if apart.own_status else status
        arguments = [buffer, count, kind, to, tag, name, count, kind, origin, other, comm, status]
        here = indent_at(source.data, statement.code_start)
        head = source.data[call.start : call.arguments[0].start].decode()
        head = re.sub(r"_replace", "", head)
        text = wrapped(source.language, head + ", ".join(arguments) + ")", len(here), here)
        asks = "MPI_Get_elements" if apart.numbers else "MPI_Get_count"
        copy = f"\n{here}{asks}({status}, {kind}, &{number});\n{here}"
        if apart.numbers:
            size = f"sizeof({named_type(source, variable)}) / {apart.numbers} * (size_t){number}"
            copy += f"memcpy({buffer}, {name}, {size});"
        else:
            index = "imbrex_i"
            copy += f"for (int {index} = 0; {index} < {number}; {index}++)"
            copy += f"\n{here}    {buffer}[{index}] = {name}[{index}];"
        outside = indent_at(source.data, loop.code_start)
        front = line_start(source.data, loop.code_start)
        ends = after_line(source.data, statement.end), after_line(source.data, loop.end)
        asked = f"{outside}int {number};\n"
        asked += f"{outside}MPI_Status {own};\n" if apart.own_status else ""
        edits = [
            Edit(front, front, _declaration(source, variable, name, count, outside) + asked),
            Edit(call.start, call.end, text),
            Edit(ends[0], ends[0], copy),
            Edit(ends[1], ends[1], f"\n{outside}{_release(source, name)}"),
        ]
        reason = Reason(
            ReasonKind.RECEIVED_IN(variable=variable.name, name=name),
            Location(routine.file, call.line),
        )
        proposal = Proposal(self.name, routine, call.line, reason, {routine.file: edits})
        proposal.opens = call.line
        return proposal


def numbers_in(program: Program, variable: Variable, datatype: Argument) -> int | None:
    """The numbers in an element of an array that is a structure, 0 in a number itself.

    None where the datatype is not that of one element.
    """
    if not variable.element_bytes:
        elements = mpi_calls.ELEMENT_OF.get(datatype.constant, frozenset())
        return 0 if variable.element in elements else None
    layout = layout_of(program, datatype)
    if layout is None or layout.count != Affine(1) or layout.length.terms:
        return None
    numbers = layout.length.constant
    size_bytes = mpi_calls.ELEMENT_SIZE.get(layout.element, 0)
    return numbers if numbers * size_bytes == variable.element_bytes else None


def _declaration(source: SourceFile, variable: Variable, name: str, count: str, indent: str) -> str:
    kind = named_type(source, variable)
    if source.is_cxx:
        return f"{indent}{kind} *{name} = new {kind}[{count}];\n"
    return f"{indent}{kind} *{name} = malloc(sizeof({kind}) * (size_t)({count}));\n"


def _release(source: SourceFile, name: str) -> str:
    return f"delete[] {name};" if source.is_cxx else f"free({name});"


def named_type(source: SourceFile, variable: Variable) -> str:
    """The elements' type as the language says it: C has structures by their tag or by a name."""
    tag = re.search(rb"\bstruct\s+%b\b" % re.escape(variable.element.encode()), source.data)
    tagged = bool(variable.element_bytes) and tag is not None and not source.is_cxx
    return f"struct {variable.element}" if tagged else variable.element


def _is_used_elsewhere(site: Site, loop: Statement, status: Argument) -> bool:
    """Whether a status variable has a use outside the loop, so that it may go out of use inside."""
    inside = set(map(id, loop.walk()))
    return any(
        access.variable == status.base
        for statement in site.routine.statements()
        if id(statement) not in inside and statement.kind is not Kind.DECLARE
        for access in statement.accesses
    ) or any(
        argument.base == status.base
        for statement in site.routine.statements()
        if id(statement) not in inside
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
