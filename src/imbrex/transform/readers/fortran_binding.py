"""What calls make of objects and their components: which dummy arguments name them.

The language forbids to change through one name what another names meanwhile. A component that is
passed beside its object (`call halo(g, g%u)`) is followed all the same, as programs do it.
"""

from __future__ import annotations

from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import BY_POINTER
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement


def bind_components(program: Program) -> None:
    """Note which fields dummy arguments may be, and stop at calls that change an object's type."""
    if not any(variable.kind == "field" for variable in program.variables.values()):
        return
    dummies = [key for key, known in program.variables.items() if known.kind == "dummy"]
    seen = program.passed_fields
    if not program.has_main:  # other code may pass any of them
        for key, variable in program.variables.items():
            if variable.kind == "field":
                for dummy in dummies:
                    if program.variables[dummy].element == variable.element:
                        seen.setdefault(dummy, set()).add(key)
    places = list(_calls(program))
    for statement, call, routine in places:
        if routine is not None and not _fits(program, call, routine):
            statement.stop = statement.stop or ReasonKind.DERIVED_ARGUMENT(routine=routine.name)
    grown = True
    while grown:
        grown = False
        for _, call, routine in places:
            for position, argument in enumerate(call.arguments):
                fields = _fields(program, argument)
                into = dummies if call.unknown else []
                if routine is not None:
                    into = routine.parameters
                    if argument.base is not None:  # without a keyword
                        into = into[position : position + 1]
                for dummy in into if fields else ():
                    known = seen.setdefault(dummy, set())
                    grown = grown or not fields <= known
                    known |= fields
    for dummy, fields in seen.items():
        if dummy in program.overlays:  # a pointer may be set to it
            for key in fields:
                program.overlays.setdefault(key, set()).add(BY_POINTER)


def _calls(program: Program) -> list[tuple[Statement, Call, Routine | None]]:
    return [
        (statement, call, program.callee(call.name, routine.file))
        for routine in program.routines.values()
        for statement in routine.statements()
        for call in statement.calls
    ]


def _fields(program: Program, argument: Argument) -> set[str]:
    """The components that an argument may be."""
    if argument.base is None:  # with a keyword before it
        named = {access.variable for access in argument.reads}
    else:
        named = {argument.base}
    found = {key for key in named if key.startswith("field:type(")}
    return found.union(*(program.passed_fields.get(key, set()) for key in named))


def _fits(program: Program, call: Call, routine: Routine) -> bool:
    """Whether objects are passed as such: a component is no other type's in the routine."""
    for position, argument in enumerate(call.arguments):
        mine = program.variables.get(argument.base or "")
        if position >= len(routine.parameters):
            continue
        theirs = program.variables.get(routine.parameters[position])
        here = "" if mine is None else mine.object
        there = "" if theirs is None else theirs.object
        if here != there:
            return False
    return True
