"""C expressions: the accesses that evaluating one makes, and the memory that it names."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from clang.cindex import CursorKind, TypeKind

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.program import (
    UNKNOWN_MEMORY,
    Access,
    Argument,
    Call,
)
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_library, c_vectors
from imbrex.transform.readers.c_vector_reader import Effects, Memory, VectorReader, by_reference

_WORD = re.compile(rb"[A-Za-z_]\w*")


class ExpressionReader(VectorReader):
    """Reads the expressions of one translation unit."""

    # Memory ----------------------------------------------------------------------------

    def memory(self, cursor: Any, effects: Effects) -> Memory:
        """The memory that a pointer or array expression refers to."""
        inner = cc.strip(cursor)
        if inner.kind == CursorKind.CSTYLE_CAST_EXPR:
            return Memory(UNKNOWN_MEMORY, False)
        if cc.is_array(inner.type):
            found = self.place(inner, effects)
        elif inner.kind in (
            CursorKind.DECL_REF_EXPR,
            CursorKind.MEMBER_REF_EXPR,
            CursorKind.ARRAY_SUBSCRIPT_EXPR,
        ) or self._is_dereference(inner):
            held = self.place(inner, effects)
            self._record(effects, held, inner, write=False)
            key = f"*{held.key}" if held.through else held.key
            found = (
                Memory(UNKNOWN_MEMORY, False)
                if held.key == UNKNOWN_MEMORY
                else Memory(key, True, exact=not held.through and not held.key.startswith("field:"))
            )
            if inner.kind == CursorKind.MEMBER_REF_EXPR and not held.through:
                found.owner = held.owner
        elif inner.kind == CursorKind.UNARY_OPERATOR:
            operator = cc.unary_operator(inner)
            (operand,) = cc.operands(inner)
            if operator == cc.ADDRESS_OF:
                found = self.place(cc.strip(operand), effects)
            else:
                found = self.memory(operand, effects)
                self.read(inner, effects)
                found.exact = False
        elif inner.kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR):
            found = self._sum(inner, effects)
        elif inner.kind == CursorKind.CALL_EXPR:
            name, vector = c_vectors.method(inner)
            if name == "data" and vector is not None:
                found = self._elements(vector, inner, effects)
            else:
                found = self._returned(inner, effects)
        elif inner.kind == CursorKind.STRING_LITERAL:
            found = Memory("string", False)
        else:
            self.read(inner, effects)
            found = Memory(UNKNOWN_MEMORY, False)
        if cc.element_type(cursor.type) not in ("void", cc.element_type(inner.type)):
            found.exact = False  # a cast to another element type
        return found

    def _is_dereference(self, cursor: Any) -> bool:
        return (
            cursor.kind == CursorKind.UNARY_OPERATOR and cc.unary_operator(cursor) == cc.DEREFERENCE
        )

    def _sum(self, cursor: Any, effects: Effects) -> Memory:
        left, right = cc.operands(cursor)
        operator = cc.binary_operator(cursor)
        if operator not in (cc.ADD, cc.SUBTRACT):
            self.read(cursor, effects)
            if operator == cc.COMMA:
                return self.memory(right, Effects())
            found = self.memory(left, Effects())
            found.exact = False
            return found
        if not (cc.is_pointer(left.type) or cc.is_array(left.type)):
            left, right = right, left
        found = self.memory(left, effects)
        self.read(right, effects)
        amount = self.affine(right)
        if amount is None:
            found.exact = False
            return found
        if operator == cc.SUBTRACT:
            amount = amount.times(-1)
        if found.indices:
            last = found.indices[-1]
            found.indices[-1] = None if last is None else last.plus(amount)
        else:
            found.offset = amount if found.offset is None else found.offset.plus(amount)
        return found

    def _returned(self, cursor: Any, effects: Effects) -> Memory:
        self.read(cursor, effects)
        name = cursor.spelling
        if name in c_library.ALLOCATORS:
            return Memory(self._heap(cursor), False, exact=False)
        if name in c_library.RETURNS_FIRST_ARGUMENT:
            found = self.memory(cc.operands(cursor)[1], Effects())
            found.exact = False
            return found
        return (
            Memory(f"return:{name}", True, exact=False) if name else Memory(UNKNOWN_MEMORY, False)
        )

    def place(self, cursor: Any, effects: Effects) -> Memory:
        """The memory of an lvalue; what evaluating its address reads is recorded."""
        cursor = cc.strip(cursor)
        if cursor.kind == CursorKind.CALL_EXPR:
            element = self._element(cursor, effects)
            if element is not None:
                return element
        if cursor.kind == CursorKind.DECL_REF_EXPR:
            referenced = cursor.referenced
            if referenced is None or referenced.kind not in (
                CursorKind.VAR_DECL,
                CursorKind.PARM_DECL,
            ):
                return Memory(UNKNOWN_MEMORY, False)
            if cc.is_reference(referenced.type) and not c_vectors.declared(referenced):
                bound = self.bound.get(str(self.key_of(referenced)))
                return Memory(UNKNOWN_MEMORY, False) if bound is None else replace(bound)
            return Memory(self.key_of(referenced), False)
        if cursor.kind == CursorKind.MEMBER_REF_EXPR:
            children = cc.operands(cursor)
            if children:
                base = children[0]
                if cc.is_pointer(base.type):
                    self.memory(base, effects)
                else:
                    self.place(base, effects)
            if cursor.referenced is not None and cc.is_reference(cursor.referenced.type):
                return Memory(UNKNOWN_MEMORY, False)
            key = self._field_key(cursor)
            owner = self._named(children[0]) if children else None
            return Memory(key, False, exact=False, owner=owner or "")
        if cursor.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
            base, index = cc.operands(cursor)
            if not (cc.is_pointer(base.type) or cc.is_array(base.type)):
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
            found.offset = None
            found.indices.append(position)
            return found
        if self._is_dereference(cursor):
            (operand,) = cc.operands(cursor)
            found = self.memory(operand, effects)
            found.indices.append(found.offset if found.offset is not None else Affine(0))
            found.offset = None
            return found
        self.read(cursor, effects)
        return Memory(UNKNOWN_MEMORY, False)

    def _record(self, effects: Effects, place: Memory, cursor: Any, *, write: bool) -> None:
        variable = self.program.variables.get(place.key)
        if variable is not None and variable.volatile:
            effects.stop = effects.stop or f"{variable.name} is volatile"
        rank = 0 if variable is None else len(variable.bounds)
        line = cursor.location.line
        section = place.section(rank)
        strides = place.strides[::-1] if section is not None and len(section) > rank else ()
        owner = place.owner if place.through else ""
        access = Access(place.key, place.through, write, line, section, strides, owner)
        effects.accesses.append(access)

    def give_away(self, cursor: Any) -> None:
        """A reference is bound to the object: whoever holds one may reach it."""
        found = self.memory(cursor, Effects()) if cc.is_pointer(cursor.type) else None
        place = self.place(cc.strip(cursor), Effects())
        for held in (found, place):
            if held is not None and held.key != UNKNOWN_MEMORY:
                form = "copy" if held.through else "addr"
                self.program.pointer_facts.append(("escape", form, held.key))

    def hide(self, cursor: Any) -> None:
        """Code that is not read may do anything with what it names, and call what it names."""
        for child in cursor.get_children():
            self.hide(child)
        named = cursor.referenced if cursor.kind == CursorKind.DECL_REF_EXPR else None
        if named is None:
            return
        facts = self.program.pointer_facts
        if named.kind in (CursorKind.VAR_DECL, CursorKind.PARM_DECL):
            facts.append(("escape", "addr", self.key_of(named)))
        elif named.kind == CursorKind.FUNCTION_DECL:
            for position, _ in enumerate(named.get_arguments()):
                facts.append((f"argument:{named.spelling}:{position}", "addr", "external"))

    def read(self, cursor: Any, effects: Effects) -> None:
        """Record what evaluating an expression reads, writes and calls."""
        kind = cursor.kind
        if kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR, CursorKind.CSTYLE_CAST_EXPR):
            for child in cc.operands(cursor):
                self.read(child, effects)
        elif kind in (
            CursorKind.DECL_REF_EXPR,
            CursorKind.MEMBER_REF_EXPR,
            CursorKind.ARRAY_SUBSCRIPT_EXPR,
        ):
            self._read_place(cursor, effects)
        elif kind == CursorKind.UNARY_OPERATOR:
            self._read_unary(cursor, effects)
        elif kind == CursorKind.BINARY_OPERATOR:
            left, right = cc.operands(cursor)
            if cc.binary_operator(cursor) == cc.ASSIGN:
                self._assign(left, right, cursor, effects, update=False)
            else:
                self.read(left, effects)
                self.read(right, effects)
        elif kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
            left, right = cc.operands(cursor)
            self._assign(left, right, cursor, effects, update=True)
        elif kind == CursorKind.CALL_EXPR:
            if not self._method(cursor, effects):
                self.call(cursor, effects)
        elif kind in (CursorKind.StmtExpr, CursorKind.LAMBDA_EXPR) or (
            kind.is_statement() or kind in (CursorKind.CXX_THROW_EXPR, CursorKind.CXX_NEW_EXPR)
        ):
            effects.stop = effects.stop or "a construct that is not analysed"
            self.hide(cursor)
        elif kind == CursorKind.CXX_UNARY_EXPR:
            return  # sizeof: not evaluated
        else:
            for child in cc.operands(cursor):
                self.read(child, effects)

    def _read_place(self, cursor: Any, effects: Effects) -> None:
        referenced = cursor.referenced if cursor.kind == CursorKind.DECL_REF_EXPR else None
        if referenced is not None and referenced.kind == CursorKind.FUNCTION_DECL:
            self.program.pointer_facts.append(
                ("address", "addr", f"function:{referenced.spelling}")
            )
            return
        if referenced is not None and referenced.kind not in (
            CursorKind.VAR_DECL,
            CursorKind.PARM_DECL,
        ):
            return
        place = self.place(cursor, effects)
        if not cc.is_array(cursor.type):
            self._record(effects, place, cursor, write=False)

    def _read_unary(self, cursor: Any, effects: Effects) -> None:
        (operand,) = cc.operands(cursor) or (None,)
        operator = cc.unary_operator(cursor)
        if operand is None:
            return
        if operator in cc.STEPS:
            place = self.place(operand, effects)
            self._record(effects, place, operand, write=False)
            self._record(effects, place, operand, write=True)
        elif operator == cc.ADDRESS_OF:
            self.place(operand, effects)
        elif operator == cc.DEREFERENCE:
            place = self.place(cursor, effects)
            if not cc.is_array(cursor.type):
                self._record(effects, place, cursor, write=False)
        else:
            self.read(operand, effects)

    def _assign(
        self, left: Any, right: Any, cursor: Any, effects: Effects, *, update: bool
    ) -> None:
        self.read(right, effects)
        place = self.place(left, effects)
        if left.type.get_canonical().kind == TypeKind.RECORD:
            self.program.copied_records.add(cc.record_of(left.type))
            effects.accesses.append(Access(UNKNOWN_MEMORY, False, True, cursor.location.line, None))
        if update:
            self._record(effects, place, left, write=False)
        self._record(effects, place, left, write=True)
        if cc.is_pointer(left.type) and not update:
            self.points(self._cell(place), right)

    # Pointers --------------------------------------------------------------------------

    @staticmethod
    def _cell(place: Memory) -> str:
        return f"*{place.key}" if place.through else place.key

    def points(self, cell: str, value: Any) -> None:
        """Record what pointer values `cell` takes on from the expression `value`."""
        inner = cc.strip(value)
        facts = self.program.pointer_facts
        if inner.kind == CursorKind.CONDITIONAL_OPERATOR:
            for branch in cc.operands(inner)[1:]:
                self.points(cell, branch)
            return
        if inner.kind == CursorKind.INTEGER_LITERAL:
            return  # a null pointer
        if inner.kind == CursorKind.INIT_LIST_EXPR:
            for child in cc.operands(inner):
                self.points(cell, child)
            return
        named = inner
        if inner.kind == CursorKind.UNARY_OPERATOR and cc.unary_operator(inner) == cc.ADDRESS_OF:
            named = cc.strip(cc.operands(inner)[0])
        function = named.referenced if named.kind == CursorKind.DECL_REF_EXPR else None
        if function is not None and function.kind == CursorKind.FUNCTION_DECL:
            facts.append((cell, "addr", f"function:{function.spelling}"))
            return
        found = self.memory(inner, Effects())
        if found.key == UNKNOWN_MEMORY:
            facts.append((cell, "addr", "external"))
        elif found.through:
            facts.append((cell, "copy", found.key))
        else:
            facts.append((cell, "addr", found.key))

    # Calls -----------------------------------------------------------------------------

    def call(self, cursor: Any, effects: Effects) -> Call:
        """Record a call and what evaluating its arguments does."""
        children = cc.operands(cursor)
        name = cursor.spelling
        callee = cc.strip(children[0]) if children else None
        referenced = cursor.referenced
        direct = referenced is not None and referenced.kind == CursorKind.FUNCTION_DECL
        if not direct and callee is not None:
            self.read(callee, effects)
            held = self.memory(callee, Effects())
            self.program.called_cells.append(held.key if held.through else UNKNOWN_MEMORY)
        actual = list(cursor.get_arguments())
        start, end = cc.spelled(cursor)
        text = self.source.data[start:end]
        macro = None
        if not (text.startswith(name.encode()) and text.endswith(b")")):
            word = _WORD.match(self.source.data, start)
            macro = word[0].decode() if word else "?"
        arguments = []
        formals = list(referenced.get_arguments()) if direct else []
        for position, child in enumerate(actual):
            inner = Effects()
            if c_vectors.named(child) is not None and by_reference(formals, position):
                arguments.append(self._vector(child, name, position, inner))
            else:
                arguments.append(self._argument(child, inner))
            effects.accesses.extend(inner.accesses)
            effects.calls.extend(inner.calls)
            effects.stop = effects.stop or inner.stop
        call = Call(name, arguments, start, end, cursor.location.line, macro=macro)
        call.unknown = not direct
        effects.calls.append(call)
        for formal, child in zip(formals, actual, strict=False):
            if c_vectors.is_vector(formal.type) and c_vectors.named(child) is not None:
                continue
            if cc.is_reference(formal.type):
                self.give_away(child)
        for position, child in enumerate(actual):
            if cc.is_pointer(child.type) or cc.is_array(child.type):
                self.points(f"argument:{name if direct else '?'}:{position}", child)
        return call

    def _argument(self, cursor: Any, effects: Effects) -> Argument:
        start, end = cc.spelled(cursor)
        argument = Argument(self.source.data[start:end].decode(errors="replace"), start, end)
        kind = cursor.type
        if cc.is_pointer(kind) or cc.is_array(kind):
            argument.pointer = True
            found = self.memory(cursor, effects)
            argument.base, argument.through = found.key, found.through
            argument.owner = found.owner if found.through else ""
            argument.origin = self._origin(found)
            if argument.origin is not None and len(argument.origin) > 1 and found.parts:
                argument.strides = found.strides[::-1]
        elif kind.get_canonical().kind == TypeKind.RECORD:
            self.program.copied_records.add(cc.record_of(kind))
            self.read(cursor, effects)
            effects.accesses.append(
                Access(UNKNOWN_MEMORY, False, False, cursor.location.line, None)
            )
        else:
            self.read(cursor, effects)
            argument.value = self.affine(cursor)
        argument.reads = effects.accesses
        if any(access.write for access in effects.accesses):
            argument.problem = "an argument has side effects"
        return argument

    def _origin(self, found: Memory) -> tuple[Affine | None, ...] | None:
        variable = self.program.variables.get(found.key)
        if variable is None or not found.exact:
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
