"""What a call touches and passes one iteration later, in terms of the iteration before."""

from __future__ import annotations

from dataclasses import replace

from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import Access
from imbrex.transform.model.statements import LoopRange


class Advanced:
    """Puts `index + step` in the place of an index."""

    def __init__(self, index: str, step: int, loop: LoopRange | None = None) -> None:
        """`loop`: that of the index, where another iteration follows."""
        self.index = index
        self.later = Affine.variable(index).plus(Affine(step))
        self.known: frozenset[Affine] = frozenset()  # what is not below 0 then
        if loop is not None and loop.index == index and not loop.unsigned:
            taken = (Affine.variable(index), self.later)
            ends = ((loop.high.plus(i, -1), i.plus(loop.low, -1)) for i in taken)
            self.known = frozenset(fact for pair in ends for fact in pair)

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
        later = old.at(self.section(old.section))
        return later._replace(slot=self._slot(old.slot), when=self._facts(old.when))

    def call(self, old: Call) -> Call:
        arguments = [self._argument(argument) for argument in old.arguments]
        return replace(old, arguments=arguments, known=self._facts(old.known))

    def _facts(self, old: frozenset[Affine]) -> frozenset[Affine]:
        return frozenset(fact.substitute(self.index, self.later) for fact in old) | self.known

    def _argument(self, old: Argument) -> Argument:
        origin = None if old.origin is None else tuple(self.value(i) for i in old.origin)
        first = None if old.first is None else tuple(self.value(i) for i in old.first)
        slot = self._slot(old.slot)
        return replace(old, value=self.value(old.value), origin=origin, first=first, slot=slot)

    def _slot(self, old: tuple[Affine, ...]) -> tuple[Affine, ...]:
        return tuple([index.substitute(self.index, self.later) for index in old])
