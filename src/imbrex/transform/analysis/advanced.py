"""What a call touches and passes one iteration later, in terms of the iteration before."""

from __future__ import annotations

from dataclasses import replace

from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import Access


class Advanced:
    """Puts `index + step` in the place of an index."""

    def __init__(self, index: str, step: int) -> None:
        self.index = index
        self.later = Affine.variable(index).plus(Affine(step))

    def value(self, old: Affine | None) -> Affine | None:
        if old is None or self.index not in old.variables():
            return old
        return old.substitute(self.index, self.later)

    def section(self, old: Section | None) -> Section | None:
        if old is None:
            return None
        return tuple([Range(self.value(r.low), self.value(r.high)) for r in old])

    def access(self, old: Access) -> Access:
        """The access; of an array whose very strides depend on the index nothing stays known."""
        if any(self.index in stride.variables() for stride in old.strides):
            return old.anywhere()
        return old.at(self.section(old.section))._replace(slot=self._slot(old.slot))

    def call(self, old: Call) -> Call:
        return replace(old, arguments=[self._argument(argument) for argument in old.arguments])

    def _argument(self, old: Argument) -> Argument:
        origin = None if old.origin is None else tuple(self.value(i) for i in old.origin)
        first = None if old.first is None else tuple(self.value(i) for i in old.first)
        slot = self._slot(old.slot)
        return replace(old, value=self.value(old.value), origin=origin, first=first, slot=slot)

    def _slot(self, old: tuple[Affine, ...]) -> tuple[Affine, ...]:
        return tuple([index.substitute(self.index, self.later) for index in old])
