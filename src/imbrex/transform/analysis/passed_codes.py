"""Variables of Fortran that get the values of others: arguments, and copies of error codes.

What is passed has the value that a dummy argument begins with, and may get the one that it has at
the end, where the procedure, or one that it passes it to, sets it.
"""

from __future__ import annotations

from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine


class PassedCodes:
    """Which variables have the values of which others, over a whole program."""

    def __init__(self, program: Program, other: set[str]) -> None:
        """`other`: variables that may hold any value; what cannot be followed is entered."""
        self.program = program
        self.other = other
        self.set_here: set[str] = set()  # by an assignment, by input, by MPI
        self._pairs: set[tuple[str, str]] = set()  # what is passed, and as which dummy argument
        self._copies: set[tuple[str, str]] = set()  # from a variable, to another one
        # From C no arguments are followed.
        self.followed = all(source.is_fortran for source in program.files.values())
        for routine in program.routines.values():
            if routine.stays or routine.address_taken or not self.followed:
                other.update(routine.parameters)

    def passed(self, call: Call, file: str) -> None:
        """Enter a call of a procedure of the program, or of what is not known."""
        bases = {argument.base for argument in call.arguments if argument.base is not None}
        callee = None if call.unknown else self.program.callee(call.name, file)
        if callee is None or not self._is_followed(call, callee):
            self.other |= bases
            if callee is not None:
                self.other.update(callee.parameters)
            return
        for argument, dummy in zip(call.arguments, callee.parameters, strict=True):
            if argument.absent:
                continue
            if argument.base is None:
                self.other.add(dummy)  # the value of an expression
            elif self._is_scalar(argument.base) and self._is_scalar(dummy):
                self._pairs.add((argument.base, dummy))
            else:
                self.other |= {argument.base, dummy}

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

    def _is_followed(self, call: Call, callee: Routine) -> bool:
        return (
            self.followed
            and not callee.problem
            and len(call.arguments) == len(callee.parameters)
            and all(each.problem is None or each.base is None for each in call.arguments)
        )

    def _is_scalar(self, key: str) -> bool:
        variable = self.program.variables.get(key)
        return variable is not None and not (variable.bounds or variable.record)
