"""C and C++ that is not read: what it may do with whatever it names."""

from __future__ import annotations

from typing import Any

from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import UNKNOWN_MEMORY
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods, c_vectors
from imbrex.transform.readers.c_distances import becomes_number, is_distance
from imbrex.transform.readers.c_instances import COMMUNICATION
from imbrex.transform.readers.c_object_reader import ObjectReader
from imbrex.transform.readers.c_unread import Unread

RECASTS = frozenset({ck.CSTYLE_CAST_EXPR, ck.CXX_CONST_CAST_EXPR, ck.CXX_REINTERPRET_CAST_EXPR})


class HidingReader(ObjectReader):
    """Notes of code that is not read what it could reach."""

    unread = Unread("")  # where code stands that is hidden

    def hide(self, cursor: Any) -> None:
        """Code that is not read may do anything with what it names, and call what it names."""
        if cursor.kind in RECASTS and c_vectors.is_vector(cursor.type):
            self.program.pointer_facts.append((c_vectors.RECAST, "addr", "external"))
        if is_distance(cursor) or any(becomes_number(c, cursor) for c in cursor.operands):
            self.program.numbers.add((UNKNOWN_MEMORY, False))
        if cursor.kind in (ck.FIELD_DECL, ck.VAR_DECL) and not cursor.type.is_plain:
            self.made_unseen(cursor.type)
        outer = self.unread
        self.unread = outer.within(cursor)
        for child in cursor.children:
            if not self._names_own_object(cursor, child):
                self.hide(child)
            # A constant is no address: a value, an extent, what a template is instantiated for.
            constant = child.kind in ck.EXPRESSIONS and child.integer is not None
            if cursor.kind is ck.FIELD_DECL and child.kind in ck.EXPRESSIONS and not constant:
                key = self._key_of_field(cursor)
                self.program.pointer_facts.append((key, "addr", "external"))
        self.unread = outer
        facts = self.program.pointer_facts
        if cursor.kind in (ck.MEMBER_REF_EXPR, ck.MEMBER_REF):
            key = self._field_key(cursor)
            if key != UNKNOWN_MEMORY:
                facts.append(("escape", "addr", key))
        if cursor.kind is ck.INIT_LIST_EXPR:
            for field in cursor.type.fields:
                if field.type.holds_address:
                    facts.append((self._key_of_field(field), "addr", "external"))
        if cursor.kind is ck.CXX_THIS_EXPR:
            cells = [c_methods.objects_of(cursor.type.canonical.pointee), self.this]
            facts += [("escape", "copy", cell) for cell in cells if cell]
        named = cursor.referenced
        if named is not None and named.kind in (ck.CXX_METHOD, ck.CONSTRUCTOR):
            self._opened(named)
        if cursor.kind is not ck.DECL_REF_EXPR or named is None:
            return
        if named.held_lambda is not None:
            self.hide(named.held_lambda)
        if named.spelling in COMMUNICATION:
            place = Location(cursor.location.file, cursor.location.line)
            call = self.unread.call(named.spelling, place)
            first = self.unread.first_byte(cursor.location.offset)
            known = self.program.not_analysed.get((place, first))
            if known is None or known.idle:  # an instance runs it
                self.program.not_analysed[place, first] = call
        if named.kind in (ck.VAR_DECL, ck.PARM_DECL) and not named.type.is_fixed:
            facts.append(("escape", "addr", self.key_of(named)))
        elif named.kind is ck.FUNCTION_DECL:
            self._opened(named)

    def _names_own_object(self, cursor: Any, child: Any) -> bool:
        """Whether `this` stands in `this->member` or in `return *this`, and goes nowhere else."""
        inner = child.stripped
        if cursor.kind is ck.RETURN_STMT and self._is_dereference(inner):
            inner = inner.operands[0].stripped
        elif cursor.kind is not ck.MEMBER_REF_EXPR:
            return False
        return bool(inner.kind is ck.CXX_THIS_EXPR)

    def _opened(self, function: Any) -> None:
        """Code that is not read may call a function, with whatever arguments."""
        name = c_methods.routine_name(function)
        self.keep_reference(function)
        self.want(function)
        if function.kind is ck.CONSTRUCTOR and not c_methods.is_read(function):
            self.made_unseen(function.semantic_parent.type)  # a container of objects, perhaps
        count = len(function.arguments) + c_methods.has_object(function)
        for position in range(count):
            cell = f"argument:{name}:{position}"
            self.program.pointer_facts.append((cell, "addr", "external"))
        if function.kind is ck.CONSTRUCTOR and function.is_implicit:
            # It has no source: what runs are the constructors of the members and bases.
            self.made_unseen(function.semantic_parent.type)
            return
        if (
            function.tree.plus_plus
            and not name.startswith("MPI_")
            and (c_methods.is_read(function) and not function.in_system_header)
            and not (function.kind is ck.CXX_METHOD and function.is_pure)
        ):
            self.program.pointer_facts.append(("address", "addr", f"function:{name}"))

    def open_virtual(self, method: Any) -> None:
        """A call of a virtual method is not seen as one: any object of the class may be its own."""
        self._opened(method)
        cell = c_methods.objects_of(method.semantic_parent.type)
        argument = f"argument:{c_methods.routine_name(method)}:0"
        self.program.pointer_facts.append((argument, "copy", cell))
