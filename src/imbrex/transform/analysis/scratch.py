"""Scalars that statements only use inside themselves, as the loop indices of older languages."""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.set_first import sets_first
from imbrex.transform.analysis.unread import never_read
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Statement


def is_scratch(footprints: Footprints, routine: Routine, block: Block, key: str) -> bool:
    """Whether no statement of a block, or around it, sees what another leaves in the scalar `key`.

    Each of them sets it before it reads it, so that two of them that share nothing else may change
    places.
    """
    if not _is_own_scalar(footprints.program, key) or key in footprints.addressed:
        return False
    if any(s.stop is not None and s.stop.kind is ReasonKind.LABEL for s in routine.statements()):
        return False  # control may come in behind the place where it is set
    inner: Block | None = block
    while inner is not None:
        if not all(sets_first([s], key, footprints, routine.file) for s in inner.statements):
            return False
        owner = inner.owner
        if owner is None:
            return True
        if any(a.variable == key and not a.through for a in owner.accesses):
            return False
        inner = owner.parent
    return True


class PartScratch:
    """Scalars that no part of a routine leaves to another one: parts may change places over them.

    `parts` are all the statements of the routine that are not taken apart, `asked` the conditionals
    that are. A part sets such a scalar before it reads it, or nothing in the routine reads it at
    all, as an error code that nobody looks at.
    """

    def __init__(
        self,
        footprints: Footprints,
        routine: Routine,
        parts: list[Statement],
        asked: list[Statement],
    ) -> None:
        self.footprints = footprints
        self.routine = routine
        self.parts = parts
        self.asked = asked
        self._known: dict[str, bool] = {}

    def __contains__(self, key: str) -> bool:
        if key not in self._known:
            self._known[key] = self._find(key)
        return self._known[key]

    def _find(self, key: str) -> bool:
        if not _is_own_scalar(self.footprints.program, key) or key in self.footprints.addressed:
            return False
        if key == self.routine.result:
            return False
        if never_read(self.footprints.program, self.routine, key) is None:
            return True
        if any(a.variable == key for statement in self.asked for a in statement.accesses):
            return False
        return all(
            sets_first([part], key, self.footprints, self.routine.file) for part in self.parts
        )


def _is_own_scalar(program: Program, key: str) -> bool:
    """Whether a variable is a local scalar that shares its memory with nothing."""
    variable = program.variables.get(key)
    if variable is None or variable.kind != "local" or variable.volatile:
        return False
    return not (variable.bounds or variable.pointer or key in program.overlays)
