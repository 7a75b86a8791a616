"""A copy to send from, so that MPI_Sendrecv_replace becomes MPI_Sendrecv, which may overlap.

One buffer cannot be sent and received into at once. Where it is a local array of fixed size, a
second one takes what is sent, which costs one copy of the message, as the library makes it itself.
"""

from __future__ import annotations

import re

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.edits import Edit
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.program import (
    Call,
    Language,
    Location,
    Program,
    Reason,
    Routine,
    Statement,
    Variable,
)
from imbrex.transform.rewrites.base import Refusal
from imbrex.transform.rewrites.halves import Halves
from imbrex.transform.rewrites.layout import first_on_line, indent_at, line_start
from imbrex.transform.rewrites.private import NAME, PrivateBuffers, elements
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.rewrites.wrapping import wrapped

_CALL = "MPI_Sendrecv_replace"
_MOST_ELEMENTS = 1 << 16  # of a copy that lies on the stack
_ELEMENTS = re.compile(
    r"(unsigned |signed )?(char|short|int|long|long long|float|double)"
    r"|double precision|(real|integer|complex|logical)(\s*\*\s*\d+|\s*\([^()]*\))?",
    re.IGNORECASE,
)


class ReplacedBuffers(Preparing):
    """Separates the two directions of MPI_Sendrecv_replace."""

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self.private = PrivateBuffers(program, footprints)

    def proposals(self) -> list[Proposal]:
        found = []
        for routine in self.program.editable():
            for statement in routine.statements():
                for call in statement.calls:
                    if call.name != _CALL:
                        continue
                    try:
                        variable = self.validate(routine, statement, call)
                        found.append(self.apply(routine, statement, call, variable))
                    except Refusal as refusal:
                        reason = refusal.reason
                        found.append(Proposal(self.name, routine, call.line, reason))
        return found

    # Conditions ------------------------------------------------------------------------

    def validate(self, routine: Routine, statement: Statement, call: Call) -> Variable:
        """The array that is replaced.

        Raises Refusal where it cannot be copied as a whole, or where no statement can be added.
        """
        source = self.program.files[routine.file]
        place = Location(routine.file, call.line)

        def refuse(text: str) -> Refusal:
            return Refusal(self.name, Reason(text, place))

        block = statement.parent
        expected = 9 if source.language is Language.C else 10
        if len(call.arguments) not in (expected, 9):
            raise refuse("the call has an unexpected number of arguments")
        if not call.is_statement or call.macro or block is None or not block.insertable:
            raise refuse("the call is not a plain statement")
        if not block.braced or not first_on_line(source.data, statement.start):
            raise refuse("no statement can be put in front of the call")
        argument = call.arguments[0]
        variable = self.program.variables.get(argument.base or "")
        # In C the array's name is a pointer to its first element.
        c = source.language is Language.C
        first = c and argument.origin is not None and all(o == Affine(0) for o in argument.origin)
        if variable is None or not (argument.whole or first) or argument.through:
            raise refuse(f"`{argument.text.strip()}` is not a whole array that could be copied")
        extents = Halves.extents(variable)
        if variable.kind != "local" or variable.pointer or not extents:
            raise refuse(f"`{variable.name}` is not a local array of fixed size")
        if (elements(variable) or 0) > _MOST_ELEMENTS:
            raise refuse(f"a copy of `{variable.name}` would be too large for the stack")
        if source.language is Language.C and len(extents) > 1:
            raise refuse(f"`{variable.name}` has more than one dimension")
        if _ELEMENTS.fullmatch(variable.element.strip()) is None or variable.volatile:
            raise refuse(f"the elements of `{variable.name}` are not of a plain type")
        if self.private.declared(routine, variable) is None:
            raise refuse(f"the declaration of `{variable.name}` is not a plain one")
        return variable

    # Doing it --------------------------------------------------------------------------

    def apply(
        self, routine: Routine, statement: Statement, call: Call, variable: Variable
    ) -> Proposal:
        source = self.program.files[routine.file]
        declared = self.private.declared(routine, variable)
        assert declared is not None
        bounds, behind, indent = declared
        taken = {name.lower() for name in routine.exported}
        name, number = f"{variable.name}_sent", 2
        while name.lower() in taken:
            name, number = f"{variable.name}_sent{number}", number + 1
        declaration = self.private.declaration(
            source, variable, [variable.name, name], bounds, indent
        )
        whole = [argument.text.strip() for argument in call.arguments]
        buffer, count, kind, to, tag, origin, other, *rest = whole
        arguments = [name, count, kind, to, tag, buffer, count, kind, origin, other, *rest]
        here = indent_at(source.data, statement.code_start)
        fortran = source.language is not Language.C
        head = source.data[call.start : call.arguments[0].start].decode()
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
            f"what is sent of `{variable.name}` is copied to an array of its own, {name}",
            Location(routine.file, call.line),
        )
        return Proposal(self.name, routine, call.line, reason, {routine.file: edits})
