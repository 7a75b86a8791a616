"""Swaps of arrays of Fortran: `t => u; u => v; v => t`, or the same by `move_alloc`.

Where nothing else gives these arrays memory, each of them is an array of its own before and behind
the swap, as if their elements had been exchanged. What keeps one of them meanwhile is used for
nothing else, so that no array has two names that anything asks for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform.readers.fortran_lines import LogicalLine

_NAME = r"[a-z_]\w*(?:%[a-z_]\w*)*"
_POINTED = re.compile(rf"({_NAME})=>({_NAME})")
_MOVED = re.compile(rf"callmove_alloc\((?:from=)?({_NAME}),(?:to=)?({_NAME})\)")


@dataclass(frozen=True, slots=True)
class Move:
    """One statement of a swap: what is given the array of what."""

    line: LogicalLine
    target: str
    source: str
    by_pointer: bool


@dataclass(frozen=True, slots=True)
class Swap:
    """The statements of a swap, what keeps an array meanwhile, and the arrays in turn."""

    moves: tuple[Move, ...]
    kept: str
    ring: tuple[str, ...]

    @property
    def by_pointer(self) -> bool:
        return self.moves[0].by_pointer

    @property
    def of_one_object(self) -> bool:
        """Whether all arrays are components of one object, or none of any."""
        return len({name.rpartition("%")[0] for name in self.ring}) == 1


def find_swaps(body: list[LogicalLine]) -> list[Swap]:
    """The swaps in the statements of a routine, each of which runs as a whole or not at all."""
    moves = [_move(line) for line in body]
    found: list[Swap] = []
    at = 0
    while at < len(moves):
        swap = _beginning(moves, at)
        if swap is not None:
            found.append(swap)
        at += 1 if swap is None else len(swap.moves)
    return found


def find_pointings(body: list[LogicalLine], swaps: list[Swap]) -> list[tuple[Move, ...]]:
    """Runs of statements, one behind the other, each of which points to another variable."""
    swapping = {id(move.line) for swap in swaps for move in swap.moves}
    found: list[tuple[Move, ...]] = []
    run: list[Move] = []
    for line in body:
        move = None if id(line) in swapping else _move(line)
        if move is not None and move.by_pointer and "%" not in move.target + move.source:
            run.append(move)
            continue
        found += [tuple(run)] if run else []
        run = []
    return [*found, tuple(run)] if run else found


def _beginning(moves: list[Move | None], at: int) -> Swap | None:
    """The swap that a statement begins."""
    first = moves[at]
    if first is None:
        return None
    own, ring = [first], [first.source]
    for move in moves[at + 1 :]:
        if move is None or move.target != ring[-1] or move.by_pointer is not first.by_pointer:
            return None
        own.append(move)
        if move.source == first.target:
            several = len({first.target, *ring}) == len(ring) + 1 > 2
            return Swap(tuple(own), first.target, tuple(ring)) if several else None
        ring.append(move.source)
    return None


def _move(line: LogicalLine) -> Move | None:
    """What a statement gives the array of what, if it does nothing else."""
    if line.directive or line.label:
        return None
    pointed = _POINTED.fullmatch(line.masked)
    if pointed is not None:
        return Move(line, pointed[1], pointed[2], by_pointer=True)
    moved = _MOVED.fullmatch(line.masked)
    return None if moved is None else Move(line, moved[2], moved[1], by_pointer=False)
