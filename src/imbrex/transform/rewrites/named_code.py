"""What in the texts of a program names its functions: calls, and all else that is code."""

from __future__ import annotations

from functools import cached_property

from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import code_of_c
from imbrex.transform.model.statements import Statement


class NamedCode:
    """The calls and the code of a program, each looked at when it is first asked for."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def calls(self) -> dict[str, list[tuple[Routine, Statement, Call]]]:
        """The calls of the program by what they name: in which routine and statement."""
        found: dict[str, list[tuple[Routine, Statement, Call]]] = {}
        for user in self.program.routines.values():
            for statement in user.statements():
                for call in statement.calls:
                    found.setdefault(call.name, []).append((user, statement, call))
        return found

    @cached_property
    def code(self) -> dict[str, bytes]:
        """The texts of all files without comments and strings."""
        every = self.program.headers | self.program.files
        return {name: code_of_c(source.data) for name, source in every.items()}
