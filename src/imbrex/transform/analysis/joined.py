"""Variables that a datatype may join: its displacements may be distances between their addresses.

A displacement leads to a variable only where the program knows its address as a number: by a
conversion, a difference of addresses, or MPI_Get_address. A message of a datatype of the program's
own may reach into all of these, wherever they lie, and into no other than that of its buffer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.points_to import EXTERNAL
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind

_LOC = re.compile(rb"(?i)\b(?:loc|c_loc)\s*\(")  # of Fortran: addresses as numbers
_NAMED = re.compile(r"(?:[^&]*&)?[\s(]*([A-Za-z_]\w*)")  # what `&p->x`, `s%x` or `p` are in
_OBJECTS = frozenset({"local", "static", "global", "heap", "field"})
_FURTHER = re.compile(r"\]\s*->|->.*->")  # `p[k]->x`: a structure that a structure names


class Joined:
    """Which variables the datatypes of a program may join."""

    def __init__(self, program: Program, aliases: Aliases) -> None:
        self.program = program
        self.aliases = aliases
        self.numbers: set[str] = set()  # what may be reached from elsewhere, by a displacement
        for key, through in program.numbers:
            self._add(aliases.objects(key, through))
        # Whether calls of MPI_Get_address (or Fortran's loc) may tell where several variables are.
        if any(s.is_fortran and _LOC.search(s.data) for s in program.files.values()):
            self.numbers.add(UNKNOWN_MEMORY)
        elif self.numbers or _by_address(program):
            for routine in program.routines.values():
                for call in _addresses(routine):
                    self._add(self._named(call.arguments[0]))

    def _named(self, argument: Argument) -> Set[str]:
        """What a call of MPI_Get_address tells the address of."""
        found = self.aliases.objects(argument.base or UNKNOWN_MEMORY, argument.through)
        # A dummy argument of Fortran is memory of the callers, under a name of its own.
        whole = all(
            item in self.program.variables
            and self.program.variables[item].kind in _OBJECTS
            and not self.program.overlays.get(item)
            and not item.startswith("common:")
            for item in found
        )
        return found if whole else {UNKNOWN_MEMORY}

    def _add(self, found: Set[str]) -> None:
        self.numbers |= found
        for item in found:
            self.numbers |= self.aliases.records.enclosing(item)

    def reached_from(self, objects: Set[str]) -> frozenset[str]:
        """What a message in one of the objects may reach into, by displacements.

        That is all whose address the program knows as a number, also from MPI_BOTTOM.
        """
        if {UNKNOWN_MEMORY, EXTERNAL} & self.numbers:
            return frozenset({UNKNOWN_MEMORY})
        records = self.aliases.records
        own = set(objects)
        for item in objects:
            own |= records.enclosing(item) | records.inside(item)
        variables = self.program.variables
        # Allocations of one place are many objects.
        if all(
            item in own and not (item in variables and variables[item].kind == "heap")
            for item in self.numbers
        ):
            return frozenset()
        if {UNKNOWN_MEMORY, EXTERNAL} & objects:
            return frozenset({UNKNOWN_MEMORY})
        return frozenset(self.numbers)


def _by_address(program: Program) -> bool:
    for routine in program.routines.values():
        taken = list(_addresses(routine))
        if not all(_in_record(program, call) for call in taken):
            return True
        names = {_name(call) for call in taken}
        if len(names) > 1 or "" in names or _is_set(program, routine, names):
            return True
    return False


def _addresses(routine: Routine) -> Iterator[Call]:
    for statement in routine.statements():
        for call in statement.calls:
            if call.name in mpi_calls.ADDRESSES and call.arguments:
                yield call


def _in_record(program: Program, call: Call) -> bool:
    """Whether the address is one within a structure, of which a datatype describes the fields."""
    variable = program.variables.get(call.arguments[0].base or "")
    if variable is not None and variable.record.startswith("type("):
        return False  # of Fortran: allocatable components have memory of their own
    return variable is not None and bool(variable.record or _is_record(program, variable))


def _is_record(program: Program, variable: Variable) -> bool:
    """Whether a pointer points to structures."""
    prefix = f"field:{variable.element}."
    return variable.pointer and any(key.startswith(prefix) for key in program.variables)


def _name(call: Call) -> str:
    """The variable that names the structure, "" where the text does not show it."""
    text = call.arguments[0].text
    found = _NAMED.match(text)
    return "" if found is None or _FURTHER.search(text) else found[1]


def _is_set(program: Program, routine: Routine, names: set[str]) -> bool:
    """Whether a pointer of that name may come to point to another structure in the routine."""
    return any(
        access.write and not access.through and statement.kind is not Kind.DECLARE
        for statement in routine.statements()
        for access in statement.accesses
        if (variable := program.variables.get(access.variable)) is not None
        and variable.pointer
        and variable.name in names
    )
