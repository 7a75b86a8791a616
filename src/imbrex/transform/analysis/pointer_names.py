"""What a local pointer names, in the place of the pointer: `double *p = u.data();`.

Elements of `p` are then elements of `u`, which a message may name by the one and a loop by the
other. That holds up to the last use of the pointer, where neither it nor what it was set from, the
vector or a pointer, changes in between: a vector may also get other memory, with a size.
"""

from __future__ import annotations

from collections.abc import Iterator

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.local_pointers import lines_before, there
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.memory import Access, Meant
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

Origin = tuple[Affine | None, ...]


def name_pointers(program: Program, footprints: Footprints) -> None:
    """Name what is touched through such pointers by what they are set from."""
    found = []
    for routine in program.routines.values() if program.meant else ():
        fixed = footprints.local_pointers.fixed(routine)
        meant = {
            key: (known, statements)
            for key, known in fixed.items()
            if _counts_alike(program, known)
            for statements in [_while_used(footprints, routine, key, known)]
            if statements
        }
        for key, (known, statements) in meant.items():
            if _keeps_apart(footprints, key, {each: to for each, (to, _) in meant.items()}):
                found.append((key, known, statements))
    for key, known, statements in found:
        for statement in statements:
            _rename(statement, key, known)


def _counts_alike(program: Program, meant: Meant) -> bool:
    """Whether what the pointer is set from counts its elements by one index, as the pointer."""
    variable = program.variables.get(meant.variable)
    return variable is not None and len(variable.bounds) == 1


def _while_used(
    footprints: Footprints, routine: Routine, key: str, meant: Meant
) -> list[Statement]:
    """The statements from behind the declaration to the last use; none where that may change."""
    for block in routine.body.every():
        for number, statement in enumerate(block.statements):
            if statement.kind is Kind.DECLARE and _sets(statement, key):
                behind = block.statements[number + 1 :]
                while behind and not any(_uses(each, key) for each in behind[-1].walk()):
                    behind.pop()
                kept = not _changed(footprints, routine, behind) & _asked(meant)
                return behind if kept else []
    return []


def _sets(statement: Statement, key: str) -> bool:
    return any(a.variable == key and a.write and not a.through for a in statement.accesses)


def _uses(statement: Statement, key: str) -> bool:
    return any(access.variable == key for access in statement.accesses) or any(
        argument.base == key for argument in _arguments(statement)
    )


def _arguments(statement: Statement) -> Iterator[Argument]:
    for call in statement.calls:
        yield from call.arguments


def _changed(
    footprints: Footprints, routine: Routine, statements: list[Statement]
) -> frozenset[str]:
    """What may change in some statements; by code that is not known, all that is known to it."""
    found: frozenset[str] = footprints.changed_by(statements, routine.file)
    if any(footprints.of(each, routine.file).stop is not None for each in statements):
        found |= footprints.aliases.escaped
    return found


def _asked(meant: Meant) -> set[str]:
    """What has to stay for the pointer to mean the same memory, and the same element of it."""
    found = {meant.variable, f"size:{meant.variable}"} if meant.through else set()
    found |= {meant.owner} - {""}
    for index in (*meant.slot, *(meant.first or ())):
        found |= set() if index is None else index.variables()
    return found


def _keeps_apart(footprints: Footprints, key: str, meant: dict[str, Meant]) -> bool:
    """Whether pointers that are known to name other memory are so by the other names too."""
    for pair in footprints.aliases.distinct:
        if key in pair and len(pair) == 2:
            names = [_element(name, meant) for name in pair]
            if footprints.aliases.may_share(names[0], names[1], frozenset()):
                return False
    return True


def _element(key: str, meant: dict[str, Meant]) -> Access:
    access = Access(key, True, True, 0)
    return there(access, meant[key]) if key in meant else access


def _rename(statement: Statement, key: str, meant: Meant) -> None:
    for inner in statement.walk():
        accesses, line = [], 0
        for access in inner.accesses:
            if access.variable == key and access.through:
                line = access.line
                access = there(access, meant)
            accesses.append(access)
        for argument in _arguments(inner):
            if argument.base == key and argument.through:
                line = inner.line
                _rename_argument(argument, meant)
        if line and meant.through:  # which memory that is depends on what holds its address
            accesses.append(Access(meant.variable, False, False, line))
            if meant.owner:
                accesses.append(Access(meant.owner, False, False, line))
        inner.accesses = accesses


def _rename_argument(argument: Argument, meant: Meant) -> None:
    argument.base, argument.through = meant.variable, meant.through
    argument.owner, argument.slot = meant.owner, meant.slot
    first, strides = meant.first, argument.strides
    if strides:
        by = lines_before(first, strides)
    else:
        by = first[0] if first is not None and len(first) == 1 else None
    argument.whole = argument.whole and by == Affine(0)
    argument.origin = _moved(argument.origin, by)
    argument.first = _moved(argument.first, by)
    argument.strides = strides if argument.origin is not None else ()


def _moved(origin: Origin | None, by: Affine | None) -> Origin | None:
    """The first element in what the pointer is set from; None where it is not known."""
    last = None if origin is None else origin[-1]
    if origin is None or last is None or by is None:
        return None
    return (*origin[:-1], last.plus(by))
