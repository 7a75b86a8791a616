"""Integers of Fortran with remainders in them: where loops begin, and what conditions compare."""

from __future__ import annotations

import re
from collections.abc import Iterator

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.remainders import Congruence, Value, remainder
from imbrex.transform.readers.fortran_lines import LogicalLine, closing, split_arguments
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope, is_assignment

_REMAINDER = re.compile(r"(mod|modulo|iand)\(")
_COMPARED = re.compile(r"(.+?)(==|/=|\.eq\.|\.ne\.)(.+)")


def value_of(names: Names, scope: Scope, text: str) -> Value | None:
    """A text in small letters, without blanks, as a sum of what is affine and of remainders."""
    known = names.affine(scope, text)
    if known is not None:
        return Value(known)
    found = Value(Affine(0))
    for sign, term in _terms(text):
        value = _remainder(names, scope, term)
        if value is None:
            affine = names.affine(scope, term)
            value = None if affine is None else Value(affine)
        if value is None:
            return None
        found = found.plus(value, sign)
    return found


def set_to(names: Names, scope: Scope, line: LogicalLine, name: str) -> Value | None:
    """What a statement sets an integer to, where that has remainders: `first = 1 + mod(j, 2)`."""
    text = line.masked
    if line.directive or not line.alone or not text.startswith(f"{name}="):
        return None
    variable = names.variable(scope, name) if is_assignment(text) else None
    if variable is None or variable.bounds or variable.element != "integer":
        return None
    if variable.volatile or names.affine(scope, text[len(name) + 1 :]) is not None:
        return None
    value = value_of(names, scope, text[len(name) + 1 :])
    return None if value is None or re.search(rf"\b{name}\b", text[len(name) :]) else value


def congruence(names: Names, scope: Scope, condition: str) -> Congruence | None:
    """What a condition says of remainders where it holds: `mod(i + j, 2) == color`."""
    compared = _COMPARED.fullmatch(condition)
    if compared is None:
        return None
    left, right = (value_of(names, scope, compared[n]) for n in (1, 3))
    if left is None or right is None:
        return None
    value = left.plus(right, -1)
    return value.congruent() if compared[2] in ("==", ".eq.") else value.odd()


def _terms(text: str) -> Iterator[tuple[int, str]]:
    """The terms of a sum with their signs."""
    depth, begin, sign = 0, 0, 1
    for at, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter in "+-" and not depth:
            if at > begin:
                yield sign, text[begin:at]
            begin, sign = at + 1, 1 if letter == "+" else -1
    yield sign, text[begin:]


def _remainder(names: Names, scope: Scope, term: str) -> Value | None:
    """`mod(a, 2)`, `modulo(a, 2)` or `iand(a, 1)`, of the language's own functions."""
    found = _REMAINDER.match(term)
    if found is None or closing(term, found.end() - 1) != len(term) - 1:
        return None
    name, own = found[1], names.own
    if name in own.functions or name in own.generics or names.find(scope, name) is not None:
        return None
    inside = term[found.end() : -1]
    values = [names.affine(scope, inside[a:b]) for a, b in split_arguments(inside)]
    if len(values) != 2 or values[0] is None or values[1] is None or values[1].terms:
        return None
    number = values[1].constant
    if name == "iand":
        return remainder(Value(values[0]), 2, floored=True) if number == 1 else None
    return remainder(Value(values[0]), number, floored=name == "modulo")
