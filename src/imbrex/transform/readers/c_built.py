"""The integer members that constructors set, in the terms of the declarations that call them, or
of their own parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from imbrex.transform.model.affine import Affine, field_of
from imbrex.transform.model.program import Built, Made
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods
from imbrex.transform.readers.c_values import SIGNED, ValueReader
from imbrex.transform.readers.cxx_library import is_library

_GOES_ON = frozenset({ck.BINARY_OPERATOR, ck.DECL_STMT, ck.CALL_EXPR})


def built(values: ValueReader, made: Any) -> Built | None:
    """What the call of a constructor makes the members that it sets, once, in each case."""
    function = made.referenced.get_definition()
    if function is None:
        return None
    name = c_methods.routine_name(made.referenced)
    given: dict[str, Affine] = {}
    signed: dict[str, Affine] = {}  # those whose values are numbers as they are written
    for formal, actual in zip(function.arguments, made.arguments, strict=False):
        value = values.affine(actual) if formal.type.is_integer else None
        if value is not None:
            given[values.key_of(formal)] = value
            if _is_signed(formal):
                signed[values.key_of(formal)] = value
    outer, values.this = values.this, values.enter_this(name, function)
    alike = _Setting(values, given, _is_integer).of(function)
    members = _Setting(values, signed, _is_signed).of(function)
    values.this = outer
    return Built(name, members, alike) if alike else None


def _is_integer(declared: Any) -> bool:
    return bool(declared.type.is_integer)


def _is_signed(declared: Any) -> bool:
    return declared.type.canonical.kind in SIGNED


def made_by(values: ValueReader, function: Any) -> Made:
    """What a constructor makes its object's members, and those of the objects in it.

    In the terms of its parameters. A member with a value in its declaration is not among them:
    other constructors, that have no source, may leave that.
    """
    keys = [str(values.key_of(each)) for each in function.arguments if _is_signed(each)]
    setting = _Setting(values, {key: Affine.variable(key) for key in keys}, _is_signed)
    members = setting.of(function)
    return Made({k: v for k, v in members.items() if k not in setting.begun}, setting.within)


class _Setting:
    """Follows what a constructor sets, from its first initializer to the end of its body."""

    def __init__(
        self, values: ValueReader, given: dict[str, Affine], counts: Callable[[Any], bool]
    ) -> None:
        """`counts`: whether a member is among those that are followed, by its declaration."""
        self.values = values
        self.counts = counts
        self.known = dict(given)
        self.found: dict[str, Affine] = {}
        self.begun: set[str] = set()  # members with a value in their declaration
        self.within: dict[str, Built] = {}  # by member that is an object

    def of(self, function: Any) -> dict[str, Affine]:
        member: Any = None
        alone = True  # no other constructor has set members before
        for child in function.children:
            if child.kind is ck.MEMBER_REF:
                member = child.referenced
                continue
            if child.kind in ck.EXPRESSIONS:
                alone = alone and member is not None
                if self._is_number(member):
                    self._set(self.values.key_of(member), self.values.affine(child))
                self._note(member, child)
            elif child.kind is ck.COMPOUND_STMT and alone:
                self._body(child)
            member = None
        return self.found

    def _note(self, member: Any | None, value: Any) -> None:
        """Note an object that is a member, and which members have values of their own before."""
        if member is None or member.kind is not ck.FIELD_DECL:
            return
        key = self.values.key_of(member)
        if any(child.kind in ck.EXPRESSIONS for child in member.children):
            self.begun.add(key)
        made = value.stripped
        named = made.referenced if made.kind is ck.CALL_EXPR else None
        if named is not None and named.kind is ck.CONSTRUCTOR and not is_library(named):
            inner = built(self.values, made)
            if inner is not None:
                told = {name: old.replace(self.known.get) for name, old in inner.members.items()}
                known = {name: new for name, new in told.items() if new is not None}
                self.within[key] = Built(inner.constructor, known, known)

    def _body(self, body: Any) -> None:
        for statement in body.children:
            if statement.kind not in _GOES_ON:
                return  # the rest may not be reached
            sets = self.values.sets(statement)
            target = statement.stripped.operands[0].stripped if sets is not None else None
            if sets is None or target is None or target.kind is not ck.MEMBER_REF_EXPR:
                continue
            member = target.referenced
            begins = any(child.kind in ck.EXPRESSIONS for child in member.children)
            key = self.values.key_of(member)
            if sets[0] == field_of(self.values.this, key) and self._is_number(member):
                self._set(key, None if begins or key in self.found else sets[1])

    def _is_number(self, member: Any | None) -> bool:
        return member is not None and member.kind is ck.FIELD_DECL and self.counts(member)

    def _set(self, key: str, value: Affine | None) -> None:
        """Note the value of a member, in the terms of the declaration; None: it is not known."""
        inside = None if value is None else value.replace(self.known.get)
        if inside is not None:
            self.found[key] = self.known[field_of(self.values.this, key)] = inside
        else:
            self.found.pop(key, None)
            self.known.pop(field_of(self.values.this, key), None)
