"""Statements of Fortran that take a value into a sum, an extreme or a logical value, as C's.

Of integers and logical values the outcome is the same in each order. Sums of floating-point numbers
are rounded in the order of the iterations; which of two zeros, or of a number and a NaN, `max`
takes may depend on it. `if (abs(x) > m) m = abs(x)` takes no NaN, and no zero with a sign.
"""

from __future__ import annotations

import re

from imbrex.transform.model.reduction import Reduction
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.readers.fortran_lines import closing
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope, is_assignment

_EXACT = ("integer", "logical")
_FLOATING = ("real", "double")
_INTRINSIC = ("max", "min", "abs", "dabs")
_ASSIGNED = re.compile(r"([a-z]\w*)=([^=].*)")
_STRING = re.compile("['\"]")


class Reductions:
    """Notes which statements of one scope take values into a scalar, as they are read."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope
        self._assignments: dict[int, str] = {}  # the text of each, by the identity of its statement

    def note(self, statement: Statement, text: str) -> None:
        """Say of a statement, in compact text with masked strings, what it reduces."""
        if statement.stop is not None or statement.calls:
            return
        if statement.kind is Kind.SIMPLE and is_assignment(text):
            self._assignments[id(statement)] = text
            statement.reduces = self._reduced(text)
        elif statement.kind is Kind.IF and len(statement.blocks) == 1:
            inner = statement.blocks[0].statements
            chosen = self._assignments.get(id(inner[0])) if len(inner) == 1 else None
            if chosen is not None:
                statement.reduces = self._reduced(chosen, text[3 : closing(text, 2)])

    def _reduced(self, text: str, asked: str = "") -> Reduction | None:
        """What an assignment takes into which scalar, alone or under a condition."""
        form = _ASSIGNED.fullmatch(text)
        if form is None or _STRING.search(asked + text):
            return None
        scalar = rf"(?<![\w%]){form[1]}(?![\w%(])"
        if len(re.findall(scalar, f"{asked};{text}")) != 2:
            return None
        variable = self.names.variable(self.scope, form[1])
        element = variable.element.lower() if variable is not None else ""
        if variable is None or not element.startswith(_EXACT + _FLOATING):
            return None
        exact = element.startswith(_EXACT)
        found = (
            _chosen(asked, scalar, form[2], exact) if asked else _taken(form[2], scalar, element)
        )
        if found is None or any(self._is_declared(n) for n in _INTRINSIC if n in asked + text):
            return None
        return found._replace(variable=variable.key)

    def _is_declared(self, name: str) -> bool:
        """Whether the name of an intrinsic function is that of something that the program has."""
        return self.names.find(self.scope, name) is not None


def _taken(value: str, scalar: str, element: str) -> Reduction | None:
    """`m = max(m, x)`, `s = s + x`, `l = l .and. x`."""
    exact = element.startswith(_EXACT)
    inside = re.fullmatch(rf"(?:max|min)\((?:{scalar},(.+)|(.+),{scalar})\)", value)
    if inside is not None and _balanced(inside[1] or inside[2]):
        return Reduction(f"extreme {value[:3]}", exact)
    if element.startswith("logical"):
        joined = re.fullmatch(rf"{scalar}(\.or\.|\.and\.)(.+)", value)
        other = {".or.": r"\.n?eqv\.", ".and.": r"\.n?eqv\.|\.or\."}
        if joined is None or re.search(other[joined[1]], joined[2]):
            return None
        return Reduction(f"logical {joined[1]}", True)
    added = re.fullmatch(rf"{scalar}[+-](.+)", value) or re.fullmatch(rf"(.+)\+{scalar}", value)
    if added is not None and _balanced(added[1]) and not re.search(r"[<>=]|//|\.[a-z]+\.", value):
        return Reduction("sum", exact)
    return None


def _chosen(asked: str, scalar: str, value: str, exact: bool) -> Reduction | None:
    """`if (x > m) m = x`: what is compared, with its sign or without."""
    same = re.escape(value)
    larger = rf"{same}(?:>|\.gt\.){scalar}|{scalar}(?:<|\.lt\.){same}"
    smaller = rf"{same}(?:<|\.lt\.){scalar}|{scalar}(?:>|\.gt\.){same}"
    size = re.fullmatch(r"d?abs\((.+)\)", value)
    without_sign = size is not None and _balanced(size[1])
    for side, pattern in (("max", larger), ("min", smaller)):
        if re.fullmatch(pattern, asked):
            return Reduction(f"chosen {side}", exact or without_sign)
    return None


def _balanced(text: str) -> bool:
    """Whether each parenthesis of a text is closed in it, and none of its commas stands open."""
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0 or (letter == "," and not depth):
            return False
    return depth == 0
