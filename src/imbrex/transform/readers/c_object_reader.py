"""Objects of C++ in calls: what a method is called on, what a reference is bound to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from imbrex.transform.model.calls import Argument
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.readers import c_calls, c_defaults, c_methods, c_std_arrays, c_vectors
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_inlined import AccessorReader
from imbrex.transform.readers.c_instances import fields_of, initialized
from imbrex.transform.readers.c_memory import Effects, Memory
from imbrex.transform.readers.c_text import text_made_of
from imbrex.transform.readers.cxx_library import is_library

_LVALUES = frozenset({ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR, ck.ARRAY_SUBSCRIPT_EXPR})


class ObjectReader(AccessorReader, ABC):
    """What the reader of calls does with objects and references."""

    def __init__(self, program: Program, source: SourceFile) -> None:
        super().__init__(program, source)
        self.classes: set[str] = set()  # whose constructors are noted
        self.only_finding = False  # see `finding`

    @abstractmethod
    def _fill(self, argument: Argument, found: Memory) -> None: ...

    def called_object(self, callee: Any, effects: Effects) -> Argument:
        """What a method is called on, as the address that `this` holds in it."""
        owners = callee.operands if callee.kind is ck.MEMBER_REF_EXPR else []
        start, end = cc.spelled(owners[0] if owners else callee)
        text = self.source.data[start:end].decode(errors="replace") if owners else "this"
        argument = Argument(text, start, end)
        found = self._picked(owners[0], effects) if owners else self._object(callee, effects)
        self._fill(argument, found)
        argument.reads = effects.accesses
        return argument

    def reference(self, cursor: Any, effects: Effects) -> Argument:
        """What a parameter that is a reference is bound to, as an address."""
        start, end = cc.spelled(cursor)
        text = self.source.data[start:end].decode(errors="replace")
        argument = Argument(text, start, end)
        of_class = c_methods.is_own(cursor.type.record)
        found = self._picked(cursor, effects) if of_class else self._bound_to(cursor, effects)
        self._fill(argument, found)
        argument.reads = effects.accesses
        return argument

    def _picked(self, cursor: Any, effects: Effects) -> Memory:
        """The object that an expression, or a pointer, names."""
        named = self.named_object(cursor)
        inner = effects if named is None else Effects()
        if cursor.type.is_pointer:
            found = self.memory(cursor, inner)
        else:
            found = self._bound_to(cursor, inner)
        if named is None:
            return found
        key, parts = named
        line = cursor.location.line
        known = self.program.variables
        read = [part for part in sorted(parts) if known[part].pointer or not known[part].record]
        effects.accesses += [Access(part, False, False, line) for part in read]
        if inner.calls:  # an operator of the library picks it
            found = Memory(UNKNOWN_MEMORY, False)
        self._note(key, found.key, found.through, begins=found.begins)
        self.program.named_objects[key] = (found.key, found.through)
        return Memory(key, True)

    def _bound_to(self, cursor: Any, effects: Effects) -> Memory:
        """The memory of an lvalue, or of the temporary object that holds a value."""
        inner = cursor.stripped
        _, vector = c_vectors.method(inner)
        _, array = c_std_arrays.method(inner)
        named = inner.kind in _LVALUES or self._is_dereference(inner)
        referred = None if named else self.referred(inner, effects)
        referred = referred or self.named_by_iterator(inner)
        if named or vector is not None or array is not None or referred is not None:
            found = referred or self.place(inner, effects)
            if cursor.type.canonical.spelling.removeprefix("const ") != (
                inner.type.canonical.spelling.removeprefix("const ")
            ):
                self.read(cursor, effects)  # what is bound may be converted
            return found
        self.read(cursor, effects)
        if (
            inner.type.is_number
            or inner.kind is ck.STRING_LITERAL
            or text_made_of(inner) is not None
        ):
            return Memory("string", False)
        return Memory(UNKNOWN_MEMORY, False)

    def bind(self, key: str, value: Any) -> None:
        """A local reference names the object that an expression names."""
        self.bind_to(key, self._bound_to(value, Effects()))

    def bind_to(self, key: str, found: Memory) -> None:
        self._note(key, found.key, found.through, begins=found.begins)

    @contextmanager
    def finding(self, cursor: Any) -> Iterator[None]:
        """While it is asked which memory an operand names whose effects are read elsewhere.

        In `out % a % b % c` each call has the one before as its operand: read twice for each, the
        first would be read as often as a power of their number says.
        """
        outer = self.only_finding
        self.only_finding = outer or cursor.stripped.kind is ck.CALL_EXPR
        try:
            yield
        finally:
            self.only_finding = outer

    def give_object(self, callee: Any, effects: Effects) -> None:
        """Code that is not read is called on an object: it may keep its address."""
        owners = callee.operands if callee.kind is ck.MEMBER_REF_EXPR else []
        if owners:
            inner = Effects()
            self.read(owners[0], inner)
            if inner.calls or inner.stop or any(access.write for access in inner.accesses):
                effects.take(inner)
        if owners and owners[0].type.is_pointer:
            with self.finding(owners[0]):
                self.points("escape", owners[0])
        elif owners:
            self.give_operand(owners[0])
        elif callee.kind is ck.MEMBER_REF_EXPR and self.this:
            self.program.pointer_facts.append(("escape", "copy", self.this))

    def give_operand(self, operand: Any) -> None:
        """What a call has as an operand, whose effects are read with it, is given away."""
        with self.finding(operand):
            self.give_away(operand)

    def keep_reference(self, function: Any) -> None:
        """What a function returns a reference to may be kept, by whoever calls it."""
        if function.returns_reference and not is_library(function):
            cell = f"reference:{c_methods.routine_name(function)}"
            self.program.pointer_facts.append(("escape", "copy", cell))

    def give_away(self, cursor: Any, *, constant: bool = False) -> None:
        """A reference is bound to the object: whoever holds one may reach it.

        Through one that is `constant` a vector keeps its elements, which may be reached.
        """
        found = self.memory(cursor, Effects()) if cursor.type.is_pointer else None
        place = self.place(cursor.stripped, Effects())
        for held in (found, place):
            if held is not None and held.key != UNKNOWN_MEMORY:
                kept = held.through or (constant and c_vectors.is_vector(cursor.type))
                form = "copy" if kept else "addr"
                self.program.pointer_facts.append(("escape", form, held.key))

    def hand_out(self, cursor: Any, function: str, *, constant: bool) -> None:
        """A function returns a reference to what an expression names.

        An element is handed out only where a call of the function is not read as the expression.
        """
        if c_vectors.named(cursor) is None and not cursor.type.is_pointer:
            place = self.place(cursor.stripped, Effects())
            if place.key != UNKNOWN_MEMORY:
                form = "copy" if place.through else "addr"
                self.program.pointer_facts.append((f"reference:{function}", form, place.key))
            return
        self.give_away(cursor, constant=constant)

    def objects(self, kind: Any, key: str) -> None:
        """An object of this type is made: its constructors, and those within it, get its address.

        Code that is not read may keep it.
        """
        kind = kind.innermost
        facts = self.program.pointer_facts
        if kind.is_reference or kind.is_plain or c_vectors.is_vector(kind):
            return
        if not c_methods.is_own(kind.record):
            facts.append(("escape", "addr", key))
            self._arguments(kind)
            return
        cell = c_methods.objects_of(kind)
        facts.append((cell, "addr", key))
        self._parts(kind, cell)

    def _parts(self, kind: Any, cell: str) -> None:
        """The constructors of a class, its bases and its members, once."""
        record = kind.record
        facts = self.program.pointer_facts
        if cell in self.classes:
            return
        self.classes.add(cell)
        if not c_methods.is_own(record):
            facts.append(("escape", "copy", cell))
            self._arguments(kind)
            return
        set_by_template = initialized(record)
        for field in fields_of(record):
            key = self.key_of(field)
            self.objects(field.type, key)
            if field.spelling in set_by_template:
                facts.append((key, "addr", "external"))
        for child in record.children:
            if c_methods.runs_unseen(child):
                name = c_methods.routine_name(child)
                facts.append((f"argument:{name}:0", "copy", cell))
                facts.append(("made", "addr", f"function:{name}"))
            elif c_methods.is_override(child) and not child.is_pure:
                facts.append(("made", "addr", f"function:{c_methods.routine_name(child)}"))
            elif child.kind is ck.FUNCTION_TEMPLATE and child.spelling.startswith(record.spelling):
                facts.append(("escape", "copy", cell))
            elif child.kind is ck.CXX_BASE_SPECIFIER:
                base = c_methods.objects_of(child.type)
                facts.append((base, "copy", cell))
                self._parts(child.type.canonical, base)

    def _arguments(self, kind: Any) -> None:
        """A container of the library, or an instance of a template, makes objects as well."""
        for raw in c_calls.type_arguments(kind.canonical.raw):
            self.made_unseen(kind.tree.type(raw))

    def made_unseen(self, kind: Any) -> None:
        """Code that is not read makes objects of this type, or has them end."""
        inner = kind.innermost
        if inner.record is not None:
            self._parts(inner, c_methods.objects_of(inner))

    def make(self, made: Any, effects: Effects) -> None:
        """Read what a constructor is given: it may keep it."""
        name = c_methods.routine_name(made.referenced)
        if made.referenced.is_instance:
            self.want(made.referenced)
            cell = c_methods.objects_of(made.referenced.semantic_parent.type)
            facts = self.program.pointer_facts
            facts.append((f"argument:{name}:0", "copy", cell))
            facts.append(("made", "addr", f"function:{name}"))
        for position, (formal, child) in enumerate(
            zip(made.referenced.arguments, made.arguments, strict=False), 1
        ):
            inner = Effects()
            if formal.type.is_reference and c_vectors.one(child) is not None:
                self._vector(child, name, position, inner)
            elif formal.type.is_reference:
                found = self._bound_to(child, inner)
                cell = f"argument:{name}:{position}"
                self._note(cell, found.key, found.through, begins=found.begins)
            else:
                self.read(child, inner)
                if child.type.is_address:
                    self.points(f"argument:{name}:{position}", child)
            effects.take(inner)
        if c_defaults.of_parameters(made, made.arguments):
            effects.stop = effects.stop or ReasonKind.OBJECT()

    def constructed(self, value: Any | None) -> Any | None:
        """The call of a constructor of the program's own that an initializer is; else None."""
        inner = None if value is None else value.stripped
        while inner is not None and inner.kind in ck.CASTS and inner.operands:
            inner = inner.operands[0].stripped
        if inner is None or inner.kind is not ck.CALL_EXPR or inner.referenced is None:
            return None
        named = inner.referenced
        own = named.kind is ck.CONSTRUCTOR and c_methods.is_read(named)
        return inner if own and not named.is_implicit else None
