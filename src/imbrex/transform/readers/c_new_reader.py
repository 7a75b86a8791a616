"""`new` and `delete` of C++ for types without code of their own: memory as `malloc` gives it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_array_reader import ArrayReader
from imbrex.transform.readers.c_complex import computed_of
from imbrex.transform.readers.c_vector_reader import Effects, Memory

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


class NewReader(ArrayReader, ABC):
    """Reads the expressions that allocate and free memory."""

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
        if not _NEW.match(text) or not _is_bare(made):
            return None
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

    def freed(self, cursor: Any, effects: Effects) -> bool:
        """Read a `delete`; False where it may run code of the program."""
        if cursor.kind is not ck.CXX_DELETE_EXPR or len(cursor.operands) != 1:
            return False
        text = self.source.data[slice(*cc.spelled(cursor))]
        (pointer,) = cursor.operands
        if not (_DELETE.match(text) and pointer.type.is_pointer):
            return False
        if not _is_bare(pointer.type.canonical.pointee):
            return False
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
