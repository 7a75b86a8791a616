"""A wait of Fortran for all that its routine starts, in requests that live on when it returns.

Requests in a module, in COMMON or in a component of an object could have been started by an earlier
call. They have not where each call of the routine waits, whatever happens in it, for every request
that it has started, and no other routine starts any in the array: `MPI_Waitall(4, g%req, ...)`
behind starts in elements 1 to 4, or `MPI_Waitall(n, req, ...)` where a counter has gone up from 0
to `n` and each start was in the element that it said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from imbrex.transform.analysis.derived import split
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.request_arguments import request_argument, request_section
from imbrex.transform.analysis.request_states import Started
from imbrex.transform.analysis.requests import constant
from imbrex.transform.model.affine import Affine, Range
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_MEMBER = re.compile(r"(?P<array>(?P<object>[a-z]\w*)%[a-z]\w*)(?:\([^()]*\))?$")


def completes_all(
    footprints: Footprints,
    routine: Routine,
    statement: Statement,
    call: Call,
    starts: Sequence[Started],
) -> bool:
    """Whether a wait is for all that any call of its routine starts, and for nothing else.

    `starts`: all of the program that the requests may come from.
    """
    body = routine.body.statements
    if call.name != "MPI_Waitall" or statement.kind is not Kind.SIMPLE or statement not in body:
        return False
    argument = request_argument(call)
    array = footprints.program.variables.get(argument.base or "")
    if array is None or argument.through or array.pointer or len(array.bounds) != 1:
        return False
    if array.kind not in ("global", "static", "field") or any(
        s.routine is not routine for s in starts
    ):
        return False
    ahead = body[: body.index(statement)]
    first = _first(ahead, starts)
    if first is None or not _are_of_one(footprints, routine, array, [call, *_calls(starts)]):
        return False
    if any(_leaves(footprints, routine, each) for each in ahead[first:]):
        return False
    if any(_sets(footprints, routine, each, starts, array.key) for each in ahead[first:]):
        return False
    return _covers(footprints, routine, call, starts, (ahead[:first], ahead[first:]))


def _calls(starts: Iterable[Started]) -> list[Call]:
    return [start.transfer.call for start in starts]


def _first(ahead: list[Statement], starts: Sequence[Started]) -> int | None:
    """The first of the statements with a start in it; None where one stands elsewhere."""
    inside = [{id(inner) for inner in each.walk()} for each in ahead]
    found = [
        next((n for n, ids in enumerate(inside) if id(start.statement) in ids), None)
        for start in starts
    ]
    known = [number for number in found if number is not None]
    return min(known) if known and len(known) == len(found) else None


def _are_of_one(
    footprints: Footprints, routine: Routine, array: Variable, calls: Iterable[Call]
) -> bool:
    """Whether all calls are about the array of one object, by a name that stays."""
    arguments = [request_argument(call) for call in calls]
    if any(each.base != array.key or each.through for each in arguments):
        return False
    if array.kind != "field":
        return True
    named = [_MEMBER.match("".join(each.text.lower().split())) for each in arguments]
    places = {each["array"] for each in named if each is not None}
    if None in named or len(places) != 1:
        return False
    root = places.pop().partition("%")[0]
    variables = footprints.program.variables
    mine = [variables[key] for key in routine.parameters if key in variables]
    mine += [v for v in variables.values() if v.record and v.kind == "global"]
    known = [each for each in mine if each.name == root]
    if len(known) != 1 or known[0].pointer or known[0].allocatable or known[0].bounds:
        return False
    return known[0].key not in footprints.program.overlays


def _leaves(footprints: Footprints, routine: Routine, statement: Statement) -> bool:
    footprint = footprints.of(statement, routine.file)
    return footprint.leaves is not None or footprint.stop is not None


def _sets(
    footprints: Footprints,
    routine: Routine,
    statement: Statement,
    starts: Sequence[Started],
    key: str,
) -> bool:
    """Whether something else than a start may set a request, of which the handle is lost then."""
    beginning = {id(start.statement) for start in starts}
    for inner in statement.walk():
        if id(inner) in beginning or inner.blocks:
            continue
        if key in footprints.changed_in(footprints.of(inner, routine.file)):
            return True
    return False


def _covers(
    footprints: Footprints,
    routine: Routine,
    call: Call,
    starts: Sequence[Started],
    parts: tuple[list[Statement], list[Statement]],
) -> bool:
    """Whether each start is in an element that the wait is for."""
    program = footprints.program
    section = request_section(call, program)
    elements = [request_section(start.transfer.call, program) for start in starts]
    if section is None or None in elements:
        return False
    (whole,) = section
    known = constant(section)
    if known is not None:
        return all(each is not None and _is_within(each[0], whole) for each in elements)
    count = call.arguments[0].value
    if whole.low != Affine(1) or count is None or count.constant or len(count.terms) != 1:
        return False
    ((counter, factor),) = count.terms
    if factor != 1 or any(each != (Range.point(count),) for each in elements):
        return False
    return _counts(footprints, routine, counter, parts)


def _is_within(element: Range, whole: Range) -> bool:
    return (
        constant((element,)) is not None
        and element.low is not None
        and whole.low is not None
        and whole.high is not None
        and whole.low.constant <= element.low.constant <= whole.high.constant
    )


def _counts(
    footprints: Footprints,
    routine: Routine,
    counter: str,
    parts: tuple[list[Statement], list[Statement]],
) -> bool:
    """Whether a number becomes 0 ahead of the first start, and from there on only grows."""
    key = split(counter)[1]
    before, behind = parts
    resets = [n for n, each in enumerate(before) if each.sets == (counter, Affine(0))]
    if not key or not resets:
        return False
    for statement in (*before[resets[-1] + 1 :], *behind):
        for inner in statement.walk():
            if _grows(inner, counter):
                continue
            changed = footprints.changed(inner.accesses)
            if not inner.blocks:
                changed |= footprints.changed_in(footprints.of(inner, routine.file))
            if key in changed:
                return False
    return True


def _grows(statement: Statement, counter: str) -> bool:
    if statement.sets is None or statement.sets[0] != counter or statement.calls:
        return False
    more = statement.sets[1].plus(Affine.variable(counter), -1)
    return not more.terms and more.constant >= 0
