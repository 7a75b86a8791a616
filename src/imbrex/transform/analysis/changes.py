"""Which variables accesses change, what is known of other accesses afterwards, and which meet."""

from __future__ import annotations

from collections.abc import Set
from functools import cached_property

from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.given_lines import lengths_of
from imbrex.transform.analysis.points_to import EXTERNAL
from imbrex.transform.model.affine import Affine, disjoint, extents, forget, within
from imbrex.transform.model.cases import Case
from imbrex.transform.model.linear_indices import Strides, in_lines
from imbrex.transform.model.memory import MOVES, UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program

_NONE: frozenset[str] = frozenset()
_FIRST = Affine(0)
_MANY = 200  # pairs of accesses, from which on it pays to ask first which of them may meet


class Changes:
    """Accesses against each other, by the memory that they may touch."""

    def __init__(self, program: Program, aliases: Aliases) -> None:
        self.program = program
        self.aliases = aliases
        self._set_by: dict[tuple[str, bool], frozenset[str]] = {}
        # Equal sets are one, so that a large one that many places have in common is added once.
        self._sets: dict[frozenset[str], frozenset[str]] = {}
        # Expressions of a routine's own variables that are not below 0 while it runs.
        self.nonnegative: frozenset[Affine] = frozenset()

    def changed(self, accesses: list[Access]) -> frozenset[str]:
        """Variables whose value may differ after these accesses."""
        # A field that is placed in an element is told by an access of its own.
        places = {(a.variable, a.through) for a in accesses if a.write and not a.member}
        if not places:
            return _NONE
        each = [self._set_by.get(place) or self._changed_by(*place) for place in places]
        first, *rest = {id(names): names for names in each}.values()
        return first.union(*rest) if rest else first

    def _changed_by(self, variable: str, through: bool) -> frozenset[str]:
        """Variables whose value may differ after a write to one place."""
        items = self.aliases.objects(variable, through)
        found = set(items)
        for item in items:
            found |= self._fields_of(item) | self.aliases.records.inside(item)
            found |= self._passed.get(item, _NONE)
        if UNKNOWN_MEMORY in items:
            found |= self.program.variables.keys()
        elif EXTERNAL in items:
            found |= self.aliases.escaped
        if self.aliases.are_elements(variable, through):
            variables = self.program.variables
            found = {n for n in found if n not in variables or variables[n].kind == "heap"}
        for name in found & self.program.named_by.keys():
            found = found | self.program.named_by[name]
        names = frozenset(found)
        known = self._set_by[variable, through] = self._sets.setdefault(names, names)
        return known

    def after(self, access: Access, changed: frozenset[str]) -> Access:
        """The access as it may be known once the variables `changed` have changed."""
        strides = access.strides
        if self._moved(access, changed) or (
            strides and any(s.variables() & changed for s in strides)
        ):
            return access.anywhere()
        return access.settled(forget(access.section, changed), changed)

    def later(self, accesses: list[Access], changed: frozenset[str] | None) -> list[Access]:
        """Accesses as they are known where the variables `changed` have changed since.

        What a pointer named that has been set meanwhile is told by the objects that it may be.
        None: it is not known what has changed.
        """
        found: list[Access] = []
        for access in accesses:
            which = {access.variable} if changed is None else changed
            if self._is_some_element(access, which):
                found.append(self.after(access._replace(slot=()), frozenset(which)))
            elif self._moved(access, which):
                found += [
                    Access(item, False, access.write, access.line)
                    for item in sorted(self.aliases.objects(access.variable, access.through))
                ]
            elif self._given_over(access, changed):
                found.append(Access(UNKNOWN_MEMORY, True, access.write, access.line))
            else:
                known = access.anywhere() if changed is None else self.after(access, changed)
                if self._passed_on(access, changed):
                    known = known._replace(owner="")
                found.append(known)
        return found

    def _is_some_element(self, access: Access, changed: Set[str]) -> bool:
        """Whether an access is through one element or another of an array of pointers, each of
        which has memory of its own: where nothing but the index has changed."""
        if not access.through or access.variable not in self.aliases.slotted:
            return False
        if not any(index.variables() & changed for index in access.slot):
            return False
        return access.variable not in changed and access.owner not in changed

    def _given_over(self, access: Access, changed: frozenset[str] | None) -> bool:
        """Whether the memory of an array may belong to another one that has been given it."""
        variable = self.program.variables.get(access.variable)
        if variable is None or not variable.allocatable:
            return False
        return MOVES in self.program.variables if changed is None else MOVES in changed

    def _passed_on(self, access: Access, changed: frozenset[str] | None) -> bool:
        """Whether an object of Fortran is changed as a whole, so that its arrays may be others."""
        variable = self.program.variables.get(access.variable)
        if variable is None or not variable.apart:
            return False
        return changed is None or access.owner in changed

    def known_by(self, accesses: list[Access]) -> frozenset[str]:
        """The variables of which `later` asks: if none has changed, the accesses stay as known."""
        found: set[str] = set()
        for access in accesses:
            found |= {access.owner, MOVES}
            if access.through and self._moved(access, {access.variable}):
                found.add(access.variable)
            for dimension in access.section or ():
                found |= dimension.variables()
            for form in (*access.strides, *access.slot):
                found |= form.variables()
            for case in access.cases:
                found |= case.variables()
            for fact in access.when:
                found |= fact.variables()
            if access.fit is not None:
                found |= access.fit.variables()
        return frozenset(found)

    def _moved(self, access: Access, changed: Set[str]) -> bool:
        """Whether a pointer may name other memory; a dummy array stays where it is."""
        if not access.through:
            return False
        if access.owner and access.owner in changed:
            return True
        if any(index.variables() & changed for index in access.slot):
            return True
        if access.variable not in changed:
            return False
        variable = self.program.variables.get(access.variable)
        return variable is None or variable.kind != "dummy"

    def _fields_of(self, item: str) -> frozenset[str]:
        """The fields of a variable that is a structure."""
        variable = self.program.variables.get(item)
        if variable is None or not variable.record or variable.kind == "field":
            return frozenset()
        return self._fields.get(variable.record, _NONE)

    @cached_property
    def _passed(self) -> dict[str, set[str]]:
        """Fortran dummy arguments and the components that they may be, both ways."""
        found: dict[str, set[str]] = {}
        for dummy, fields in self.program.passed_fields.items():
            for key in fields:
                found.setdefault(dummy, set()).add(key)
                found.setdefault(key, set()).add(dummy)
        return found

    @cached_property
    def _fields(self) -> dict[str, frozenset[str]]:
        """The fields of each structure type."""
        found: dict[str, set[str]] = {}
        for key in self.program.variables:
            if key.startswith("field:"):
                found.setdefault(key[len("field:") :].rpartition(".")[0], set()).add(key)
        return {record: frozenset(keys) for record, keys in found.items()}

    def conflict(
        self, moved: list[Access], fixed: list[Access], changed: frozenset[str]
    ) -> tuple[Access, Access] | None:
        """The first pair that may touch the same memory with a write among them.

        `changed`: variables whose value may differ between the two places.
        """
        near = self.aliases.meeting(fixed) if len(moved) * len(fixed) > _MANY else None
        for mine in moved:
            if near is not None and not near(mine):
                continue
            for other in fixed:
                if not (mine.write or other.write):
                    continue
                if not self.aliases.may_share(mine, other, changed):
                    continue
                if self.aliases.one_array(mine, other):
                    stable = not self._moved(mine, changed)
                    stable = stable and mine.variable not in self.program.overlays
                    if stable and self.disjoint_after(mine, other, changed):
                        continue
                return mine, other
        return None

    def _disjoint_by_case(self, mine: Access, other: Access, changed: frozenset[str]) -> bool:
        """Whether accesses touch different elements for each value of the variables of cases."""
        sides = [a.cases or (Case((), a.section, a.strides),) for a in (mine, other)]
        if any(key in changed for cases in sides for case in cases for key, _ in case.values):
            return False
        for left in sides[0]:
            for right in sides[1]:
                values = dict(left.values)
                if any(values.setdefault(key, value) != value for key, value in right.values):
                    continue  # they never happen together
                one, two = (
                    access._replace(section=section, strides=strides, cases=())
                    for access, (section, strides) in (
                        (mine, left.known(values)),
                        (other, right.known(values)),
                    )
                )
                if not self.disjoint_after(one, two, changed):
                    return False
        return True

    def _has_lines(self, access: Access, strides: Strides) -> bool:
        """Whether an access is to an array of C in lines of these lengths, none of which it leaves
        by the language.
        """
        variable = self.program.variables.get(access.variable)
        if variable is None or len(variable.bounds) != len(strides) + 1:
            return False
        return lengths_of(variable) == strides and all(low == _FIRST for low, _ in variable.bounds)

    def disjoint_after(self, mine: Access, other: Access, changed: frozenset[str]) -> bool:
        """Whether accesses to one array surely touch different elements."""
        if mine.cases or other.cases:
            return self._disjoint_by_case(mine, other, changed)
        left, right = forget(mine.section, changed), forget(other.section, changed)
        if left is None or right is None:
            return False
        strides = mine.strides or other.strides
        told = [left, right]  # what may leave its line
        if mine.strides != other.strides:  # a message may be counted along a whole array
            if mine.strides and other.strides:
                return False
            told = [left] if mine.strides else [right]
            plain = other if mine.strides else mine
            if not self._has_lines(plain, strides):
                found = in_lines(right if mine.strides else left, strides)
                if found is None:
                    return False
                left, right = (left, found) if mine.strides else (found, right)
                told = [left, right]
        names = frozenset(name for stride in strides for name in stride.variables())
        if names & changed:
            return False

        def apart(known: frozenset[Affine]) -> bool:
            inside = all(within(side, strides, known) for side in told)
            return inside and disjoint(left, right, known)

        facts = self.nonnegative
        if mine.when or other.when:
            facts |= {f for f in mine.when | other.when if f.variables().isdisjoint(changed)}
        if apart(facts):
            return True
        # If one of them touches nothing, they do not meet either.
        spans = extents(left, strides) | extents(right, strides)
        return bool(spans) and apart(facts | spans)
