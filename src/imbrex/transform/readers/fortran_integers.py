"""Integer expressions of Fortran as affine forms of variables, components and elements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.shapes import shape_of
from imbrex.transform.readers.fortran_components import BASE
from imbrex.transform.readers.fortran_elements import element
from imbrex.transform.readers.fortran_functions import value_of
from imbrex.transform.readers.fortran_scopes import Scope

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_names import Names

_TOKEN = re.compile(r"\d+|[a-z_]\w*|\*\*|.")
INQUIRIES = frozenset({"size", "lbound", "ubound"})


class AffineParser:
    """Reads sums and products, with parentheses, of what is named in one scope."""

    def __init__(self, names: Names, scope: Scope, text: str) -> None:
        self.names, self.scope = names, scope
        self.tokens = _TOKEN.findall(text)
        self.position = 0

    def parse(self) -> Affine | None:
        value = self._sum()
        return value if self.position == len(self.tokens) else None

    def _peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _sum(self) -> Affine | None:
        sign = 1
        if self._peek() in ("+", "-"):
            sign = -1 if self._peek() == "-" else 1
            self.position += 1
        value = self._product()
        value = None if value is None else value.times(sign)
        while value is not None and self._peek() in ("+", "-"):
            sign = 1 if self._peek() == "+" else -1
            self.position += 1
            right = self._product()
            value = None if right is None else value.plus(right, sign)
        return value

    def _product(self) -> Affine | None:
        value = self._primary()
        while value is not None and self._peek() == "*":
            self.position += 1
            right = self._primary()
            value = None if right is None else value.product(right)
        return value

    def _primary(self) -> Affine | None:
        token = self._peek()
        self.position += 1
        if token.isdigit():
            return Affine(int(token))
        if token == "(":
            value = self._sum()
            if self._peek() != ")":
                return None
            self.position += 1
            return value
        if token in INQUIRIES and self._peek() == "(":
            return self._inquiry(token)
        if token and BASE.fullmatch(token) and self._peek() == "%":
            return self._component(token)
        if token and BASE.fullmatch(token) and self._peek() != "(":
            return self.names.atom(self.scope, token)
        if token and BASE.fullmatch(token):
            return self._reference(token)
        return None

    def _reference(self, name: str) -> Affine | None:
        """`function(arguments)` or `array(subscript)`, from behind its name."""
        inside = self._inside()
        if inside is None:
            return None
        if self.names.is_array(self.scope, name):
            return element(self.names, self.scope, self.names.variable(self.scope, name), inside)
        return value_of(self.names, self.scope, name, inside)

    def _inside(self) -> str | None:
        """What stands in the parentheses that begin here."""
        depth, first = 0, self.position + 1
        while self.position < len(self.tokens):
            depth += {"(": 1, ")": -1}.get(self._peek(), 0)
            self.position += 1
            if not depth:
                return "".join(self.tokens[first : self.position - 1])
        return None

    def _inquiry(self, asked: str) -> Affine | None:
        """`size(a, 1)`, `lbound(a, 1)`, `ubound(a, 1)`: of an array that keeps its bounds."""
        words = self.tokens[self.position : self.position + 5]
        self.position += 5
        if len(words) != 5 or words[0] != "(" or words[2::2] != [",", ")"]:
            return None
        if not words[3].isdigit() or self.names.own.functions & {asked}:
            return None
        if self.names.find(self.scope, asked) is not None or asked in self.names.own.generics:
            return None
        found = self.names.find(self.scope, words[1])
        if found is None or not found[1].bounds:
            return None
        variable = self.names.variable(self.scope, words[1])
        dimension = int(words[3]) - 1
        if variable is None or variable.allocatable or dimension not in range(len(found[1].bounds)):
            return None
        shape = shape_of(variable)
        if shape is None or variable.key in self.names.program.overlays:
            return None
        low, high = shape[dimension]
        if low is None or high is None or variable.optional:
            return None
        extent = high.plus(low, -1).plus(Affine(1))
        return {"size": extent, "lbound": low, "ubound": high}[asked]

    def _component(self, text: str) -> Affine | None:
        while self._peek() == "%":
            text += "".join(self.tokens[self.position : self.position + 2])
            self.position += 2
        if self._peek() == "(":
            inside = self._inside()
            if inside is None or self._peek() == "%":
                return None
            text += f"({inside})"
        return self.names.integer_of(self.scope, text)
