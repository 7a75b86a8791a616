"""Pointers of Fortran that exchange what they point to: whether each always has memory of its own.

They get memory by ALLOCATE, are swapped, and are pointed at targets. No two of them ever point to
one target where the statements that set them, one behind the other, set all of them to targets that
are different, or where the main program sets each once, to a target that no other is set to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from imbrex.transform.readers.fortran_lines import LogicalLine
from imbrex.transform.readers.fortran_names import Named, Names
from imbrex.transform.readers.fortran_scopes import Scope, Symbol, is_assignment
from imbrex.transform.readers.fortran_swaps import Move, Swap
from imbrex.transform.readers.fortran_types import Definition

_WORD = re.compile(r"[a-z_]\w*")
_NUMBERS = re.compile(r"integer|real|double|complex|logical")
_NONE_LEFT = re.compile(r"nullify\(.*\)|[a-z_]\w*=>null\(\)")
_LOOP = re.compile(r"(?:[a-z]\w*:)?do(?:while\(|concurrent\(|[a-z]\w*=|$)")
_ELSEWHERE = re.compile(r"(?:.*\))?goto\d|(?:[a-z]\w*:)?do\d|.*(?:err|end|eor)=\d")


@dataclass(slots=True)
class Group:
    """Pointers that exchange memory, what keeps it meanwhile, and the targets that they are set to.

    Symbols are told apart by identity.
    """

    symbols: dict[int, Symbol] = field(default_factory=dict)
    kept: set[int] = field(default_factory=set)
    pointers: dict[int, Named] = field(default_factory=dict)
    targets: dict[int, Named] = field(default_factory=dict)
    runs: list[tuple[Scope, tuple[Move, ...]]] = field(default_factory=list)
    wrong: bool = False

    def add(self, other: Group) -> None:
        self.symbols |= other.symbols
        self.kept |= other.kept
        self.pointers |= other.pointers
        self.targets |= other.targets
        self.runs += other.runs
        self.wrong |= other.wrong


class Groups:
    """All of a program."""

    def __init__(self, scopes: list[Scope], definitions: list[Definition], names: Names) -> None:
        self.scopes = scopes
        self.definitions = definitions
        self.names = names
        self.found: list[Group] = []
        for scope in scopes:
            for swap in scope.swaps:
                if swap.by_pointer:
                    self._join(self._of_swap(scope, swap))
            for run in scope.pointings:
                self._join(self._of_run(scope, run))
        for group in self.found:
            group.wrong |= not self._sets_apart(group)

    def _join(self, group: Group) -> None:
        for other in [each for each in self.found if each.symbols.keys() & group.symbols.keys()]:
            self.found.remove(other)
            group.add(other)
        self.found.append(group)

    def _of_swap(self, scope: Scope, swap: Swap) -> Group:
        group = Group()
        for name in (swap.kept, *swap.ring):
            symbols = self._named(scope, name)
            group.wrong |= not symbols
            for symbol in symbols:
                group.symbols[id(symbol)] = symbol
                group.wrong |= not _is_array(symbol)
                if name == swap.kept:
                    group.kept.add(id(symbol))
                else:
                    group.pointers[id(symbol)] = scope, name
        group.wrong |= not self._only_keeps(swap, scope)
        return group

    def _of_run(self, scope: Scope, run: tuple[Move, ...]) -> Group:
        group = Group(runs=[(scope, run)])
        for move in run:
            for name, held in ((move.target, group.pointers), (move.source, group.targets)):
                symbols = self._named(scope, name)
                group.wrong |= not symbols
                for symbol in symbols:
                    group.symbols[id(symbol)] = symbol
                    held[id(symbol)] = scope, name
                    group.wrong |= not _is_array(symbol)
        for key in group.targets:
            attributes = group.symbols[key].attributes
            group.wrong |= "target" not in attributes or "pointer" in attributes
        return group

    def _named(self, scope: Scope, name: str) -> list[Symbol]:
        """The symbols that a name may be of: of a component, all that have its name."""
        _, component, last = name.rpartition("%")
        if component:
            scopes = [each.scope for each in self.definitions]
            return [each.symbols[last] for each in scopes if last in each.symbols]
        found = self.names.find(scope, name)
        return [] if found is None else [found[1]]

    def _only_keeps(self, swap: Swap, scope: Scope) -> bool:
        """Whether what keeps an array in a swap is named in swaps alone."""
        found = self.names.find(scope, swap.kept)
        if found is None or "%" in swap.kept:
            return False
        for user in self.scopes:
            swapping = {id(move.line) for each in user.swaps for move in each.moves}
            for line in user.body:
                if _NONE_LEFT.fullmatch(line.masked) and not line.directive:
                    continue
                words = set(_WORD.findall(f"{line.masked} {line.directive.lower()}"))
                named = swap.kept in words and self.names.find(user, swap.kept) == found
                if named and id(line) not in swapping:
                    return False
        return True

    def _sets_apart(self, group: Group) -> bool:
        """Whether the pointers are never set to one target, nor one to what another has kept."""
        if any(key in group.pointers or key in group.targets for key in group.kept):
            return False
        sets = [
            [(self._named(scope, m.target)[:1], self._named(scope, m.source)[:1]) for m in run]
            for scope, run in group.runs
        ]
        pairs = [[(id(p[0]), id(t[0])) for p, t in run if p and t] for run in sets]
        for run in pairs:
            if len({p for p, _ in run}) < len(run) or len({t for _, t in run}) < len(run):
                return False
        if all({p for p, _ in run} == group.pointers.keys() for run in pairs):
            return True
        every = [pair for run in pairs for pair in run]
        once = all(_once(scope, run) for scope, run in group.runs)
        apart = len({p for p, _ in every}) == len({t for _, t in every}) == len(every)
        return once and apart


def _is_array(symbol: Symbol) -> bool:
    return bool(symbol.bounds) and _NUMBERS.match(symbol.type) is not None


def _once(scope: Scope, run: tuple[Move, ...]) -> bool:
    """Whether statements run at most once: those of a main program that stand in no loop."""
    if scope.kind != "program":
        return False
    lines: list[LogicalLine] = scope.body
    if any(_ELSEWHERE.match(line.masked) or line.directive for line in lines):
        return False
    depth = 0
    for line in lines:
        if line is run[0].line:
            return depth == 0
        if not is_assignment(line.masked):
            depth += _LOOP.match(line.masked) is not None
            depth -= line.masked.startswith("enddo")
    return False


def without_mixed(
    owning: list[Symbol], scopes: list[Scope], definitions: list[Definition], names: Names
) -> list[Symbol]:
    """The pointers and targets of which each has memory of its own, whatever is exchanged.

    All of a group may be names of one memory where one of them may be a name of others'.
    """
    left = {id(symbol): symbol for symbol in owning}
    groups = Groups(scopes, definitions, names).found
    for group in groups:
        if group.wrong or not group.symbols.keys() <= left.keys():
            for key in group.symbols.keys() & left.keys():
                del left[key]
            continue
        pointers = list(group.pointers.values())
        for key, target in group.targets.items():
            begun = [
                (scope, move.target)
                for scope, run in group.runs
                for move in run
                if (found := names.find(scope, move.source)) is not None and id(found[1]) == key
            ]
            names.pointed.append((target, pointers, begun))
    return list(left.values())
