"""Pointers to rows that routines share, `f->now = make(f->rows + 2, f->cols + 2)`: their lengths.

Of a field they are told by fields of the same object, of a pointer at file scope by variables that
last as long. These get their values in front of where the pointer gets its rows and nowhere else:
rows never are of other sizes. What else sets such a pointer gives it rows of the same object, or
that are as long.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cached_property

from imbrex.transform.analysis.derived import Derived
from imbrex.transform.analysis.equal_objects import find_equal
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.setters import in_block
from imbrex.transform.model.affine import ARROW, PRODUCT, Affine
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.row_pointers import Place, RowsSet, RowStore
from imbrex.transform.model.statements import Statement

Returned = Callable[[RowsSet], Affine | None]  # the length of the rows that a routine returns


LASTING = ("field", "static", "global")


class LastingRows:
    """Looks at what sets fields and variables at file scope that point to rows."""

    def __init__(self, program: Program, footprints: Footprints, keys: set[str]) -> None:
        self.program = program
        self.derived = Derived(program, footprints)
        self.keys = keys
        self.set_to: dict[str, list[RowsSet]] = defaultdict(list)
        for each in program.rows_set:
            if each.rows in keys:
                self.set_to[each.rows].append(each)
        self.stores: dict[str, list[RowStore]] = defaultdict(list)
        for store in program.row_stores:
            if store.rows in keys:
                self.stores[store.rows].append(store)

    def lengths(self, returned: Returned) -> dict[str, Affine]:
        """By pointer; of a field in terms of fields of the same object (`→field`)."""
        if not (self.keys and self.derived.possible):
            return {}
        said: dict[str, set[Affine | None]] = defaultdict(set)
        for key in self.keys:
            for each in self.set_to[key]:
                if each.routine or each.new:
                    said[key].add(self._made(each, returned))
        found = {key: found for key in self.keys if (found := _one(said[key])) is not None}
        for key in self.keys - said.keys():  # what only exchanges rows with others
            length = _one({found.get(each.source) for each in self.set_to[key]})
            found |= {} if length is None else {key: length}
        return {key: length for key, length in found.items() if self._is_told(key)}

    def _is_told(self, key: str) -> bool:
        """Whether all that sets it is noted, of a field each with the object whose field it is."""
        facts = sum(target == key for target, _, _ in self.program.pointer_facts)
        sets = self.set_to[key]
        owned = all(each.owner for each in sets) and all(s.owner for s in self.stores[key])
        return facts == len(sets) and (owned or not self._is_field(key))

    def _is_field(self, key: str) -> bool:
        return self.program.variables[key].kind == "field"

    def _made(self, made: RowsSet, returned: Returned) -> Affine | None:
        """The length of rows that are made, in terms of the object that gets them."""
        found = self._at(made.place)
        if found is None or (self._is_field(made.rows) and not made.owner):
            return None
        routine, statement = found
        if made.routine:
            length = returned(made)
            return None if length is None else self._told(routine, statement, made, length)
        lengths: set[Affine | None] = set()
        for store in self.stores[made.rows]:
            if store.owner != made.owner or not self._is_behind(store, routine, statement):
                return None
            if store.length is not None:
                lengths.add(self._told(routine, statement, made, store.length))
        return _one(lengths)

    def _is_behind(self, store: RowStore, routine: Routine, statement: Statement) -> bool:
        """Whether a row is set behind a statement, in its block or further in, by what it knows."""
        found, block = self._at(store.place), statement.parent
        top = None if found is None or block is None else in_block(found[1], block)
        if found is None or block is None or top is None or found[0] is not routine:
            return False
        first, last = block.statements.index(statement), block.statements.index(top)
        between = block.statements[first : last + 1]
        changed = self.derived.footprints.changed_by(between, routine.file)
        read = frozenset() if store.length is None else store.length.variables()
        return first < last and read.isdisjoint(changed)

    def _told(
        self, routine: Routine, statement: Statement, made: RowsSet, length: Affine
    ) -> Affine | None:
        if self._is_equal(length):
            return _anyones(length)  # wherever it is made
        where = (routine, statement, made.owner, made.rows)
        told = self.derived.settled(*where, [length], held=True)
        return None if told is None else told[0]

    def _at(self, place: Place) -> tuple[Routine, Statement] | None:
        """The innermost statement at a place, and its routine."""
        file, at = place
        for routine in self.program.routines.values():
            if routine.file != file or not routine.body.start <= at < routine.body.end:
                continue
            inside = [s for s in routine.statements() if s.start <= at < s.end]
            if inside:
                return routine, min(inside, key=lambda s: s.end - s.start)
        return None

    def given_away(self, known: Mapping[str, Affine], lengths: Mapping[str, Affine]) -> set[str]:
        """The pointers that are set to rows of another length, or of another object."""
        wrong = set()
        for key, length in known.items():
            for each in self.set_to[key]:
                if each.routine or each.new:
                    continue
                if each.source in known:
                    same = each.source_owner == each.owner or self._is_equal(length)
                    same = same and known[each.source] == length
                else:
                    theirs = lengths.get(each.source)
                    same = theirs == length.of_object(each.owner)
                    same = same or (self._is_equal(length) and _anyones(theirs) == length)
                if not same:
                    wrong.add(key)
        return wrong

    def _is_equal(self, length: Affine) -> bool:
        """Whether a length is told by fields that all objects have alike."""
        factors = {factor for term, _ in length.terms for factor in term.split(PRODUCT)}
        return bool(factors) and {factor.rpartition(ARROW)[2] for factor in factors} <= self.equal

    @cached_property
    def equal(self) -> frozenset[str]:
        """The fields that all objects have alike: these may exchange their rows."""
        return find_equal(self.derived)


def _anyones(length: Affine | None) -> Affine | None:
    """A length that is told by fields of an object as one of fields of any."""

    def named(factor: str) -> Affine:
        _, arrow, key = factor.partition(ARROW)
        return Affine.variable(f"{ARROW}{key}" if arrow else factor)

    return None if length is None else length.replace(named)


def _one(lengths: set[Affine | None]) -> Affine | None:
    return next(iter(lengths)) if len(lengths) == 1 else None
