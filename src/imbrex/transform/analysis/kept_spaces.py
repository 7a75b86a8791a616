"""The spaces of a program that stays as it is, found once for all that ask."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.space import Space
from imbrex.transform.analysis.spaces import Spaces
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement


class _Kept(Spaces):
    """Those of a routine. Of a call seldom more is asked for than the first."""

    def __init__(self, program: Program, footprints: Footprints, routine: Routine) -> None:
        super().__init__(program, footprints, routine)
        self._known: dict[int, tuple[list[Space], Iterator[Space]]] = {}

    def _each(self, statement: Statement) -> Iterator[Space]:
        if id(statement) not in self._known:
            self._known[id(statement)] = [], super()._each(statement)
        found, further = self._known[id(statement)]
        for position in count():
            if position == len(found):
                found.extend(islice(further, 1))
            if position == len(found):
                return
            yield found[position]


class _OfRoutines(dict[str, _Kept]):
    """All of a program, by the keys of routines."""


def kept_spaces(program: Program, footprints: Footprints, routine: Routine) -> Spaces:
    """The spaces of a routine, for what asks while nothing of its program changes."""
    every = footprints.kept_for.setdefault(_OfRoutines, _OfRoutines())
    assert isinstance(every, _OfRoutines)
    if routine.key not in every:
        every[routine.key] = _Kept(program, footprints, routine)
    return every[routine.key]
