"""What an assignment of Fortran sets an integer to: an expression, or one of two (`merge`)."""

from __future__ import annotations

from imbrex.transform.model.affine import PRODUCT, Affine
from imbrex.transform.model.conditions import Choice
from imbrex.transform.model.statements import Statement
from imbrex.transform.readers.fortran_expressions import Expressions
from imbrex.transform.readers.fortran_lines import closing, split_arguments

_MERGE = "merge("


def note_value(reader: Expressions, statement: Statement, text: str, equals: int) -> None:
    """Note with an assignment which integer it sets, and to what, where that is known."""
    target = reader.names.affine(reader.scope, text[:equals])
    if target is None or len(target.terms) != 1:
        return
    key, _ = target.terms[0]  # a variable, or a component of an object
    if target != Affine.variable(key) or PRODUCT in key:
        return
    value = reader.names.affine(reader.scope, text[equals + 1 :])
    if value is not None:
        statement.sets = key, value
        return
    choice = _choice(reader, text[equals + 1 :])
    if choice is not None:
        statement.chooses = key, choice


def _choice(reader: Expressions, text: str) -> Choice | None:
    """The values of `merge(a, b, condition)`, if that is the language's own."""
    if not text.startswith(_MERGE) or closing(text, len(_MERGE) - 1) != len(text) - 1:
        return None
    own = reader.names.own
    if "merge" in own.functions or "merge" in own.generics:
        return None
    if reader.names.find(reader.scope, "merge") is not None:
        return None
    inside = text[len(_MERGE) : -1]
    parts = [inside[a:b] for a, b in split_arguments(inside)]
    if len(parts) != 3:
        return None
    values = [reader.names.affine(reader.scope, part) for part in parts[:2]]
    test = reader.test(parts[2])
    if test is None or values[0] is None or values[1] is None:
        return None
    return Choice(test, values[0], values[1])
