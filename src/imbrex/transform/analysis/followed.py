"""Routines followed with known values: which elements of an array one of its calls touches.

`pack(b, u, face, values)` may ask another routine for the bounds of a face, which writes them into
local arrays by `face / 2` and `face % 2`. Whatever `face` is, that says nothing; for each value of
it the bounds are affine again.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from imbrex.transform.analysis.frames import Frame, Place, Values, merged, without
from imbrex.transform.model.affine import Affine, Range, Section, forget, widen
from imbrex.transform.model.calls import Call
from imbrex.transform.model.formulas import cells
from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

if TYPE_CHECKING:
    from imbrex.transform.analysis.footprint import Footprints

_STEPS = 1000  # statements that are followed at most
_ITERATIONS = 8  # of a loop that is followed iteration by iteration
_DEPTH = 4  # of calls
_WIDE = frozenset({"int", "long", "long long"})


class _TooFarError(Exception):
    """What a routine does cannot be followed."""


def holds(variable: Variable) -> bool:
    """Whether a parameter keeps each number of common size that it is given."""
    return variable.element.removeprefix("const ") in _WIDE and not variable.bounds


def names_parameter(routine: Routine, access: Access) -> bool:
    """Whether it is one through a parameter, or through a field of what a parameter points to."""
    return access.through and (access.owner or access.variable) in routine.parameters


def follow(
    footprints: Footprints, routine: Routine, given: tuple[tuple[str, int], ...]
) -> dict[tuple[str, str], list[Access]] | None:
    """The accesses through each pointer parameter, in terms of values at the routine's entry.

    By the parameter and "", or by a field that is a pointer and the parameter whose field it is.
    `given`: values of parameters. None where the routine cannot be followed.
    """
    summary = footprints.of_routine(routine)
    if summary.stop or summary.events:
        return None
    changed = footprints.changed_in(summary)
    parameters = footprints.program.variables
    values: Values = {
        (key, ()): Affine.variable(key)
        for key in routine.parameters
        if key in parameters and not parameters[key].pointer and not parameters[key].bounds
    }
    values |= {(key, ()): Affine(number) for key, number in given}
    follower = _Follower(footprints)
    try:
        follower.block(
            Frame(footprints.program, routine, changed=changed), routine.body.statements, values
        )
    except _TooFarError:
        return None
    found: dict[tuple[str, str], list[Access]] = {}
    for access in follower.found:
        if names_parameter(routine, access):
            if {access.owner, access.variable} & (follower.moved_by(routine) | changed):
                access = access.anywhere()
            if any(stride.variables() & changed for stride in access.strides):
                access = access.anywhere()
            access = access.at(forget(access.section, changed))
            found.setdefault((access.variable, access.owner), []).append(access)
    return found


class _Follower:
    def __init__(self, footprints: Footprints) -> None:
        self.footprints = footprints
        self.program = footprints.program
        self.found: list[Access] = []
        self.steps = 0
        self.moved: dict[str, frozenset[str]] = {}

    def block(self, frame: Frame, statements: list[Statement], before: Values) -> Values | None:
        """What holds behind the statements; None where the end is not reached."""
        values: Values | None = before
        for statement in statements:
            if values is None:
                return None
            values = self._statement(frame, statement, values)
        return values

    def _statement(self, frame: Frame, statement: Statement, values: Values) -> Values | None:
        self.steps += 1
        if self.steps > _STEPS or statement.stop or statement.removed:
            raise _TooFarError
        if statement.kind is Kind.LOOP:
            return self._loop(frame, statement, values)
        self._note(frame, statement, values)
        if statement.kind is Kind.IF:
            return self._if(frame, statement, self._own(frame, statement, values))
        if statement.kind is Kind.BLOCK:
            return self.block(frame, statement.blocks[0].statements, values)
        if statement.kind is Kind.JUMP:
            if statement.text not in ("return", "break", "continue"):
                raise _TooFarError
            if statement.text == "return":
                frame.exits.append(values)
            return None
        if statement.kind not in (Kind.SIMPLE, Kind.DECLARE) or statement.blocks:
            raise _TooFarError
        return self._own(frame, statement, values)

    def _own(self, frame: Frame, statement: Statement, values: Values) -> Values:
        """What holds behind what a statement does itself."""
        file = frame.routine.file
        alone = len(statement.calls) == 1 and statement.calls[0].is_statement
        for call in statement.calls:
            inlined = self._call(frame, call, values) if alone else None
            if inlined is not None:
                values = inlined
                continue
            effects = self.footprints.of_call(call, file)
            if effects.stop:
                raise _TooFarError
            outward = [self._outward(frame, each.anywhere()) for each in effects.accesses]
            self.found += [access for access in outward if access is not None]
            values = without(values, self.footprints.changed(effects.accesses))
        return self._assign(frame, statement, values)

    def _assign(self, frame: Frame, statement: Statement, values: Values) -> Values:
        written = [a for a in statement.accesses if a.write]
        if not written:
            return values
        places: list[tuple[Place, Affine | None]] = []
        by_variable: dict[tuple[str, bool], int] = {}
        current = values
        for target, formula in statement.assigned:
            place = frame.place(target, current)
            value = None if formula is None else frame.value(formula, current)
            kind = (target.variable, target.through)
            by_variable[kind] = by_variable.get(kind, 0) + 1
            if place is not None:
                places.append((place, value))
                current = {**current, place: value} if value is not None else current
                if value is None:
                    current = {k: v for k, v in current.items() if k != place}
        known = len(places) == len(statement.assigned)
        exact = statement.kind is not Kind.DECLARE and known
        for access in written:
            number = sum(
                other.variable == access.variable and other.through == access.through
                for other in written
            )
            exact = exact and by_variable.get((access.variable, access.through)) == number
        declares = statement.kind is Kind.DECLARE and known
        changed = self.footprints.changed(written)
        kept = {place[0] for place, _ in places} if exact else set()
        found = without(values, changed - kept)
        if exact or declares:
            for place, value in places:
                found.pop(place, None)
                if value is not None:
                    found[place] = value
        return found

    def _loop(self, frame: Frame, statement: Statement, values: Values) -> Values | None:
        file = frame.routine.file
        footprint = self.footprints.of(statement, file)
        changed = self.footprints.changed_in(footprint)
        body = statement.blocks[0].statements
        if statement.calls:
            raise _TooFarError
        span = self._range(frame, statement, values, changed)
        settled = without(values, changed)
        inner = [self.footprints.of(child, file) for child in body]
        if span is not None:
            index, low, high = span
            place: Place = (index, ())
            length = high.plus(low, -1)
            leaves = any(child.jumps or child.leaves for child in inner)
            short = not (length.terms or low.terms) and length.constant < _ITERATIONS
            if short and statement.span is not None and not leaves:  # the step is one
                self._note(frame, statement, settled)
                for number in range(low.constant, high.constant + 1):
                    after = self.block(frame, body, {**values, place: Affine(number)})
                    if after is None:
                        raise _TooFarError
                    values = after
                return without(values, frozenset({index}))
        outside, self.found = self.found, []
        start = dict(settled)
        if span is not None:
            start[span[0], ()] = Affine.variable(span[0])
        self._note(frame, statement, settled)
        self.block(frame, body, start)
        touched, self.found = self.found, outside
        self.found += [_widened(access, span) for access in touched]
        return settled

    def _range(
        self, frame: Frame, statement: Statement, values: Values, changed: Set[str]
    ) -> tuple[str, Affine, Affine] | None:
        """The index of a counted loop and its range, in terms of values at the entry."""
        body = [self.footprints.of(s, frame.routine.file) for s in statement.blocks[0].statements]
        inside = frozenset().union(*[self.footprints.changed_in(found) for found in body])
        loop, span = statement.loop, statement.span
        if loop is not None:
            if loop.index in inside or (loop.low.variables() | loop.high.variables()) & changed:
                return None
            ends = [frame.affine(end, values) for end in (loop.low, loop.high)]
            index = loop.index
        elif span is not None:
            read = cells(span.low) | cells(span.high)
            read |= {frame.places[key][0] for key in read if key in frame.places}
            if span.variable in inside or read & changed:
                return None
            ends = [frame.value(end, values) for end in (span.low, span.high)]
            index = span.variable
        else:
            return None
        low, high = ends
        return None if low is None or high is None else (index, low, high)

    def _if(self, frame: Frame, statement: Statement, values: Values) -> Values | None:
        answer = None
        if statement.asks is not None:
            answer = frame.value(statement.asks, values)
        branches = [block.statements for block in statement.blocks]
        if len(branches) == 1:
            branches.append([])
        if len(branches) != 2:
            raise _TooFarError
        if answer is not None and not answer.terms:
            return self.block(frame, branches[0 if answer.constant else 1], values)
        ends = [self.block(frame, branch, dict(values)) for branch in branches]
        return merged([end for end in ends if end is not None])

    def _call(self, frame: Frame, call: Call, values: Values) -> Values | None:
        """What holds behind a call that is followed; None where it is not."""
        callee = None if call.unknown else self.program.callee(call.name, frame.routine.file)
        if callee is None:
            return None
        depth, outer = 0, frame.outer
        while outer is not None:
            depth, outer = depth + 1, outer.outer
        if depth >= _DEPTH or self._runs(frame, callee):
            return None
        summary = self.footprints.of_routine(callee)
        if summary.stop or summary.events or len(callee.parameters) != len(call.arguments):
            return None
        inner = Frame(
            self.program,
            callee,
            self.footprints.binding(call, callee),
            frame,
            changed=frame.changed,
        )
        entered = dict(values)
        for key, argument in zip(callee.parameters, call.arguments, strict=True):
            entered.pop((key, ()), None)
            if argument.pointer:
                if key in self.moved_by(callee):
                    continue
                place = frame.named(argument, values)
                if place is not None:
                    inner.places[key] = place
                continue
            value = None
            if argument.value is not None:
                value = frame.affine(argument.value, values)
            elif argument.formula is not None:
                value = frame.value(argument.formula, values)
            variable = self.program.variables.get(key)
            if value is not None and variable is not None and holds(variable):
                entered[key, ()] = value
        end = self.block(inner, callee.body.statements, entered)
        exits = inner.exits + ([] if end is None else [end])
        if not exits:
            raise _TooFarError
        return merged(exits)

    @staticmethod
    def _runs(frame: Frame | None, routine: Routine) -> bool:
        """Whether a routine is followed already: it calls itself."""
        while frame is not None:
            if frame.routine is routine:
                return True
            frame = frame.outer
        return False

    def _note(self, frame: Frame, statement: Statement, values: Values) -> None:
        """Record what a statement touches through pointers, besides what it calls."""
        for each in statement.accesses:
            if not each.through:
                continue
            access = self._named(frame.routine, each)
            strides = [frame.affine(stride, values) for stride in access.strides]
            known = tuple([stride for stride in strides if stride is not None])
            section = None
            if access.section is not None and len(known) == len(strides):
                section = tuple([self._dimension(frame, r, values) for r in access.section])
            here = access.anywhere()
            if section is not None:
                here = here._replace(section=section, strides=known)
            outward = self._outward(frame, here)
            if outward is not None:
                self.found.append(outward)

    def _named(self, routine: Routine, access: Access) -> Access:
        """The access by what a local pointer is set to, at its declaration and for good."""
        (named,) = self.footprints.by_pointers(routine, [access])
        if named is access:
            return access
        # Variables that tell the element may have other values where it is used.
        known = self.footprints.local_pointers.first_is_known(routine, access.variable)
        return named if known else named.anywhere()

    def _dimension(self, frame: Frame, touched: Range, values: Values) -> Range:
        low, high = touched
        return Range(
            None if low is None else frame.affine(low, values),
            None if high is None else frame.affine(high, values),
        )

    def _outward(self, frame: Frame, access: Access) -> Access | None:
        """The access by the names of the routine that all began with; its section is so already.

        None where it is to a variable that is gone when a call returns.
        """
        access = self._named(frame.routine, access)
        while frame.binding is not None and frame.outer is not None:
            if access.variable in self.moved_by(frame.routine):
                access = access.anywhere()
            if access.variable in frame.routine.parameters and access.through:
                position = frame.routine.parameters.index(access.variable)
                argument = frame.binding.call.arguments[position]
                same = frame.binding.same_array(access.variable, argument)
                bound = frame.binding.access(access.anywhere(), position)
            else:  # a field, or what a local pointer is set to
                call = frame.binding.call
                known = self.footprints.bound(call, frame.routine, [access.anywhere()])
                if not known:
                    return None
                bound = known[0]
                same = bool(access.owner and bound.owner) and bound.variable == access.variable
                same = same and access.owner not in self.moved_by(frame.routine)
            if same and access.section is not None:
                bound = bound._replace(section=access.section, strides=access.strides)
            frame = frame.outer
            access = self._named(frame.routine, bound)
        return access

    def moved_by(self, routine: Routine) -> frozenset[str]:
        """The pointers that a routine sets, or of which it takes the address."""
        known = self.moved.get(routine.key)
        if known is None:
            written = {
                access.variable
                for statement in routine.statements()
                for access in statement.accesses
                if access.write and not access.through
            }
            known = self.moved[routine.key] = frozenset(written | self.footprints.addressed)
        return known


def _widened(access: Access, span: tuple[str, Affine, Affine] | None) -> Access:
    """What an access in a loop touches in all iterations."""
    if span is None or access.section is None:
        return access
    index, low, high = span
    if any(index in stride.variables() for stride in access.strides):
        return access.anywhere()
    section: Section | None = widen(access.section, index, low, high)
    return access._replace(section=section)
