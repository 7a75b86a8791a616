"""The same of Fortran, where a place is a variable or a component of an object that is one.

A dummy argument stands for what its routine is given. An array that begins with an element of
another one is named by that, and by how far its first element is from the first of all.
"""

from __future__ import annotations

from imbrex.transform.analysis.handles import Handle, Handles, Names
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement

# In names, of which those of variables have none of these: how many elements the first one is from
# that of the named array, and which component of the object.
_FIRST = "\n"
_PART = "\t"


class FortranHandles(Handles):
    """Finds the starts and completions that a statement of Fortran makes."""

    def is_made(self, routine: Routine, statement: Statement, call: Call) -> bool:
        return call.is_statement and not call.macro

    def passed(
        self, routine: Routine, call: Call, callee: Routine, names: Names, depth: int
    ) -> dict[str, str]:
        """By the keys of the dummy arguments."""
        return {
            key: self._name(argument, names, depth)
            for key, argument in zip(callee.parameters, call.arguments, strict=False)
        }

    def _handle(
        self,
        routine: Routine,
        statement: Statement,
        call: Call,
        names: Names,
        always: bool,
        depth: int,
    ) -> Handle:
        argument = request_argument(call)
        name, _, first = self._name(argument, names, depth).partition(_FIRST)
        variable = self.program.variables.get(argument.base or "")
        if variable is None or len(variable.bounds) > 1 or not first:
            return Handle(routine, statement, call, name, None, always)
        count = self.number(call)
        elements = None if count is None else frozenset(range(int(first), int(first) + count))
        return Handle(routine, statement, call, name, elements, always)

    def _name(self, argument: Argument, names: Names, depth: int) -> str:
        """The name of the array that an argument is of, and the number of its element there.

        Empty where the array is not known; without a number where that is not.
        """
        variable = self.program.variables.get(argument.base or "")
        may_be_copied = argument.problem is not None and (
            argument.problem.kind is not ReasonKind.MAY_BE_NONCONTIGUOUS
            or not (variable is not None and variable.assumed_shape)
        )
        if variable is None or may_be_copied:
            return ""
        root = variable
        if variable.kind == "field":
            known = self.program.variables.get(argument.part_of)
            if known is None:
                return ""
            root = known
        name, _, further = self._outer(root, names, depth).partition(_FIRST)
        if variable.kind == "field":
            if further != "0":
                return ""  # it may be one of several objects
            name = f"{name}{_PART}{variable.key}"
        first = self._first(variable, argument)
        return f"{name}{_FIRST}{first + int(further)}" if first is not None and further else name

    def _outer(self, variable: Variable, names: Names, depth: int) -> str:
        """The name of a variable in the terms of the outermost routine."""
        if variable.kind == "dummy" and depth:
            return names.get(variable.key, "")
        if variable.kind in ("local", "host") and depth:
            return ""
        return f"{variable.key}{_FIRST}0"

    @staticmethod
    def _first(variable: Variable, argument: Argument) -> int | None:
        """How far an argument's first element is from the array's."""
        if argument.whole or not variable.bounds:
            return 0
        low = variable.bounds[0][0]
        origin = argument.origin
        if len(variable.bounds) != 1 or origin is None or len(origin) != 1:
            return None
        if low is None or origin[0] is None or low.terms or origin[0].terms:
            return None
        return origin[0].constant - low.constant


def keeps_place(program: Program, wait: Handle) -> bool:
    """Whether the name of a request means the same memory as long as its routine runs."""
    keys = wait.name.split(_PART)
    variables = [program.variables.get(key) for key in keys]
    return all(each is not None and not each.allocatable for each in variables) and not any(
        key in program.overlays for key in keys
    )


def is_own(program: Program, wait: Handle) -> bool:
    """Whether a request is a variable that begins to exist with the outermost routine."""
    variable = program.variables.get(wait.name)
    return variable is not None and variable.kind == "local"


def are_two(program: Program, one: Handle, other: Handle) -> bool:
    """Whether two requests lie in memory of two variables: a routine may set no other by a name."""
    if not one.name or not other.name or one.name == other.name:
        return False
    names = (*one.name.split(_PART), *other.name.split(_PART))
    return not any(name in program.overlays or name.startswith("common:") for name in names)
