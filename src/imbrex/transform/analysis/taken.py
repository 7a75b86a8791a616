"""Which branch a condition takes: by a flag that a call passes, by an error code that is none.

A routine that starts or finishes an exchange as a flag says is two routines to its callers.
"""

from __future__ import annotations

from itertools import zip_longest

from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

Given = tuple[tuple[str, int], ...]  # values of parameters in one call
NOTHING_GIVEN: Given = ()
_MOST = 127  # values that every integer type holds
# What comes to a statement from elsewhere, or goes to another one.
_ENTERED = (ReasonKind.LABEL, ReasonKind.CASE_LABEL, ReasonKind.C_GOTO, ReasonKind.GO_TO)
_TRUTH = {".true.": 1, ".false.": 0}


def blocks_taken(statement: Statement, values: dict[str, int]) -> list[Block]:
    """The blocks of a statement that may run where variables have these values."""
    if statement.test is None or not values or statement.kind is not Kind.IF:
        return statement.blocks
    found = []
    tests = [statement.test, *statement.more_tests]
    for block, test in zip_longest(statement.blocks, tests[: len(statement.blocks)]):
        answer = None if test is None else test.answer(values)
        if answer is False:
            continue
        found.append(block)
        if answer:
            break
    return found


def statements_taken(routine: Routine, values: dict[str, int]) -> list[Statement]:
    """The statements of a routine that may run where variables have these values."""
    found: list[Statement] = []
    work = [iter(routine.body.statements)]
    while work:
        statement = next(work[-1], None)
        if statement is None:
            work.pop()
            continue
        found.append(statement)
        inner = [child for b in blocks_taken(statement, values) for child in b.statements]
        if inner:
            work.append(iter(inner))
    return found


def is_entered(routine: Routine) -> bool:
    """Whether control may come to one of its statements from elsewhere than from the one before."""
    return any(s.stop is not None and s.stop.kind in _ENTERED for s in routine.statements())


def returns_taken(routine: Routine, values: dict[str, int]) -> list[Statement]:
    """The returns of a routine that may run where variables have these values."""
    returns = [s for s in routine.statements() if s.kind is Kind.JUMP and s.text == "return"]
    if is_entered(routine):
        return returns
    taken = {id(statement) for statement in statements_taken(routine, values)}
    return [s for s in returns if id(s) in taken]


def tested(routine: Routine) -> frozenset[str]:
    """The parameters that conditions of a routine ask for."""
    asked: set[str] = set()
    for statement in routine.statements():
        for test in (statement.test, *statement.more_tests):
            if test is not None:
                asked |= test.difference.variables()
    return frozenset(asked & set(routine.parameters))


def given_by(program: Program, call: Call, routine: Routine, asked: frozenset[str]) -> Given:
    """The constants that a call passes for the parameters that are asked for."""
    found = []
    for key, argument in zip(routine.parameters, call.arguments, strict=False):
        variable = program.variables.get(key)
        if key not in asked or variable is None:
            continue
        value = _TRUTH.get(argument.text.strip().lower())
        if argument.value is not None and not argument.value.terms:
            value = argument.value.constant
        if value is None or not 0 <= value <= (1 if "bool" in variable.element.lower() else _MOST):
            continue
        found.append((key, value))
    return tuple(found)
