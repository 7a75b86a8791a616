"""C expressions: the accesses and calls that evaluating one makes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_library, c_methods, c_vectors, cxx_library
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
    may_hold_pointer,
    within_one,
)
from imbrex.transform.readers.c_formulas import formula
from imbrex.transform.readers.c_hidden import RECASTS, HidingReader
from imbrex.transform.readers.c_lambdas import called_lambda
from imbrex.transform.readers.c_lengths import parts_of_cast
from imbrex.transform.readers.c_new_reader import is_null
from imbrex.transform.readers.c_row_pointers import note_row_stored
from imbrex.transform.readers.c_vector_reader import Effects, Memory, by_reference

_FUNCTIONS = frozenset({ck.FUNCTION_DECL, ck.CXX_METHOD, ck.CONSTRUCTOR})
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")


class ExpressionReader(HidingReader):
    """Reads the expressions of one translation unit."""

    macros: Mapping[str, str] = MappingProxyType({})  # MPI's names, by the macros for them

    def read(self, cursor: Any, effects: Effects) -> None:
        """Record what evaluating an expression reads, writes and calls."""
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
            known = known or self._algorithm(cursor, effects)
            if not known and copies_numbers(cursor):
                self.read(cursor.arguments[0], effects)
                return
            if not known and assigns_numbers(cursor):
                left, right = cursor.arguments
                self._assign(left, right, cursor, effects, update=False)
                return
            if not (known or leaves_unset(cursor) or self.accessed(cursor, effects)):
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
        """Read what std::complex has operators and methods for; False where it is none of these."""
        found = set_by(cursor)
        if found is not None:
            left, right, update = found
            self._assign(left, right, cursor, effects, update=update)
            return True
        operands = computed_of(cursor)
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

    def call(self, cursor: Any, effects: Effects) -> Call:
        """Record a call and what evaluating its arguments does."""
        children = cursor.operands
        unknown = called_lambda(cursor)
        if unknown is not None:
            self.hide(unknown.held_lambda)
        referenced = c_methods.called(cursor)
        direct = referenced is not None
        name = c_methods.routine_name(referenced) if direct else cursor.spelling
        callee = children[0].stripped if children else None
        if cursor is not self.as_expression and cursor.referenced is not None:
            self.keep_reference(cursor.referenced)
        actual = cursor.arguments
        owner = None  # of a method that is an operator: its first operand
        method = referenced is not None and referenced.kind is ck.CXX_METHOD
        if method and c_methods.is_operator(referenced):
            owner, actual = actual[0], actual[1:]
        of_class = cursor.referenced is not None and cursor.referenced.kind is ck.CXX_METHOD
        if cursor.referenced is not None and cursor.referenced.kind is ck.CONSTRUCTOR:
            self._opened(cursor.referenced)  # of an object without a name
            if c_methods.copies(cursor, cc.record_of(cursor.type)):
                self.program.copied_records |= copied_with(cursor.type)
        if of_class and not direct and callee is not None:
            self.give_object(callee)
            for operand in actual if c_methods.is_operator(cursor.referenced) else []:
                self.give_away(operand)
        library = of_class and cxx_library.is_closed_method(cursor, callee, actual)
        if not direct and callee is not None:
            self.read(callee, effects)
        if not (direct or library) and callee is not None:
            held = self.memory(callee, Effects())
            own = held.through and not of_class  # which method a virtual call runs is not
            self.program.called_cells.append(held.key if own else UNKNOWN_MEMORY)
        if cursor.tree.plus_plus and cursor.type.fields and not cursor.type.is_plain:
            effects.stop = effects.stop or ReasonKind.OBJECT()  # its end may run code
        start, end = cc.spelled(cursor)
        macro = self._macro_of(cursor, callee)
        arguments = []
        on_object = referenced is not None and c_methods.has_object(referenced)
        if on_object:
            inner = Effects()
            bound = self.called_object(callee, inner) if owner is None else None
            arguments.append(bound or self.reference(owner, inner))
            self._take(effects, inner)
            self._holds(f"argument:{name}:0", arguments[0])
        # What C passes is never a reference.
        plus_plus = cursor.tree.plus_plus
        formals = list(referenced.arguments) if referenced is not None and plus_plus else []
        for position, child in enumerate(actual):
            inner = Effects()
            if by_reference(formals, position) and c_vectors.one(child) is not None:
                arguments.append(self._vector(child, name, position + on_object, inner))
            elif by_reference(formals, position):
                arguments.append(self.reference(child, inner))
                self._holds(f"argument:{name}:{position + on_object}", arguments[-1])
            else:
                arguments.append(self._argument(child, inner))
            self._take(effects, inner)
        known = f"std::{name}" if library else name  # not a function of the program's
        call = Call(known, arguments, start, end, cursor.location.line, macro=macro)
        call.unknown = not (direct or library)
        call.library = library
        called = cursor.referenced
        if called is not None and called.kind in _FUNCTIONS:
            self.want(called)
        if direct and cursor.tree.plus_plus:
            call.library = cxx_library.runs_no_user_code(referenced, actual, cursor.type)
        effects.calls.append(call)
        for formal, child in zip(formals, actual, strict=False):
            known = c_methods.is_read(referenced)
            if c_vectors.is_vector(formal.type) and c_vectors.one(child) is not None:
                continue
            if formal.type.is_reference and not known:
                self.give_away(child)
        named = len(referenced.arguments) if referenced is not None else len(actual)
        for position, child in enumerate(actual):
            if by_reference(formals, position):
                continue
            if child.type.is_address:
                # Arguments without a name, and copies of memory that holds addresses.
                target = child.stripped.type
                target = target.canonical.element_type if target.is_array else target.pointee
                if position >= named or (name in c_library.COPIES and target.holds_address):
                    self.points("escape", child)
                if name in c_library.COPIES and may_hold_pointer(target):
                    # The bytes may become numbers.
                    found = self.memory(child, Effects())
                    key = UNKNOWN_MEMORY if found.through else found.key
                    self.program.numbers.add((key, not found.through))
                cell = f"argument:{name if direct else '?'}:{position + on_object}"
                if self._plain(child):
                    self._holds(cell, arguments[position + on_object])
                else:
                    self.points(cell, child)
        return call

    @staticmethod
    def _take(effects: Effects, inner: Effects) -> None:
        """Add what evaluating an argument does."""
        effects.accesses.extend(inner.accesses)
        effects.calls.extend(inner.calls)
        effects.stop = effects.stop or inner.stop

    def _macro_of(self, cursor: Any, callee: Any | None) -> str | None:
        """The macro that a call comes from, if the text shows no plain call."""
        start, end = cc.spelled(cursor)
        text, name = self.source.data[start:end], cursor.spelling.encode()
        plain = text.startswith(name)
        if not plain and cursor.tree.plus_plus and callee is not None:
            # `object.method(...)` or `space::function(...)`: the name stands behind the rest.
            at = callee.location.offset - start
            plain = at > 0 and text[at:].startswith(name) and callee.span[1] == start
        if plain and text.endswith(b")"):
            return None
        identifier = _IDENTIFIER.match(self.source.data, start)
        return identifier[0].decode() if identifier else "?"

    @staticmethod
    def _plain(cursor: Any) -> bool:
        """Whether the memory read for an argument is all that the pointer may hold."""
        inner = cursor.stripped
        if inner.kind is ck.ARRAY_SUBSCRIPT_EXPR:
            return True
        if inner.kind is ck.UNARY_OPERATOR:
            if inner.unary_operator != cc.ADDRESS_OF:
                return False
            inner = inner.operands[0].stripped
        if inner.kind is not ck.DECL_REF_EXPR or inner.referenced is None:
            return inner.kind is ck.ARRAY_SUBSCRIPT_EXPR
        return inner.referenced.kind in (ck.VAR_DECL, ck.PARM_DECL)

    def _holds(self, cell: str, argument: Argument) -> None:
        base = UNKNOWN_MEMORY if argument.base is None else argument.base
        begins = argument.origin is not None and all(i == Affine(0) for i in argument.origin)
        self._note(cell, base, argument.through, begins=begins)

    def _argument(self, cursor: Any, effects: Effects) -> Argument:
        start, end = cc.spelled(cursor)
        argument = Argument(self.source.data[start:end].decode(errors="replace"), start, end)
        if argument.text in self.macros and not self._names_itself(cursor, argument.text):
            argument.meaning = self.macros[argument.text]
        kind = cursor.type
        if kind.is_address:
            self._fill(argument, self.memory(cursor, effects))
            argument.fence = self.vector_text(cursor)
        elif kind.canonical.kind == TypeKind.RECORD:
            self.program.copied_records |= copied_with(kind)
            self.read(cursor, effects)
            if not kind.is_record_of_numbers:
                effects.accesses.append(
                    Access(UNKNOWN_MEMORY, False, False, cursor.location.line, None)
                )
        else:
            self.read(cursor, effects)
            argument.value = self.affine(cursor)
            if argument.value is None:
                argument.formula = formula(self, cursor)
        argument.reads = effects.accesses
        if any(access.write for access in effects.accesses):
            argument.problem = ReasonKind.ARGUMENT_EFFECTS()
        return argument

    def _fill(self, argument: Argument, found: Memory) -> None:
        """Have an argument name the memory that it is the address of."""
        argument.pointer = True
        argument.base, argument.through = found.key, found.through
        argument.owner = found.owner if found.through else ""
        argument.slot = found.slot if found.through else ()
        argument.first = self._first(found)
        argument.origin = argument.first if found.exact else None
        if argument.origin is not None and len(argument.origin) > 1 and found.parts:
            argument.strides = found.strides[::-1]

    @staticmethod
    def _names_itself(cursor: Any, text: str) -> bool:
        """Whether a name that is a macro elsewhere is a variable here."""
        inner = cursor.stripped
        return inner.kind is ck.DECL_REF_EXPR and inner.spelling == text
