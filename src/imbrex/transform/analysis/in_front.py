"""What sets the sizes of an array, in front of where it is allocated and nowhere else."""

from __future__ import annotations

from imbrex.transform.analysis.setters import Setters, in_block
from imbrex.transform.model.affine import array_of_element
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind


class InFront:
    """Looks whether all that sets a variable stands in front of a statement, in its block."""

    def __init__(self, program: Program, setters: Setters) -> None:
        self.program = program
        self.setters = setters

    def of(
        self,
        routine: Routine,
        block: Block,
        here: int,
        owner: str,
        sources: set[str],
        first: int,
        *,
        useless: bool = False,
    ) -> tuple[int, set[str]]:
        """Where the first of the statements of a block is that set variables, and which of these
        are set by others than statements of it in front of `here`.

        `useless`: what the variables tell of is of no use where the whole object is cleared.
        """
        near = owner or not self.program.in_fortran(routine.file)
        setting = self.setters.in_a_block if near else self.setters.leading_to
        left = set()
        for name in sorted(sources):
            source = array_of_element(name)
            for inner in setting(routine, block, source, cleared=not (useless and owner)):
                top = None if inner is None else in_block(inner, block)
                at = here if top is None else block.statements.index(top)
                mine = inner is not None and (
                    not owner or self.setters.names(routine, inner, owner, source)
                )
                if at >= here or not mine:
                    left.add(name)
                else:
                    first = min(first, at)
        return first, left

    def by_callers(
        self, routine: Routine, block: Block, here: int, key: str, sources: set[str]
    ) -> bool:
        """Whether a routine that allocates an array is called behind what sets its sizes alone.

        It comes to the allocation whenever it is called, and is called at one place.
        """
        inside: set[str] = set()
        while sources:
            if block is not routine.body or routine.key in inside or routine.address_taken:
                return False
            if routine.problem or not self.program.in_fortran(routine.file):
                return False
            if not self.setters.passable(routine, block.statements[:here], "", key):
                return False
            calls = self.setters.callers.get(routine.key, [])
            if len(calls) != 1 or calls[0][1].kind is not Kind.SIMPLE:
                return False
            inside.add(routine.key)
            routine, statement = calls[0]
            outer = statement.parent
            if outer is None or len(statement.calls) != 1:
                return False
            if outer.owner is not None and outer.owner.kind not in (Kind.IF, Kind.BLOCK, Kind.LOOP):
                return False
            block, here = outer, outer.statements.index(statement)
            first, sources = self.of(routine, block, here, "", sources, here)
            if not self.setters.passable(routine, block.statements[first:here], "", key):
                return False
        return True
