"""Sizes that all objects of a type have alike: `init(&u, n, m); init(&v, n, m);`.

One routine sets them, for each object in turn and by the same arguments, in code that runs once.
Nothing that it reads changes meanwhile, so that it computes the same each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.transform.analysis.derived import Derived
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.own_variables import is_of_another
from imbrex.transform.analysis.renaming import Renaming
from imbrex.transform.model.affine import ARROW, Affine, field_of
from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

_EVERY = "every object"  # in the place of the object, of a size that all have
# Functions that give the same whenever they are given the same, but for addresses of new memory.
_SAME = re.compile(r"MPI_(?:Comm_(?:size|rank)|Cart_\w+|Dims_create)|malloc|calloc|sqrt|fabs")


def name_equal(program: Program, footprints: Footprints) -> None:
    """Replace such sizes by what stands for that of each object; footprints become stale."""
    fields = find_equal(Derived(program, footprints))

    def value_of(factor: str) -> Affine | None:
        owner, _, key = factor.partition(ARROW)
        return Affine.variable(field_of(_EVERY, key)) if owner and key in fields else None

    if fields:
        program.variables[_EVERY] = Variable(_EVERY, _EVERY, "static")
        Renaming(value_of, fields).everywhere(program)


def find_equal(derived: Derived) -> frozenset[str]:
    """The fields that have one value in all objects, from where these have any."""
    program = derived.program
    found: set[str] = set()
    records = {v.record for v in program.variables.values() if v.kind == "field" and v.record}
    for routine in program.routines.values() if records and derived.possible else ():
        calls = _calls(derived, routine)
        if calls is not None:
            found |= set(_fields(derived, routine, calls))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Calls:
    """Calls of a routine in one block, the same but for the object at one position."""

    user: Routine
    block: Block
    first: int
    last: int
    position: int


def _calls(derived: Derived, routine: Routine) -> _Calls | None:
    every = derived.setters.callers.get(routine.key, [])
    if len(every) < 2 or routine.problem or routine.address_taken or routine.on_object:
        return None
    user, first = every[0]
    block = first.parent
    in_one_block = all(u is user and s.parent is block and len(s.calls) == 1 for u, s in every)
    if block is None or not in_one_block or not _runs_once(derived, user, first, frozenset()):
        return None
    calls = [statement.calls[0] for _, statement in every]
    if not all(call.is_statement and not call.macro for call in calls):
        return None
    given = [[a.text.strip() for a in call.arguments] for call in calls]
    apart = [n for n, texts in enumerate(zip(*given, strict=False)) if len(set(texts)) > 1]
    if len(apart) != 1 or {len(texts) for texts in given} != {len(routine.parameters)}:
        return None
    places = sorted(block.statements.index(statement) for _, statement in every)
    return _Calls(user, block, places[0], places[-1], apart[0])


def _runs_once(
    derived: Derived, routine: Routine, statement: Statement, inside: frozenset[str]
) -> bool:
    """Whether a statement of a routine runs at most once, and all that it calls."""
    if any(call.repeats for call in statement.calls):
        return False
    block = statement.parent
    while block is not None and block.owner is not None:
        if block.owner.kind not in (Kind.IF, Kind.BLOCK, Kind.TRY):
            return False
        block = block.owner.parent
    calls = derived.setters.callers.get(routine.key, [])
    if routine.name == "main":
        return not calls
    if len(calls) != 1 or routine.address_taken or routine.key in inside:
        return False
    return _runs_once(derived, *calls[0], inside | {routine.key})


def _fields(derived: Derived, routine: Routine, calls: _Calls) -> Iterator[str]:
    """What a routine sets of the objects that it is given, to the same of each."""
    program, footprints = derived.program, derived.footprints
    mine = routine.parameters[calls.position]
    record = _type_of(program.variables[mine]) if mine in program.variables else ""
    if not record:
        return
    same = _is_repeatable(program, routine, frozenset())
    if not (same and _names_members(program, routine, mine)):
        return
    between = calls.block.statements[calls.first : calls.last + 1]
    if any(footprints.of(s, calls.user.file).leaves for s in between):
        return
    touched = [a for s in between for a in footprints.of(s, calls.user.file).accesses]
    changed = footprints.changed_by(between, calls.user.file)
    given = [a for s in between for a in s.accesses if not a.write and s.calls]
    of_type = f"field:{record}."
    read = [a for a in footprints.of_routine(routine).accesses if not a.write]
    elsewhere = [a for a in read + given if not a.variable.startswith(of_type)]
    written = [a for a in touched if a.write]
    if footprints.conflict(_seen_outside(program, routine, elsewhere), written, changed):
        return
    own = {a.variable for a in read if a.variable.startswith(of_type)}
    if not all(_set_before(derived, routine, mine, key) for key in own):
        return
    for key, variable in program.variables.items():
        number = variable.kind == "field" and variable.record == record and not variable.pointer
        if number and _set_alone(derived, routine, mine, key):
            yield key


def _type_of(variable: Variable) -> str:
    """The type of structure that a variable is, or points to."""
    return variable.record or variable.element.removeprefix("const ").removeprefix("struct ")


def _seen_outside(program: Program, routine: Routine, accesses: list[Access]) -> list[Access]:
    """Those of memory that is not a routine's own."""

    def is_own(key: str) -> bool:
        variable = program.variables.get(key)
        local = variable is not None and variable.kind in ("local", "parameter")
        return local and not is_of_another(program, routine, key)

    return [access for access in accesses if access.through or not is_own(access.variable)]


