"""Whether nothing is under way yet in requests of a routine's own, ahead of a block of it."""

from __future__ import annotations

from collections.abc import Callable

from imbrex.transform.analysis.declared_values import declared_at
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.handles import Handle, Handles, starts_of
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement


class Unbegun:
    """Looks at what runs ahead of a block, up to where the requests begin to exist."""

    def __init__(
        self, footprints: Footprints, handles: Handles, may_be: Callable[[Handle], bool]
    ) -> None:
        """`may_be`: whether a start may set one of the requests."""
        self.footprints = footprints
        self.handles = handles
        self.may_be = may_be

    def ahead_of(self, routine: Routine, block: Block, keys: set[str]) -> bool:
        """Whether no message is under way in variables where a block of their routine begins.

        The block stands in conditionals alone, or in what begins the variables anew each time.
        """
        known = self._without_declared(routine, block.statements, keys)
        while known and block is not routine.body:
            owner = block.owner
            if owner is None or owner.kind is not Kind.IF or owner.parent is None:
                return False
            block = owner.parent
            ahead = block.statements[: block.statements.index(owner)]
            if not all(self._starts_none(routine, statement) for statement in ahead):
                return False
            known = self._without_declared(routine, ahead, known)
        return True

    def _without_declared(
        self, routine: Routine, statements: list[Statement], keys: set[str]
    ) -> set[str]:
        return {
            key
            for key in keys
            if not any(declared_at(key, routine.file, statement) for statement in statements)
        }

    def _starts_none(self, routine: Routine, statement: Statement) -> bool:
        if self.footprints.of(statement, routine.file).stop is not None:
            return False
        handles = self.handles.all_of(routine, statement)
        return handles is not None and not any(map(self.may_be, starts_of(handles)))
