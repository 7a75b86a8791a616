"""What a routine does to its parameters, in the terms of one call of it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from imbrex.transform.analysis.given_elements import given_element
from imbrex.transform.analysis.given_lines import Lines, lengths_of
from imbrex.transform.analysis.given_rows import in_rows
from imbrex.transform.analysis.own_variables import is_of_another
from imbrex.transform.analysis.sections import as_number, run_of, shape_at
from imbrex.transform.analysis.vector_sizes import given_size
from imbrex.transform.model.affine import (
    ARROW,
    Affine,
    Fit,
    Range,
    Section,
    array_of_element,
    field_of,
)
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.conditions import Choice
from imbrex.transform.model.linear_indices import Strides
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access, Variable, is_size, vector_of
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.shapes import Bounds, array_of, shape_of


class Binding:
    """The parameters of a routine bound to the arguments of a call."""

    def __init__(
        self, program: Program, call: Call, routine: Routine, written: frozenset[str]
    ) -> None:
        """`written`: variables that the routine sets, whose values at the call say nothing."""
        self.program = program
        self.arguments: dict[str, Argument] = dict(
            zip(routine.parameters, call.arguments, strict=False)
        )
        self.parameters = frozenset(routine.parameters)
        self.call = call
        self.routine = routine
        source = program.files.get(routine.file)
        self.fortran = source is not None and source.is_fortran
        self.written = written
        self.kept: frozenset[str] = frozenset()

    def keeping(self, names: set[str]) -> Binding:
        """The binding with some variables of the routine left as they are."""
        found = copy(self)
        found.kept = frozenset(names)
        return found

    def access(self, access: Access, position: int) -> Access:
        """An access to the memory that parameter `position` names, as the caller sees it."""
        argument = self.call.arguments[position]
        base = UNKNOWN_MEMORY if argument.base is None else argument.base
        strides = self._all(access.strides)
        section, fit = None, None
        theirs = self.program.variables.get(access.variable)
        if theirs is not None and theirs.assumed_shape:
            section = self._given_shape(access.section, theirs, argument)
            if section is None and access.fit is not None:
                section = self._fitting(access.fit, theirs, argument)
        elif theirs is not None and (mine := self.program.variables.get(base)) and mine.rows:
            section = self.section(access.section)
            section, strides = in_rows(section, strides, theirs, mine, argument), ()
        elif strides is not None and self.same_array(access.variable, argument):
            section, fit = self.section(access.section), self._fit(access.fit)
        elif strides is not None and self.fortran and theirs is not None:
            section, strides = self._view(access.section, strides, theirs, argument)
            if section is None:
                section, strides = self._in_order(access.section, theirs, argument), ()
        elif strides is not None and theirs is not None:
            mine = self.program.variables.get(base)
            told = Lines(self.section(access.section), strides or self._lengths(theirs))
            section, strides = told.onto(theirs, mine, argument)
        return Access(
            base,
            argument.through,
            access.write,
            self.call.line,
            section,
            strides if section is not None and strides is not None else (),
            argument.owner,
            argument.slot,
            fit=fit,
            member=access.member,
            placed=access.placed,
        )

    def _lengths(self, theirs: Variable) -> Strides:
        """The lengths of the lines of a parameter of C, in terms of the caller."""
        return self._all(lengths_of(theirs) or ()) or ()

    def shared(self, access: Access) -> Access:
        """An access to what both routines know."""
        strides = self._all(access.strides)
        section, fit = None, None
        owner = self._owner(access.owner)
        fixed = not access.through or bool(owner) or self._stays(access)
        fixed = fixed or f"vector:{access.variable}" in self.program.variables
        if strides is not None and fixed and access.variable not in self.parameters:
            section, fit = self.section(access.section), self._fit(access.fit)
        return Access(
            access.variable,
            access.through,
            access.write,
            self.call.line,
            section,
            strides if section is not None and strides is not None else (),
            owner,
            self._all(access.slot) or (),
            fit=fit,
            member=access.member,
            placed=access.placed,
        )

    def _stays(self, access: Access) -> bool:
        """Whether it is through a pointer that the routine leaves alone, of the whole program or of
        another routine of C, which goes on behind the call."""
        variable = self.program.variables.get(access.variable)
        if variable is None or variable.kind not in ("global", "static"):
            caller = variable is not None and variable.kind in ("local", "parameter")
            if (
                self.fortran
                or not caller
                or not is_of_another(self.program, self.routine, access.variable)
            ):
                return False
        return access.variable not in self.written and not access.slot

    def _owner(self, owner: str) -> str:
        """The caller's name of the object that a reference or `this` is in the routine."""
        if not owner or owner in self.program.named_objects:
            return ""  # another one in each call, perhaps
        variable = self.program.variables.get(owner)
        argument = self.arguments.get(owner)
        if owner in self.written:
            return ""
        if variable is None or variable.kind not in ("parameter", "dummy"):
            return owner
        if variable.kind == "parameter" and not (variable.reference or variable.pointer):
            return ""
        base = None if argument is None else self.program.variables.get(argument.base or "")
        if argument is None or base is None:
            return ""
        if variable.kind == "dummy":
            alone = argument.whole and bool(base.record) and not base.bounds
            once = base.kind != "field" or self.program.is_of_single(base.key)
            return base.key if alone and once else ""
        if argument.through:
            first = argument.origin is not None and not any(
                index is None or index.terms or index.constant for index in argument.origin
            )
            return base.key if first and base.kind != "field" else ""
        whole = bool(base.record) and not base.bounds and base.kind != "field"
        return base.key if whole else ""

    def same_array(self, parameter: str, argument: Argument) -> bool:
        """Whether indices mean the same in both: the argument is an array from its beginning."""
        mine = self.program.variables.get(argument.base or "")
        theirs = self.program.variables.get(parameter)
        if mine is None or theirs is None:
            return False
        if mine.element != theirs.element or argument.strides:
            return False
        shape = shape_at(self.program, mine, argument) if argument.whole else None
        if shape is None and (
            argument.origin is None or (mine.kind == "field" and not argument.owner)
        ):
            return False
        bounds = shape or list(mine.bounds)
        if len(bounds) != len(theirs.bounds):
            return False
        lows = [low for low, _ in bounds]
        if shape is None and list(argument.origin or ()) != lows:
            return False
        faster = zip(bounds[:-1], theirs.bounds[:-1], strict=True)
        for (low, high), (low_there, high_there) in faster:
            if high is None or high_there is None or low is None or low_there is None:
                return False
            if not (self._is(low_there, low) and self._is(high_there, high)):
                return False
        lowest = theirs.bounds[-1][0]
        return lowest is not None and self._is(lowest, lows[-1])

    def _is(self, there: Affine, here: Affine | None) -> bool:
        """Whether a bound in the routine has the value of one of the caller's."""
        value = self.value(there)
        return value == here or (value is not None and value == as_number(self.program, here))

    def _view(
        self,
        section: Section | None,
        strides: tuple[Affine, ...],
        theirs: Variable,
        argument: Argument,
    ) -> tuple[Section | None, tuple[Affine, ...]]:
        """What a routine touches of a whole array of Fortran that it declares in its own way.

        Sections compare with those of other routines that declare it with lines of the same
        lengths, whatever the array's own shape is: both count from its first element.
        """
        nothing: tuple[None, tuple[Affine, ...]] = (None, ())
        mine = self.program.variables.get(argument.base or "")
        if section is None or mine is None or mine.element != theirs.element:
            return nothing
        if not argument.whole or argument.problem is not None or len(mine.bounds) < 2:
            return nothing
        if mine.pointer or mine.assumed_shape or mine.key in self.program.overlays:
            return nothing
        if strides:  # it is seen so already by a routine that is called inside
            return self.section(section), strides
        if len(theirs.bounds) < 2 or len(section) != len(theirs.bounds):
            return nothing
        found: list[Range] = []
        lengths: list[Affine] = []
        for touched, (low, high) in zip(section, theirs.bounds, strict=True):
            first = None if low is None else self.value(low)
            last = None if high is None else self.value(high)
            if first is None or (last is None and len(found) + 1 < len(section)):
                return nothing
            if last is not None:
                lengths.append(last.plus(first, -1).plus(Affine(1)))
            ends = (None if end is None else self.value(end) for end in touched)
            found.append(Range(*(None if end is None else end.plus(first, -1) for end in ends)))
        return tuple(found), tuple(lengths[: len(section) - 1])

    def _in_order(
        self, section: Section | None, theirs: Variable, argument: Argument
    ) -> Section | None:
        """What a routine touches of the elements from one of an array of Fortran on.

        `call post(u(1, n), m)` gives `s(m)` those in their order; a section gives no others than
        its own.
        """
        mine = self.program.variables.get(argument.base or "")
        if mine is None or mine.element != theirs.element or argument.problem is not None:
            return None
        if mine.pointer or mine.scattered or mine.key in self.program.overlays:
            return None
        if argument.section is not None:
            return argument.section if len(argument.section) == len(mine.bounds) else None
        touched = self.section(section)
        first = [index for index in argument.origin or () if index is not None]
        if touched is None or len(theirs.bounds) != 1 or len(touched) != 1:
            return None
        if not first or len(first) != len(mine.bounds) or argument.strides:
            return None
        low, begin = touched[0].low, theirs.bounds[0][0]
        begin = None if begin is None else self.value(begin)
        if low is None or touched[0].high is None or begin is None:
            return None
        first[0] = first[0].plus(low).plus(begin, -1)
        count = touched[0].high.plus(low, -1).plus(Affine(1))
        return run_of(self.program, mine, argument, first, count)

    def _given_shape(
        self, section: Section | None, theirs: Variable, argument: Argument
    ) -> Section | None:
        """What a routine touches of an array whose shape it takes from the argument.

        Indices count from the lower bounds of each.
        """
        if section is None or not argument.whole:
            return None
        mine = self.program.variables.get(argument.base or "")
        if mine is None or mine.element != theirs.element or mine.key in self.program.overlays:
            return None
        if len(mine.bounds) != len(theirs.bounds) or len(section) != len(mine.bounds):
            return None
        shape = self._shape(mine, argument)
        if shape is None:
            return None
        found = []
        for touched, (low, _), (first, _) in zip(section, theirs.bounds, shape, strict=True):
            there = None if low is None else self.value(low)
            if there is None or first is None:
                return None
            shift = first.plus(there, -1)
            ends = (None if end is None else self.value(end) for end in touched)
            found.append(Range(*(None if end is None else end.plus(shift) for end in ends)))
        return tuple(found)

    def _shape(self, mine: Variable, argument: Argument) -> Sequence[Bounds] | None:
        """The bounds of an array, as one statement allocates it if that is so."""
        named = mine.key not in self.program.by_given
        return (shape_at(self.program, mine, argument) if named else None) or shape_of(mine)

    def _fitting(self, fit: Fit, theirs: Variable, argument: Argument) -> Section | None:
        """The section of a message that surely fits into a line of what the call gives."""
        room = self.value(fit.room)
        if room is None or room.terms or room.constant < 0 or (fit.exact and room.constant):
            return None
        return self._given_shape(fit.section, theirs, argument)

    def _extent(self, parameter: str, dimension: int) -> Affine | None:
        """The extent of what the call gives an array of assumed shape."""
        argument = self.arguments.get(parameter)
        mine = None if argument is None else self.program.variables.get(argument.base or "")
        theirs = self.program.variables.get(parameter)
        if argument is None or mine is None or theirs is None or not argument.whole:
            return None
        shape = None if mine.key in self.program.overlays else self._shape(mine, argument)
        if shape is None or len(shape) != len(theirs.bounds):
            return None
        low, high = shape[dimension]
        return None if low is None or high is None else high.plus(low, -1).plus(Affine(1))

    def section(self, section: Section | None) -> Section | None:
        if section is None:
            return None
        return tuple(
            Range(
                None if dimension.low is None else self.value(dimension.low),
                None if dimension.high is None else self.value(dimension.high),
            )
            for dimension in section
        )

    def _fit(self, fit: Fit | None) -> Fit | None:
        """The same in the caller's terms, where all of it has a value there."""
        if fit is None:
            return None
        section, room = self.section(fit.section), self.value(fit.room)
        if section is None or room is None or any(None in dimension for dimension in section):
            return None
        return Fit(section, room, fit.exact)

    def value(self, expression: Affine) -> Affine | None:
        """An expression of the routine's parameters, as one of the caller's variables."""
        return expression.replace(self._factor)

    def _all(self, values: tuple[Affine, ...]) -> tuple[Affine, ...] | None:
        if not values:
            return values
        found = [self.value(value) for value in values]
        known = tuple(value for value in found if value is not None)
        return known if len(known) == len(found) else None

    def _factor(self, factor: str) -> Affine | None:
        base, arrow, rest = factor.partition(ARROW)
        element, base = base, array_of_element(base)
        if factor in self.kept:
            return Affine.variable(factor)
        asked = array_of(factor)
        if asked is not None:
            return self._extent(*asked)
        choice = self.program.chosen_once.get(factor)
        if choice is not None:
            return self._chosen(choice)
        if base in self.written:
            return None
        if is_size(base):
            return self._size(base)
        argument = self.arguments.get(base)
        if argument is None:
            return Affine.variable(factor) if self._is_shared(base) else None
        if not arrow:
            whole = element != base
            return given_element(self.program, element, argument) if whole else argument.value
        origin = argument.origin
        if argument.base is None or argument.base not in self.program.variables:
            return None
        # The structure itself, or the first that the pointer names.
        if origin is not None and any(index is None or index != Affine(0) for index in origin):
            return None
        owner = self.program.variables[argument.base]
        if owner.kind == "field" or (origin is None and owner.bounds):
            return None
        named = field_of(argument.base, rest)
        return self.program.sizes.get(named, Affine.variable(named))

    def _is_shared(self, key: str) -> bool:
        """Whether both routines mean the same variable, as that of a unit around both is."""
        variable = self.program.variables.get(key)
        if variable is None or variable.kind in ("global", "static", "field"):
            return variable is not None
        return self.fortran and is_of_another(self.program, self.routine, key)

    def _size(self, size: str) -> Affine | None:
        """The number of elements of a vector that the routine is given by reference."""
        argument = self.arguments.get(vector_of(size))
        if argument is None or any(is_size(key) for key in self.written):
            return None
        named = given_size(self.program, vector_of(size), argument)
        return self.program.sizes.get(named, Affine.variable(named)) if named else None

    def _chosen(self, choice: Choice) -> Affine | None:
        """The one of two values that a variable of the routine has in this call."""
        difference = self.value(choice.test.difference)
        if difference is None or difference.terms:
            return None
        holds = (difference.constant == 0) is choice.test.equal
        return self.value(choice.chosen if holds else choice.otherwise)
