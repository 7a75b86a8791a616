"""Dummy arguments of assumed shape whose elements surely follow each other in memory.

Such an argument may be a section, `u(::2, :)`, so that a message from its first elements touches
others than its next ones. It is none where each call of the routine, in a program that is known as
a whole, passes a whole array.
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform.analysis.mentions import Mentions
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement


def find_contiguous(program: Program) -> None:
    """Mark the arguments that are no sections, and lift what stood against passing these on."""
    candidates = _candidates(program)
    while True:
        refuted = {
            key
            for key, (routine, position) in candidates.items()
            if not all(
                position < len(call.arguments)
                and _follows(program, call.arguments[position], candidates)
                for _, call in _calls(program, routine)
            )
        }
        if not refuted:
            break
        for key in refuted:
            del candidates[key]
    for key in candidates:
        program.variables[key].scattered = False
    for call in program.calls():
        for argument in call.arguments:
            if argument.base in candidates and _as_its_array(argument):
                argument.problem = None


def _candidates(program: Program) -> dict[str, tuple[Routine, int]]:
    found: dict[str, tuple[Routine, int]] = {}
    if not program.is_whole:
        return found
    mentions = Mentions(program)
    for routine in program.routines.values():
        mine = [
            (key, position)
            for position, key in enumerate(routine.parameters)
            if _scattered(program.variables.get(key))
        ]
        if mine and not routine.address_taken and mentions.all_known(routine):
            found.update({key: (routine, position) for key, position in mine})
    return found


def _scattered(variable: Variable | None) -> bool:
    return variable is not None and variable.scattered


def _calls(program: Program, routine: Routine) -> Iterator[tuple[Statement, Call]]:
    for user in program.routines.values():
        for statement in user.statements():
            for call in statement.calls:
                if call.name == routine.name:
                    yield statement, call


def _follows(
    program: Program, argument: Argument, candidates: dict[str, tuple[Routine, int]]
) -> bool:
    variable = program.variables.get(argument.base or "")
    if variable is None or not variable.bounds or variable.key in program.overlays:
        return False
    if argument.problem is None:
        return not (variable.scattered and argument.whole) or variable.key in candidates
    return variable.key in candidates and _as_its_array(argument)


def _as_its_array(argument: Argument) -> bool:
    """Whether the elements follow each other where those of the array do."""
    return argument.problem == ReasonKind.MAY_BE_NONCONTIGUOUS()
