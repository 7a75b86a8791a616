"""The integer members that constructors set, in the terms of the declarations that call them."""

from __future__ import annotations

from typing import Any

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.program import Built
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods
from imbrex.transform.readers.c_values import SIGNED, ValueReader


def built(values: ValueReader, made: Any) -> Built | None:
    """What the call of a constructor makes the members that it sets in front of its body."""
    function = made.referenced.get_definition()
    if function is None:
        return None
    given: dict[str, Affine] = {}
    for formal, actual in zip(function.arguments, made.arguments, strict=False):
        value = values.affine(actual) if formal.type.canonical.kind in SIGNED else None
        if value is not None:
            given[values.key_of(formal)] = value
    found: dict[str, Affine] = {}
    member: Any = None
    for child in function.children:
        if child.kind is ck.MEMBER_REF:
            member = child.referenced
            continue
        plain = member is not None and member.kind is ck.FIELD_DECL
        if plain and child.kind in ck.EXPRESSIONS and member.type.canonical.kind in SIGNED:
            inside = values.affine(child)
            value = None if inside is None else inside.replace(given.get)
            if value is not None:
                found[values.key_of(member)] = value
        member = None
    return Built(c_methods.routine_name(made.referenced), found) if found else None
