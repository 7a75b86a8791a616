"""Why a routine around MPI stays one routine: what stands behind its calls, or in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from imbrex.transform.analysis.divided import Item, Schedule
from imbrex.transform.analysis.guarded_calls import call_alone
from imbrex.transform.analysis.kept_spaces import kept_spaces
from imbrex.transform.analysis.messages import has_collectives
from imbrex.transform.analysis.schedule import Scheduler
from imbrex.transform.analysis.space import Space
from imbrex.transform.analysis.spaces import Spaces
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.cutting import DEEPEST
from imbrex.transform.rewrites.passing_on import PassingOn

if TYPE_CHECKING:
    from imbrex.transform.rewrites.splitting import Splitting
    from imbrex.transform.rewrites.uses import Split, Use

_UNREAD = frozenset({ReasonKind.CALL_UNREAD, ReasonKind.POINTER_CALL})


def why_whole(wrappers: Splitting[Any], split: Split, problem: Reason | None) -> Reason | None:
    """What kept a wrapper from having a window; None where its callers have no work for one.

    `problem`: why it cannot be taken apart at all; worth telling if its callers would have work.
    """
    if problem is not None:
        every = wrappers.footprints.of_routine(split.wrapper).accesses
        nothing: list[Statement] = split.wrapper.body.statements
        split.schedule = Schedule(late=[Item(s, (), list(every)) for s in nothing[:1]])
        wrappers.uses.find(split)
        if any(use.has_window for use in split.uses):
            return problem
    for use in split.uses:
        reason = _Behind(wrappers, split, use).reason()
        if reason is not None:
            return reason
    return (
        _asked_once(wrappers, split)
        or called_amid(wrappers, split.wrapper.name)
        or _called_in_turn(wrappers, split.wrapper)
        or _through_pointer(wrappers, split.wrapper)
        or _amid_statement(wrappers, split.wrapper, problem)
    )


def _amid_statement(
    wrappers: Splitting[Any], wrapper: Routine, problem: Reason | None
) -> Reason | None:
    """A call of it in a condition or a value, beside work; `problem`: what else keeps it whole.

    Of collectives more is told at their own calls.
    """
    for user in wrappers.uses.callers(wrapper.name) if not has_collectives(wrapper) else ():
        for block in user.body.plain():
            for index, statement in enumerate(block.statements):
                mine = any(call.name == wrapper.name for call in statement.calls)
                if not mine or call_alone(statement) is not None:
                    continue
                if any(wrappers.uses.computes_beside(user, block, index, n) for n in (-1, 1)):
                    place = Location(user.file, statement.line)
                    cause = ReasonKind.CALL_NOT_STATEMENT(routine=wrapper.name)
                    return problem or Reason(cause, place)
    return None


def _through_pointer(wrappers: Splitting[Any], wrapper: Routine) -> Reason | None:
    """A call of it by its address, beside work."""
    for user in wrappers.uses.callers(wrapper.name) if wrapper.address_taken else ():
        for block in user.body.plain():
            for index, statement in enumerate(block.statements):
                mine = any(call.name == wrapper.name and call.picked for call in statement.calls)
                works = (wrappers.uses.computes_beside(user, block, index, n) for n in (-1, 1))
                if mine and any(works):
                    place = Location(user.file, statement.line)
                    return Reason(ReasonKind.ADDRESS_TAKEN(routine=wrapper.name), place)
    return None


def _asked_once(wrappers: Splitting[Any], split: Split) -> Reason | None:
    """An `if` around a call, beside work, where its condition may not be asked once more."""
    name = split.wrapper.name
    for user in wrappers.uses.callers(name):
        for block in user.body.plain():
            for index, statement in enumerate(block.statements):
                if statement.kind is not Kind.IF:
                    continue
                inner = [s for branch in statement.blocks for s in branch.statements]
                call = next((c for s in inner for c in s.calls if c.name == name), None)
                guarded = {id(use.call) for use in split.uses if use.inside is not None}
                if call is None or id(call) in guarded:
                    continue
                if any(wrappers.uses.computes_beside(user, block, index, n) for n in (-1, 1)):
                    place = Location(user.file, statement.line)
                    return Reason(ReasonKind.ASKED_ONCE(routine=name), place)
    return None


def called_amid(wrappers: Splitting[Any], name: str) -> Reason | None:
    """Where a routine without work of its own calls it in a loop or a choice, in front of work."""
    passing = PassingOn(wrappers.footprints, wrappers.uses)
    for user in wrappers.uses.callers(name):
        if not passing.is_in_front_of_work(user):
            continue
        divisible = Scheduler(wrappers.footprints, user).divisible
        for statement in user.body.statements:
            if statement.kind in (Kind.SIMPLE, Kind.DECLARE) or divisible(statement):
                continue
            each = [wrappers.footprints.of(s, user.file) for s in statement.walk()]
            if any(found.heavy and not found.events for found in each):
                continue  # it computes itself
            if any(call.name == name for inner in statement.walk() for call in inner.calls):
                place = Location(user.file, statement.line)
                return Reason(ReasonKind.CALLED_AMID(caller=user.name), place)
    return None


def _called_in_turn(wrappers: Splitting[Any], wrapper: Routine) -> Reason | None:
    """A loop, beside work, that does nothing but call it for one part of an array each time."""
    callers = wrappers.uses.callers(wrapper.name)
    for user in callers if wrappers.uses.may_pass_on(wrapper) else ():
        for block in user.body.plain():
            for index, statement in enumerate(block.statements):
                if not _only_calls(wrappers, user, statement, wrapper.name):
                    continue
                if any(wrappers.uses.computes_beside(user, block, index, n) for n in (-1, 1)):
                    place = Location(user.file, statement.line)
                    return Reason(ReasonKind.CALLED_IN_TURN(caller=user.name), place)
    return None


def _only_calls(wrappers: Splitting[Any], user: Routine, statement: Statement, name: str) -> bool:
    """Whether it is a loop that gives a routine something else each time, with no other work."""
    if statement.kind is not Kind.LOOP or statement.loop is None:
        return False
    changed = wrappers.footprints.changed_by([statement], user.file)
    given = False
    for inner in statement.walk()[1:]:
        found = wrappers.footprints.of(inner, user.file)
        mine = [call for call in inner.calls if call.name == name]
        if found.stop or (found.heavy and not (mine or inner.blocks)):
            return False
        reads = [a for call in mine for argument in call.arguments for a in argument.reads]
        reads += inner.accesses if mine else []
        given = given or any(a.variable in changed and not (a.write or a.through) for a in reads)
    return given


class _Behind:
    """What stands behind one call of a wrapper."""

    def __init__(self, wrappers: Splitting[Any], split: Split, use: Use) -> None:
        self.wrappers = wrappers
        self.footprints = wrappers.footprints
        self.use = use
        self.user: Routine = use.routine
        self.messages = self.footprints.bound(use.call, split.wrapper, split.schedule.flying)
        self.finish = use.finish

    def reason(self) -> Reason | None:
        """What uses the messages or lets nothing pass, where that or what follows it computes."""
        spaces = kept_spaces(self.wrappers.program, self.footprints, self.user)
        first: Reason | None = None
        wanted = list(self.finish)
        passing = True  # the finish may pass all so far
        index = self.use.block.statements.index(self.use.statement)
        for statement in self.use.block.statements[index + 1 :]:
            found = self.footprints.of(statement, self.user.file)
            space = spaces.of(statement, wanted) if found.heavy else None
            alone = space is not None and (space.final or space.begin)
            if (found.leaves or found.events) and not alone:
                return None
            if found.stop is not None:
                first = first or found.stop
                if not found.heavy:
                    continue
            changed = self.footprints.changed(wanted + found.accesses)
            meeting = self.footprints.conflict(self.finish, found.accesses, changed)
            if first is None and meeting is not None:
                first = self._used(*meeting)
            if found.heavy:
                undivided = None if space is None else self._undivided(spaces, space, wanted)
                return undivided or first
            passing = passing and meeting is None
            wanted += [] if passing else found.accesses
        unread = first is not None and first.cause.kind in _UNREAD
        return first if unread else None  # the work may be in there

    def _undivided(self, spaces: Spaces, space: Space, wanted: list[Access]) -> Reason | None:
        """Why the first loop nest cannot be divided, if it has an interior."""
        boundary = self.wrappers.boundary
        changed = self.footprints.changed(wanted)
        everywhere = dict.fromkeys(range(len(space.ranges)), (DEEPEST, DEEPEST))
        inner = space.shared_headers() + space.remaining(space.accesses, everywhere)
        meeting = self.footprints.conflict(wanted, inner, changed)
        if meeting is not None:
            return self._used(*meeting)
        return boundary.why_whole(self.user, spaces, space, wanted)

    def _used(self, mine: Access, other: Access) -> Reason:
        variables = self.wrappers.program.variables
        place = Location(self.user.file, other.line)
        known = variables.get(mine.variable)
        if known is None:
            return Reason(ReasonKind.UNKNOWN_BEHIND(), place)
        text = ReasonKind.USED_BEHIND(variable=known.name)
        through = variables.get(other.variable)
        if mine.variable != other.variable and through is not None:
            text = ReasonKind.USED_BEHIND_THROUGH(variable=known.name, other=through.name)
        elif mine in self.messages and _is_anywhere(mine) and not _is_anywhere(other):
            text = ReasonKind.ELEMENTS_BEHIND(cause=text)
        return Reason(text, place)


def _is_anywhere(access: Access) -> bool:
    """Whether an access may be to any element, as far as is known."""
    if access.cases or access.fit is not None:
        return False
    ranges = access.section or ()
    return all(each.low is None and each.high is None for each in ranges)
