"""How long statements take, estimated from their text: enough to place progress calls.

One access counts as a nanosecond, a library function as twenty. A loop whose number of iterations
is not a constant counts as a hundred. What matters is the order of magnitude: an interval that is
half or twice the recommended one serves as well.
"""

from __future__ import annotations

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.program import Program
from imbrex.transform.model.statements import Statement

ACCESS_S = 1e-9
LIBRARY_S = 20e-9
UNKNOWN_ITERATIONS = 100


class Work:
    """Estimated seconds of statements and routines."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._active: set[str] = set()
        self._known: dict[str, float] = {}

    def iterations(self, loop: Statement) -> int | None:
        """How often the body runs, where that is a constant."""
        if loop.loop is None:
            return None
        span: Affine = loop.loop.high.plus(loop.loop.low, -1)
        return None if span.terms else max(0, span.constant + 1)

    def of(self, statement: Statement) -> float:
        """Seconds of one execution."""
        own = ACCESS_S * max(1, len(statement.accesses))
        for call in statement.calls:
            own += self.of_routine(call.name)
        if statement.computes:
            own *= UNKNOWN_ITERATIONS
        parts = [sum(self.of(inner) for inner in block.statements) for block in statement.blocks]
        if statement.loop is not None or statement.kind.value == "loop":
            iterations = self.iterations(statement)
            return own + sum(parts) * (UNKNOWN_ITERATIONS if iterations is None else iterations)
        return own + max(parts, default=0.0)

    def of_body(self, loop: Statement) -> float:
        """Seconds of one iteration."""
        return sum(self.of(inner) for block in loop.blocks for inner in block.statements)

    def uncertain(self, loop: Statement) -> bool:
        """Whether the time of one iteration hangs on numbers of iterations that are not known."""
        return any(self._uncertain(inner) for block in loop.blocks for inner in block.statements)

    def _uncertain(self, statement: Statement) -> bool:
        for inner in statement.walk():
            if inner.kind.value == "loop" and self.iterations(inner) is None:
                return True
            for call in inner.calls:
                routine = self.program.routines.get(call.name)
                if routine is None or call.name in self._active:
                    continue
                self._active.add(call.name)
                found = any(self._uncertain(other) for other in routine.body.statements)
                self._active.discard(call.name)
                if found:
                    return True
        return False

    def of_routine(self, name: str) -> float:
        if name not in self._known:
            routine = self.program.routines.get(name)
            if routine is None or name in self._active:
                return LIBRARY_S
            self._active.add(name)
            self._known[name] = sum(self.of(inner) for inner in routine.body.statements)
            self._active.discard(name)
        return self._known[name]
