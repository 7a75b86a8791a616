"""C lvalues and pointer values: the memory that an expression names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_library, c_std_arrays, c_vectors
from imbrex.transform.readers.c_alignment import aligned
from imbrex.transform.readers.c_memory import Effects, Inside, Memory, move
from imbrex.transform.readers.c_pointers import PointerReader
from imbrex.transform.readers.c_row_pointers import (
    note_reached,
    row_element,
    row_memory,
)
from imbrex.transform.readers.c_text import mapped, text_made_of


class PlaceReader(PointerReader, ABC):
    """Finds the memory that expressions of one translation unit refer to."""

    def memory(self, cursor: Any, effects: Effects) -> Memory:
        """The memory that a pointer or array expression refers to."""
        inner = cursor.stripped
        named = inner.referenced if inner.kind is ck.DECL_REF_EXPR else None
        if inner.kind is ck.CSTYLE_CAST_EXPR or (named and named.kind is ck.FUNCTION_DECL):
            return Memory(UNKNOWN_MEMORY, False)  # no memory is read for the address of a function
        row = row_memory(self, inner, effects)
        if row is not None:
            return row
        if inner.type.is_number or "__va_list" in cc.element_type(inner.type):
            found = self._rounded(cursor, effects)
        elif inner.type.is_array:
            found = self.place(inner, effects)
        elif inner.kind in (
            ck.DECL_REF_EXPR,
            ck.MEMBER_REF_EXPR,
            ck.ARRAY_SUBSCRIPT_EXPR,
        ) or self._is_dereference(inner):
            held = self.place(inner, effects)
            self._record(effects, held, inner, write=False)
            note_reached(self, held, inner)
            key = f"*{held.key}" if held.through else held.key
            one = not held.key.startswith("field:") or bool(held.owner)
            found = (
                Memory(UNKNOWN_MEMORY, False)
                if held.key == UNKNOWN_MEMORY
                else Memory(key, True, exact=not held.through and one)
            )
            if inner.kind is ck.MEMBER_REF_EXPR and not held.through:
                found.owner = held.owner
            if not held.through:
                found.slot = self._slot(inner, held)
            if (held.indices or held.offset is not None) and not found.slot:
                found.exact = False  # one of several arrays, it is not known which
        elif inner.kind is ck.UNARY_OPERATOR:
            operator = inner.unary_operator
            (operand,) = inner.operands
            if operator == cc.ADDRESS_OF:
                found = self.place(operand.stripped, effects)
            else:
                found = self.memory(operand, effects)
                self.read(inner, effects)
                found.exact = False
        elif inner.kind in (ck.BINARY_OPERATOR, ck.COMPOUND_ASSIGNMENT_OPERATOR):
            found = self._sum(inner, effects)
        elif inner.kind is ck.CALL_EXPR:
            name, vector = c_vectors.method(inner)
            array_method, array = c_std_arrays.method(inner)
            if name in c_vectors.ADDRESSES and vector is not None:
                found = self._elements(vector, effects)
            elif array_method == "data" and array is not None:
                found = self.place(array, effects)
            else:
                found = self._returned(inner, effects)
        elif inner.kind is ck.CXX_THIS_EXPR:
            found = self._object(inner, effects)
        elif inner.kind is ck.STRING_LITERAL:
            found = Memory("string", False)
        elif inner.kind is ck.CXX_NEW_EXPR and (made := self.allocated(inner, effects)):
            found = made
        else:
            self.read(inner, effects)
            self.hide(inner)
            found = Memory(UNKNOWN_MEMORY, False)
        if cc.element_type(cursor.type) not in ("void", cc.element_type(inner.type)):
            found.exact = False  # a cast to another element type
        return found

    def _slot(self, cursor: Any, held: Memory) -> tuple[Affine, ...]:
        """Which element of an array of pointers an expression is; empty where that is not known."""
        if held.offset is not None:
            return ()
        if held.indices == [None] and cursor.kind is ck.ARRAY_SUBSCRIPT_EXPR:
            index = self.residue(next(o for o in cursor.operands if not o.type.is_address))
            return () if index is None else (index,)
        known = tuple(index for index in held.indices if index is not None)
        return known if len(known) == len(held.indices) else ()

    def _object(self, cursor: Any, effects: Effects) -> Memory:
        """What `this` points to."""
        if not self.this:
            return Memory(UNKNOWN_MEMORY, False)
        effects.accesses.append(Access(self.this, False, False, cursor.location.line))
        return Memory(self.this, True)

    @abstractmethod
    def computed(self, cursor: Any, effects: Effects) -> Memory | None: ...

    @abstractmethod
    def referred(self, cursor: Any, effects: Effects) -> Memory | None: ...

    @abstractmethod
    def hide(self, cursor: Any) -> None: ...

    def _is_dereference(self, cursor: Any) -> bool:
        unary = cursor.kind is ck.UNARY_OPERATOR
        return unary and bool(cursor.unary_operator == cc.DEREFERENCE)

    def _rounded(self, cursor: Any, effects: Effects) -> Memory:
        """The memory that a number is the address of."""
        made = aligned(cursor) if cursor.type.is_pointer else None
        if made is None:
            # Of anything whose address has become a number. An argument without a name: any that
            # was passed so.
            self.read(cursor.stripped, effects)
            return Memory(UNKNOWN_MEMORY, False)
        for multiple in made.multiples:
            self.read(multiple, effects)
        found = self.memory(made.pointer, effects)
        return Memory(found.key, found.through, exact=False)

    def _sum(self, cursor: Any, effects: Effects) -> Memory:
        left, right = cursor.operands
        operator = cursor.binary_operator
        if operator not in (cc.ADD, cc.SUBTRACT):
            self.read(cursor, effects)
            if operator == cc.COMMA:
                return self.memory(right, Effects())
            found = self.memory(left, Effects())
            found.exact = False
            return found
        if not left.type.is_address:
            left, right = right, left
        found = self.memory(left, effects)
        self.read(right, effects)
        amount = self.affine(right)
        rows = found.key in self.program.row_lengths and cc.points_to_rows(left.type)
        if amount is None or rows:
            found.exact = False
            return found
        move(found, amount if operator == cc.ADD else amount.times(-1))
        return found

    def _returned(self, cursor: Any, effects: Effects) -> Memory:
        found = self.computed(cursor, effects)
        if found is not None:
            return found
        self.read(cursor, effects)
        name = cursor.spelling
        if name in c_library.ALLOCATORS:
            return Memory(self._heap(cursor), False, exact=False)
        if name in c_library.RETURNS_FIRST_ARGUMENT:
            found = self.memory(cursor.operands[1], Effects())
            found.exact = False
            return found
        return (
            Memory(f"return:{name}", True, exact=False) if name else Memory(UNKNOWN_MEMORY, False)
        )

    def place(self, cursor: Any, effects: Effects) -> Memory:
        """The memory of an lvalue; what evaluating its address reads is recorded."""
        cursor = cursor.stripped
        row = row_element(self, cursor, effects)
        if row is not None:
            return row
        if cursor.kind is ck.STRING_LITERAL:
            return Memory("string", False)
        if cursor.kind is ck.CALL_EXPR:
            element = self._element(cursor, effects) or self._array_element(cursor, effects)
            element = element or self.referred(cursor, effects) or self._mapped(cursor, effects)
            element = element or self.named_by_iterator(cursor)
            if element is not None:
                return element
        made = text_made_of(cursor)
        if made is not None:
            for part in made:
                self.read(part, effects)
            return Memory("string", False)
        if cursor.kind is ck.DECL_REF_EXPR:
            referenced = cursor.referenced
            if referenced is None or referenced.kind not in (
                ck.VAR_DECL,
                ck.PARM_DECL,
            ):
                return Memory(UNKNOWN_MEMORY, False)
            if referenced.type.is_reference and not c_vectors.declared(referenced):
                key = str(self.key_of(referenced))
                if self.program.variables[key].reference:
                    return Memory(key, True, indices=[Affine(0)])
                bound = self.bound.get(key)
                return Memory(UNKNOWN_MEMORY, False) if bound is None else replace(bound)
            return Memory(self.key_of(referenced), False)
        if cursor.kind is ck.MEMBER_REF_EXPR:
            children, at = cursor.operands, None
            if children:
                base = children[0]
                if base.type.is_pointer:
                    at = self.named_by_iterator(base.stripped)
                    within = self.memory(base, effects) if at is None else at
                else:
                    within = self.place(base, effects)
            elif cursor.referenced is not None and cursor.referenced.kind is ck.FIELD_DECL:
                within = self._object(cursor, effects)
            if cursor.referenced is not None and cursor.referenced.type.is_reference:
                return Memory(UNKNOWN_MEMORY, False)
            key = self._field_key(cursor)
            if cursor.referenced is None or cursor.referenced.kind is not ck.FIELD_DECL:
                return Memory(key, False, exact=False)
            self._note_record(key, within)
            owner = self.owner(cursor)
            inside = within.inside
            if inside is None and (at is not None or self._is_element(within, children)):
                inside = Inside(within, key)
            return Memory(key, False, exact=False, owner=owner or "", inside=inside)
        if cursor.kind is ck.ARRAY_SUBSCRIPT_EXPR:
            base, index = cursor.operands
            if not base.type.is_address:
                base, index = index, base
            found = self.memory(base, effects)
            self.read(index, effects)
            position = self.affine(index)
            if found.offset is not None:
                position = None if position is None else position.plus(found.offset)
            elif not found.indices:
                parts, strides = self._split(index)
                if strides:
                    found.parts, found.strides = parts, strides
            span = None if position is not None else self.span(index)
            if span is not None and found.offset is None:
                found.spans[len(found.indices)] = span
            found.offset = None
            found.indices.append(position)
            return found
        if self._is_dereference(cursor):
            (operand,) = cursor.operands
            found = self.memory(operand, effects)
            found.indices.append(found.offset if found.offset is not None else Affine(0))
            found.offset = None
            return found
        self.read(cursor, effects)
        if cursor.kind is not ck.CALL_EXPR and not self._holds_numbers(cursor):
            self.hide(cursor)
        return Memory(UNKNOWN_MEMORY, False)

    def _mapped(self, cursor: Any, effects: Effects) -> Memory | None:
        """An element of a map, which may be new: all of the map."""
        found = mapped(cursor)
        if found is None:
            return None
        container, key = found
        made = text_made_of(key)
        for part in [key] if made is None else made:
            self.read(part, effects)
        held = self.place(container, effects)
        whole = replace(held, exact=False)
        self._record(effects, whole, container, write=True)
        return whole

    def _is_element(self, within: Memory, children: list[Any]) -> bool:
        """Whether memory is an element or a variable that holds numbers and nothing else."""
        variable = self.program.variables.get(within.key)
        if variable is None or not children or not children[0].type.is_record_of_numbers:
            return False
        return bool(within.indices) or not (within.through or variable.kind == "field")

    @staticmethod
    def _holds_numbers(cursor: Any) -> bool:
        """Whether it is a compound literal of numbers: what these name cannot be reached by it."""
        element = cursor.type.innermost
        number = element.is_number and not element.is_ordered
        return cursor.kind is ck.COMPOUND_LITERAL_EXPR and bool(number)

    def _record(self, effects: Effects, place: Memory, cursor: Any, *, write: bool) -> None:
        if place.fixed and not write:
            return
        variable = self.program.variables.get(place.key)
        if variable is not None and variable.volatile:
            effects.stop = effects.stop or ReasonKind.VOLATILE(variable=variable.name)
        elif cursor.type.is_ordered:
            effects.stop = effects.stop or ReasonKind.VOLATILE(variable=place.key)
        access = self._access(place, cursor.location.line, write=write)
        inside = place.inside
        if inside is not None and not place.through:
            element = self._access(inside.element, access.line, write=write)
            effects.accesses.append(element._replace(member=inside.field))
            access = access._replace(placed=True)
        effects.accesses.append(access)

    def _access(self, place: Memory, line: int, *, write: bool) -> Access:
        variable = self.program.variables.get(place.key)
        rank = 0 if variable is None else len(variable.bounds)
        section = place.section(rank)
        strides = place.strides[::-1] if section is not None and len(section) > rank else ()
        owner, slot = (place.owner, place.slot) if place.through else ("", ())
        return Access(place.key, place.through, write, line, section, strides, owner, slot)
