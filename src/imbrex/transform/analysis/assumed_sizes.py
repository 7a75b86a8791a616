"""What must hold of the sizes of two objects for an interior to touch nothing of a message.

`curr%u(i, j) = prev%u(i, j + 1)` up to `curr%ny` leaves column `prev%ny + 1` alone without its last
iteration where `curr%ny` is no more than `prev%ny`. The source may show that nowhere; the program
can ask it where it runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import ARROW, PRODUCT, Affine
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Statement

_TYPE = re.compile(rb"(?ims)^[ \t]*type\b(?![ \t]*\().*?^[ \t]*end[ \t]*type\b")


def may_be_asked(source: SourceFile, statement: Statement) -> bool:
    """Whether a call may stand within an IF of Fortran as its text is."""
    text = source.data[statement.start : statement.end]
    plain = b"#" not in text and b"!$" not in text and b";" not in text
    return plain and source.language is Language.FORTRAN_FREE


def assumable(
    footprints: Footprints,
    program: Program,
    call: Call,
    left: list[Access],
    wanted: list[Access],
    changed: frozenset[str],
) -> frozenset[Affine]:
    """Differences of sizes that keep accesses apart where they are not below 0."""
    found: set[Affine] = set()
    for mine in left:
        for other in wanted:
            if footprints.conflict([mine], [other], changed) is not None:
                found.update(f for f in _between(mine, other) if asked(program, call, f))
    return frozenset(found)


def _between(mine: Access, other: Access) -> Iterator[Affine]:
    if mine.section is None or other.section is None or mine.variable != other.variable:
        return
    for left, right in zip(mine.section, other.section, strict=False):
        for high, low in ((left.high, right.low), (right.high, left.low)):
            if high is None or low is None:
                continue
            room = low.plus(high, -1)
            if room.constant >= 1 and len(room.terms) == 2:
                yield Affine(0, room.terms)


def asked(program: Program, call: Call, fact: Affine) -> str | None:
    """The condition, of one component of two objects that a call is given; None for others."""
    if sorted(number for _, number in fact.terms) != [-1, 1]:
        return None
    sides = {number: _component(program, call, factor) for factor, number in fact.terms}
    if None in sides.values() or len({str(side).partition("%")[2] for side in sides.values()}) > 1:
        return None
    return f"{sides[-1]} <= {sides[1]}"


def _component(program: Program, call: Call, factor: str) -> str | None:
    """How a caller names a component of what it passes as an argument."""
    owner, arrow, key = factor.partition(ARROW)
    variable, field = program.variables.get(owner), program.variables.get(key)
    if not arrow or PRODUCT in factor or variable is None or field is None:
        return None
    if field.bounds or not field.element.startswith("integer") or field.kind != "field":
        return None
    names = {a.text.strip() for a in call.arguments if a.base == owner and a.whole}
    names = {name for name in names if name.lower() == variable.name.lower()}
    if not names or variable.bounds or variable.optional or _hides(program):
        return None
    return f"{min(names)}%{field.name}"


def _hides(program: Program) -> bool:
    """Whether a type may have components that its users cannot name."""
    return any(
        b"private" in kind[0].lower()
        for source in program.files.values()
        if source.is_fortran
        for kind in _TYPE.finditer(source.data)
    )


def conditions(program: Program, call: Call, facts: Iterable[Affine]) -> tuple[str, ...]:
    """The facts as conditions of the language."""
    texts = {text for fact in facts if (text := asked(program, call, fact)) is not None}
    return tuple(sorted(texts))
