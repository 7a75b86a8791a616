"""Routines of the program that allocate memory for their callers: `b->send = array(n);`.

One `malloc` in such a routine stands for the memory of all its callers. What each variable or field
is given is told apart here, as if the allocation stood where the routine is called.
"""

from __future__ import annotations

from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import TWICE

_HEAP, _RETURN = "heap:", "return:"
# Cells that are no variables.
_OTHER = ("argument:", _RETURN, "record:", "escape", "address")
Facts = dict[str, list[tuple[str, str]]]


def tell_allocations_apart(program: Program, known: frozenset[str]) -> None:
    """Give each variable that is set to what such a routine returns an allocation of its own.

    `known`: routines that keep no pointer which they are given.
    """
    facts: Facts = {}
    for target, form, source in program.pointer_facts:
        facts.setdefault(target, []).append((form, source))
    returned = {s for _, form, s in program.pointer_facts if form == "copy" and _is_return(s)}
    if not returned:
        return
    addressed = {source for _, form, source in program.pointer_facts if form == "addr"}
    targets: dict[str, set[str]] = {}
    for target, _, source in program.pointer_facts:
        targets.setdefault(source, set()).add(target)

    def allocates(result: str, active: frozenset[str]) -> bool:
        """Whether a routine returns nothing but memory that nothing else holds."""
        routine = program.routines.get(result.removeprefix(_RETURN))
        if routine is None or routine.problem == TWICE or result in active:
            return False
        return bool(facts.get(result)) and all(
            new(form, source, active | {result}) or own(source, result, active | {result})
            for form, source in facts[result]
        )

    def new(form: str, source: str, active: frozenset[str]) -> bool:
        if form == "addr":
            return source.startswith(_HEAP)
        return _is_return(source) and allocates(source, active)

    def own(key: str, result: str, active: frozenset[str]) -> bool:
        """Whether a variable holds memory that only the caller of its routine is given."""
        variable = program.variables.get(key)
        if variable is None or variable.kind != "local" or key in addressed or variable.bounds[1:]:
            return False
        kept = {target for target in targets.get(key, set()) if not _forgets(target, known)}
        kept = {target for target in kept if not ends(target)}
        return kept == {result} and all(new(*fact, active) for fact in facts.get(key, []))

    def ends(key: str) -> bool:
        """Whether nothing else is set to what a local variable holds, as what rows are made of."""
        variable = program.variables.get(key)
        if variable is None or variable.kind != "local" or key in addressed:
            return False
        return all(_forgets(target, known) for target in targets.get(key, set()))

    fresh = {result for result in returned if allocates(result, frozenset())}
    for number, (target, form, source) in enumerate(program.pointer_facts):
        if source not in fresh or form != "copy" or target.startswith(_OTHER):
            continue
        key = f"{_HEAP}{source.removeprefix(_RETURN)}>{target}"
        program.variables.setdefault(key, Variable(key, "allocated memory", "heap"))
        program.pointer_facts[number] = (target, "addr", key)


def routine_of(heap: str) -> str:
    """The routine that returns some memory, told by what is set to it; "" if none."""
    routine, returned, _ = heap.removeprefix(_HEAP).partition(">")
    return routine if returned else ""


def allocator_of(heap: str, target: str) -> str:
    """The routine whose memory, of a call that a variable is set to, is meant; "" if none."""
    made = heap.removeprefix(_HEAP).removesuffix(f">{target}")
    return made if heap == f"{_HEAP}{made}>{target}" else ""


def _is_return(cell: str) -> bool:
    return cell.startswith(_RETURN)


def _forgets(target: str, known: frozenset[str]) -> bool:
    """Whether a cell is an argument of a routine that keeps no pointer."""
    name = target.removeprefix("argument:").rpartition(":")[0]
    return target.startswith("argument:") and name in known
