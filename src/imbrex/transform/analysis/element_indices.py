"""Indices of arrays of pointers that are names of others: `int next = 1 - now;`.

An integer of C that is declared with a value and never set again is that value for as long as
nothing of it changes. Where that is from its declaration to its last use in an index, `u[next]` is
`u[1 - now]`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from imbrex.transform.model.affine import QUOTIENT, Affine
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

_CHAIN = 4  # names of names


def name_indices(program: Program) -> None:
    """Replace such integers by their values in the indices of arrays of pointers."""
    addressed = {source for _, form, source in program.pointer_facts if form == "addr"}
    for routine in program.routines.values():
        values = _values(program, routine, addressed)
        if values:
            for statement in routine.statements():
                _replace(statement, values)


def _values(program: Program, routine: Routine, addressed: set[str]) -> dict[str, Affine]:
    given = program.residues
    if not any(key in given for key in _written(routine.statements())):
        return {}
    counts = Counter(_written(routine.statements()))
    return {
        key: given[key]
        for block in routine.body.every()
        for number, statement in enumerate(block.statements)
        if statement.kind is Kind.DECLARE
        for key in set(_written([statement])) & given.keys()
        if counts[key] == 1
        and not {key, *given[key].variables()} & addressed
        and all(_is_own(program, name) for name in given[key].variables())
        and _keeps(block, number, key, given[key])
    }


def _is_own(program: Program, name: str) -> bool:
    """Whether nothing but statements of the routine sets a variable."""
    if name.startswith(QUOTIENT):
        return True
    variable = program.variables.get(name)
    return (
        variable is not None
        and variable.kind in ("local", "parameter")
        and not (variable.pointer or variable.reference or variable.volatile or variable.bounds)
    )


def _keeps(block: Block, declared: int, key: str, value: Affine) -> bool:
    """Whether a variable is what it was declared with wherever it is read in an index."""
    behind = block.statements[declared + 1 :]
    if any(s.kind not in _STRAIGHT for each in behind for s in each.walk()):
        return False
    for number, statement in enumerate(behind):
        if not value.variables() & set(_written(statement.walk())):
            continue
        rest = [s for later in behind[number + 1 :] for s in later.walk()]
        return not _indexes(statement) and not any(_reads(s, key) for s in rest)
    return True


_STRAIGHT = frozenset({Kind.SIMPLE, Kind.DECLARE, Kind.IF, Kind.LOOP, Kind.BLOCK})


def _indexes(statement: Statement) -> bool:
    """Whether a statement does more than to compute with scalars."""
    return bool(statement.blocks or statement.calls) or any(
        access.through or access.section for access in statement.accesses
    )


def _reads(statement: Statement, key: str) -> bool:
    accesses = list(statement.accesses)
    for call in statement.calls:
        accesses += [access for argument in call.arguments for access in argument.reads]
    return any(access.variable == key and not access.write for access in accesses)


def _written(statements: Iterable[Statement]) -> list[str]:
    return [
        access.variable
        for statement in statements
        for access in statement.accesses
        if access.write and not access.through
    ]


def _replace(statement: Statement, values: dict[str, Affine]) -> None:
    def settled(access: Access) -> Access:
        return access._replace(slot=_settled(access.slot, values)) if access.slot else access

    statement.accesses = [settled(access) for access in statement.accesses]
    for call in statement.calls:
        for argument in call.arguments:
            argument.reads = [settled(access) for access in argument.reads]
            argument.slot = _settled(argument.slot, values)
    for key, meant in statement.meant.items():
        if meant.slot:
            statement.meant[key] = meant._replace(slot=_settled(meant.slot, values))


def _settled(slot: tuple[Affine, ...], values: dict[str, Affine]) -> tuple[Affine, ...]:
    for _ in range(_CHAIN):
        found = tuple(
            index.replace(lambda name: values.get(name, Affine.variable(name))) or index
            for index in slot
        )
        if found == slot:
            break
        slot = found
    return slot
