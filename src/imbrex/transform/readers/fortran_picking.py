"""Which procedure a generic name of Fortran stands for in a reference: by its arguments.

One of the specific procedures is meant, and the language says that its arguments agree with those
of the reference in number, type and rank (Fortran 2018, sections 15.5.2.4 and 15.5.5.2). So that
one is meant which is left where all others certainly do not agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from imbrex.transform.readers.fortran_bound import names_hidden
from imbrex.transform.readers.fortran_components import BASE, Components
from imbrex.transform.readers.fortran_kinds import of_used_kind
from imbrex.transform.readers.fortran_lines import at_depth_zero, closing, split_arguments
from imbrex.transform.readers.fortran_types import type_name

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_names import Names
    from imbrex.transform.readers.fortran_scopes import Scope, Symbol

_KEYWORD = re.compile(r"([a-z]\w*)=(?!=)")
_NUMBERS = {
    "real": "real",
    "doubleprecision": "real",
    "integer": "integer",
    "complex": "complex",
    "doublecomplex": "complex",
    "logical": "logical",
    "character": "character",
}
_BASE_TYPE = re.compile("|".join(sorted(_NUMBERS, key=len, reverse=True)))
# What the reader makes of types whose kind it knows, as `real(dp)` is not where `dp` is unknown.
_SIZED = re.compile(r"real|double precision|complex|double complex|integer(\([128]\))?")
_PROCEDURES = frozenset({"external", "intrinsic"})


@dataclass(frozen=True, slots=True)
class _Kind:
    """What is known of an argument; None and "" where that is nothing."""

    rank: int | None = None
    type: str = ""  # of numbers and the like, with its kind where `sized`; else `type(..)`
    sized: bool = False

    def differs(self, other: _Kind) -> bool:
        """Whether the two cannot be those of one actual argument and its dummy argument."""
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            return True
        mine, theirs = _BASE_TYPE.match(self.type), _BASE_TYPE.match(other.type)
        if not self.type or not other.type or (mine is None and theirs is None):
            return False
        if mine is None or theirs is None:
            return True
        if _NUMBERS[mine[0]] != _NUMBERS[theirs[0]]:
            return True
        return self.sized and other.sized and self.type != other.type


class Picking:
    """Leaves out procedures that references in one scope cannot be."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope
        self.components = Components(names, scope)
        outer = scope
        while outer.kind == "block" and outer.parent is not None:
            outer = outer.parent
        self.hidden = names_hidden(outer.body)

    def left(self, specifics: set[str], arguments: Sequence[str]) -> set[str]:
        """Those of some procedures that a reference with arguments of these texts may be."""
        if self.names.own.untyped:
            return specifics
        given = [_compact(each) for each in arguments]
        procedures = self.names.bindings.procedures
        known: dict[str, _Kind] = {}
        found = set()
        for each in specifics:
            scope = procedures.get(each)
            # Of an external one an interface block says what is asked, which need not be true.
            inside = scope is not None and scope.parent is not None
            if scope is None or not inside or scope.elemental or self._may_be(scope, given, known):
                found.add(each)
        return found

    def _may_be(self, scope: Scope, given: list[str], known: dict[str, _Kind]) -> bool:
        dummies = scope.dummies
        if "*" in dummies:
            return True
        if len(given) > len(dummies):
            return False
        left = set(dummies)
        for position, text in enumerate(given):
            keyword = _KEYWORD.match(text)
            name = dummies[position] if keyword is None else keyword[1]
            if name not in left:
                return False
            left.remove(name)
            text = text if keyword is None else text[keyword.end() :]
            if text not in known:
                known[text] = self._actual(text)
            if known[text].differs(self._of(scope, scope.symbols[name], dummy=True)):
                return False
        return all("optional" in scope.symbols[name].attributes for name in left)

    def _of(self, scope: Scope, symbol: Symbol, *, dummy: bool = False) -> _Kind:
        """What a declaration says of a variable."""
        if symbol.attributes & _PROCEDURES or symbol.type.startswith("procedure"):
            return _Kind()
        rank: int | None = len(symbol.bounds)
        if any(low == ".." for low, _ in symbol.bounds):
            rank = None
        return self._typed(rank, scope, symbol, dummy=dummy)

    def _typed(self, rank: int | None, scope: Scope, symbol: Symbol, *, dummy: bool) -> _Kind:
        text = symbol.type
        any_type = "*" in text and not text.startswith("character")
        if dummy and (any_type or not text):
            # Of implicit type; or what takes any type, of any rank where compilers say so.
            return _Kind(rank if not text else None)
        if text.startswith(("type(", "class(")):
            # Which types extend which is not asked: of two of them neither is left out.
            return _Kind(rank, f"type({type_name(text)})")
        kind = of_used_kind(self.names, scope, text)
        return _Kind(rank, kind.replace(" ", ""), _SIZED.fullmatch(kind) is not None)

    def _actual(self, text: str) -> _Kind:
        """What is known of an actual argument."""
        if "'" in text or '"' in text:
            return _Kind()
        named = BASE.match(text)
        if named is None or text[named.end() : named.end() + 1] not in ("", "(", "%"):
            return _Kind(0, "integer") if self._is_integer(text) else _Kind()
        found = self.names.find(self.scope, named[0])
        if found is None or named[0] in self.hidden:
            return _Kind()
        return self._path(text, named.end(), *found)

    def _is_integer(self, text: str) -> bool:
        """Whether a text is an integer expression without a call."""
        if self.hidden & set(BASE.findall(text)):
            return False
        return "(" not in text and self.names.affine(self.scope, text) is not None

    def _path(self, text: str, at: int, scope: Scope, symbol: Symbol) -> _Kind:
        """What `a%b(i)%c` is, whose first name ends at a place and is that of a variable."""
        rank = 0
        while True:
            of = self._of(scope, symbol)
            if symbol.value is not None or of.rank is None:
                return _Kind()
            if text[at : at + 1] == "(":
                stop = closing(text, at)
                chosen = None if stop < 0 else self._ranges(text[at + 1 : stop], of.rank)
                if chosen is None:
                    return _Kind()
                of, at = _Kind(chosen, of.type, of.sized), stop + 1
            assert of.rank is not None
            rank += of.rank
            if at == len(text):
                return _Kind(rank, of.type, of.sized)
            part = BASE.match(text, at + 1) if text[at] == "%" else None
            inner = type_name(symbol.type)
            if part is None or inner not in self.names.bindings.types:
                return _Kind()
            component = self.names.bindings.families.component(inner, part[0])
            if component is None:
                return _Kind()
            scope, symbol, at = component[0].scope, component[1], part.end()

    def _ranges(self, subscripts: str, rank: int) -> int | None:
        """The rank of what subscripts choose of an array; None where it is not known."""
        parts = [subscripts[a:b] for a, b in split_arguments(subscripts)]
        if len(parts) != rank:
            return None  # a part of a text, a function
        found = 0
        for part in parts:
            if next(at_depth_zero(part, ":"), -1) >= 0:
                found += 1
            elif self.names.affine(self.scope, part) is None or self.components.is_vector(part):
                return None
        return found


def _compact(text: str) -> str:
    return "".join(text.lower().split())
