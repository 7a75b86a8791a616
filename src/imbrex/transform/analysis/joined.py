"""Variables that a datatype may join: its displacements may be distances between their addresses.

A message of such a type that begins in one of them may reach into all others, wherever they lie.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.aliases import EXTERNAL, Aliases
from imbrex.transform.model.program import (
    UNKNOWN_MEMORY,
    Call,
    Kind,
    Program,
    Routine,
    Variable,
)

_LOC = re.compile(rb"(?i)\b(?:loc|c_loc)\s*\(")  # of Fortran: addresses as numbers
_NAMED = re.compile(r"(?:[^&]*&)?[\s(]*([A-Za-z_]\w*)")  # what `&p->x`, `s%x` or `p` are in
_FURTHER = re.compile(r"\]\s*->|->.*->")  # `p[k]->x`: a structure that a structure names


class Joined:
    """Which variables the datatypes of a program may join."""

    def __init__(self, program: Program, aliases: Aliases) -> None:
        self.program = program
        self.aliases = aliases
        # Whether calls of MPI_Get_address (or Fortran's loc) may tell where several variables are.
        self.by_address = _by_address(program)
        self.numbers: set[str] = set()
        for key, through in program.numbers:
            found = aliases.objects(key, through)
            self.numbers |= found
            for item in found:
                self.numbers |= aliases.records.enclosing(item)

    def with_others(self, objects: Set[str]) -> bool:
        """Whether a message in one of the objects may reach into others, by plain arithmetic."""
        if not self.numbers:
            return False
        anywhere = {UNKNOWN_MEMORY, EXTERNAL}
        if not anywhere.isdisjoint(objects | self.numbers):
            return True
        records = self.aliases.records
        own = set(objects)
        for item in objects:
            own |= records.enclosing(item) | records.inside(item)
        if own.isdisjoint(self.numbers):
            return False
        variables = self.program.variables
        # Allocations of one place are many objects.
        return any(
            item not in own or (item in variables and variables[item].kind == "heap")
            for item in self.numbers
        )


def _by_address(program: Program) -> bool:
    if any(s.is_fortran and _LOC.search(s.data) for s in program.files.values()):
        return True
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
