"""Variables that hold one of MPI's own datatypes: `dp_type = MPI_DOUBLE_PRECISION`.

Where nothing in the whole program gives such a variable another value, messages that name it are
of that type. A value may be assigned at several places, if all are types of the same elements.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from imbrex import mpi_facts
from imbrex.transform import mpi_calls
from imbrex.transform.analysis.sections import handle
from imbrex.transform.analysis.words import words_in
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_ASSIGNED = re.compile(rb"[\w%.\->]+\s*=\s*(\w+)\s*;?\s*")
_CONDITION = re.compile(r"(\.not\.)?(\w+|\.true\.|\.false\.)")
_KINDS = re.compile(r"(\w+|kind\([\w.]+\))(==|\.eq\.|/=|\.ne\.)(\w+|kind\([\w.]+\))")
_COMPONENT = re.compile(r"(?:\w+\s*%\s*)+(\w+)")
_TYPES = frozenset({"type", "stype", "rtype", "ttype", "otype"})
_OLD = {
    "MPI_Type_contiguous": 1,
    "MPI_Type_vector": 3,
    "MPI_Type_hvector": 3,
    "MPI_Type_create_hvector": 3,
    "MPI_Type_indexed": 3,
    "MPI_Type_create_hindexed": 3,
    "MPI_Type_create_subarray": 5,
    "MPI_Type_create_resized": 0,
    "MPI_Type_get_extent": 0,
}
_UNSET = "MPI_DATATYPE_NULL"


def name_datatypes(program: Program) -> None:
    """Note in arguments that are such variables which of MPI's own datatypes they are."""
    if not program.is_whole or program.unread_code:
        return
    held = _Held(program)
    used: dict[str, list[Argument]] = {}
    for call in program.calls():
        for position in _positions(call):
            argument = call.arguments[position]
            key = held.variable(argument)
            if key is not None:
                used.setdefault(key, []).append(argument)
    for key, arguments in used.items():
        values = sorted(held.values(key) or ())
        elements = {mpi_calls.ELEMENT_OF.get(value, frozenset({value})) for value in values}
        for argument in arguments if len(elements) == 1 else ():
            argument.meaning = values[0]


def _positions(call: Call) -> set[int]:
    """Where a call takes a datatype, and leaves the variable as it is."""
    found = {n for n, role in enumerate(mpi_facts.arguments(call.name) or ()) if role in _TYPES}
    found |= {_OLD[call.name]} if call.name in _OLD else set()
    return {position for position in found if position < len(call.arguments)}


