"""What differs between two versions of a text, by lines, in a time that does not grow with its
square: lines that occur once in both divide them into parts that are compared by themselves."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

Opcode = tuple[str, int, int, int, int]  # as of difflib.SequenceMatcher

_FEW = 1 << 20  # pairs of lines that are compared as they are


def opcodes(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Opcode]:
    """What makes the new lines of the old ones, in order (the anchors of "patience diff")."""
    i = j = 0
    anchors = _anchors(old, new) if len(old) * len(new) > _FEW else []
    for end_i, end_j in [*anchors, (len(old), len(new))]:
        yield from _between(old, new, i, end_i, j, end_j)
        if (end_i, end_j) != (len(old), len(new)):
            yield ("equal", end_i, end_i + 1, end_j, end_j + 1)
        i, j = end_i + 1, end_j + 1


def _between(
    old: Sequence[bytes], new: Sequence[bytes], i: int, end_i: int, j: int, end_j: int
) -> Iterator[Opcode]:
    compared = difflib.SequenceMatcher(None, old[i:end_i], new[j:end_j], autojunk=False)
    for tag, i1, i2, j1, j2 in compared.get_opcodes():
        yield (tag, i + i1, i + i2, j + j1, j + j2)


def _anchors(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """The most pairs of lines that occur once on each side, and are in order on both."""
    once = [{line for line, n in Counter(side).items() if n == 1} for side in (old, new)]
    both = once[0] & once[1]
    place = {line: number for number, line in enumerate(new) if line in both}
    pairs = [(number, place[line]) for number, line in enumerate(old) if line in both]
    ends: list[int] = []  # of the runs of each length, where the new side ends lowest
    last: list[int] = []  # the pairs that end these
    before: list[int] = []  # by pair, the one in front of it; -1 for none
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        before.append(last[at - 1] if at else -1)
        ends[at : at + 1] = [j]
        last[at : at + 1] = [number]
    found: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]
