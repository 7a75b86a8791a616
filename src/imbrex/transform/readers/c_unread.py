"""Where code stands that is not analysed: the routine that it is in, and what hides it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from imbrex.transform.model.causes import Reason
from imbrex.transform.model.covered_calls import UnreadCall
from imbrex.transform.model.location import Location
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers import c_cursor_kinds as ck

_HIDING = {
    ck.CLASS_TEMPLATE: "a template",
    ck.CLASS_TEMPLATE_PARTIAL: "a template",
    ck.FUNCTION_TEMPLATE: "a template",
    ck.LAMBDA_EXPR: "a lambda",
    ck.CXX_TRY_STMT: "a try block",
    ck.CXX_METHOD: "a method",
    ck.CONSTRUCTOR: "a constructor",
    ck.DESTRUCTOR: "a destructor",
}
_CLASSES = frozenset({ck.CLASS_DECL, ck.STRUCT_DECL, ck.CLASS_TEMPLATE, ck.CLASS_TEMPLATE_PARTIAL})
# Functions that the library finds by their names in the types of a program.
_FOUND = frozenset(
    f"{prefix}{name}" for prefix in ("", "c", "r", "cr") for name in ("begin", "end")
) | {"swap", "iter_swap", "iter_move", "size", "data", "empty", "get", "lock", "unlock", "try_lock"}
_UNNAMED = frozenset({ck.CONSTRUCTOR, ck.DESTRUCTOR})
_ROUTINES = frozenset({ck.CXX_METHOD, ck.CONSTRUCTOR, ck.DESTRUCTOR, ck.FUNCTION_TEMPLATE})


@dataclass(frozen=True, slots=True)
class Unread:
    """A place in the source: the innermost routine, and the outermost construct that hides it."""

    routine: str
    construct: str = ""
    location: Location | None = None
    # Of an instance of a template, and of what a library may call that is not named: that another
    # instance is read says nothing of its calls.
    instance: bool = False
    # Of a template all of whose instances are read: alone its text runs nowhere.
    idle: bool = False

    def within(self, cursor: Any) -> Unread:
        """The place inside a cursor whose code is not read."""
        found = self
        if cursor.kind in _ROUTINES:
            parent = cursor.semantic_parent
            member = parent is not None and parent.kind in _CLASSES
            name = f"{parent.spelling}::{cursor.spelling}" if member else cursor.spelling
            unnamed = cursor.kind in _UNNAMED or cursor.spelling.startswith("operator")
            idle = self.idle and not (unnamed or cursor.spelling in _FOUND)
            found = replace(self, routine=name, instance=self.instance or unnamed, idle=idle)
        construct = _HIDING.get(cursor.kind, "")
        if cursor.kind is ck.CXX_METHOD and cursor.is_virtual:
            construct = "a virtual method"
        if construct and not found.construct:
            place = Location(cursor.location.file, cursor.location.line)
            found = replace(found, construct=construct, location=place)
        return found

    def first_byte(self, offset: int) -> int:
        """By which a call is known: as one that is read, or by a number that none has."""
        return -1 - offset if self.instance else offset

    def call(self, name: str, place: Location) -> UnreadCall:
        """A call of MPI at this place."""
        cause = ReasonKind.IN_CONSTRUCT(construct=self.construct or "a construct of C++")
        return UnreadCall(name, self.routine, Reason(cause, self.location or place), self.idle)
