"""A half of a routine that may return at once: declarations of C stay behind what asks for it.

What gives them their values, as a pointer that is null, may need the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from imbrex.transform.analysis.divided import Item
from imbrex.transform.text.specification import identifiers

Segments = list[tuple[int, list[str]]]  # where an `if (...) return` ends, and the lines up to it

_END = 1 << 62


def segments(
    items: Sequence[Item], lines: Callable[[list[Item]], list[str]], behind: Sequence[str] = ()
) -> Segments:
    """The lines of a half; `behind`: those that come first once it does not return."""
    found: Segments = []
    begin = 0
    for number, item in enumerate(items, start=1):
        if item.returns:
            found.append((item.statement.end, lines(list(items[begin:number]))))
            begin = number
    return [*found, (_END, [*behind, *lines(list(items[begin:]))])]


def handed(parts: Segments, names: Sequence[str], indent: str) -> Segments:
    """The start with the values of some variables given to the finish, ahead of who asks them."""
    left = list(names)
    found: Segments = []
    for end, lines in parts[:-1]:
        asked = identifiers(lines[-1], fold=False)
        now = _given([name for name in left if name in asked], indent)
        found.append((end, [*lines[:-1], *now, lines[-1]]))
        left = [name for name in left if name not in asked]
    end, lines = parts[-1]
    return [*found, (end, [*lines, *_given(left, indent)])]


def _given(names: Sequence[str], indent: str) -> list[str]:
    return [f"{indent}*imbrex_{name} = {name};" for name in names]


def composed(parts: Segments, declarations: Sequence[tuple[int, str]]) -> str:
    """The text of a half in C; `declarations`: each with its place in the file, in their order."""
    found: list[str] = []
    begin = 0
    for end, lines in parts:
        found += [text for place, text in declarations if begin <= place < end]
        found += lines
        begin = end
    return "\n".join(found)