def _names_members(program: Program, routine: Routine, owner: str) -> bool:
    """Whether a routine does nothing with a pointer to an object but name members of that."""
    source = program.files.get(routine.file)
    if source is None or source.is_fortran:
        return False
    text = source.data[routine.body.start : routine.body.end]
    name = re.escape(program.variables[owner].name.encode())
    return re.search(rb"\b%s\b(?!\s*(?:->|\.))" % name, text) is None


def _is_repeatable(program: Program, routine: Routine, inside: frozenset[str]) -> bool:
    """Whether a routine does the same whenever what it reads is the same."""
    if routine.key in inside or routine.problem:
        return False
    for statement in routine.statements():
        if statement.stop is not None:
            return False
        for call in statement.calls:
            callee = program.callee(call.name, routine.file)
            if callee is None and _SAME.fullmatch(call.name) is None:
                return False
            if callee is not None and not _is_repeatable(program, callee, inside | {routine.key}):
                return False
    return True


def _set_before(derived: Derived, routine: Routine, owner: str, key: str) -> bool:
    """Whether a routine reads a field of its object only behind where it has set it."""
    for statement in routine.body.statements:
        touched = derived.footprints.of(statement, routine.file).accesses
        if any(access.variable == key for access in touched):
            sets = statement.sets
            return (
                sets is not None
                and sets[0] == field_of(owner, key)
                and (key not in sets[1].variables())
            )
    return False


def _set_alone(derived: Derived, routine: Routine, owner: str, key: str) -> bool:
    """Whether a field is set by a routine, for its object, and copied from such fields."""
    settings = list(derived.setters.setting(key))
    if not settings or not derived.tellable(owner, key):
        return False
    if not any(where is routine for where, _ in settings):
        return False
    for where, statement in settings:
        if where is routine and derived.setters.names(where, statement, owner, key):
            if not derived.first.never_read(where, statement, owner, key):
                return False
            continue
        sets = statement.sets
        value = None if sets is None else sets[1]
        copied = value is not None and len(value.terms) == 1 and not value.constant
        if value is None or sets is None or not copied or value.terms[0][1] != 1:
            return False
        ends = {factor.partition(ARROW)[2] for factor in (sets[0], value.terms[0][0])}
        if ends != {key}:
            return False
    return True
