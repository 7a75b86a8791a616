"""Pairs of references that never name the same object of a class.

A reference of C++, and `this`, name one object as long as the routine runs. Two of them name
different ones if they do in every call: other variables, or references that are such a pair there.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import TWICE
from imbrex.transform.model.routine import Routine

Pair = frozenset[str]


def find_references(program: Program, aliases: Aliases) -> set[Pair]:
    """Such pairs among the parameters of routines whose calls are all known."""
    if not program.is_whole:
        return set()
    takers: dict[Pair, Routine] = {}
    # Functions whose address is taken, and constructors: their calls are not seen.
    unseen = {source for _, _, source in program.pointer_facts if source.startswith("function:")}
    unseen |= aliases.escaped
    for routine in program.routines.values():
        if f"function:{routine.name}" in unseen or routine.problem == TWICE:
            continue
        kept = [key for key in routine.parameters if _is_reference(program, key)]
        takers |= {frozenset(pair): routine for pair in combinations(kept, 2)}
    calls: dict[str, list[Call]] = {}
    for call in program.calls():
        calls.setdefault(call.name, []).append(call)
    pairs = {pair for pair, routine in takers.items() if routine.name in calls}
    shrinking = True
    while shrinking:
        wrong = {
            pair
            for pair in pairs
            if not all(
                _differ(program, takers[pair], pair, call, pairs)
                for call in calls[takers[pair].name]
            )
        }
        pairs -= wrong
        shrinking = bool(wrong)
    return pairs


def _is_reference(program: Program, key: str) -> bool:
    variable = program.variables.get(key)
    return variable is not None and variable.reference


def _differ(program: Program, routine: Routine, pair: Pair, call: Call, pairs: set[Pair]) -> bool:
    positions = [routine.parameters.index(key) for key in pair]
    if call.unknown or len(call.arguments) <= max(positions):
        return False
    left, right = (_as_object(program, call.arguments[position]) for position in positions)
    if left.base is None or right.base is None or left.base == right.base:
        return False
    if left.through and right.through:
        return frozenset((left.base, right.base)) in pairs
    return (
        _is_object(program, left) and _is_object(program, right) and _beside(program, left, right)
    )


def _as_object(program: Program, argument: Argument) -> Argument:
    """The argument as the variable or member that it is, where an expression picks it."""
    base, through = program.named_objects.get(argument.base or "", (argument.base, None))
    return argument if through is None else replace(argument, base=base, through=through)


def _beside(program: Program, left: Argument, right: Argument) -> bool:
    """Whether neither of two objects lies in the other: none lies in one of its own class."""
    first, second = (program.variables[argument.base or ""] for argument in (left, right))
    return "field" not in (first.kind, second.kind) or first.element == second.element


def _is_object(program: Program, argument: Argument) -> bool:
    """Whether the argument is a whole variable, or member, of a class."""
    variable = program.variables.get(argument.base or "")
    if variable is None or argument.through or variable.key.endswith(".*"):
        return False
    of_class = bool(variable.record) or variable.kind == "field"
    return of_class and not variable.pointer and not variable.bounds
