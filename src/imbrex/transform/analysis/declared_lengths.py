"""Bounds of arrays that their declarations take from variables: `real u(n, m)`, `double u[n][m]`.

They have the values of when the routine was entered (Fortran 2018, 10.1.11), or in C of when the
declaration was reached (C11, 6.7.6.2). Behind a change of such a variable its name does not tell
them, so that they are told only where it keeps its value as long as the array is there.
"""

from __future__ import annotations

from collections.abc import Iterable

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.own_variables import place_in_c, unit_of
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.shapes import Bounds
from imbrex.transform.model.statements import Kind, Statement


def settle_lengths(program: Program, footprints: Footprints) -> None:
    """Forget bounds of arrays that are made of what changes while the arrays are there."""
    named = [variable for variable in program.variables.values() if any(_ends(variable.bounds))]
    lengths = _Lengths(program, footprints)
    for variable in named:
        changed = lengths.changed_beside(variable)
        variable.bounds = tuple(_kept(bounds, changed) for bounds in variable.bounds)


def _ends(bounds: Iterable[Bounds]) -> list[Affine]:
    """The bounds that variables give."""
    return [end for ends in bounds for end in ends if end is not None and end.terms]


def _kept(bounds: Bounds, changed: frozenset[str] | None) -> Bounds:
    low, high = (
        None if end is None or (end.terms and _changes(end, changed)) else end for end in bounds
    )
    return low, high


def _changes(end: Affine, changed: frozenset[str] | None) -> bool:
    return changed is None or not end.variables().isdisjoint(changed)


class _Lengths:
    """Finds what may change while arrays are there, once for each place that declares some."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints
        routines = program.routines.values()
        self.units = {(each.file, each.line): each for each in routines}
        self.with_parameter = {key: each for each in routines for key in each.parameters}
        self._known: dict[tuple[str, int], frozenset[str] | None] = {}

    def changed_beside(self, variable: Variable) -> frozenset[str] | None:
        """The variables that may change while an array is there; None where it is not known."""
        routine = self.with_parameter.get(variable.key)
        if routine is None:
            unit = unit_of(variable.key)
            routine = None if unit is None else self.units.get(unit)
        if routine is not None:
            return self._of(routine.file, routine.body.start, routine.body.statements)
        place = place_in_c(variable.key)
        if place is None or variable.kind != "local":
            return None
        for routine in self.program.routines.values():
            if routine.file == place[0] and routine.body.start <= place[1] < routine.body.end:
                behind = from_declaration(routine, place[1])
                return None if behind is None else self._of(*place, behind)
        return None

    def _of(self, file: str, at: int, statements: list[Statement]) -> frozenset[str] | None:
        known = self._known.get((file, at))
        if known is None:
            known = self._known[file, at] = self.footprints.changed_by(statements, file)
        return known


def from_declaration(routine: Routine, at: int) -> list[Statement] | None:
    """The statements of a block from that on which declares what stands at a byte."""
    block = routine.body
    while True:
        inside = [n for n, each in enumerate(block.statements) if each.start <= at < each.end]
        if not inside:
            return None
        statement = block.statements[inside[0]]
        if statement.kind is Kind.DECLARE:
            return block.statements[inside[0] :]
        inner = [each for each in statement.blocks if each.start <= at < each.end]
        if not inner:
            return None
        block = inner[0]
