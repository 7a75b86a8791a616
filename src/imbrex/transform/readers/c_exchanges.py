"""`std::swap` of two vectors, of two pointers, or of two objects that hold such."""

from __future__ import annotations

from abc import ABC
from typing import Any

from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_vectors
from imbrex.transform.readers.c_copies import copied_with
from imbrex.transform.readers.c_memory import Effects
from imbrex.transform.readers.c_moved import fields_within, moves_as_it_is
from imbrex.transform.readers.c_vector_reader import NAMED, VectorReader
from imbrex.transform.readers.cxx_library import is_library


class ExchangeReader(VectorReader, ABC):
    """What the reader of expressions does where two variables exchange their memory."""

    def _exchange(self, cursor: Any, effects: Effects) -> bool:
        """Read `std::swap` of two vectors: each has the other's memory from then on."""
        if not cursor.tree.plus_plus or cursor.spelling != "swap" or len(cursor.arguments) != 2:
            return False
        function = cursor.referenced
        if (
            function is not None
            and is_library(function)
            and self._exchange_pointers(cursor, effects)
        ):
            return True
        if (
            function is not None
            and is_library(function)
            and self._exchange_objects(cursor, effects)
        ):
            return True
        vectors: list[Any | None] = [c_vectors.one(child) for child in cursor.arguments]
        if function is None or not is_library(function) or not self._are_variables(vectors):
            return False
        line = cursor.location.line
        keys = []
        for child, declaration in zip(cursor.arguments, vectors, strict=True):
            found = self._elements(child, effects)
            keys.append(found.key)
            effects.accesses.append(Access(found.key, False, True, line))
            effects.accesses.append(Access(self._size_of(declaration), False, True, line))
        names = [str(child.spelling) for child in vectors if child is not None]
        cause = ReasonKind.VECTOR_MOVES(vector=names[0], method="swap")
        effects.stop = effects.stop or cause
        facts = self.program.pointer_facts
        facts += [(keys[0], "copy", keys[1]), (keys[1], "copy", keys[0])]
        self.note_sizes(cursor.arguments, exchanged=True)
        return True

    def _exchange_pointers(self, cursor: Any, effects: Effects) -> bool:
        """Read `std::swap` of two pointers: variables, members of one object each, or elements."""
        for child in cursor.arguments:
            inner = child.stripped
            if inner.kind is ck.ARRAY_SUBSCRIPT_EXPR:
                inner = inner.operands[0].stripped
                kind = inner.type.element_type if inner.type.is_array else None
            else:
                kind = inner.type
            named = inner.referenced if inner.kind in NAMED else None
            if named is None or named.type.is_reference or kind is None or not kind.is_pointer:
                return False
        places = [self.place(child.stripped, effects) for child in cursor.arguments]
        first, second = places
        if any(place.through or place.key == UNKNOWN_MEMORY for place in places):
            return False
        for place, child in zip(places, cursor.arguments, strict=True):
            self._record(effects, place, child, write=False)
            self._record(effects, place, child, write=True)
        facts = self.program.pointer_facts
        facts += [(first.key, "copy", second.key), (second.key, "copy", first.key)]
        effects.swaps = (first.key, second.key)
        return True

    def _exchange_objects(self, cursor: Any, effects: Effects) -> bool:
        """Read `std::swap` of two objects, which runs no code: each member has the other's value.

        The vectors of a class stay told apart by their members, and no memory gets known elsewhere.
        """
        record = cursor.arguments[0].stripped.type.canonical
        if any(child.stripped.kind not in NAMED for child in cursor.arguments):
            return False
        if not moves_as_it_is(record):
            return False
        line = cursor.location.line
        places = [self.place(child.stripped, effects) for child in cursor.arguments]
        if not any(place.through or place.owner for place in places):
            effects.exchanges = (places[0].key, places[1].key)
        for field in fields_within(record):
            key = self.key_of(field)
            effects.accesses += [Access(key, False, write, line) for write in (False, True)]
            if c_vectors.is_vector(field.type):
                effects.accesses += [Access(key, True, write, line) for write in (False, True)]
                effects.accesses.append(Access(self._size_of(field), False, True, line))
                self.program.resized_vectors.add(key)
        if any(field.type.innermost.is_pointer for field in fields_within(record)):
            effects.accesses.append(Access(UNKNOWN_MEMORY, False, True, line))
        self.program.exchanged_records |= copied_with(record)
        name = cursor.arguments[0].stripped.spelling
        effects.stop = effects.stop or ReasonKind.VECTOR_MOVES(vector=name, method="swap")
        return True
