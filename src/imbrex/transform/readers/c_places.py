"""C lvalues and pointer values: the memory that an expression names, and what pointers hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from clang.cindex import LinkageKind, StorageClass

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.linear_indices import index_of_parts
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access, Meant
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_library, c_methods, c_std_arrays, c_vectors
from imbrex.transform.readers.c_alignment import aligned
from imbrex.transform.readers.c_initial_values import pointers
from imbrex.transform.readers.c_new_reader import NewReader, is_null
from imbrex.transform.readers.c_row_pointers import (
    note_reached,
    note_rows_set,
    row_element,
    row_memory,
)
from imbrex.transform.readers.c_vector_reader import Effects, Inside, Memory


def move(memory: Memory, amount: Affine) -> None:
    """Have memory begin so many elements further on."""
    if memory.parts:
        memory.parts = (*memory.parts[:-1], memory.parts[-1].plus(amount))
    if memory.indices:
        last = memory.indices[-1]
        memory.indices[-1] = None if last is None else last.plus(amount)
    else:
        memory.offset = amount if memory.offset is None else memory.offset.plus(amount)


class PlaceReader(NewReader, ABC):
    """Finds the memory that expressions of one translation unit refer to."""

    def memory(self, cursor: Any, effects: Effects) -> Memory:
        """The memory that a pointer or array expression refers to."""
        inner = cursor.stripped
        if inner.kind is ck.CSTYLE_CAST_EXPR:
            return Memory(UNKNOWN_MEMORY, False)
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
    def keep_reference(self, function: Any) -> None: ...

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
            element = element or self.referred(cursor, effects)
            if element is not None:
                return element
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
            children = cursor.operands
            if children:
                base = children[0]
                if base.type.is_pointer:
                    within = self.memory(base, effects)
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
            if inside is None and self._is_element(within, children):
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

    @staticmethod
    def _cell(place: Memory) -> str:
        return f"*{place.key}" if place.through else place.key

    def points(self, cell: str, value: Any, owner: str = "") -> None:
        """Record what pointer values `cell` takes on from the expression `value`.

        `owner`: the object whose field the cell is.
        """
        inner = value.stripped
        facts = self.program.pointer_facts
        if inner.kind is ck.CONDITIONAL_OPERATOR:
            for branch in inner.operands[1:]:
                self.points(cell, branch, owner)
            return
        if is_null(inner):
            return
        note_rows_set(self, cell, owner, inner)
        if inner.kind is ck.INIT_LIST_EXPR:
            for child in inner.operands:
                self.points(cell, child)
            return
        named = inner
        if inner.kind is ck.UNARY_OPERATOR and inner.unary_operator == cc.ADDRESS_OF:
            named = inner.operands[0].stripped
        function = named.referenced if named.kind is ck.DECL_REF_EXPR else None
        if function is not None and function.kind is ck.FUNCTION_DECL:
            self.want(function)
            self.keep_reference(function)
            facts.append((cell, "addr", f"function:{c_methods.routine_name(function)}"))
            return
        found = self.memory(value, Effects())
        self._note(cell, found.key, found.through, begins=found.begins)

    def _first(self, found: Memory) -> tuple[Affine | None, ...] | None:
        variable = self.program.variables.get(found.key)
        if variable is None:
            return None
        rank = len(variable.bounds)
        indices = list(found.indices)
        if found.parts and rank == 1 and len(indices) == 1 and found.offset is None:
            return tuple(reversed(found.parts))
        if len(indices) < rank:
            indices.append(found.offset if found.offset is not None else Affine(0))
        elif found.offset is not None:
            return None
        while len(indices) < rank:
            indices.append(Affine(0))
        return tuple(reversed(indices))

    def meant(self, declaration: Any, value: Any) -> Meant | None:
        """The memory that a local pointer of C is declared to name."""
        kind = declaration.type
        if declaration.linkage != LinkageKind.NO_LINKAGE or not kind.is_pointer:
            return None
        if declaration.storage_class == StorageClass.STATIC or is_null(value.stripped):
            return None
        if cc.element_type(kind) != cc.element_type(value.type):
            return None
        inner = Effects()
        found = self.memory(value, inner)
        plain = not (inner.calls or inner.stop or any(a.write for a in inner.accesses))
        if not plain or found.key not in self.program.variables:
            return None
        first = self._first(found) if found.exact else None
        if found.parts:
            parts = tuple(reversed(found.parts)), tuple(reversed(found.strides))
            first = (index_of_parts(*parts),) if found.exact else None
        owner, slot = found.owner, found.slot if found.through else ()
        return Meant(found.key, found.through, first, owner, slot)

    def initialize(self, kind: Any, value: Any) -> None:
        """Record what pointers in a structure, or in an array of them, are set to by a list."""
        fields = [field for field in kind.fields if field.type.holds_address]
        if not fields:
            return
        if value.stripped.kind is not ck.INIT_LIST_EXPR:
            return  # another structure, whose fields are the same to the model
        for field, leaf in pointers(kind, value.stripped):
            for each in fields if field is None else [field]:
                self.points(self._key_of_field(each), leaf)

    def _note_record(self, key: str, within: Memory) -> None:
        """Record the memory that a structure lies in, of which a field is named."""
        variable = self.program.variables.get(key)
        if variable is not None:
            cell = f"record:{variable.record}"
            if within.key == UNKNOWN_MEMORY:
                self.program.record_facts.add((cell, "addr", "external"))
            else:
                form = "copy" if within.through else "addr"
                self.program.record_facts.add((cell, form, within.key))

    def _note(self, cell: str, key: str, through: bool, *, begins: bool) -> None:
        """Record that a cell may hold the address of a variable, or what it holds.

        `begins`: not an address inside it.
        """
        if not begins:
            self.program.inner_addresses.add(cell)
        if key == UNKNOWN_MEMORY:
            self.program.pointer_facts.append((cell, "addr", "external"))
        else:
            self.program.pointer_facts.append((cell, "copy" if through else "addr", key))
