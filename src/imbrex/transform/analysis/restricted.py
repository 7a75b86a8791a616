"""Pairs of parameters that C's `restrict` keeps apart (C11, 6.7.3.1).

While a routine runs, what is changed through a parameter that is `restrict`, and everything that is
reached by it, is reached in no other way. A parameter that is never set is not made of another one.
"""

from __future__ import annotations

from itertools import combinations

from imbrex.transform.analysis.distinct import Pair, kept_pointers
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine


def find_restricted(program: Program) -> set[Pair]:
    """Pairs of pointers that never reach the same memory in the routine whose parameters they are.

    Not of routines that may be called again while they run: a call has pointers of its own.
    """
    addressed = {source for _, form, source in program.pointer_facts if form == "addr"}
    found: set[Pair] = set()
    for routine in program.routines.values():
        kept = kept_pointers(program, routine, addressed)
        if not any(program.variables[key].restricted for key in kept):
            continue
        if _may_call_itself(program, routine):
            continue
        found |= {
            frozenset(pair)
            for pair in combinations(kept, 2)
            if any(program.variables[key].restricted for key in pair)
        }
    return found


def _may_call_itself(program: Program, routine: Routine) -> bool:
    """Whether a routine is reached from its own calls, also where a pointer says what is called."""
    if routine.address_taken:
        return True
    seen: set[str] = set()
    work = [routine]
    while work:
        current = work.pop()
        for statement in current.statements():
            for call in statement.calls:
                callee = program.callee(call.name, current.file)
                if callee is None or callee.key in seen:
                    continue
                if callee is routine:
                    return True
                seen.add(callee.key)
                work.append(callee)
    return False
