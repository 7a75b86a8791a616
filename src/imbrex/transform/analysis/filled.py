"""What loops surely set of an array: all elements between two ends, or nothing that is known."""

from __future__ import annotations

from imbrex.transform.model.affine import Affine, Range, Section, surely_less
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.statements import Kind, LoopRange, Statement

_MOST = 32  # sections of one array that are looked at


def covers(filled: Section, read: Section | None) -> bool:
    """Whether a section that is set holds all of one that is read."""
    if read is None or len(read) != len(filled):
        return False
    return all(
        have.low is not None
        and have.high is not None
        and surely_less(have.low.plus(Affine(-1)), want.low)
        and surely_less(want.high, have.high.plus(Affine(1)))
        for have, want in zip(filled, read, strict=True)
    )


def whole(variable: Variable) -> Section | None:
    """All elements of a local array whose bounds are numbers; one of COMMON may go on behind."""
    if variable.kind != "local" or variable.pointer:
        return None
    found = []
    for low, high in variable.bounds:
        if low is None or high is None or low.terms or high.terms:
            return None
        found.append(Range(low, high))
    return tuple(found) if found else None


def within(section: Section | None, variable: Variable) -> Section | None:
    """A section that is read; what is not known of it is within the bounds of the array."""
    bounds = whole(variable)
    if section is None or bounds is None or len(section) != len(bounds):
        return bounds if section is None else section
    return tuple(
        Range(have.low or most.low, have.high or most.high)
        for have, most in zip(section, bounds, strict=True)
    )


def whole_ranges(loops: list[Statement]) -> bool:
    """Whether loops inside one another run through all that their ends span, each to its end."""
    indices = {loop.loop.index for loop in loops if loop.loop is not None}
    for loop in loops:
        span = loop.loop
        if span is None or not span.every:
            return False
        if (span.low.variables() | span.high.variables()) & indices:
            return False  # a triangle
    inside = loops[0].walk() if loops else []
    return not any(inner.kind is Kind.JUMP or inner.leaves for inner in inside)


def each_once(section: Section, loops: list[Statement]) -> bool:
    """Whether the widened section is exactly what the loops set: an index per dimension.

    Or, in one dimension, indices that count as digits do: `(j - 1) * 5 + m` with m from 1 to 5. A
    loop whose index selects nothing must surely have an iteration.
    """
    spans = {loop.loop.index: loop.loop for loop in loops if loop.loop is not None}
    left = set(spans)
    for dimension in section:
        if dimension.low is None or dimension.low != dimension.high:
            return False
        used = dimension.low.variables() & left
        if len(used) > 1 and not _counts_as_digits(dimension.low, [spans[i] for i in used]):
            return False
        for index in used:
            if len(used) == 1 and dimension.low.coefficient(index) not in (1, -1):
                return False
            left.discard(index)
    if any(left & d.low.variables() for d in section if d.low is not None):
        return False
    return all(surely_less(spans[i].low, spans[i].high.plus(Affine(1))) for i in left)


def _counts_as_digits(index: Affine, spans: list[LoopRange]) -> bool:
    """Whether an index takes each value between its ends, however many iterations the slowest has.

    Each loop but that one must have a number of iterations, and its index be multiplied by the
    number of values that the faster ones take.
    """
    factors = [(index.coefficient(span.index), span) for span in spans]
    if any(not factor for factor, _ in factors):
        return False
    factors.sort(key=lambda item: abs(item[0] or 0))
    values = 1
    for number, (factor, span) in enumerate(factors):
        if abs(factor or 0) != values:
            return False
        length = span.high.plus(span.low, -1).plus(Affine(1))
        if number + 1 < len(factors):
            if length.terms or length.constant < 1:
                return False
            values *= length.constant
    return True


def unchanged(sections: list[Section], changed: frozenset[str]) -> list[Section]:
    """Those of some sections whose ends are what they were once some variables have changed."""
    return [s for s in sections if not any(d.variables() & changed for d in s)]


def joined(sections: list[Section]) -> list[Section]:
    """The sections, and those that two of them make where one begins behind the other's end."""
    found = list(sections)
    for number, first in enumerate(found):
        for second in found[:number]:
            for low, high in ((first, second), (second, first)):
                both = _in_a_row(low, high)
                if both is not None and both not in found and len(found) < _MOST:
                    found.append(both)  # looked at further on
    return found


def _in_a_row(low: Section, high: Section) -> Section | None:
    """Both in one, where they are alike but for one dimension, in which the second follows."""
    unlike = [n for n, (a, b) in enumerate(zip(low, high, strict=True)) if a != b]
    if len(unlike) != 1:
        return None
    number = unlike[0]
    end, begin = low[number].high, high[number].low
    if end is None or begin is None or end.plus(Affine(1)) != begin:
        return None
    whole = Range(low[number].low, high[number].high)
    return (*low[:number], whole, *low[number + 1 :])
