"""What a routine does in front of its loop nest and behind it, where a part of the nest is to run
earlier.

Locals that are set for the loops are set in each part. All else is left to the part that runs last:
it stands where it did and sees the same, but for locals, of which each part has its own. It may
hold further loops, as a nest that copies the new field back. One local may go from part to part, as
the value of the first: a sum or a maximum of all iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.transform.analysis.copies import calculates
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.set_first import sets_first
from imbrex.transform.analysis.space import Space
from imbrex.transform.analysis.words import words_in
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_NUMBERS = frozenset({"double", "float", "int", "long", "long long", "unsigned int"})


@dataclass(slots=True)
class Parts:
    """A loop of a routine's body, and what stands before and behind it there."""

    before: list[Statement]
    loops: Statement
    final: list[Statement]


def parted_from(program: Program, footprints: Footprints, callee: Routine) -> Iterator[Parts]:
    """The loops that a routine may be divided at: of C one that calculates first."""
    body = opened(callee)
    places = [n for n, s in enumerate(body) if s.kind is Kind.LOOP or s.elementwise]
    chosen = places[:1]
    if places and program.in_c(callee.file):
        working = [n for n in places if calculates(program, callee.file, body[n])]
        chosen = [*working[:1], *(n for n in chosen if n not in working[:1])]
    for place in chosen:
        yield Parts(body[:place], body[place], body[place + 1 :])


def parted_at_calls(callee: Routine) -> Iterator[Parts]:
    """The calls that a routine may be divided at, which another one divides: of Fortran the first.

    In C what stands in front of a later one may be left to the part that runs last.
    """
    body = opened(callee)
    for place, statement in enumerate(body):
        if statement.kind is Kind.SIMPLE and len(statement.calls) == 1:
            yield Parts(body[:place], statement, body[place + 1 :])


def opened(callee: Routine) -> list[Statement]:
    """A routine's statements, and in the place of an ASSOCIATE that ends it those in there."""
    found = list(callee.body.statements)
    while found and found[-1].kind is Kind.CONSTRUCT:
        found[-1:] = found[-1].blocks[0].statements
    return found


def result_of(program: Program, callee: Routine, inner: Space, final: list[Statement]) -> str:
    """The one local that the loops reduce values into and that is wanted behind them; or ""."""
    if not final or not program.in_c(callee.file):
        return ""
    found = [key for key in inner.reduced if program.variables[key].kind == "local"]
    if len(found) != 1 or program.variables[found[0]].element not in _NUMBERS:
        return ""
    if any(access.variable == found[0] for access in inner.headers):
        return ""
    return found[0]


def starts_and_ends_alone(
    program: Program,
    footprints: Footprints,
    callee: Routine,
    parts: Parts,
    first: list[Statement],
    result: str,
) -> list[Statement] | None:
    """What stands in front of the loops and is left to the last part alone, as `final` is.

    None where the routine does something there that neither both parts can make nor one alone.
    """
    surroundings = _Surroundings(program, footprints, callee, parts, result)
    begin = surroundings.begin(first)
    if begin is None or not surroundings.may_follow([s for s in parts.before if s not in begin]):
        return None
    return begin


