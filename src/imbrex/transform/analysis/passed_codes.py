"""Variables of Fortran that get the values of others: arguments, and copies of error codes.

What is passed has the value that a dummy argument begins with, and may get the one that it has at
the end, where the procedure, or one that it passes it to, sets it.
"""

from __future__ import annotations

from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program


class PassedCodes:
    """Which variables have the values of which others, over a whole program."""

    def __init__(self, program: Program, other: set[str]) -> None:
        """`other`: variables that may hold any value; what cannot be followed is entered."""
        self.program = program
        self.other = other
        self.set_here: set[str] = set()  # by an assignment, by input, by MPI
        self._pairs: set[tuple[str, str]] = set()  # what is passed, and as which dummy argument
        self._copies: set[tuple[str, str]] = set()  # from a variable, to another one
        # Not followed are calls from C, and by a name that stands for several.
        in_fortran = all(source.is_fortran for source in program.files.values())
        for routine in program.routines.values():
            if routine.stays or not in_fortran:
                other.update(routine.parameters)

    def passed(self, call: Call, file: str) -> None:
        """Enter a call of a procedure of the program, or of what is not known."""
        callee = None if call.unknown else self.program.callee(call.name, file)
        parameters = [] if callee is None else callee.parameters
        left_out = parameters[len(call.arguments) :]
        fits = len(call.arguments) <= len(parameters) and all(map(self._is_optional, left_out))
        if callee is None or callee.problem or not fits:
            self.other |= {each.base for each in call.arguments if each.base is not None}
            self.other.update(parameters)
            return
        for argument, dummy in zip(call.arguments, parameters, strict=False):
            if argument.base in self.program.variables:
                self._pairs.add((argument.base, dummy))
            elif not argument.absent:
                self.other.add(dummy)  # the value of an expression

    def _is_optional(self, dummy: str) -> bool:
        variable = self.program.variables.get(dummy)
        return variable is not None and variable.optional

    def copied(self, source: str, target: str) -> None:
        self._copies.add((source, target))

    def settle(self, codes: set[str]) -> None:
        """Enter all that get the value of a code, or of what may hold another one."""
        changed = set(self.set_here)
        while more := {given for given, dummy in self._pairs if dummy in changed} - changed:
            changed |= more
        flows = self._copies | self._pairs
        flows |= {(dummy, given) for given, dummy in self._pairs if dummy in changed}
        for known in (codes, self.other):
            while more := {target for source, target in flows if source in known} - known:
                known |= more
