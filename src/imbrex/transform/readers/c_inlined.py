"""Calls of functions that do nothing but return one expression, read as that expression."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_defaults, c_vectors
from imbrex.transform.readers.c_accessors import Accessor, accessor
from imbrex.transform.readers.c_memory import Effects, Memory, move
from imbrex.transform.readers.c_places import PlaceReader


def _is_address(value: Any) -> bool:
    """Whether an expression is a pointer, or an element's address, with a distance added."""
    inner = value.stripped
    if inner.kind is ck.BINARY_OPERATOR and inner.binary_operator in (cc.ADD, cc.SUBTRACT):
        return any(_is_address(side) for side in inner.operands if side.type.is_address)
    if inner.kind is ck.UNARY_OPERATOR:
        if inner.unary_operator != cc.ADDRESS_OF:
            return False
        inner = inner.operands[0].stripped
    named = (ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR, ck.ARRAY_SUBSCRIPT_EXPR, ck.CALL_EXPR)
    return inner.kind in named


_NAMED = frozenset({ck.MEMBER_REF_EXPR, ck.ARRAY_SUBSCRIPT_EXPR, ck.DECL_REF_EXPR})


def _is_element(value: Any) -> bool:
    """Whether a value that a function returns is that of `v[i]`, of a vector."""
    inner = value.stripped
    called = inner.referenced if inner.kind is ck.CALL_EXPR else None
    return called is not None and called.returns_reference