class _Held:
    """The datatypes that variables of a program may hold."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._values: dict[str, set[str] | None] = {}
        self._assigned: dict[str, set[str] | None] = {}

    def variable(self, argument: Argument) -> str | None:
        """The plain variable, or the component of an object of Fortran, that is an argument."""
        text = argument.text.strip()
        base = self.program.variables.get(argument.base or "")
        match = _COMPONENT.fullmatch(text)
        if match is None:
            dummy = base is not None and base.kind == "dummy" and base.name == text.lower()
            return base.key if base is not None and dummy else handle(argument)
        named = base is not None and base.kind == "field" and base.name == match[1].lower()
        return (
            base.key if base is not None and named and base.key.startswith("field:type(") else None
        )

    def values(self, key: str) -> set[str] | None:
        """The datatypes that a variable may be of in a message; None where others are possible."""
        if key not in self._values:
            self._values[key] = None  # while it is looked for: a routine that calls itself
            self._values[key] = self._find(key)
        return self._values[key]

    def _find(self, key: str) -> set[str] | None:
        variable = self.program.variables.get(key)
        if variable is None or variable.kind == "heap" or key in self.program.overlays:
            return None
        if any(source == key and form == "addr" for _, form, source in self.program.pointer_facts):
            return None
        assigned = self.assigned(key)
        if variable.kind in ("parameter", "dummy"):
            return self._passed(key) if assigned == set() else None
        declared = _declared(self.program, key)
        if assigned is None or declared is None:
            return None
        return (assigned | declared) - {_UNSET}

    def _passed(self, key: str) -> set[str] | None:
        """What the calls of its routine give a parameter."""
        routine = next(r for r in self.program.routines.values() if key in r.parameters)
        position = routine.parameters.index(key)
        if routine.address_taken:
            return None
        found: set[str] = set()
        for user, statement in _statements(self.program):
            for call in statement.calls:
                if self.program.callee(call.name, user.file) is not routine:
                    continue
                given = call.arguments[position] if position < len(call.arguments) else None
                if given is None:
                    return None
                if given.constant in mpi_calls.PREDEFINED:
                    found.add(given.constant)
                    continue
                held = self.variable(given)
                values = None if held is None else self.values(held)
                if values is None:
                    return None
                found |= values
        return found

    def assigned(self, key: str) -> set[str] | None:
        """What statements set it to; None where some other one may set it."""
        if key not in self._assigned:
            self._assigned[key] = None
            self._assigned[key] = self._find_assigned(key)
        return self._assigned[key]

    def _find_assigned(self, key: str) -> set[str] | None:
        if self.program.variables[key].name.lower().encode() in self._not_analysed:
            return None
        if any(self._may_set(user, call, position) for user, call, position in self._given[key]):
            return None
        found = set()
        for routine, statement in self._setting[key]:
            source = self.program.files.get(routine.file) or self.program.headers[routine.file]
            match = _ASSIGNED.fullmatch(source.data[statement.start : statement.end])
            value = None if match is None else _constant(match[1], fortran=source.is_fortran)
            own = source.is_fortran and any(not access.write for access in statement.accesses)
            if value is None or own:  # a variable of the program's that is called so
                return None
            if not _is_dead(routine, statement):
                found.add(value)
        return found

    @cached_property
    def _not_analysed(self) -> set[bytes]:
        """The words of statements that are not analysed, in small letters."""
        found: set[bytes] = set()
        for routine, statement in _statements(self.program):
            if statement.stop:
                found |= words_in(self.program, routine, statement)
        return found

    @cached_property
    def _setting(self) -> dict[str, list[tuple[Routine, Statement]]]:
        """The statements that set a variable, but for declarations."""
        found: dict[str, list[tuple[Routine, Statement]]] = defaultdict(list)
        for routine, statement in _statements(self.program):
            if statement.kind is not Kind.DECLARE:
                for key in {access.variable for access in statement.accesses if access.write}:
                    found[key].append((routine, statement))
        return found

    @cached_property
    def _given(self) -> dict[str, list[tuple[Routine, Call, int]]]:
        """The calls of Fortran that are passed a variable, which they may set."""
        found: dict[str, list[tuple[Routine, Call, int]]] = defaultdict(list)
        for routine, statement in _statements(self.program):
            source = self.program.files.get(routine.file)
            for call in statement.calls if source is not None and source.is_fortran else ():
                for position, argument in enumerate(call.arguments):
                    if argument.base is not None:
                        found[argument.base].append((routine, call, position))
        return found

    def _may_set(self, user: Routine, call: Call, position: int) -> bool:
        """Whether a call may set what it is passed, as nothing does that only hands it on."""
        if position in _positions(call):
            return False
        callee = self.program.callee(call.name, user.file)
        if callee is None or call.unknown or position >= len(callee.parameters):
            return True
        parameter = callee.parameters[position]
        return parameter not in self.program.variables or self.assigned(parameter) != set()


def _statements(program: Program) -> Iterator[tuple[Routine, Statement]]:
    for routine in program.routines.values():
        for statement in routine.statements():
            yield routine, statement


def _declared(program: Program, key: str) -> set[str] | None:
    """What declarations of that name give it; None where one may give it something else."""
    variable = program.variables[key]
    name = re.escape(variable.name.encode())
    given = re.compile(rb"(?i)\b" + name + rb"\s*(?:=(?![=>])\s*([^\n;,!&)]*)|[({])")
    further = [rb"^\s*(?:data|namelist)\b.*\b" + name + rb"\b"]
    if variable.record:
        types = program.record_types.get(variable.record, {_type_name(variable.record)})
        made = "|".join(re.escape(name) for name in sorted(types))
        further.append(rb"\b(?:" + made.encode() + rb")\s*\(")
    elsewhere = re.compile(rb"(?im)" + rb"|".join(further))
    found = set()
    sources = (*program.files.values(), *program.headers.values())
    texts = [(source.data, source.is_fortran) for source in sources]
    for data, fortran in (*texts, *((data, True) for data in program.included)):
        if elsewhere.search(data):
            return None
        for match in given.finditer(data):
            value = _constant((match[1] or b"").strip(), fortran=fortran)
            if value is None:
                return None
            if _declares(data, match.start()):  # statements are asked for what they set
                found.add(value)
    return found


def _constant(text: bytes, *, fortran: bool) -> str | None:
    """The datatype of MPI's own that a text names; None where it is none."""
    name = text.decode("latin-1")
    name = name.upper() if fortran else name
    return name if name in mpi_calls.PREDEFINED or name == _UNSET else None


def _type_name(record: str) -> str:
    return record.partition("(")[2].rstrip(")")


def _declares(data: bytes, position: int) -> bool:
    """Whether a value stands in a declaration: more than an object is in front of the name."""
    line = data[data.rfind(b"\n", 0, position) + 1 : position]
    return bool(re.search(rb"[\w:]", re.sub(rb"(?:\w+\s*(?:%|\.|->)\s*)+$", b"", line)))


def _is_dead(routine: Routine, statement: Statement) -> bool:
    """Whether a named constant of Fortran keeps a branch from being run: `if (convertdouble)`."""
    block = statement.parent
    owner = None if block is None else block.owner
    if block is None or owner is None or owner.kind is not Kind.IF:
        return False
    runs = _holds(routine, owner.condition or "")
    return runs is not None and (block is owner.blocks[0]) is not runs


def _holds(routine: Routine, condition: str) -> bool | None:
    """Whether a condition of named constants holds; None for others."""
    if routine.meaning is None:
        return None
    match = _KINDS.fullmatch(condition)
    if match is not None:
        sides = [routine.meaning(side) or "" for side in (match[1], match[3])]
        known = all(side.startswith("=kind ") for side in sides)
        return (sides[0] == sides[1]) is (match[2] in ("==", ".eq.")) if known else None
    match = _CONDITION.fullmatch(condition)
    if match is None:
        return None
    value = match[2] if match[2].startswith(".") else (routine.meaning(match[2]) or "")[1:]
    return (value == ".true.") is (match[1] is None) if value in (".true.", ".false.") else None
