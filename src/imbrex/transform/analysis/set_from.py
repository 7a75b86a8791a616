"""Pairs of local pointers that are set from parameters which never reach the same memory.

`double (*u)[m] = (double (*)[m]) a;` reaches what `a` does, and no more: where `a` and `b` are kept
apart, by `restrict` or by all calls, so are `u` and what `b` or a pointer set from it reaches.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

from imbrex.transform.analysis.distinct import Pair, kept_pointers
from imbrex.transform.analysis.local_pointers import LocalPointers
from imbrex.transform.model.memory import Meant
from imbrex.transform.model.program import Program


def find_set_from(program: Program, pairs: set[Pair]) -> set[Pair]:
    """The pairs that follow from others, of pointers that nothing but their declarations sets."""
    addressed = {source for _, form, source in program.pointer_facts if form == "addr"}
    pointers = LocalPointers(program)
    found: set[Pair] = set()
    for routine in program.routines.values() if pairs else ():
        fixed = pointers.fixed(routine)
        families = {key: [key] for key in kept_pointers(program, routine, addressed)}
        for key in fixed:
            families.get(_root(key, fixed), []).append(key)
        for left, right in combinations(families.values(), 2):
            if frozenset((left[0], right[0])) in pairs:
                found |= {frozenset(pair) for pair in product(left, right)}
    return found - pairs


def _root(key: str, fixed: Mapping[str, Meant]) -> str:
    """The pointer that one is set from, in the end; "" where it is set from another thing."""
    seen = {key}
    while key in fixed:
        meant = fixed[key]
        if not meant.through or meant.owner or meant.slot or meant.variable in seen:
            return ""
        key = meant.variable
        seen.add(key)
    return key
