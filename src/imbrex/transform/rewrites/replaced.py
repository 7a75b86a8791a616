"""A copy to send from, so that MPI_Sendrecv_replace becomes MPI_Sendrecv, which may overlap.

One buffer cannot be sent and received into at once. Where it is a local array of fixed size, a
second one takes what is sent, which costs one copy of the message, as the library makes it itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language
from imbrex.transform.rewrites.base import Plan, Refusal, Site, calls_of
from imbrex.transform.rewrites.private import NAME, PrivateBuffers, elements, free_name
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.text.call_text import head_of
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.halves import Halves
from imbrex.transform.text.layout import first_on_line, indent_at, line_start
from imbrex.transform.text.number_types import NUMBERS
from imbrex.transform.text.wrapping import wrapped

_CALL = "MPI_Sendrecv_replace"
_MOST_ELEMENTS = 1 << 16  # of a copy that lies on the stack


class ReplacedBuffers(Preparing[Site, Variable]):
    """MPI_Sendrecv_replace becomes MPI_Sendrecv, which sends from a copy and may overlap.

    Before:
        MPI_Sendrecv_replace(u, n, MPI_DOUBLE, right, 0, left, 0, comm, MPI_STATUS_IGNORE);

    After:
        for (int imbrex_i = 0; imbrex_i <= n - 1; imbrex_i++)
            u_sent[imbrex_i] = u[imbrex_i];
        MPI_Sendrecv(u_sent, n, MPI_DOUBLE, right, 0, u, n, MPI_DOUBLE, left, 0, comm,
                     MPI_STATUS_IGNORE);
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.private = PrivateBuffers(program, footprints)

    def sites(self) -> Iterator[Site]:
        return calls_of(self.program, _CALL)

    def conditions(self, site: Site) -> Variable:
        """The array that is replaced.

        Raises Refusal where it cannot be copied as a whole, or where no statement can be added.
        """
        routine, statement, call = site.routine, site.statement, site.call
        source = self.program.files[routine.file]
        place = Location(routine.file, call.line)

        def refuse(cause: Cause) -> Refusal:
            return Refusal(self.name, Reason(cause, place))

        block = statement.parent
        expected = 9 if source.language is Language.C else 10
        if len(call.arguments) not in (expected, 9):
            raise refuse(ReasonKind.ARGUMENT_COUNT())
        if not call.is_statement or call.macro or block is None or not block.insertable:
            raise refuse(ReasonKind.NOT_STATEMENT())
        if not block.braced or not first_on_line(source.data, statement.start):
            raise refuse(ReasonKind.NO_ROOM_BEFORE())
        argument = call.arguments[0]
        variable = self.program.variables.get(argument.base or "")
        # In C the array's name is a pointer to its first element.
        c = source.language is Language.C
        first = c and argument.origin is not None and all(o == Affine(0) for o in argument.origin)
        if variable is None or not (argument.whole or first) or argument.through:
            raise refuse(ReasonKind.NOT_WHOLE_COPY(argument=argument.text.strip()))
        extents = Halves.extents(variable)
        if variable.kind != "local" or variable.pointer or not extents:
            raise refuse(ReasonKind.NOT_FIXED(variable=variable.name))
        if (elements(variable) or 0) > _MOST_ELEMENTS:
            raise refuse(ReasonKind.TOO_LARGE(variable=variable.name))
        if source.language is Language.C and len(extents) > 1:
            raise refuse(ReasonKind.DIMENSIONS(variable=variable.name))
        if NUMBERS.fullmatch(variable.element.strip()) is None or variable.volatile:
            raise refuse(ReasonKind.ELEMENTS(variable=variable.name))
        if self.private.declared(routine, variable) is None:
            raise refuse(ReasonKind.DECLARATION(variable=variable.name))
        return variable

    def apply(self, plan: Plan[Site, Variable]) -> Proposal:
        site, variable = plan.site, plan.content
        routine, statement, call = site.routine, site.statement, site.call
        source = self.program.files[routine.file]
        declared = self.private.declared(routine, variable)
        assert declared is not None
        bounds, behind, indent = declared
        name = free_name(f"{variable.name}_sent", routine.taken)
        declaration = self.private.declaration(
            source, variable, [variable.name, name], bounds, indent
        )
        whole = [argument.text.strip() for argument in call.arguments]
        buffer, count, kind, to, tag, origin, other, *rest = whole
        arguments = [name, count, kind, to, tag, buffer, count, kind, origin, other, *rest]
        here = indent_at(source.data, statement.code_start)
        fortran = source.language is not Language.C
        head = head_of(source.data, call)
        head = re.sub(r"(?i)_replace", "", head)
        text = wrapped(source.language, head + ", ".join(arguments) + ")", len(here), here)
        front = line_start(source.data, statement.code_start)
        copy = f"{here}{name} = {variable.name}\n"
        if not fortran:
            low, high = (Halves.extents(variable) or [(0, 0)])[0]
            index = "imbrex_i"
            copy = (
                f"{here}for (int {index} = {low}; {index} <= {high}; {index}++)\n"
                f"{here}    {name}[{index}] = {variable.name}[{index}];\n"
            )
        edits = [
            Edit(behind, behind, declaration),
            Edit(front, front, copy),
            Edit(call.start, call.end, text),
        ]
        reason = Reason(
            ReasonKind.COPIED_TO(variable=variable.name, name=name),
            Location(routine.file, call.line),
        )
        return Proposal(self.name, routine, call.line, reason, {routine.file: edits})