class AccessorReader(PlaceReader, ABC):
    """What the reader of expressions does with such functions."""

    def __init__(self, program: Program, source: SourceFile) -> None:
        super().__init__(program, source)
        self.as_expression: Any = None  # the call that is read as what its function returns
        self.computing: set[str] = set()  # functions whose one expression is looked at

    @abstractmethod
    def call(self, cursor: Any, effects: Effects) -> Call: ...

    def computed(self, cursor: Any, effects: Effects) -> Memory | None:
        """The memory that a function points to which does nothing but compute the address."""
        if not cursor.type.is_pointer:
            return None
        made = accessor(cursor)
        if made is None or not _is_address(made.value):
            return None
        return self.inlined(cursor, made, effects, self.memory)

    def referred(self, cursor: Any, effects: Effects) -> Memory | None:
        """The memory that the call of a function which only returns a reference names."""
        if cursor.kind is not ck.CALL_EXPR or not cursor.tree.plus_plus:
            return None
        made = accessor(cursor)
        if made is None or not made.function.returns_reference:
            return None
        return self.inlined(cursor, made, effects, self.place)

    def inlined(
        self,
        cursor: Any,
        made: Accessor,
        effects: Effects,
        reader: Callable[[Any, Effects], Memory],
    ) -> Memory | None:
        """What a function returns that does nothing else, in the caller's terms.

        Such a call counts as what its one statement reads, as a macro of the same text would.
        """
        usr = made.identity
        if usr in self.computing:
            return None  # a function that calls itself
        if c_defaults.of_parameters(cursor, cursor.arguments):
            return None
        formals = {self.key_of(formal): n for n, formal in enumerate(made.function.arguments)}
        outer, this = self.this, self.this_of(made)
        inner = Effects()
        self.computing.add(usr)
        self.this = this
        found = reader(made.value, inner)
        self.this = outer
        self.computing.remove(usr)
        passed_on = found.through and found.key in formals
        if inner.stop or inner.calls or found.key in (UNKNOWN_MEMORY, this):
            return None
        if found.key.lstrip("*") in formals and not passed_on:
            return None
        if not self._reads_alone(inner, {*formals, this}):
            return None
        if made.variable is None:
            outer_call, self.as_expression = self.as_expression, cursor
            self.call(cursor, Effects())  # for what its arguments may point to
            self.as_expression = outer_call
        memories = [
            self._passed(formal, actual, effects)
            for formal, actual in zip(made.function.arguments, made.actuals, strict=True)
        ]
        owner = self._object_of(cursor, made, effects)
        line = cursor.location.line

        def owner_of(inside: str) -> str:
            if made.variable is not None:
                return inside  # outside of a lambda it has the same name
            return owner if inside == this else ""

        effects.accesses += [
            Access(
                *(access.variable, access.through, False, line, None, ()),
                owner_of(access.owner),
            )
            for access in inner.accesses
            if access.variable not in formals and access.variable != this
        ]
        if passed_on:
            passed = memories[formals[found.key]]
            if passed is not None and c_vectors.declared(
                made.function.arguments[formals[found.key]]
            ):
                return self._of_vector(made, found, passed)
            return None if passed is None else self._moved_on(made, found, passed)
        return self._in_callers_terms(made, found, owner_of(found.owner))

    def _passed(self, formal: Any, actual: Any, effects: Effects) -> Memory | None:
        """What a call passes: memory by a pointer or as a vector, or a value."""
        if c_vectors.declared(formal) and c_vectors.named(actual) is not None:
            return self._elements(actual, effects)
        if actual.type.is_address:
            return self.memory(actual, effects)
        self.read(actual, effects)
        return None

    def _of_vector(self, made: Accessor, found: Memory, passed: Memory) -> Memory:
        """An element of a vector that is passed by reference."""
        if passed.indices:  # a row
            return replace(passed, exact=False)
        of_passed = replace(found, key=passed.key, through=passed.through)
        return self._in_callers_terms(made, of_passed, passed.owner)

    @staticmethod
    def _reads_alone(inner: Effects, own: set[str]) -> bool:
        """Whether nothing is written, and nothing read through a function's parameters."""
        for access in inner.accesses:
            through_own = access.through or access.variable.startswith("*")
            if access.write or (access.variable.lstrip("*") in own and through_own):
                return False
        return True

    def _object_of(self, cursor: Any, made: Accessor, effects: Effects) -> str:
        """Read what names the object of a method; the variable that it is, if one is."""
        if made.variable is not None:
            key = self.key_of(made.variable)
            effects.accesses.append(Access(key, False, False, cursor.location.line))
            return self.this
        if not made.on_object:
            return ""
        if made.owner is None:
            self._object(cursor, effects)
        elif made.owner.type.is_pointer:
            self.memory(made.owner, effects)
        else:
            self.place(made.owner, effects)
        return self.owner_in(made) or ""

    def _moved_on(self, made: Accessor, found: Memory, passed: Memory) -> Memory:
        """A pointer that is passed, moved by what the function adds to it."""
        position = [self.key_of(formal) for formal in made.function.arguments].index(found.key)
        alike = cc.element_type(made.actuals[position].type) == cc.element_type(
            made.function.arguments[position].type
        )
        distance = found.indices[0] if found.indices else found.offset or Affine(0)
        amounts = self.in_callers_terms(made, [] if distance is None else [distance])
        simple = len(found.indices) < 2 and not found.parts and found.exact
        if not amounts or amounts[0] is None or not simple or not alike:
            passed.exact = False
        else:
            move(passed, amounts[0])
        return passed

    def _in_callers_terms(self, made: Accessor, found: Memory, owner: str) -> Memory:
        """Memory that a function names, with the caller's variables in its indices."""
        result = Memory(found.key, found.through, exact=False)
        result.owner = owner
        forms = [*found.indices, found.offset, *found.parts, *found.strides]
        known = [form for form in forms if form is not None]
        terms = iter(self.in_callers_terms(made, known))
        translated = [None if form is None else next(terms) for form in forms]
        indices, rest = translated[: len(found.indices)], translated[len(found.indices) + 1 :]
        if not found.exact or (found.offset is not None and translated[len(found.indices)] is None):
            return result
        result.exact, result.indices = True, indices
        result.offset = translated[len(found.indices)]
        if None not in rest:
            result.parts = tuple(part for part in rest[: len(found.parts)] if part is not None)
            result.strides = tuple(part for part in rest[len(found.parts) :] if part is not None)
        return result

    def accessed(self, cursor: Any, effects: Effects) -> bool:
        """Read the value that such a function returns; False where the call is to be recorded."""
        if not cursor.tree.plus_plus:
            return False
        made = accessor(cursor)
        if made is None or cursor.type.fields or cursor.type.is_pointer:
            return False
        inner = Effects()
        found: Memory | None = None
        named = made.function.returns_reference or made.value.stripped.kind in _NAMED
        if named or _is_element(made.value):
            found = self.inlined(cursor, made, inner, self.place)
            if named and (found is None or cursor.type.is_array):
                return False
        if found is not None:
            self._record(inner, found, cursor, write=False)
        else:
            inner = Effects()
            if self.inlined(cursor, made, inner, self._value) is None:
                return False
        effects.accesses += inner.accesses
        effects.calls += inner.calls
        effects.stop = effects.stop or inner.stop
        return True

    def _value(self, cursor: Any, effects: Effects) -> Memory:
        """A value is no memory: that of a constant stands for it."""
        self.read(cursor, effects)
        return Memory("string", False)
