"""Expressions over vectors: their elements as memory, their methods, their declarations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.causes import Cause
from imbrex.transform.model.program import (
    UNKNOWN_MEMORY,
    Access,
    Argument,
    Call,
    Program,
    SourceFile,
)
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_vectors
from imbrex.transform.readers.c_values import ValueReader

_NUMBERS = frozenset(
    {
        *(TypeKind.from_id(number) for number in range(TypeKind.BOOL.value, 24)),
        TypeKind.ENUM,
    }
)


@dataclass(slots=True)
class Memory:
    """What an lvalue or a pointer value refers to."""

    key: str
    through: bool
    indices: list[Affine | None] = field(default_factory=list)  # source order
    offset: Affine | None = None  # elements still to be added to the next index
    exact: bool = True  # False: its section is not known
    # A linear index that is one of several dimensions: its indices and strides, source order.
    parts: tuple[Affine, ...] = ()
    strides: tuple[Affine, ...] = ()
    owner: str = ""  # the variable that the field belongs to, which holds or is the memory

    def section(self, rank: int) -> Section | None:
        if not self.exact or not rank or len(self.indices) != rank:
            return None
        if self.parts and rank == 1:
            return tuple(Range.point(index) for index in reversed(self.parts))
        return tuple(Range.point(index) for index in reversed(self.indices))


@dataclass(slots=True)
class Effects:
    """Collected while one statement is read."""

    accesses: list[Access] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    stop: Cause | None = None


def by_reference(formals: list[Any], position: int) -> bool:
    return position < len(formals) and bool(formals[position].type.is_reference)


class VectorReader(ValueReader, ABC):
    """What the reader of expressions does with vectors."""

    def __init__(self, program: Program, source: SourceFile) -> None:
        super().__init__(program, source)
        # References whose object is known: the elements that a loop goes through.
        self.bound: dict[str, Memory] = {}

    @abstractmethod
    def read(self, cursor: Any, effects: Effects) -> None: ...

    @abstractmethod
    def place(self, cursor: Any, effects: Effects) -> Memory: ...

    @abstractmethod
    def _record(self, effects: Effects, place: Memory, cursor: Any, *, write: bool) -> None: ...

    def _elements(self, vector: Any, cursor: Any, effects: Effects) -> Memory:
        """The memory that a vector holds."""
        key = self.key_of(vector)
        effects.accesses.append(Access(key, False, False, cursor.location.line))
        return Memory(key, True)

    def _element(self, cursor: Any, effects: Effects) -> Memory | None:
        """The element of a vector that a call of a method names."""
        name, vector = c_vectors.method(cursor)
        if vector is None or name not in c_vectors.ELEMENTS:
            return None
        found = self._elements(vector, cursor, effects)
        if name == "operator[]":
            index = cursor.operands[-1]
            self.read(index, effects)
            found.indices.append(self.affine(index))
            found.parts, found.strides = self._split(index)
            if not found.strides:
                found.parts = ()
        else:
            found.indices.append(Affine(0) if name == "front" else None)
        return found

    def whole(self, cursor: Any, effects: Effects) -> Memory | None:
        """All elements of the array or vector that an expression names."""
        vector = c_vectors.named(cursor)
        if vector is not None:
            found = self._elements(vector, cursor, effects)
        elif cursor.type.is_array and cursor.stripped.kind is ck.DECL_REF_EXPR:
            found = self.place(cursor, effects)
        else:
            return None
        found.exact = False
        return None if found.key == UNKNOWN_MEMORY else found

    def _method(self, cursor: Any, effects: Effects) -> bool:
        """Read the call of a vector's method; False where it is none."""
        name, vector = c_vectors.method(cursor)
        if vector is None:
            return False
        if name in c_vectors.ELEMENTS:
            self._record(effects, self.place(cursor, effects), cursor, write=False)
            return True
        self._elements(vector, cursor, effects)
        if name == "data" or name in c_vectors.SIZES:
            return True
        moves = name in c_vectors.MOVES
        kind = ReasonKind.VECTOR_MOVES if moves else ReasonKind.VECTOR_METHOD
        effects.stop = effects.stop or kind(vector=vector.spelling, method=name)
        self.program.pointer_facts.append(("escape", "addr", self.key_of(vector)))
        for argument in cursor.arguments:
            self.read(argument, effects)
            other = c_vectors.named(argument)
            if other is not None:
                self.program.pointer_facts.append(("escape", "addr", self.key_of(other)))
        return True

    def construct(self, cursor: Any, effects: Effects) -> None:
        """Read the declaration of a vector."""
        key = self.key_of(cursor)
        value = cursor.initializer
        inner = None if value is None else value.stripped
        while inner is not None and inner.kind is ck.UNEXPOSED_EXPR and inner.operands:
            inner = inner.operands[0].stripped
        plain = inner is None or (inner.kind is ck.CALL_EXPR and inner.spelling == "vector")
        for child in [] if inner is None or not plain else inner.arguments:
            other = c_vectors.named(child)
            if other is not None and not self._moved_from(child):
                found = self._elements(other, child, effects)
                effects.accesses.append(Access(found.key, True, False, child.location.line))
            elif child.kind is not ck.UNEXPOSED_EXPR or child.operands:
                plain = self._converted(child, effects) and plain
        size = self._size_of(cursor)
        effects.accesses.append(Access(size, False, True, cursor.location.line))
        if not plain:
            if inner is not None:
                self.read(inner, effects)
            effects.stop = effects.stop or ReasonKind.CONSTRUCT()
            self.program.pointer_facts.append(("escape", "addr", key))

    def _converted(self, cursor: Any, effects: Effects) -> bool:
        """Whether an argument is a number that becomes one of another type."""
        inner = cursor.stripped
        if inner.type.canonical.kind not in _NUMBERS:
            return False
        self.read(inner, effects)
        return True

    @staticmethod
    def _moved_from(cursor: Any) -> bool:
        """Whether the vector is named through a cast, which may give its memory away."""
        while cursor.kind in (ck.UNEXPOSED_EXPR, ck.PAREN_EXPR):
            (cursor,) = cursor.operands
        return cursor.kind is not ck.DECL_REF_EXPR

    def _vector(self, cursor: Any, name: str, position: int, effects: Effects) -> Argument:
        """A vector passed by reference: as the address of its first element."""
        start, end = cc.spelled(cursor)
        key = self.key_of(c_vectors.named(cursor))
        effects.accesses.append(Access(key, False, False, cursor.location.line))
        self.program.pointer_facts.append((f"argument:{name}:{position}", "copy", key))
        self.program.passed_vectors.append((name, position, key))
        text = self.source.data[start:end].decode(errors="replace")
        argument = Argument(text, start, end, base=key, through=True, origin=(Affine(0),))
        argument.pointer, argument.reads = True, effects.accesses
        return argument
