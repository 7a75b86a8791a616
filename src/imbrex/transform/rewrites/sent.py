"""A copy to send from, for a large message at the end of an iteration whose buffer is filled next.

The next iteration fills the buffer again, so that its send has no window. Sent from a copy, it has
the whole filling; the wait stands in front of the next copy. A library makes such a copy itself of
small messages, which are left alone.
"""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.edits import Edit
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.program import (
    Block,
    Call,
    Kind,
    Language,
    Location,
    Reason,
    Routine,
    Statement,
    Variable,
)
from imbrex.transform.rewrites.base import Refusal
from imbrex.transform.rewrites.halves import Halves
from imbrex.transform.rewrites.layout import after_line, first_on_line, indent_at, line_start
from imbrex.transform.rewrites.private import NAME, elements
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.rewrites.wrapping import wrapped

_LEAST_ELEMENTS, _MOST_ELEMENTS = 1 << 13, 1 << 16  # less is buffered; more fills the stack
_ENDING = "_sent"


class SentCopies(Preparing):
    """Sends from a copy where a loop fills the buffer of a send anew."""

    name = NAME

    def proposals(self) -> list[Proposal]:
        found = []
        for routine in self.program.editable():
            for statement in routine.statements():
                for call in statement.calls:
                    if call.name != "MPI_Send" or not _in_loop(statement):
                        continue
                    try:
                        variable = self.validate(routine, statement, call)
                    except Refusal as refusal:
                        at = (routine, call.line)
                        found.append(Proposal(self.name, *at, refusal.reason, without_window=True))
                        continue
                    if variable is not None:
                        found.append(self.apply(routine, statement, call, variable))
        return found

    # Conditions ------------------------------------------------------------------------

    def validate(self, routine: Routine, statement: Statement, call: Call) -> Variable | None:
        """The array that is sent; None where a copy would bring nothing.

        Raises Refusal where it cannot be copied, or where no statement can be added.
        """
        if len(call.arguments) < 6:
            return None
        variable = self.program.variables.get(call.arguments[0].base or "")
        if variable is None or variable.name.endswith(_ENDING):
            return None
        count = elements(variable) if variable.bounds else None
        if count is not None and count < _LEAST_ELEMENTS:
            return None
        place = Location(routine.file, call.line)

        def refuse(text: str) -> Refusal:
            return Refusal(self.name, Reason(f"`{variable.name}` has no copy: {text}", place))

        source = self.program.files[routine.file]
        block = statement.parent
        if block is None or not _room(block) or not call.is_statement or call.macro:
            raise refuse("the call is not a plain statement in braces")
        if not first_on_line(source.data, statement.code_start):
            raise refuse("no statement can be put in front of the call")
        argument = call.arguments[0]
        c = source.language is Language.C
        first = c and argument.origin is not None and all(o == Affine(0) for o in argument.origin)
        if not (argument.whole or first) or argument.through:
            raise refuse(f"`{argument.text.strip()}` is not a whole array")
        if count is None or count > _MOST_ELEMENTS or (c and len(variable.bounds) > 1):
            raise refuse("it is not of a fixed size that one loop copies and the stack holds")
        if call.arguments[1].value != Affine(count):
            raise refuse("not all of it is sent, as far as is known")
        datatype = call.arguments[2].text.strip().upper()
        if variable.element not in mpi_calls.ELEMENT_OF.get(datatype, frozenset()):
            raise refuse("its elements are not of the type that is sent")
        if variable.volatile or variable.key in self.program.overlays:
            raise refuse("it shares its memory")
        if routine.declare_after < 0:
            raise refuse("the routine has no declarations")
        return variable

    # Doing it --------------------------------------------------------------------------

    def apply(
        self, routine: Routine, statement: Statement, call: Call, variable: Variable
    ) -> Proposal:
        source = self.program.files[routine.file]
        taken = {name.lower() for name in routine.exported}
        name, number = f"{variable.name}{_ENDING}", 2
        while name.lower() in taken:
            name, number = f"{variable.name}{_ENDING}{number}", number + 1
        extents = Halves.extents(variable) or []
        inner = indent_at(source.data, line_start(source.data, max(routine.declare_after - 1, 0)))
        here = indent_at(source.data, statement.code_start)
        if source.language is Language.C:
            declared = f"{inner}{variable.element} {name}[{extents[0][1] + 1}];"
            behind = after_line(source.data, routine.declare_after)
            index = "imbrex_i"
            copy = (
                f"{here}for (int {index} = 0; {index} <= {extents[0][1]}; {index}++)\n"
                f"{here}    {name}[{index}] = {variable.name}[{index}];\n"
            )
        else:
            bounds = ", ".join(str(b) if a == 1 else f"{a}:{b}" for a, b in extents)
            fixed = source.language is Language.FORTRAN_FIXED
            inner = " " * 6 if fixed and len(inner) < 6 else inner
            declared = f"{inner}{variable.element}{'' if fixed else ' ::'} {name}({bounds})"
            behind = source.data.find(b"\n", routine.declare_after)
            copy = f"{here}{name} = {variable.name}\n"
        head = source.data[call.start : call.arguments[0].start].decode()
        rest = ", ".join([name, *(argument.text.strip() for argument in call.arguments[1:])])
        text = wrapped(source.language, f"{head}{rest})", len(here), here)
        front = line_start(source.data, statement.code_start)
        edits = [
            Edit(behind, behind, f"\n{declared}"),
            Edit(front, front, copy),
            Edit(call.start, call.end, text),
        ]
        reason = Reason(
            f"`{variable.name}` is sent from a copy, {name}", Location(routine.file, call.line)
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
