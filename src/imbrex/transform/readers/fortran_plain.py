"""Fortran expressions that are surely of numbers, so that their operators are the language's own.

The standard lets a program define an operator, or assignment, for operands of other types or of
ranks that do not fit.
"""

from __future__ import annotations

import re

from imbrex.transform.readers.fortran_components import Components
from imbrex.transform.readers.fortran_library import FUNCTIONS
from imbrex.transform.readers.fortran_lines import closing, split_arguments
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope

_NUMBERS = ("integer", "real", "double precision", "complex", "double complex")
_COMPONENT = re.compile(r"(?<![\w%)])([a-z]\w*)%([a-z]\w*)(?![\w(%])")
_WHOLE = re.compile(r"(?<![\w%)])[a-z]\w*(?:%[a-z]\w*)+(?![\w(%])")
_SCALAR = re.compile(r"[\w+\-*,]*")
# Intrinsic functions whose result has the rank of its arguments, all numbers.
_NAMES = """
abs acos aimag aint anint asin atan atan2 cmplx cos cosh dabs dble dcos dexp dlog dmod dsin dsqrt
exp float floor ceiling iabs int log log10 max min mod modulo nint real sign sin sinh sqrt tan tanh
"""
ELEMENTAL = frozenset(_NAMES.split())


class Plain:
    """Judges the expressions of one scope."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope

    def rank(self, part: str) -> int | None:
        """The rank of an expression of numbers, on which no operator can be defined anew.

        None where it is not sure to be one.
        """
        ranks = {0}

        def number(match: re.Match[str]) -> str:
            """A number in the place of a component, or an array of them, whose rank counts."""
            component = Components(self.names, self.scope).resolve(match[0], 0)
            if component is None or component.end != len(match[0]) or not component.one_object:
                return match[0]
            if component.part or not component.last.element.startswith(_NUMBERS):
                return match[0]
            ranks.add(len(component.last.bounds))
            return "1"

        part = _WHOLE.sub(number, part)
        part = _COMPONENT.sub(self._component, part)
        if re.search(r"[%'\"]|\.(?:true|false|and|or|not|eqv|neqv)\.", part):
            return None
        part = re.sub(r"\.[a-z]+\.", " ", part)
        for match in re.finditer(r"(?<![\w.])([a-z]\w*)(?!\w*\s*=[^=])", part):
            name, follow = match[1], part[match.end() : match.end() + 1]
            found = self.names.find(self.scope, name)
            intrinsic = name in FUNCTIONS and name not in self.names.own.functions
            if found is None and follow == "(" and intrinsic:
                if name not in ELEMENTAL:
                    return None
                continue
            if found is None:
                return None
            variable = self.names.variable(self.scope, name)
            if variable is None and found[1].value is not None:
                if not found[1].type.startswith(_NUMBERS):
                    return None
                continue
            if variable is None or not variable.element.startswith(_NUMBERS):
                return None
            rank = len(variable.bounds)
            if follow == "(":
                if not rank:
                    return None
                inner = part[match.end() + 1 : closing(part, match.end())]
                rank = sum(":" in inner[a:b] for a, b in split_arguments(inner))
                if not rank and not _SCALAR.fullmatch(inner):
                    return None  # a subscript may be a vector
            ranks.add(rank)
        return max(ranks) if len(ranks) <= 2 else None

    def whole_arrays(self, part: str, owner: str = "") -> tuple[str, ...]:
        """The arrays that an expression of some rank takes as a whole, element by element.

        `owner`: those that are components of an object by this name. None where it may be put
        together otherwise: by an array constructor or the program's own operators.
        """
        own = self.names.own
        if own.operators or own.assignment or "[" in part or "(/" in part:
            return ()
        found = []
        for match in _WHOLE.finditer(part) if owner else ():
            component = Components(self.names, self.scope).resolve(match[0], 0)
            if component is not None and match[0].rpartition("%")[0] == owner:
                found += [component.last.key] * bool(component.last.bounds)
        for match in re.finditer(r"(?<![\w.%])([a-z]\w*)(?![\w(%])", "" if owner else part):
            known = self.names.find(self.scope, match[1]) is not None
            variable = self.names.variable(self.scope, match[1]) if known else None
            if variable is not None and variable.bounds:
                found.append(variable.key)
        return tuple(dict.fromkeys(found))

    def _component(self, match: re.Match[str]) -> str:
        """A number in the place of a component that is one."""
        base = self.names.find(self.scope, match[1])
        one = base is not None and not base[1].bounds and self.names.own.number(match[2])
        return "1" if one else match[0]

    def own_assignment(self, text: str, equals: int) -> bool:
        """Whether an assignment may be one that the program defines: the call of a procedure."""
        if not self.names.own.assignment:
            return False
        left, right = text[:equals], text[equals + 1 :]
        if re.search(r"==|/=|[<>]|\.(?:eq|ne|lt|le|gt|ge)\.", right):
            return True
        into, value = self.rank(left), self.rank(right)
        return into is None or value is None or value not in (0, into)
