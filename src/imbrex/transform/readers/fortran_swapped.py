"""Swaps of arrays as statements: which pointers may take part, and what each statement touches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from imbrex.transform.model.allocation import Shaped
from imbrex.transform.model.memory import MOVES, Access, Variable
from imbrex.transform.model.shapes import bounds_of
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_components import Components
from imbrex.transform.readers.fortran_lines import LogicalLine
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import OWNS, Scope, Symbol
from imbrex.transform.readers.fortran_swaps import Move, Swap
from imbrex.transform.readers.fortran_types import Definition

_WORD = re.compile(r"[a-z_]\w*")
_NUMBERS = re.compile(r"integer|real|double|complex|logical")
_NONE_LEFT = re.compile(r"nullify\(.*\)|[a-z_]\w*=>null\(\)")


def without_mixed(
    owning: list[Symbol], scopes: list[Scope], definitions: list[Definition], names: Names
) -> list[Symbol]:
    """The pointers of which each owns its memory although some are swapped.

    All that are swapped with one that does not may hold what others name too; so may all where
    what keeps an array meanwhile is used for anything else.
    """
    groups: list[list[Symbol]] = []
    for scope in scopes:
        for swap in scope.swaps:
            if not swap.by_pointer:
                continue
            group = [
                symbol
                for name in (swap.kept, *swap.ring)
                for symbol in _named(name, scope, definitions, names)
            ]
            alone = _only_keeps(swap, scope, scopes, names) and all(map(_of_numbers, group))
            groups.append(group if alone else [*group, Symbol("")])
    left = {id(symbol): symbol for symbol in owning}
    shrinking = True
    while shrinking:
        mixed = [group for group in groups if any(id(symbol) not in left for symbol in group)]
        lost = {id(symbol) for group in mixed for symbol in group} & left.keys()
        for symbol in lost:
            del left[symbol]
        shrinking = bool(lost)
    return list(left.values())


def _named(
    name: str, scope: Scope, definitions: list[Definition], names: Names
) -> Iterator[Symbol]:
    """The symbols that a name in a swap may be of: of a component, all that have its name."""
    _, component, last = name.rpartition("%")
    if component:
        yield from (each.scope.symbols[last] for each in definitions if last in each.scope.symbols)
        return
    found = names.find(scope, name)
    yield Symbol("") if found is None else found[1]


def _of_numbers(symbol: Symbol) -> bool:
    return bool(symbol.bounds) and _NUMBERS.match(symbol.type) is not None


def _only_keeps(swap: Swap, scope: Scope, scopes: list[Scope], names: Names) -> bool:
    """Whether what keeps an array in a swap is named in swaps alone, to that end, and freed of it."""
    found = names.find(scope, swap.kept)
    if found is None or "%" in swap.kept:
        return False
    for user in scopes:
        swaps = {id(move.line): each for each in user.swaps for move in each.moves}
        for line in user.body:
            if _NONE_LEFT.fullmatch(line.masked) and not line.directive:
                continue
            words = set(_WORD.findall(f"{line.masked} {line.directive.lower()}"))
            if swap.kept not in words or names.find(user, swap.kept) != found:
                continue
            other = swaps.get(id(line))
            if other is None or other.kept != swap.kept:
                return False
    return True


class Swapped:
    """The swaps of one scope."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names = names
        self.scope = scope
        self._moves = {id(move.line): (swap, move) for swap in scope.swaps for move in swap.moves}

    def note(self, line: LogicalLine, effects: Effects) -> bool:
        """Enter what a statement touches that is one of a swap; False where it is none.

        It is all of the arrays that take part, so that nothing that touches one of them comes
        between two of the statements.
        """
        found = self._moves.get(id(line))
        if found is None:
            return False
        swap, move = found
        kept = self._array(swap.kept)
        ring = [self._array(name) for name in swap.ring]
        arrays = [each for each in (kept, *ring) if each is not None]
        if len(arrays) <= len(swap.ring) or not all(_is_own(swap, each) for each, _ in arrays):
            return False
        self.names.program.variables.setdefault(MOVES, Variable(MOVES, "the arrays", "static"))
        effects.accesses.append(Access(MOVES, False, True, line.line))
        for array, owner in arrays:
            for write in (False, True):
                access = Access(array.key, False, write, line.line, owner=owner)
                effects.accesses.append(access)
        self._shape(swap, move, line, effects)
        return True

    def _shape(self, swap: Swap, move: Move, line: LogicalLine, effects: Effects) -> None:
        """A statement gives its target the bounds of an array that is swapped with it."""
        target = self._array(move.target)
        source = self._array(swap.ring[0] if move.source == swap.kept else move.source)
        assert target is not None and source is not None
        bounds = bounds_of(target[0])
        effects.accesses += [Access(key, False, True, line.line) for key in bounds]
        if move.target != swap.kept and swap.of_one_object:
            effects.shaped = Shaped(target[0].key, (source[0].key,), True)

    def _array(self, name: str) -> tuple[Variable, str] | None:
        """An array that a swap names, and the object of which it is a component."""
        if "%" not in name:
            known = self.names.find(self.scope, name) is not None
            variable = self.names.variable(self.scope, name) if known else None
            return None if variable is None else (variable, "")
        component = Components(self.names, self.scope).resolve(name, 0)
        if component is None or component.end != len(name) or not component.one_object:
            return None
        return None if component.part else (component.last, component.owner)


def _is_own(swap: Swap, array: Variable) -> bool:
    """Whether an array is known to have memory of its own, and to be an array of numbers."""
    plain = array.allocatable and bool(array.bounds) and not array.volatile and not array.optional
    return plain and array.kind != "dummy" and array.keeps_shape is swap.by_pointer
