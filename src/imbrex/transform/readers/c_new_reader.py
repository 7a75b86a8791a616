"""`new` and `delete` of C++: memory as `malloc` gives it, and what code of a class runs with it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods
from imbrex.transform.readers.c_array_reader import ArrayReader
from imbrex.transform.readers.c_complex import computed_of
from imbrex.transform.readers.c_memory import Effects, Memory

# Not one that is given memory, `new (place) T`, nor other arguments.
_NEW = re.compile(rb"(?:::\s*)?new\b\s*(?!\()")
_DELETE = re.compile(rb"(?:::\s*)?delete\b")
_OPERATOR = re.compile(r"operator (?:new|delete)(?:\[\])?")
# Elements that are given no value, or 0.
_UNSET = frozenset({ck.CALL_EXPR, ck.INIT_LIST_EXPR, ck.UNEXPOSED_EXPR})


def is_null(cursor: Any) -> bool:
    """Whether the value of a pointer, without casts, is null, as `nullptr`."""
    return cursor.kind in ck.NULLS


def _is_bare(kind: Any) -> bool:
    """Whether nothing of the program's own runs where an object of this type is made or ends.

    A class may have operators of its own for its memory; one with bases may have theirs.
    """
    kind = kind.canonical
    if kind.is_number or kind.is_complex or kind.is_pointer:
        return not kind.is_ordered
    record = kind.record
    if record is None or not kind.is_plain or kind.is_ordered:
        return False
    return not any(
        child.kind is ck.CXX_BASE_SPECIFIER or _OPERATOR.fullmatch(child.spelling)
        for child in record.children
    )


def _is_built(kind: Any) -> bool:
    """Whether what runs where an object of this type is made or ends is the program's own code, in
    memory as `malloc` gives it."""
    record = kind.canonical.record
    if record is None or not c_methods.is_own(record):
        return False
    return not any(
        _OPERATOR.fullmatch(child.spelling)
        or (child.kind is ck.CXX_BASE_SPECIFIER and not _is_built(child.type))
        for child in record.children
    )


class NewReader(ArrayReader, ABC):
    """Reads the expressions that allocate and free memory."""

    @abstractmethod
    def constructed(self, value: Any | None) -> Any | None: ...

    @abstractmethod
    def make(self, made: Any, effects: Effects) -> None: ...

    @abstractmethod
    def objects(self, kind: Any, key: str) -> None: ...

    @abstractmethod
    def _argument(self, cursor: Any, effects: Effects) -> Argument: ...

    @abstractmethod
    def _holds(self, cell: str, argument: Argument) -> None: ...

    def allocated(self, cursor: Any, effects: Effects) -> Memory | None:
        """The memory that a `new` gives; None where code of the program may run in it.

        A program may define `operator new` for all types: it is called as any function.
        """
        if cursor.kind is not ck.CXX_NEW_EXPR or not cursor.type.is_pointer:
            return None
        text = self.source.data[slice(*cc.spelled(cursor))]
        made = cursor.type.canonical.pointee
        if not _NEW.match(text):
            return None
        if not _is_bare(made):
            return self._object_made(cursor, made, effects)
        numbers = [
            part for part in cursor.operands if part.type.is_number or computed_of(part) is not None
        ]
        if any(p.operands or p.kind not in _UNSET for p in cursor.operands if p not in numbers):
            return None  # it is given values, which may be addresses
        for part in numbers:
            self.read(part, effects)
        array = b"[" in text
        self._enter(cursor, "operator new[]" if array else "operator new", [], effects)
        return Memory(self._heap(cursor), False, exact=False)

    def _object_made(self, cursor: Any, kind: Any, effects: Effects) -> Memory | None:
        """The same of one object, `new Grid(nx, ny)`, over the making of which nothing moves."""
        constructor = self.constructed(cursor.operands[-1]) if cursor.operands else None
        if constructor is None or len(cursor.operands) != 1 or not _is_built(kind):
            return None
        effects.stop = effects.stop or ReasonKind.OBJECT()
        self.make(constructor, effects)
        key = self._heap(cursor)
        self.objects(kind, key)
        self._enter(cursor, "operator new", [], effects)
        return Memory(key, False, exact=False)

    def freed(self, cursor: Any, effects: Effects) -> bool:
        """Read a `delete`; False where it may run code that is not read."""
        if cursor.kind is not ck.CXX_DELETE_EXPR or len(cursor.operands) != 1:
            return False
        text = self.source.data[slice(*cc.spelled(cursor))]
        (pointer,) = cursor.operands
        if not (_DELETE.match(text) and pointer.type.is_pointer):
            return False
        made = pointer.type.canonical.pointee
        if not _is_bare(made):
            if not _is_built(made):
                return False
            effects.stop = effects.stop or ReasonKind.OBJECT()
        inner = Effects()
        argument = self._argument(pointer, inner)
        effects.accesses += inner.accesses
        effects.calls += inner.calls
        effects.stop = effects.stop or inner.stop
        array = re.match(rb"(?:::\s*)?delete\s*\[", text)
        name = "operator delete[]" if array else "operator delete"
        self._holds(f"argument:{name}:0", argument)
        self._enter(cursor, name, [argument], effects)
        return True

    def _enter(self, cursor: Any, name: str, arguments: list[Argument], effects: Effects) -> None:
        start, end = cc.spelled(cursor)
        effects.calls.append(Call(name, arguments, start, end, cursor.location.line))
