"""Calls of C: the routine that is called, and what each argument passes to it."""

from __future__ import annotations

import re
from abc import ABC
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
from imbrex.transform.readers import c_defaults, c_library, c_methods, c_vectors, cxx_library
from imbrex.transform.readers.c_copies import copied_with
from imbrex.transform.readers.c_distances import may_hold_pointer
from imbrex.transform.readers.c_formulas import formula
from imbrex.transform.readers.c_hidden import HidingReader
from imbrex.transform.readers.c_lambdas import called_lambda, lambda_given
from imbrex.transform.readers.c_memory import Effects, Memory
from imbrex.transform.readers.c_vector_reader import by_reference

_FUNCTIONS = frozenset({ck.FUNCTION_DECL, ck.CXX_METHOD, ck.CONSTRUCTOR})
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")


class CallReader(HidingReader, ABC):
    """Reads the calls of one translation unit."""

    macros: Mapping[str, str] = MappingProxyType({})  # MPI's names, by the macros for them

    def call(self, cursor: Any, effects: Effects) -> Call:
        """Record a call and what evaluating its arguments does."""
        children = cursor.operands
        unknown = called_lambda(cursor)
        if unknown is not None:
            self.hide(unknown.held_lambda)
        for given in map(lambda_given, cursor.arguments):
            if given is not None:  # what runs it, and when, is not known
                self.hide(given)
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
        # What stands first is then the operand, which is read as one.
        operator = cursor.referenced is not None and c_methods.is_operator(cursor.referenced)
        if cursor.referenced is not None and cursor.referenced.kind is ck.CONSTRUCTOR:
            self._opened(cursor.referenced)  # of an object without a name
            if c_methods.copies(cursor, cc.record_of(cursor.type)):
                self.program.copied_records |= copied_with(cursor.type)
        if of_class and not direct and callee is not None:
            self.give_object(callee, effects)
            for operand in actual if operator else []:
                self.give_operand(operand)
        library = of_class and cxx_library.is_closed_method(cursor, callee, actual)
        if not (direct or operator) and callee is not None:
            self.read(callee, effects)
        key = ""
        if not (direct or library) and callee is not None:
            key = UNKNOWN_MEMORY  # which method a virtual call runs is not known
            if not (of_class or operator):
                key = self._held_in(callee)
            self.program.called_cells.append(key)
        if cursor.tree.plus_plus and cursor.type.fields and not cursor.type.is_plain:
            effects.stop = effects.stop or ReasonKind.OBJECT()  # its end may run code
        if c_defaults.of_parameters(cursor, actual):
            effects.stop = effects.stop or ReasonKind.CONSTRUCT()
        start, end = cc.spelled(cursor)
        macro = self._macro_of(cursor, callee)
        arguments = []
        on_object = referenced is not None and c_methods.has_object(referenced)
        if on_object:
            inner = Effects()
            bound = self.called_object(callee, inner) if owner is None else None
            arguments.append(bound or self.reference(owner, inner))
            effects.take(inner)
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
            effects.take(inner)
        known = f"std::{name}" if library else name  # not a function of the program's
        call = Call(known, arguments, start, end, cursor.location.line, macro=macro)
        call.unknown = not (direct or library)
        call.held_in = key
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
                self.give_operand(child)
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

    def _held_in(self, callee: Any) -> str:
        """The cell that holds the function which is called through a pointer."""
        while callee.kind is ck.UNARY_OPERATOR and callee.unary_operator == cc.DEREFERENCE:
            callee = callee.operands[0].stripped
        if callee.kind is ck.CONDITIONAL_OPERATOR:
            cell = f"called@{callee.location.file}:{callee.location.offset}"
            self.points(cell, callee)
            return cell
        held = self.memory(callee, Effects())
        return held.key if held.through else UNKNOWN_MEMORY

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
            apart = kind.is_record_of_numbers or cxx_library.holds_its_own(kind)
            if not apart:
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
