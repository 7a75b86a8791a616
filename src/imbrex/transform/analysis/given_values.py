"""What the dummy arguments of Fortran's routines are given by all calls: `call init(f, n, m)`.

Where each call in the whole program gives a dummy the same value, made of variables that have it
for good, the dummy is another name of that value. An array that a routine allocates by its dummies
has then bounds that other routines know by theirs.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from imbrex.transform.analysis.mentions import Mentions
from imbrex.transform.model.affine import ARROW, Affine, array_of_element
from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement

if TYPE_CHECKING:
    from imbrex.transform.analysis.derived import Derived

_WORD = re.compile(rb"\w+")


class GivenValues:
    """Follows dummy arguments to all calls of their routines."""

    def __init__(self, derived: Derived) -> None:
        self.derived = derived
        self.program = derived.program
        self.mentions = Mentions(self.program)
        self._known: dict[str, Affine | None] = {}

    def of(self, routine: Routine, dummy: str) -> Affine | None:
        """The value that a dummy has whenever its routine runs, of variables that keep theirs."""
        if dummy not in self._known:
            self._known[dummy] = None  # of a routine that calls itself
            self._known[dummy] = self._find(routine, dummy)
        return self._known[dummy]

    def all_of(self, routine: Routine) -> dict[str, Affine]:
        """The same of all dummies of a routine that have such a value."""
        found = {dummy: self.of(routine, dummy) for dummy in routine.parameters if dummy}
        return {dummy: value for dummy, value in found.items() if value is not None}

    def all_shared(self) -> dict[str, Affine]:
        """The same of variables that routines share."""
        found = {}
        for routine in self.program.routines.values():
            for statement in routine.statements():
                name = statement.sets[0] if statement.sets is not None else ""
                value = self.shared(name) if name else None
                if value is not None:
                    found[name] = value
        return found

    def _find(self, routine: Routine, dummy: str) -> Affine | None:
        if dummy not in routine.parameters or not self._stays(routine, dummy):
            return None
        if routine.address_taken or routine.problem or not self.program.in_fortran(routine.file):
            return None
        calls = self.derived.setters.callers.get(routine.key, [])
        if not calls or not self.mentions.all_known(routine) or self._named_in_c(routine):
            return None
        position = routine.parameters.index(dummy)
        found: set[Affine] = set()
        for user, statement in calls:
            for call in statement.calls:
                if self.program.callee(call.name, user.file) is routine:
                    value = self._at_call(user, statement, call, position)
                    if value is None:
                        return None
                    found.add(value)
        return found.pop() if len(found) == 1 else None

    def _named_in_c(self, routine: Routine) -> bool:
        """Whether code of C may call a routine by the name that a Fortran compiler gives it."""
        name = routine.plain_name.lower().encode()
        return not self._words_of_c.isdisjoint((name + b"_", name + b"__"))

    @cached_property
    def _words_of_c(self) -> frozenset[bytes]:
        texts = (source.data for source in self.program.sources() if not source.is_fortran)
        return frozenset(name for text in texts for name in _WORD.findall(text))

    def _at_call(
        self, user: Routine, statement: Statement, call: Call, position: int
    ) -> Affine | None:
        if call.unknown or position >= len(call.arguments):
            return None
        value = call.arguments[position].value
        return None if value is None else self._at(user, statement, value)

    def _at(self, user: Routine, statement: Statement, value: Affine) -> Affine | None:
        """A value of a routine where a statement runs, of variables that keep theirs."""

        def named(factor: str) -> Affine | None:
            found: Affine | None = Affine.variable(factor)
            if factor in user.parameters:
                found = self.of(user, factor)
                found = found or self.derived.kept_in(user, statement, "", factor)
            elif ARROW in factor or not self._lasts(factor):
                return None
            if found is None or not self.derived.before.holds(user, statement, found.variables()):
                return None
            return found.replace(lambda name: self.shared(name) or Affine.variable(name))

        return value.replace(named)

    def shared(self, factor: str) -> Affine | None:
        """The value of a variable that one statement of the program sets, as a dummy's."""
        if factor not in self._known:
            self._known[factor] = None  # of one that is made of itself
            places = list(self.derived.setters.setting(factor)) if self._lasts(factor) else []
            if len(places) == 1:
                routine, statement = places[0]
                mine = statement.sets is not None and statement.sets[0] == factor
                if mine and self.derived.first.never_read(routine, statement, "", factor):
                    assert statement.sets is not None
                    self._known[factor] = self._at(routine, statement, statement.sets[1])
        return self._known[factor]

    def _lasts(self, factor: str) -> bool:
        """Whether it is an integer that all routines share, or one of the main program's."""
        variable = self.program.variables.get(array_of_element(factor))
        if variable is None or not self.derived.tellable("", factor):
            return False
        return variable.name.lower() not in self.program.inactive

    def _stays(self, routine: Routine, dummy: str) -> bool:
        """Whether a dummy argument keeps the value that it is given while its routine runs."""
        variable = self.program.variables.get(dummy)
        if variable is None or variable.kind != "dummy" or variable.element != "integer":
            return False
        if variable.bounds or variable.pointer or variable.volatile or variable.optional:
            return False
        unseen = self.program.overlays.keys() | self.derived.footprints.aliases.escaped
        if dummy in unseen or dummy in self.derived.setters.set_later:
            return False
        setters = self.derived.setters
        meanwhile = any(
            where.key in setters.reached(routine) or where.address_taken
            for where, _ in setters.writers(dummy)
        )
        return not meanwhile and variable.name.lower() not in self.program.inactive


def note_given(program: Program, derived: Derived) -> None:
    """Note in calls that name arrays what their routines' dummies are given by all calls."""
    if not derived.possible:
        return
    given = GivenValues(derived)
    shared = given.all_shared()
    for routine in program.routines.values():
        every = (call for statement in routine.statements() for call in statement.calls)
        calls = [call for call in every if _names_array(program, call)]
        found = {**shared, **given.all_of(routine)} if calls else {}
        for call in calls if found else ():
            call.given = found


def _names_array(program: Program, call: Call) -> bool:
    """Whether a call has an argument in an array that is allocated."""
    bases = (program.variables.get(argument.base or "") for argument in call.arguments)
    return any(base is not None and base.allocatable for base in bases)
