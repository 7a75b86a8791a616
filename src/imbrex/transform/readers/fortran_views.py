"""Pointers of Fortran that name an array of an object while a routine runs: `u => g%u` at its top.

Such a pointer is local, set once, in front of all else but sizes, and nothing asks what it points
to: it is read as the name of an ASSOCIATE is. That it keeps naming the array is for the reader of
the routine to tell, from what gives arrays memory there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from imbrex.transform.readers.fortran_lines import LogicalLine

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_scopes import Scope

_SET = re.compile(r"([a-z]\w*)=>([a-z]\w*(?:%[a-z]\w*)+)")
_SIZE = re.compile(r"[a-z]\w*=[\w%+*-]+")
_WORD = re.compile(r"[a-z_]\w*")
# What gives a pointer other memory, or asks for its state.
_STATE = re.compile(r"=>|\b(?:nullify|associated|c_loc|loc)\(|^(?:de)?allocate\(|^namelist/")
_NUMBERS = re.compile(r"integer|real|double|complex|logical")
_PLAIN = frozenset({"pointer", "contiguous"})


@dataclass(frozen=True, slots=True)
class View:
    """A pointer, the line that sets it, and the component that it names."""

    line: LogicalLine
    name: str
    target: str


def find_views(scope: Scope) -> list[View]:
    """The pointers of a routine that its first statements set, and nothing else."""
    if scope.kind not in ("program", "subroutine", "function") or scope.has_contained:
        return []
    found: list[View] = []
    calls = any("call" in line.masked for line in scope.body)
    for line in scope.body:
        plain = line.alone and not (line.directive or line.label)
        match = _SET.fullmatch(line.masked) if plain else None
        if match is not None:
            found.append(View(line, match[1], match[2]))
        elif calls or not (plain and _SIZE.fullmatch(line.masked)):
            break  # nothing moves in a routine that calls none
    names = {view.name for view in found}
    if len(names) < len(found) or not all(_is_local(scope, name) for name in names):
        return []
    setting = {id(view.line) for view in found}
    for line in (each for each in scope.body if id(each) not in setting):
        words = set(_WORD.findall(f"{line.masked} {line.directive.lower()}"))
        if words & names and (line.directive or _STATE.search(line.masked)):
            return []
    return found


def _is_local(scope: Scope, name: str) -> bool:
    symbol = scope.symbols.get(name)
    if symbol is None or name in scope.dummies or name in (scope.result, scope.name):
        return False
    if symbol.common is not None or name in scope.equivalences or symbol.value is not None:
        return False
    plain = "pointer" in symbol.attributes and symbol.attributes <= _PLAIN
    return plain and bool(symbol.bounds) and _NUMBERS.match(symbol.type) is not None
