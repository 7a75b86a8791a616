"""Requests by the names of the memory that they lie in, followed through calls.

`h.begin(u)` starts what `requests_[0]` of `h` stands for, and `h.end()` waits for it: in the terms
of the routine that calls both, one place has one name for as long as nothing in the name is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

DEEPEST = 4  # calls from the routine that begins and ends down to MPI
_PLACE = r"\w+(?:(?:\.|->)\w+|\[\w+\])*"
_REQUEST = re.compile(
    rf"(?P<address>&)?(?P<place>{_PLACE}?)(?:\.data\(\))?(?:\[(?P<index>\d+)\]|\+(?P<offset>\d+))?$"
)
_FURTHER = "@"  # in names of addresses: which element of an array it is that of
_OBJECT = re.compile(rf"[&*]?(?P<place>{_PLACE})$")

Names = Mapping[str, str]
"""What the parameters of a routine, and `this`, are called where it is called."""


@dataclass(frozen=True, slots=True)
class Handle:
    """A start or a completion, and the elements of a named array whose handles it is about."""

    routine: Routine
    statement: Statement
    call: Call
    name: str  # empty where it is not known
    elements: frozenset[int] | None  # None where they are not known
    always: bool  # whether it is made whenever the outermost statement is


class Handles:
    """Finds the starts and completions that a statement makes."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def of(self, routine: Routine, statement: Statement) -> list[Handle] | None:
        """Those of a call, through the routines that it calls; None where not all are found."""
        found: list[Handle] = []
        if statement.kind is not Kind.SIMPLE:
            return None
        complete = self._of_calls(routine, statement, {}, True, 0, found)
        return found if complete else None

    def all_of(self, routine: Routine, statement: Statement) -> list[Handle] | None:
        """Those of a statement of any kind; None where not all are found."""
        found: list[Handle] = []
        plain = statement.kind is Kind.SIMPLE
        complete = [self._of_calls(routine, each, {}, plain, 0, found) for each in statement.walk()]
        return found if all(complete) else None

    def within(self, routine: Routine, statement: Statement) -> list[Handle]:
        """Those of a statement of any kind, as far down as is followed."""
        found: list[Handle] = []
        for each in statement.walk():
            self._of_calls(routine, each, {}, each is statement, 0, found)
        return found

    def _of_calls(
        self,
        routine: Routine,
        statement: Statement,
        names: Names,
        always: bool,
        depth: int,
        found: list[Handle],
    ) -> bool:
        for call in statement.calls:
            sure = always and self.is_made(routine, statement, call)
            if call.name in mpi_calls.STARTS or call.name in mpi_calls.COMPLETIONS:
                found.append(self._handle(routine, statement, call, names, sure, depth))
                continue
            callee = self.program.callee(call.name, routine.file)
            if call.unknown or call.name.startswith("MPI_") or callee is None:
                continue
            if depth == DEEPEST:
                return False
            inner = self.passed(routine, call, callee, names, depth)
            certain = sure
            for outer in callee.body.statements:
                plain = outer.kind in (Kind.SIMPLE, Kind.DECLARE, Kind.JUMP)
                for each in outer.walk():
                    here = certain and plain
                    if not self._of_calls(callee, each, inner, here, depth + 1, found):
                        return False
                certain = certain and not may_return(outer)
        return True

    def is_made(self, routine: Routine, statement: Statement, call: Call) -> bool:
        """Whether a call is made whenever its statement is: it is in no part of a condition."""
        source = self.program.files.get(routine.file) or self.program.headers.get(routine.file)
        if source is None or call.macro or call.picked:
            return False
        text = source.data[statement.start : statement.end]
        return not any(sign in text for sign in (b"?", b"&&", b"||"))

    @staticmethod
    def number(call: Call) -> int | None:
        """How many requests a call is about, from the one that it names on; None: not known."""
        if call.name in mpi_calls.STARTS or call.name == "MPI_Wait":
            return 1
        value = call.arguments[0].value if call.name == "MPI_Waitall" else None
        return None if value is None or value.terms else value.constant

    def _handle(
        self,
        routine: Routine,
        statement: Statement,
        call: Call,
        names: Names,
        always: bool,
        depth: int,
    ) -> Handle:
        position = mpi_calls.REQUEST_OF_START.get(call.name)
        if position is None:
            position = mpi_calls.REQUEST_OF_COMPLETION.get(call.name, -1)
        if not 0 <= position < len(call.arguments):
            return Handle(routine, statement, call, "", None, always)
        argument = request_argument(call)
        match = _REQUEST.match("".join(argument.text.split()))
        variable = self.program.variables.get(argument.base or "")
        if match is None or variable is None or len(variable.bounds) > 1 or variable.rows:
            return Handle(routine, statement, call, "", None, always)
        name = self.name(routine, match["place"], argument, names, depth)
        # `&a[1]`, `&a`, `a` and `a + 1`; what `a[1]` and `&a + 1` are is not known.
        if match["offset" if match["address"] else "index"] is not None:
            name = ""
        name, _, further = name.partition(_FURTHER)
        first = int(match["index"] or match["offset"] or 0) + int(further or 0)
        count = self.number(call)
        elements = None if count is None else frozenset(range(first, first + count))
        return Handle(routine, statement, call, name, elements, always)

    def passed(
        self, routine: Routine, call: Call, callee: Routine, names: Names, depth: int
    ) -> dict[str, str]:
        """The names of what a call passes, by the names that the callee has for it."""
        found: dict[str, str] = {}
        for key, argument in zip(callee.parameters, call.arguments, strict=False):
            parameter = self.program.variables.get(key)
            match = _OBJECT.match("".join(argument.text.split()))
            known = "this" if callee.on_object and key == callee.parameters[0] else None
            if known is None and parameter is not None:
                known = parameter.name
            if known is None:
                continue
            place = match["place"] if match is not None else ""
            place = place or ("this" if known == "this" and not argument.text.strip() else "")
            found[known] = self.name(routine, place, argument, names, depth) if place else ""
            if known != "this":
                element = self._element(routine, argument, parameter, names, depth)
                found[known] = element or found[known]
        return found

    def _element(
        self,
        routine: Routine,
        argument: Argument,
        parameter: Variable | None,
        names: Names,
        depth: int,
    ) -> str:
        """The name of an array and the number of the element whose address is passed."""
        match = _REQUEST.match("".join(argument.text.split()))
        variable = self.program.variables.get(argument.base or "")
        if match is None or variable is None or len(variable.bounds) != 1 or variable.rows:
            return ""
        if parameter is None or parameter.element != variable.element:
            return ""
        number = match["index"] if match["address"] else match["offset"]
        if number is None or (match["address"] and match["offset"] is not None):
            return ""
        name, _, further = self.name(routine, match["place"], argument, names, depth).partition(
            _FURTHER
        )
        return name and f"{name}{_FURTHER}{int(number) + int(further or 0)}"

    def name(
        self, routine: Routine, place: str, argument: Argument, names: Names, depth: int
    ) -> str:
        """The name of a place in the terms of the outermost routine; empty where it has none."""
        place = place.replace("->", ".")
        root = re.split(r"[.\[]", place, maxsplit=1)[0]
        rest = place[len(root) :]
        if depth and "[" in place:
            return ""  # an index has another meaning there
        if root == "this":
            outer = names.get("this", "") if depth else "this"
            return outer and _part(outer, rest)
        own = {
            variable.name
            for key in routine.parameters
            if (variable := self.program.variables.get(key)) is not None
        }
        if root in own:
            if depth and self.is_set(routine, root):
                return ""
            outer = names.get(root, "") if depth else root
            return outer and _part(outer, rest)
        if root in self.program.declared_in(routine):
            return "" if depth else place
        if not self._is_field(routine, root, argument, rest):
            return f"::{place}"
        outer = names.get("this", "") if depth else "this"
        return outer and _part(outer, f".{place}")

    def is_set(self, routine: Routine, name: str) -> bool:
        """Whether a routine sets a parameter, which then is not what it was given any more."""
        lists = self.program.request_vectors
        keys = {key for key in routine.parameters if key in self.program.variables}
        keys = {key for key in keys if self.program.variables[key].name == name}
        # A reference to a list names the same one always.
        keys -= lists
        if any(form == "addr" and key in keys for _, form, key in self.program.pointer_facts):
            return True
        return any(
            access.write and not access.through and access.variable in keys
            for statement in routine.statements()
            for access in statement.accesses
        )

    def _is_field(self, routine: Routine, root: str, argument: Argument, rest: str) -> bool:
        """Whether a name that is declared nowhere in a routine is one of its object's fields."""
        if not routine.on_object:
            return False
        variable = self.program.variables.get(argument.base or "")
        if not rest and variable is not None and variable.name == root:
            return variable.kind == "field"
        return any(
            known.kind == "field" and known.name == root
            for known in self.program.variables.values()
        )


def _part(name: str, rest: str) -> str:
    """The name of a part of what a name stands for, or points to."""
    array, _, number = name.partition(_FURTHER)
    return f"{array}[{number}]{rest}" if number and rest else name + rest


def may_return(statement: Statement) -> bool:
    """Whether what follows a statement in its routine may not be reached."""
    inside = [inner for inner in statement.walk() if inner.leaves]
    return any(inner.text not in ("break", "continue") for inner in inside)


def starts_of(handles: list[Handle]) -> Iterator[Handle]:
    for handle in handles:
        if handle.call.name in mpi_calls.STARTS:
            yield handle
