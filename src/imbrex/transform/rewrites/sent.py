"""A copy to send from, for a large message at the end of an iteration whose buffer is filled next.

The next iteration fills the buffer again, so that its send has no window. Sent from a copy, it has
the whole filling; the wait stands in front of the next copy. A library makes such a copy itself of
small messages, which are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform import mpi_calls
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.rewrites.base import Plan, Refusal, Site, calls_of
from imbrex.transform.rewrites.private import NAME, elements, free_name
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.text.call_text import head_of
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.halves import Halves
from imbrex.transform.text.layout import after_line, first_on_line, indent_at, line_start
from imbrex.transform.text.second_buffers import declarations
from imbrex.transform.text.wrapping import wrapped

_LEAST_ELEMENTS, _MOST_ELEMENTS = 1 << 13, 1 << 16  # less is buffered; more fills the stack
_ENDING = "_sent"


class SentCopies(Preparing[Site, Variable]):
    """A large message is sent from a copy where the next iteration fills its buffer anew.

    Before:
        for (int step = 0; step < steps; step++) {
            fill(u);
            MPI_Send(u, n, MPI_DOUBLE, right, 0, comm);
        }

    After:
        for (int step = 0; step < steps; step++) {
            fill(u);
            for (int imbrex_i = 0; imbrex_i <= n - 1; imbrex_i++)
                u_sent[imbrex_i] = u[imbrex_i];
            MPI_Send(u_sent, n, MPI_DOUBLE, right, 0, comm);
        }
    """

    name = NAME

    def sites(self) -> Iterator[Site]:
        return (s for s in calls_of(self.program, "MPI_Send") if _in_loop(s.statement))

    def refused(self, site: Site, refusal: Refusal) -> Proposal:
        return Proposal(self.name, site.routine, site.line, refusal.reason, without_window=True)

    def conditions(self, site: Site) -> Variable | None:
        """The array that is sent; None where a copy would bring nothing.

        Raises Refusal where it cannot be copied, or where no statement can be added.
        """
        routine, statement, call = site.routine, site.statement, site.call
        if len(call.arguments) < 6:
            return None
        variable = self.program.variables.get(call.arguments[0].base or "")
        if variable is None or variable.name.endswith(_ENDING) or variable.kind == "field":
            return None
        count = elements(variable) if variable.bounds else None
        if count is not None and count < _LEAST_ELEMENTS:
            return None
        place = Location(routine.file, call.line)

        def refuse(cause: Cause) -> Refusal:
            return Refusal(
                self.name, Reason(ReasonKind.NO_COPY(variable=variable.name, cause=cause), place)
            )

        source = self.program.files[routine.file]
        block = statement.parent
        if block is None or not _room(block) or not call.is_statement or call.macro:
            raise refuse(ReasonKind.NOT_BRACED_STATEMENT())
        if not first_on_line(source.data, statement.code_start):
            raise refuse(ReasonKind.NO_ROOM_BEFORE())
        argument = call.arguments[0]
        c = source.language is Language.C
        first = c and argument.origin is not None and all(o == Affine(0) for o in argument.origin)
        if not (argument.whole or first) or argument.through:
            raise refuse(ReasonKind.NOT_WHOLE(argument=argument.text.strip()))
        if count is None or count > _MOST_ELEMENTS or (c and len(variable.bounds) > 1):
            raise refuse(ReasonKind.NOT_ONE_LOOP())
        if call.arguments[1].value != Affine(count):
            raise refuse(ReasonKind.NOT_ALL_SENT())
        datatype = call.arguments[2].constant
        if variable.element not in mpi_calls.ELEMENT_OF.get(datatype, frozenset()):
            raise refuse(ReasonKind.OTHER_ELEMENTS())
        if variable.volatile or variable.key in self.program.overlays:
            raise refuse(ReasonKind.BUFFER_SHARED())
        if routine.declare_after < 0:
            raise refuse(ReasonKind.NO_DECLARATIONS())
        return variable

    def apply(self, plan: Plan[Site, Variable]) -> Proposal:
        site, variable = plan.site, plan.content
        routine, statement, call = site.routine, site.statement, site.call
        source = self.program.files[routine.file]
        name = free_name(f"{variable.name}{_ENDING}", routine.taken)
        extents = Halves.extents(variable) or []
        here = indent_at(source.data, statement.code_start)
        if source.language is Language.C:
            end = routine.declare_after
            inner = indent_at(source.data, line_start(source.data, max(end - 1, 0)))
            behind = after_line(source.data, end)
            line = f"\n{inner}{variable.element} {name}[{extents[0][1] + 1}];"
            declared = [Edit(behind, behind, line)]
            index = "imbrex_i"
            copy = (
                f"{here}for (int {index} = 0; {index} <= {extents[0][1]}; {index}++)\n"
                f"{here}    {name}[{index}] = {variable.name}[{index}];\n"
            )
        else:
            bounds = ", ".join(str(b) if a == 1 else f"{a}:{b}" for a, b in extents)
            fixed = source.language is Language.FORTRAN_FIXED
            line = f"{variable.element}{'' if fixed else ' ::'} {name}({bounds})"
            declared = declarations(source, routine, [line])
            copy = f"{here}{name} = {variable.name}\n"
        head = head_of(source.data, call)
        rest = ", ".join([name, *(argument.text.strip() for argument in call.arguments[1:])])
        text = wrapped(source.language, f"{head}{rest})", len(here), here)
        front = line_start(source.data, statement.code_start)
        edits = [
            *declared,
            Edit(front, front, copy),
            Edit(call.start, call.end, text),
        ]
        reason = Reason(
            ReasonKind.SENT_FROM(variable=variable.name, name=name),
            Location(routine.file, call.line),
        )
        proposal = Proposal(self.name, routine, call.line, reason, {routine.file: edits})
        proposal.opens = call.line
        return proposal


def _in_loop(statement: Statement) -> bool:
    block = statement.parent
    while block is not None and block.owner is not None:
        if block.owner.kind is Kind.LOOP:
            return True
        block = block.owner.parent
    return False


def _room(block: Block) -> bool:
    return block.insertable and block.braced
