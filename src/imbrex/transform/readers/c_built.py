"""The integer members that constructors set, in the terms of the declarations that call them."""

from __future__ import annotations

from typing import Any

from imbrex.transform.model.affine import Affine, field_of
from imbrex.transform.model.program import Built
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods
from imbrex.transform.readers.c_values import SIGNED, ValueReader

_GOES_ON = frozenset({ck.BINARY_OPERATOR, ck.DECL_STMT, ck.CALL_EXPR})


def built(values: ValueReader, made: Any) -> Built | None:
    """What the call of a constructor makes the members that it sets, once, in each case."""
    function = made.referenced.get_definition()
    if function is None:
        return None
    given: dict[str, Affine] = {}
    for formal, actual in zip(function.arguments, made.arguments, strict=False):
        value = values.affine(actual) if formal.type.canonical.kind in SIGNED else None
        if value is not None:
            given[values.key_of(formal)] = value
    name = c_methods.routine_name(made.referenced)
    outer, values.this = values.this, values.enter_this(name, function)
    found = _Setting(values, given).of(function)
    values.this = outer
    return Built(name, found) if found else None


class _Setting:
    """Follows what a constructor sets, from its first initializer to the end of its body."""

    def __init__(self, values: ValueReader, given: dict[str, Affine]) -> None:
        self.values = values
        self.known = dict(given)
        self.found: dict[str, Affine] = {}

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
            elif child.kind is ck.COMPOUND_STMT and alone:
                self._body(child)
            member = None
        return self.found

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

    @staticmethod
    def _is_number(member: Any | None) -> bool:
        if member is None or member.kind is not ck.FIELD_DECL:
            return False
        return member.type.canonical.kind in SIGNED

    def _set(self, key: str, value: Affine | None) -> None:
        """Note the value of a member, in the terms of the declaration; None: it is not known."""
        inside = None if value is None else value.replace(self.known.get)
        if inside is not None:
            self.found[key] = self.known[field_of(self.values.this, key)] = inside
        else:
            self.found.pop(key, None)
            self.known.pop(field_of(self.values.this, key), None)