class _Surroundings:
    def __init__(
        self,
        program: Program,
        footprints: Footprints,
        callee: Routine,
        parts: Parts,
        result: str,
    ) -> None:
        self.program = program
        self.footprints = footprints
        self.callee = callee
        self.parts = parts
        self.result = result

    def begin(self, first: list[Statement]) -> list[Statement] | None:
        own = [
            s
            for s in self.parts.before
            if not (idle(s) or s in first or sets_locals(self.program, self.footprints, s))
        ]
        if self.program.in_c(self.callee.file):
            own = self._with_unneeded(own)
        elif own:
            return None
        accesses, rest = [], []
        for statement in self.parts.before:
            if statement not in own:
                rest += self.footprints.of(statement, self.callee.file).accesses
        rest += self.footprints.of(self.parts.loops, self.callee.file).accesses
        for statement in own:
            found = self.footprints.of(statement, self.callee.file)
            if found.leaves or found.events or found.stop:
                return None
            accesses += found.accesses
        changed = self.footprints.changed(accesses + rest)
        if own and self.footprints.conflict(accesses, rest, changed) is not None:
            return None
        return own

    def _with_unneeded(self, own: list[Statement]) -> list[Statement]:
        """With what sets locals for these alone, and for what stands behind the loops."""
        needed = self._named([self.parts.loops])
        said = words_in(
            self.program, self.callee, self.parts.loops
        )  # a reference of C++ has no accesses of its own
        for statement in reversed(self.parts.before):
            if statement in own:
                continue
            named = self._named([statement])
            names = {self.program.variables[key].name.lower().encode() for key in named}
            sets = any(a.write for a in statement.accesses)
            unneeded = named and not named & needed and not names & said
            if sets and unneeded and not statement.calls:
                own = [*own, statement]
            else:
                needed |= named
                said |= words_in(self.program, self.callee, statement)
        return [s for s in self.parts.before if s in own]

    def may_follow(self, kept: list[Statement]) -> bool:
        """Whether what stands behind the loops may follow the last part alone.

        What is set for it in front of the loops would be set in the other part too, for nothing.
        """
        final, loops = self.parts.final, self.parts.loops
        for number, statement in enumerate(final):
            found = self.footprints.of(statement, self.callee.file)
            if found.leaves and not (number == len(final) - 1 and self._returns(statement)):
                return False
            if found.events and not self.program.in_c(self.callee.file):
                return False
        behind = self._named(final) - {self.result}
        set_inside = self._named([loops], set_there=True) - {self.result}
        if any(not self._sets_anew(key) for key in behind & set_inside):
            return False
        for key in behind | set_inside | {self.result}:
            if key in self.footprints.addressed and self._known_in_loops(key):
                return False
        if self.program.in_c(self.callee.file):
            return True
        set_before = self._named(kept, set_there=True)
        read = {
            access.variable
            for statement in (*kept, loops)
            for inner in statement.walk()
            for access in inner.accesses
            if not access.write
        }
        return behind & set_before <= read

    def _returns(self, statement: Statement) -> bool:
        """Whether a statement is the return at the end of a routine of C, outside of a block."""
        is_return = statement.kind is Kind.JUMP and statement.text == "return"
        return is_return and self.program.in_c(self.callee.file)

    def _sets_anew(self, key: str) -> bool:
        """Whether what stands behind the loops sets a scalar that they set before it reads it."""
        scalar = not self.program.variables[key].bounds and key not in self.program.overlays
        return scalar and sets_first(self.parts.final, key, self.footprints, self.callee.file)

    def _known_in_loops(self, key: str) -> bool:
        """Whether the address of a local may be known in front of what stands behind the loops."""
        life, loops = self.program.variables[key].lifetime, self.parts.loops
        if life is not None and loops.start <= life[0] and life[1] <= loops.end:
            return False  # made anew in each iteration
        if not self.program.in_c(self.callee.file) or self.program.variables[key].bounds:
            return True
        known_from = self.program.known_from.get(key, set())
        if any(offset < self.parts.loops.end for offset in known_from):
            return True
        inner = [w for s in (*self.parts.before, self.parts.loops) for w in s.walk()]
        calls = [call for statement in inner for call in statement.calls]
        return any(argument.base == key for call in calls for argument in call.arguments)

    def _named(self, statements: list[Statement], *, set_there: bool = False) -> set[str]:
        """The local variables that statements of a routine name, or those that they may set."""
        found: set[str] = set()
        for statement in statements:
            accesses = list(self.footprints.of(statement, self.callee.file).accesses)
            for inner in statement.walk():
                accesses += inner.accesses
                if not set_there:
                    found |= {part.base or "" for call in inner.calls for part in call.arguments}
            found |= {access.variable for access in accesses if access.write or not set_there}
        known = self.program.variables
        return {key for key in found if key in known and known[key].kind == "local"}


def sets_locals(program: Program, footprints: Footprints, statement: Statement) -> bool:
    """Whether a statement in front of the loops may be made in each part."""
    if statement.calls or statement.stop or statement.blocks or statement.computes:
        return False
    if statement.kind is Kind.DECLARE:
        return True
    variables = program.variables
    return statement.kind is Kind.SIMPLE and all(
        not access.through
        and (variable := variables.get(access.variable)) is not None
        and variable.kind == "local"
        and access.variable not in footprints.addressed
        for access in statement.accesses
        if access.write
    )


def idle(statement: Statement) -> bool:
    """Whether a statement does nothing that can be seen, as a macro that stands for nothing."""
    return all(
        inner.kind in (Kind.SIMPLE, Kind.IF, Kind.BLOCK)
        and not inner.calls
        and not inner.stop
        and not any(access.write for access in inner.accesses)
        for inner in statement.walk()
    )
