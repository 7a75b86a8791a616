"""C expressions: the accesses and calls that evaluating one makes."""

from __future__ import annotations

from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_defaults, c_methods, c_vectors
from imbrex.transform.readers.c_alignment import aligned
from imbrex.transform.readers.c_asserted import asserted
from imbrex.transform.readers.c_complex import computed_of, set_by
from imbrex.transform.readers.c_copies import (
    assigns_numbers,
    copied_with,
    copies_numbers,
    leaves_unset,
)
from imbrex.transform.readers.c_distances import (
    becomes_number,
    is_distance,
    is_offset,
    within_one,
)
from imbrex.transform.readers.c_hidden import RECASTS
from imbrex.transform.readers.c_lengths import parts_of_cast
from imbrex.transform.readers.c_memory import Effects, Memory
from imbrex.transform.readers.c_new_reader import is_null
from imbrex.transform.readers.c_number_functions import computed_from, value_chosen_from
from imbrex.transform.readers.c_passing import CallReader
from imbrex.transform.readers.c_row_pointers import note_row_stored
from imbrex.transform.readers.c_text import text_made_of
from imbrex.transform.readers.c_times import time_computed_of, time_set_by


class ExpressionReader(CallReader):
    """Reads the expressions of one translation unit."""

    def read(self, cursor: Any, effects: Effects) -> None:
        """Record what evaluating an expression reads, writes and calls."""
        if self.only_finding:
            return
        kind = cursor.kind
        if kind in ck.CASTS:
            self._cast(cursor, effects)
        elif kind in (
            ck.DECL_REF_EXPR,
            ck.MEMBER_REF_EXPR,
            ck.ARRAY_SUBSCRIPT_EXPR,
        ):
            self._read_place(cursor, effects)
        elif kind is ck.UNARY_OPERATOR:
            self._read_unary(cursor, effects)
        elif kind is ck.BINARY_OPERATOR:
            left, right = cursor.operands
            if cursor.binary_operator == cc.ASSIGN:
                self._assign(left, right, cursor, effects, update=False)
            else:
                distance = is_distance(cursor)
                inside = distance and within_one(cursor)
                for side in (left, right):
                    if distance and not inside:
                        self._number(side)
                    # No number of an address is left of a distance within one object.
                    self.read(side.stripped if inside else side, effects)
        elif kind is ck.COMPOUND_ASSIGNMENT_OPERATOR:
            left, right = cursor.operands
            self._assign(left, right, cursor, effects, update=True)
        elif kind is ck.CALL_EXPR:
            known = self._method(cursor, effects) or self._array_method(cursor, effects)
            known = known or self._exchange(cursor, effects) or self._complex(cursor, effects)
            known = known or self._algorithm(cursor, effects) or self._computed(cursor, effects)
            if not known and copies_numbers(cursor):
                self.read(cursor.arguments[0], effects)
                return
            if not known and assigns_numbers(cursor):
                left, right = cursor.arguments
                self._assign(left, right, cursor, effects, update=False)
                return
            known = known or leaves_unset(cursor) or self.accessed(cursor, effects)
            if not (known or self.run_held(cursor, effects)):
                self.call(cursor, effects)
        elif self.allocated(cursor, effects) or self.freed(cursor, effects):
            pass
        elif kind is ck.STATEMENT_EXPR and (parts := asserted(cursor)):
            for part in parts:
                self.read(part, effects)
        elif kind in (ck.STATEMENT_EXPR, ck.LAMBDA_EXPR) or (
            kind in ck.STATEMENTS
            or kind in (ck.CXX_THROW_EXPR, ck.CXX_NEW_EXPR, ck.CXX_DELETE_EXPR)
        ):
            effects.stop = effects.stop or ReasonKind.CONSTRUCT()
            self.hide(cursor)
        elif kind is ck.CXX_UNARY_EXPR:
            # sizeof does not evaluate its operand, unless that is an array of variable size.
            inner = Effects()
            for child in cursor.operands:
                self.read(child, inner)
            if inner.calls or any(access.write for access in inner.accesses):
                effects.stop = effects.stop or ReasonKind.CONSTRUCT()
        elif kind is ck.INIT_LIST_EXPR:
            if c_defaults.of_members(cursor) or c_defaults.converts(cursor):
                effects.stop = effects.stop or ReasonKind.OBJECT()
            for child in cursor.operands:
                named = child.kind is ck.UNEXPOSED_EXPR and len(child.operands) > 1
                for part in child.operands[1:] if named else [child]:
                    self.read(part, effects)
                    if part.stripped.kind is not ck.INIT_LIST_EXPR:
                        self.program.copied_records |= copied_with(part.type)
        elif kind is ck.COMPOUND_LITERAL_EXPR:
            for child in cursor.operands:
                self.initialize(cursor.type, child)
                self.read(child, effects)
        else:
            for child in cursor.operands:
                self.read(child, effects)

    def _cast(self, cursor: Any, effects: Effects) -> None:
        """Read what is converted; a pointer that becomes something else may come back from it."""
        chosen = value_chosen_from(cursor)
        if chosen is not None:
            for operand in chosen:
                self.read(operand, effects)
            return
        lengths, operands = parts_of_cast(cursor)
        for length in lengths:
            self.read(length, effects)
        if len(operands) > 1:
            # An atomic operation, among others: libclang does not tell which.
            effects.stop = effects.stop or ReasonKind.CONSTRUCT()
            self.hide(cursor)
        if cursor.kind in RECASTS and c_vectors.is_vector(cursor.type):
            self.program.pointer_facts.append((c_vectors.RECAST, "addr", "external"))
        made = aligned(cursor) if cursor.type.is_pointer else None
        if made is not None:  # no number is left of it
            for child in (made.pointer, *made.multiples):
                self.read(child, effects)
            return
        for child in operands:
            self.read(child, effects)
            if cursor.type.fields and child.kind is ck.INIT_LIST_EXPR:
                self.initialize(cursor.type, child)
            if becomes_number(child, cursor):
                self.points("escape", child)
                self._number(child)

    def _complex(self, cursor: Any, effects: Effects) -> bool:
        """Read what std::complex and std::chrono have operators and methods for; False where it
        is none of these."""
        found = set_by(cursor) or time_set_by(cursor)
        if found is not None:
            left, right, update = found
            self._assign(left, right, cursor, effects, update=update)
            return True
        operands = computed_of(cursor)
        operands = time_computed_of(cursor) if operands is None else operands
        for operand in operands or []:
            self.read(operand, effects)
        return operands is not None

    def _computed(self, cursor: Any, effects: Effects) -> bool:
        """Read the call of a function that makes a number of numbers, or text; False where it is
        none."""
        element = self._mapped(cursor, effects) or self.named_by_iterator(cursor)
        if element is not None:
            self._record(effects, element, cursor, write=False)
            return True
        operands = computed_from(cursor)
        operands = text_made_of(cursor) if operands is None else operands
        for operand in operands or []:
            self.read(operand, effects)
        return operands is not None

    def _number(self, cursor: Any) -> None:
        """Note an address that becomes a number, or a part of one."""
        if is_offset(cursor):
            return
        found = self.memory(cursor, Effects())
        self.program.numbers.add((found.key, found.through))

    def _read_place(self, cursor: Any, effects: Effects) -> None:
        referenced = cursor.referenced if cursor.kind is ck.DECL_REF_EXPR else None
        if referenced is not None and referenced.kind is ck.FUNCTION_DECL:
            self.want(referenced)
            self.keep_reference(referenced)
            name = c_methods.routine_name(referenced)
            self.program.pointer_facts.append(("address", "addr", f"function:{name}"))
            return
        named = cursor.referenced
        if named is not None and named.kind is ck.CXX_METHOD:
            self._opened(named)  # a pointer to it is made
            return
        if referenced is not None and referenced.kind not in (
            ck.VAR_DECL,
            ck.PARM_DECL,
        ):
            return
        place = self.place(cursor, effects)
        if not cursor.type.is_array:
            self._record(effects, place, cursor, write=False)

    def _read_unary(self, cursor: Any, effects: Effects) -> None:
        (operand,) = cursor.operands or (None,)
        operator = cursor.unary_operator
        if operand is None:
            return
        if operator in cc.STEPS:
            place = self.place(operand, effects)
            self._record(effects, place, operand, write=False)
            self._record(effects, place, operand, write=True)
            if operand.type.is_pointer:
                self.program.inner_addresses.add(self._cell(place))
                note_row_stored(self, place, operand, None)
        elif operator == cc.ADDRESS_OF:
            self.place(operand, effects)
        elif operator == cc.DEREFERENCE:
            place = self.place(cursor, effects)
            if not cursor.type.is_array:
                self._record(effects, place, cursor, write=False)
        else:
            self.read(operand, effects)

    def _assign(
        self, left: Any, right: Any, cursor: Any, effects: Effects, *, update: bool
    ) -> None:
        self.read(right, effects)
        place = self.place(left, effects)
        if left.type.canonical.kind == TypeKind.RECORD:
            self.program.copied_records |= copied_with(left.type)
            if not left.type.is_record_of_numbers:
                effects.accesses.append(Access(UNKNOWN_MEMORY, False, True, cursor.location.line))
        if update:
            self._record(effects, place, left, write=False)
        self._record(effects, place, left, write=True)
        if left.type.is_pointer and not (update or place.through) and is_null(right.stripped):
            self.program.null_writes[place.key] += 1
        if left.type.is_pointer:
            note_row_stored(self, place, left, None if update else right)
        if left.type.is_pointer and not update:
            if place.fixed:
                self._keep_row(place, right)
            else:
                self.points(self._cell(place), right, place.owner)
        elif left.type.is_pointer:
            self.program.inner_addresses.add(self._cell(place))

    def _keep_row(self, place: Memory, value: Any) -> None:
        """What the pointer to a row is made of reaches the array as well."""
        made = self.memory(value, Effects())
        if made.through and made.key != place.key:
            self.program.pointer_facts.append((made.key, "copy", place.key))
