"""Variables and fields that hold what was computed from others, wherever they are read.

`g->ld = g->nx + 2;` in the block that has all that sets `nx`, behind it, makes `ld` another name of
`nx + 2` in each structure: no object has a new `nx` without a new `ld`. What is read in between, or
before any value was given, must not be `ld`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from imbrex.transform.analysis.first_values import FirstValues
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.given_values import GivenValues
from imbrex.transform.analysis.in_front import InFront
from imbrex.transform.analysis.renaming import Renaming
from imbrex.transform.analysis.set_before import SetBefore
from imbrex.transform.analysis.setters import Setters
from imbrex.transform.model.affine import ARROW, PRODUCT, Affine, array_of_element, field_of
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import UNPLACED
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

_SHARED = frozenset({"global", "static"})
# Of Fortran: what sets variables under other names, or by lists of names.
_ELSEWHERE = re.compile(rb"(?im)^\s*namelist\s*/|\bbind\s*\(\s*c\b")
_FIELD = re.compile(r"\s*&?\s*(\w+)\s*(->|\.|%)\s*\w+\s*")


def name_derived(program: Program, footprints: Footprints) -> None:
    """Replace such integers by what they hold in the whole program; footprints become stale."""
    found = _find(program, footprints)
    if not found:
        return
    Renaming(_value_of(found), frozenset(found)).everywhere(program)


def _find(program: Program, footprints: Footprints) -> dict[str, Affine]:
    """What such integers hold; of a field, in terms of fields of the same object (`→field`)."""
    shared = Derived(program, footprints)
    of_main = Derived(program, footprints, shared.setters)
    places: list[tuple[Derived, Routine, Statement, str, str, Affine]] = []
    for routine in program.routines.values():
        for statement in routine.statements():
            if statement.sets is None or not statement.sets[1].terms:
                continue
            owner, key = split(statement.sets[0])
            derived = of_main if not owner and is_of_main(program, key) else shared
            if derived.is_shared(owner, key) and derived.possible:
                places.append((derived, routine, statement, owner, key, statement.sets[1]))
    known: dict[str, Affine] = {}
    while True:  # what is computed from others that are computed is told by what those are made of
        found: dict[str, Affine] = {}
        renaming = Renaming(_value_of(known), frozenset(known))
        for derived, routine, statement, owner, key, value in places:
            settled = derived.settled(routine, statement, owner, key, [renaming.value(value)])
            if settled is not None and derived.first.never_read(routine, statement, owner, key):
                found[key] = settled[0]
        if found == known:
            return known
        known = found


def main_derived(program: Program, footprints: Footprints) -> Derived:
    """What is set where, with the main program's own variables among those that last."""
    return Derived(program, footprints, Setters(program, footprints))


def is_of_main(program: Program, key: str) -> bool:
    """Whether a variable is one of Fortran's main program, not of a routine in it."""
    key = array_of_element(key)
    variable, main = program.variables.get(key), program.routines.get("main")
    if main is None or variable is None or not program.files[main.file].is_fortran:
        return False
    if variable.lifetime is not None:  # that of a BLOCK
        return False
    return variable.kind in ("local", "host") and key.startswith(
        f"{variable.name}@{main.file}:{main.name}:"
    )


def _value_of(found: dict[str, Affine]) -> Callable[[str], Affine | None]:
    def value_of(factor: str) -> Affine | None:
        owner, key = split(factor)
        return found[key].of_object(owner) if key in found else None

    return value_of


def split(factor: str) -> tuple[str, str]:
    """The object and the field that a factor is, or no object and a variable; else nothing."""
    owner, arrow, key = factor.partition(ARROW)
    if not arrow:
        return "", factor
    plain = key.startswith("field:") and ARROW not in key and not key.endswith(".*")
    return (owner, key) if plain else ("", "")


