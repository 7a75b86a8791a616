"""Expressions over std::array: its elements as memory, its methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access, Variable
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers import c_std_arrays
from imbrex.transform.readers.c_iterators import IteratorReader
from imbrex.transform.readers.c_memory import Effects, Inside, Memory


class ArrayReader(IteratorReader, ABC):
    """What the reader of expressions does with std::array."""

    @abstractmethod
    def _note_record(self, key: str, within: Memory) -> None: ...

    def _array_element(self, cursor: Any, effects: Effects) -> Memory | None:
        """The element that a call of a method names."""
        name, array = c_std_arrays.method(cursor)
        if array is None or not self.is_element(name, c_std_arrays.ELEMENTS):
            return None
        found = self._within(self._array(array, effects), array.type)
        if name in ("operator[]", "at"):
            number = cursor.operands[-1]
            self.read(number, effects)
            index = self.affine(number)
        else:
            last = (c_std_arrays.extent_of(array.type) or 0) - 1
            index = Affine(0 if name == "front" else last)
        if found.offset is not None:
            index = None if index is None else index.plus(found.offset)
        found.offset = None
        found.indices.append(index)
        return found

    def _within(self, found: Memory, kind: Any) -> Memory:
        """The array in an element of a vector of them, which counts as a structure; else it."""
        variable = self.program.variables.get(found.key)
        if variable is None or not (variable.of_structures and found.through):
            return found
        record = kind.canonical.spelling.removeprefix("const ")
        key = f"field:{record}.[]"
        extent = c_std_arrays.extent_of(kind) or 0
        bounds = ((Affine(0), Affine(extent - 1)),)
        field = Variable(key, "[]", "field", element=kind.innermost.spelling, bounds=bounds)
        field.record = record
        self.program.variables.setdefault(key, field)
        self._note_record(key, found)
        return Memory(key, False, exact=False, owner=found.owner, inside=Inside(found, key))

    def _array(self, array: Any, effects: Effects) -> Memory:
        """The memory of the array that an expression names, or points to."""
        return self.memory(array, effects) if array.type.is_pointer else self.place(array, effects)

    def _array_method(self, cursor: Any, effects: Effects) -> bool:
        """Read the call of an array's method; False where it is none, or not known."""
        name, array = c_std_arrays.method(cursor)
        if array is None:
            return False
        if self.is_element(name, c_std_arrays.ELEMENTS):
            self._record(effects, self.place(cursor, effects), cursor, write=False)
        elif name == "data" or name in c_std_arrays.SIZES:
            self._array(array, effects)
        elif name == "fill" and cursor.arguments:
            self._fill_array(cursor, array, effects)
        else:
            return False
        return True

    def _fill_array(self, cursor: Any, array: Any, effects: Effects) -> None:
        found = self._array(array, effects)
        (value,) = cursor.arguments
        self.read(value, effects)
        if self.is_null_request(value):  # requests that are none, as where one is assigned
            effects.stop = effects.stop or ReasonKind.CONSTRUCT()
            return
        if found.key == UNKNOWN_MEMORY or not array.type.innermost.is_number:
            effects.stop = effects.stop or ReasonKind.CONSTRUCT()
            self.program.pointer_facts.append((found.key, "addr", "external"))
        line = cursor.location.line
        effects.accesses.append(Access(found.key, found.through, True, line, owner=found.owner))
