"""What a loop nest of C touches through local pointers, by the memory that these name.

`const double *u = g->u;` in front of the loops, `double *row = u + j * m, *north = row - m;` in
them: what the nest touches is told in elements of `g->u`, as messages are. A pointer that calls of
the routine are given stays, as messages may be told in terms of it.
"""

from __future__ import annotations

from collections.abc import Set

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.local_pointers import there
from imbrex.transform.model.linear_indices import Strides, in_lines, strides_told
from imbrex.transform.model.memory import Access, Meant
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement

_MOST = 5  # pointers that are set from each other


def by_memory(
    program: Program,
    footprints: Footprints,
    routine: Routine,
    loops: list[Statement],
    accesses: list[Access],
) -> list[Access]:
    """The accesses of one iteration, those through pointers that keep their values by memory."""
    followed = footprints.local_pointers.followed(routine)
    if not any(access.through and access.variable in followed for access in accesses):
        return accesses
    kept = footprints.local_pointers.kept(routine)
    pointers = _Pointers(program, footprints, routine, loops, followed, kept)
    found = [pointers.meant(access) for access in accesses]
    return _split(program, found, pointers.indices)


class _Pointers:
    def __init__(
        self,
        program: Program,
        footprints: Footprints,
        routine: Routine,
        loops: list[Statement],
        followed: dict[str, Meant],
        kept: Set[str],
    ) -> None:
        """`kept`: the pointers that keep their values; `followed`: those that are followed."""
        self.program = program
        self.followed = followed
        self.body = loops[-1].blocks[0]
        self.indices = frozenset(
            span.index for loop in loops if (span := loop.loop or loop.reach) is not None
        )
        self.moved = (self._changed_until(footprints, routine, loops[0]) | self.indices) - kept
        inside = footprints.changed_by(self.body.statements, routine.file)
        self.set_inside = inside - kept

    @staticmethod
    def _changed_until(footprints: Footprints, routine: Routine, loop: Statement) -> frozenset[str]:
        """What a routine changes up to the end of a loop: not what it exchanges behind it."""
        statements = routine.body.statements
        if loop not in statements:
            return footprints.changed_in(footprints.of_routine(routine))
        return footprints.changed_by(statements[: statements.index(loop) + 1], routine.file)

    def meant(self, access: Access) -> Access:
        for _ in range(_MOST):
            meant = self.followed.get(access.variable) if access.through else None
            if meant is None or {meant.variable, meant.owner} & self._changed(access.variable):
                break
            access = there(self.program, access, self._known(access.variable, meant))
        return access

    def _known(self, pointer: str, meant: Meant) -> Meant:
        """The memory, without its first element where that may differ from what it is by now."""
        changed = self._changed(pointer)
        named = [*(meant.first or ()), *meant.slot]
        if all(index is None or index.variables().isdisjoint(changed) for index in named):
            return meant
        return meant._replace(first=None, slot=())

    def _changed(self, pointer: str) -> frozenset[str]:
        """What may change while a pointer is there."""
        life = self.program.variables[pointer].lifetime
        inside = life is not None and self.body.start <= life[0] and life[1] <= self.body.end
        return self.set_inside if inside else self.moved


def _split(program: Program, accesses: list[Access], indices: frozenset[str]) -> list[Access]:
    """Elements of linear arrays in lines, as the indices of the loops or other accesses tell."""
    told: dict[str, set[Strides]] = {}
    for access in accesses:
        if _is_linear(program, access) and access.section is not None:
            strides: Strides | None = access.strides
            low = access.section[0].low
            if not strides and low is not None:
                strides = strides_told(low, indices)
            if strides:
                told.setdefault(access.variable, set()).add(strides)
    known = {key: strides.pop() for key, strides in told.items() if len(strides) == 1}
    return [
        access._replace(section=section, strides=known[access.variable])
        if access.variable in known
        and not access.strides
        and _is_linear(program, access)
        and access.section is not None
        and (section := in_lines(access.section, known[access.variable], indices)) is not None
        else access
        for access in accesses
    ]


def _is_linear(program: Program, access: Access) -> bool:
    variable = program.variables.get(access.variable)
    return variable is not None and access.through and len(variable.bounds) == 1