class Derived:
    """What is set where, in a program of which all code is seen."""

    def __init__(
        self, program: Program, footprints: Footprints, setters: Setters | None = None
    ) -> None:
        """`setters`: given where the main program's own variables count as shared ones too."""
        self.program = program
        self.footprints = footprints
        self.of_main = setters is not None
        self.setters = setters or Setters(program, footprints)
        self.in_front = InFront(program, self.setters)
        self.first = FirstValues(program, footprints, self.setters)
        self.before = SetBefore(program, footprints, self.setters)
        self.given = GivenValues(self)
        self.by_given = False  # whether what is settled is told by what dummies are given

    @cached_property
    def possible(self) -> bool:
        program = self.program
        if program.unread_code or self.footprints.unseen is not None:
            return False
        if any(
            source.is_fortran and _ELSEWHERE.search(source.data)
            for source in program.files.values()
        ):
            return False
        return not any(
            s.stop and s.stop.kind in UNPLACED
            for routine in program.routines.values()
            for s in routine.statements()
        )

    def settled(
        self,
        routine: Routine,
        statement: Statement,
        owner: str,
        key: str,
        values: list[Affine],
        *,
        made: bool = False,
        held: bool = False,
    ) -> list[Affine] | None:
        """The values that a statement makes a variable of, by names that tell them ever after.

        `owner`: the object whose field `key` is; empty for a variable that routines share.
        `made`: it makes something of sizes that are as they are then, a datatype.
        `held`: the values are sizes of what the variable, a pointer, gets; others may set it, too.
        """
        block = statement.parent
        array = bool(statement.allocates)  # whose elements, and whose bounds, are told apart
        lasting = array or made
        if block is None or not self.possible or not self.tellable(owner, key, shape=array):
            return None
        if block.owner is not None and block.owner.kind not in (Kind.IF, Kind.BLOCK, Kind.LOOP):
            return None
        here = block.statements.index(statement)
        first = here
        cleared = not (made and owner)  # no message uses a handle that is 0
        setting = self.setters.in_a_block(routine, block, key, cleared=cleared)
        for inner in () if array or held else setting:
            if inner is None or (inner is not statement and inner.kind is not Kind.DECLARE):
                return None
            at = block.statements.index(inner) if inner in block.statements else here + 1
            mine = inner is statement or self.setters.names(routine, inner, owner, key)
            if at > here or not mine:
                return None
            first = min(first, at)
        found = [self._by_shared(routine, statement, owner, value, lasting) for value in values]
        known = [value for value in found if value is not None]
        if len(known) < len(found):
            return None
        names = {n for value in known for term, _ in value.terms for n in term.split(PRODUCT)}
        shared = {name for name in names if not name.startswith(ARROW)} if lasting else set()
        if shared and self.last_from(routine, statement, shared):
            names -= shared
        if not all(self._told_by(owner, key, name) for name in names):
            return None
        sources = {name.removeprefix(ARROW) for name in names}
        first, left = self.in_front.of(
            routine, block, here, owner, sources, first, useless=made or held
        )
        if not self.setters.passable(routine, block.statements[first:here], owner, key):
            return None
        callers = array and not owner
        if left and not (callers and self.in_front.by_callers(routine, block, here, key, left)):
            return None
        return known

    def _told_by(self, owner: str, key: str, name: str) -> bool:
        """Whether a value of `key` may be told by a variable, or a field of the same object."""
        source = name.removeprefix(ARROW)
        if source == key or not self.tellable(owner if name != source else "", source):
            return False
        return (name != source) is bool(owner)  # a shared variable may change without the objects

    def last_from(self, routine: Routine, statement: Statement, shared: set[str]) -> bool:
        """Whether variables that routines share have their last values where a statement runs."""
        told = all(self.tellable("", name) for name in shared)
        return told and self.before.holds(routine, statement, sorted(shared))

    def owner_of(self, routine: Routine, statement: Statement, text: str) -> str | None:
        """The object of which a text names a field; empty where it names a variable."""
        named = _FIELD.fullmatch(text)
        if named is None:
            return "" if re.fullmatch(r"\s*&?\s*\w+\s*", text) else None
        name = named[1].lower()
        read = {access.variable for access in statement.accesses if not access.through}
        fits = [
            key
            for key, variable in self.program.variables.items()
            if variable.name.lower() == name
            and (key in read or named[2] != "->")
            and self._is_seen(routine, statement, key, variable)
        ]
        return fits[0] if len(fits) == 1 else None

    def _is_seen(
        self, routine: Routine, statement: Statement, key: str, variable: Variable
    ) -> bool:
        """Whether a name may be that of a variable in a statement."""
        if key in routine.parameters or variable.kind in _SHARED:
            return True
        life = variable.lifetime
        if life is not None and f"@{routine.file}:" in key:
            return life[0] <= statement.start and statement.end <= life[1]
        return key.startswith(f"{variable.name}@{routine.file}:{routine.name}:")

    def is_shared(self, owner: str, key: str) -> bool:
        """Whether it is a field, or a variable that routines share."""
        variable = self.program.variables.get(key)
        return variable is not None and (bool(owner) or self._lasts(key))

    def _lasts(self, key: str) -> bool:
        """Whether a variable keeps its value while the program runs, but for what sets it.

        Those of Fortran's main program do, too: nothing enters it again. Most routines cannot
        name them, so that they tell nothing of what all routines share.
        """
        variable = self.program.variables[array_of_element(key)]
        if variable.kind in _SHARED or self.program.is_of_single(key):
            return True
        return self.of_main and is_of_main(self.program, key)

    def tellable(self, owner: str, key: str, *, shape: bool = False) -> bool:
        """Whether nothing but what is seen to set it changes a variable.

        `shape`: or the bounds of an allocatable array, which no message into its elements changes.
        """
        element, key = key, array_of_element(key)
        variable = self.program.variables.get(key)
        if variable is None or variable.volatile or key.endswith(".*"):
            return False
        handle = variable.pointer and len(variable.bounds) == 1  # of MPI, in C
        if variable.bounds and not (handle or variable.allocatable or element != key):
            return False
        if key in self.program.overlays or key in self.footprints.aliases.escaped:
            return False
        if key in self.setters.set_later and not (shape and variable.allocatable):
            return False
        if not owner:
            return self._lasts(key) and not key.startswith("common:")
        holder = self.program.variables.get(owner)
        if variable.kind != "field" or holder is None:
            return False
        if holder.bounds and not holder.pointer:
            return False
        if variable.record in self.program.assigned_records or owner in self.program.overlays:
            return False
        enclosing = self.footprints.aliases.records.enclosing(key)
        return enclosing.isdisjoint(self.footprints.aliases.escaped)

    def _by_shared(
        self, routine: Routine, statement: Statement, owner: str, value: Affine, lasting: bool
    ) -> Affine | None:
        """A value in terms of fields of the object, or of variables that routines share.

        `lasting`: or of what all calls of the routine give it.
        """

        def named(factor: str) -> Affine | None:
            of, arrow, key = factor.partition(ARROW)
            if arrow:
                return Affine.variable(field_of("", key)) if owner and of == owner else None
            array = array_of_element(factor)
            variable = self.program.variables.get(array)
            if variable is None or variable.pointer or (variable.bounds and array == factor):
                return None
            if self._lasts(factor):
                return Affine.variable(factor)
            kept = self.kept_in(routine, statement, owner, factor)
            if kept is None and lasting:
                kept = self.given.of(routine, factor)
                self.by_given |= kept is not None
            return kept

        return value.replace(named)

    def kept_in(
        self, routine: Routine, statement: Statement, owner: str, local: str
    ) -> Affine | None:
        """The field, or the shared variable, that is set to a local one beside a statement."""
        block = statement.parent
        assert block is not None
        here = block.statements.index(statement)
        given = array_of_element(local)
        for index, other, behind in _settings(block):
            if other.sets is None or other.sets[1] != Affine.variable(local):
                continue
            of, key = split(other.sets[0])
            variable = self.program.variables.get(key)
            if variable is None or of != owner:
                continue
            if not owner and not self._lasts(key):
                continue
            if index >= here or given in self.footprints.addressed:
                continue
            between = block.statements[index:here]
            if given in self.footprints.changed_by(between, routine.file):
                continue
            if key in self.footprints.changed_by(behind + between[1:], routine.file):
                continue
            return Affine.variable(field_of("", key) if owner else key)
        return None


def _settings(block: Block) -> Iterator[tuple[int, Statement, list[Statement]]]:
    """The statements of a block by their positions, those that share lines one by one.

    Third what stands behind a statement on its line.
    """
    for index, statement in enumerate(block.statements):
        if statement.kind is not Kind.BLOCK or statement.stop is not None:
            yield index, statement, []
            continue
        inner = [each for part in statement.blocks for each in part.statements]
        for number, each in enumerate(inner):
            yield index, each, inner[number + 1 :]
