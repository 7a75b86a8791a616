"""A half of a routine that may return at once: declarations of C stay behind what asks for it.

What gives them their values, as a pointer that is null, may need the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from imbrex.transform.analysis.divided import Item
from imbrex.transform.model.memory import Variable

_END = 1 << 62


@dataclass(frozen=True, slots=True)
class Segment:
    """Lines up to where an `if (...) return` ends, with that as the last; or all that is left."""

    end: int
    lines: list[str]
    asked: frozenset[str] = frozenset()  # what it asks, by key


def segments(
    items: Sequence[Item], lines: Callable[[list[Item]], list[str]], behind: Sequence[str] = ()
) -> list[Segment]:
    """The lines of a half; `behind`: those that come first once it does not return."""
    found: list[Segment] = []
    begin = 0
    for number, item in enumerate(items, start=1):
        if item.returns:
            asked = frozenset(access.variable for access in item.accesses)
            found.append(Segment(item.statement.end, lines(list(items[begin:number])), asked))
            begin = number
    return [*found, Segment(_END, [*behind, *lines(list(items[begin:]))])]


def handed(parts: Sequence[Segment], carried: Sequence[Variable], indent: str) -> list[Segment]:
    """The start with the values of some variables given to the finish, ahead of who asks them."""
    left = list(carried)
    found: list[Segment] = []
    for part in parts[:-1]:
        now = [variable for variable in left if variable.key in part.asked]
        lines = [*part.lines[:-1], *_given(now, indent), part.lines[-1]]
        found.append(replace(part, lines=lines))
        left = [variable for variable in left if variable not in now]
    return [*found, replace(parts[-1], lines=[*parts[-1].lines, *_given(left, indent)])]


def _given(variables: Sequence[Variable], indent: str) -> list[str]:
    return [f"{indent}*imbrex_{variable.name} = {variable.name};" for variable in variables]


def composed(parts: Sequence[Segment], declarations: Sequence[tuple[int, str]]) -> str:
    """The text of a half in C; `declarations`: each with its place in the file, in their order."""
    found: list[str] = []
    begin = 0
    for part in parts:
        found += [text for place, text in declarations if begin <= place < part.end]
        found += part.lines
        begin = part.end
    return "\n".join(found)
