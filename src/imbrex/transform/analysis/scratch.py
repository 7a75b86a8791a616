"""Scalars that statements only use inside themselves, as the loop indices of older languages."""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.set_first import sets_first
from imbrex.transform.model.program import Block, Routine
from imbrex.transform.model.reasons import ReasonKind


def is_scratch(footprints: Footprints, routine: Routine, block: Block, key: str) -> bool:
    """Whether no statement of a block, or around it, sees what another leaves in the scalar `key`.

    Each of them sets it before it reads it, so that two of them that share nothing else may change
    places.
    """
    variable = footprints.program.variables.get(key)
    if variable is None or variable.kind != "local" or variable.bounds or variable.pointer:
        return False
    if key in footprints.addressed or key in footprints.program.overlays:
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
