"""Loops of C++ by iterators, `for (auto it = v.begin(); it != v.end(); ++it)`.

Such a loop goes through the elements of a vector of numbers or of structures of them, as a
range-based one does, where nothing but `*it` and `it->` stands in its body: no iterator is left.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import replace
from typing import Any

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_vectors
from imbrex.transform.readers.c_algorithms import AlgorithmReader, holds_numbers, iterated
from imbrex.transform.readers.c_memory import Effects, Memory
from imbrex.transform.readers.cxx_library import is_library

_NAMES = frozenset({"operator*", "operator->"})
_COMPARED = frozenset({"operator!=", "operator<"})


def _named(cursor: Any) -> Any | None:
    """The local variable that an expression is."""
    inner = cursor.stripped
    named = inner.referenced if inner.kind is ck.DECL_REF_EXPR else None
    return named if named is not None and named.kind is ck.VAR_DECL else None


def _is_call(cursor: Any, names: frozenset[str]) -> bool:
    """Whether it is a call of an operator of the library."""
    if cursor.kind is not ck.CALL_EXPR or cursor.spelling not in names or not cursor.arguments:
        return False
    return cursor.referenced is not None and is_library(cursor.referenced)


class _Header:
    """The header of a loop, as far as iterators go."""

    def __init__(self, declared: Any, test: Any, step: Any) -> None:
        self.begun = {
            variable.raw.first: (variable, iterated(variable.initializer)[0])
            for variable in declared.children
            if variable.kind is ck.VAR_DECL and variable.initializer is not None
        }
        self.whole = len(self.begun) == len(declared.children) and all(
            vector is not None for _, vector in self.begun.values()
        )
        self.test, self.step = test.stripped, step.stripped

    def is_known(self) -> bool:
        if not self.whole or not self.begun or not _is_call(self.test, _COMPARED):
            return False
        compared = all(self._is_iterator(side) for side in self.test.arguments)
        return compared and all(self._is_step(part) for part in self._steps(self.step))

    def _is_iterator(self, cursor: Any) -> bool:
        named = _named(cursor)
        if named is not None and named.raw.first in self.begun:
            return True
        of, numbers = iterated(cursor)
        return of is not None and not numbers

    def _steps(self, step: Any) -> list[Any]:
        if step.kind is ck.BINARY_OPERATOR and step.binary_operator == cc.COMMA:
            return [part for side in step.operands for part in self._steps(side.stripped)]
        return [step]

    def _is_step(self, cursor: Any) -> bool:
        if not _is_call(cursor, frozenset({"operator++"})):
            return False
        named = _named(cursor.arguments[0])
        return named is not None and named.raw.first in self.begun

    def is_only_named_through(self, cursor: Any) -> bool:
        """Whether a body does nothing with the iterators but to name their elements."""
        if _is_call(cursor, _NAMES):
            named = _named(cursor.arguments[0])
            if named is not None and named.raw.first in self.begun:
                return True
        named = cursor.referenced if cursor.kind is ck.DECL_REF_EXPR else None
        if named is not None and named.raw.first in self.begun:
            return False
        return all(self.is_only_named_through(child) for child in cursor.children)


class IteratorReader(AlgorithmReader, ABC):
    """What the reader of expressions does with the iterators of loops."""

    def iterate(self, control: list[Any], body: Any, effects: Effects) -> bool:
        """Read the header of such a loop; False where it is none."""
        if len(control) != 3 or control[0].kind is not ck.DECL_STMT or not body.tree.plus_plus:
            return False
        header = _Header(*control)
        if not header.is_known() or not header.is_only_named_through(body):
            return False
        vectors = [v.stripped.type for _, v in header.begun.values() if v is not None]
        if not all(holds_numbers(kind, structures=True) for kind in vectors):
            return False
        if not all(c_vectors.is_vector(kind) for kind in vectors):
            return False
        for variable, vector in header.begun.values():
            elements = self._elements_of(variable.initializer, effects, structures=True)
            if elements is None or vector is None:
                return False
            self._begin(variable, vector, elements, effects)
        for side in header.test.arguments:
            if _named(side) is None:
                self._elements_of(side, effects, structures=True)
        return True

    def _begin(self, variable: Any, vector: Any, elements: Memory, effects: Effects) -> None:
        """An iterator is at some element of a vector from then on."""
        key = self.key_of(variable)
        line = variable.location.line
        effects.accesses.append(Access(key, False, True, line))
        self.bound[key] = elements
        if not c_vectors.is_structured(vector.stripped.type):
            return
        # As a reference to an element would: fields are told apart by what it may refer to.
        of = self.program.variables[elements.key]
        self.program.variables[key] = Variable(
            *(key, variable.spelling, "local"),
            element=of.element,
            pointer=True,
            bounds=((Affine(0), None),),
            lifetime=self.lifetime,
            line=line,
            element_bytes=of.element_bytes,
            reference=True,
        )
        self._note(key, elements.key, elements.through, begins=False)
        self.bound[key] = Memory(key, True, indices=[Affine(0)])

    def named_by_iterator(self, cursor: Any) -> Memory | None:
        """The element that the iterator of a loop is at, of `*it` and `it->`."""
        if not _is_call(cursor, _NAMES):
            return None
        named = _named(cursor.arguments[0])
        if named is None or named.type.is_reference:
            return None
        found = self.bound.get(self.key_of(named))
        return None if found is None else replace(found, indices=[*found.indices])
