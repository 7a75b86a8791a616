"""Local pointers that are names of different elements of arrays of pointers.

`double *a = field[now], *b = field[1 - now];`: where each element owns its memory, `a` and `b` are
two arrays for as long as both are there, whatever becomes of `now`.
"""

from __future__ import annotations

from itertools import combinations

from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.distinct import Pair
from imbrex.transform.analysis.elements import different_elements
from imbrex.transform.analysis.local_pointers import LocalPointers
from imbrex.transform.model.memory import Meant
from imbrex.transform.model.program import Program
from imbrex.transform.model.statements import Block, Kind, Statement


def name_elements(program: Program, aliases: Aliases) -> set[Pair]:
    """Pairs of such pointers, which are set where they are declared, and never again."""
    pointers = LocalPointers(program)
    found: set[Pair] = set()
    for routine in program.routines.values():
        named = {
            key: meant
            for key, meant in pointers.fixed(routine).items()
            if meant.through and meant.slot and meant.variable in aliases.slotted
        }
        if len(named) > 1:
            for block in routine.body.every():
                found |= _pairs(aliases, block, named)
    return found


def _pairs(aliases: Aliases, block: Block, named: dict[str, Meant]) -> set[Pair]:
    """The pairs that one run of declarations makes, in which nothing of their indices changes."""
    found: set[Pair] = set()
    run: list[str] = []
    for statement in block.statements:
        written = {access.variable for access in statement.accesses if access.write}
        if not _only_declares(aliases, statement):
            run = []
            continue
        run = [key for key in run if not written & _read_by(named[key])]
        new = [key for key in named if key in written and not written & _read_by(named[key])]
        for left, right in [*combinations(new, 2), *((old, key) for old in run for key in new)]:
            mine, other = named[left], named[right]
            first, second = (mine.variable, mine.slot), (other.variable, other.slot)
            if different_elements(aliases.slotted, first, second):
                found.add(frozenset((left, right)))
        run += new
    return found


def _only_declares(aliases: Aliases, statement: Statement) -> bool:
    """Whether a statement gives variables of its own their values, and does nothing else."""
    return (
        statement.kind is Kind.DECLARE
        and not statement.calls
        and statement.stop is None
        and not any(
            access.write and (access.through or access.variable in aliases.slotted)
            for access in statement.accesses
        )
    )


def _read_by(meant: Meant) -> frozenset[str]:
    """The variables that tell which element a pointer names."""
    return frozenset().union(*(index.variables() for index in meant.slot))
