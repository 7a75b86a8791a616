"""Whether a routine computes beside a call: without work, no message can be hidden there."""

from __future__ import annotations

from imbrex.transform.analysis.copies import only_packs
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement


def has_work(footprints: Footprints, routine: Routine, statement: Statement) -> bool:
    """Whether anything beside a statement, at any level, takes time without communicating."""
    inner, block = statement, statement.parent
    while block is not None:
        for other in block.statements:
            if other is inner or other.kind is Kind.INSERTED:
                continue
            found = footprints.of(other, routine.file)
            packs = only_packs(footprints.program, routine.file, other, footprints.messages)
            if found.heavy and not found.events and not packs:
                return True
        if block.owner is None:
            return False
        inner, block = block.owner, block.owner.parent
    return False
