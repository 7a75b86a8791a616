"""Which lines of an edited text stand for which of the original."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from imbrex.transform.model.location import Location
from imbrex.transform.text.matched_lines import opcodes

_MOST_PAIRS = 2500  # lines that are compared with each other


class LineMap:
    """Lines of an edited text and of the original, in both directions."""

    def __init__(self, original: bytes, edited: bytes) -> None:
        self.to_original: dict[int, int] = {}
        old, new = original.splitlines(), edited.splitlines()
        # Comparing takes time with the square of how often a line occurs: only what differs.
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            self.to_original[same + 1] = same + 1
            same += 1
        tail = 0
        while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
            self.to_original[len(new) - tail] = len(old) - tail
            tail += 1
        old, new = old[same : len(old) - tail], new[same : len(new) - tail]
        for tag, i1, i2, j1, j2 in opcodes(old, new):
            if tag == "replace" and i2 - i1 > 1:
                for j, line in enumerate(_alike(old[i1:i2], new[j1:j2])):
                    self.to_original[same + j1 + j + 1] = same + i1 + line + 1
                continue
            added = max(0, (j2 - j1) - (i2 - i1))  # what is put in front of a call, as a rule
            for j in range(j1, j2):
                exact = i1 + max(0, j - j1 - added)
                line = exact if tag == "equal" else min(exact, max(i2 - 1, i1))
                self.to_original[same + j + 1] = same + line + 1

    def line(self, number: int) -> int:
        return self.to_original.get(number, number)


def _alike(old: list[bytes], new: list[bytes]) -> list[int]:
    """For each new line the old one that it stands for: in order, those most alike are pairs.

    What is put in front of a call, as a rule, belongs to the pair behind it.
    """
    if len(old) * len(new) > _MOST_PAIRS:
        added = max(0, len(new) - len(old))
        return [min(max(0, j - added), len(old) - 1) for j in range(len(new))]
    texts = [[line.decode(errors="replace").split() for line in side] for side in (old, new)]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, mine in reversed(list(enumerate(texts[0]))):
        for j, other in reversed(list(enumerate(texts[1]))):
            ratio = difflib.SequenceMatcher(None, mine, other, autojunk=False).ratio()
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + ratio**2)
    found: list[int] = []
    i = 0
    while len(found) < len(new):
        j = len(found)
        while i < len(old) and best[i][j] == best[i + 1][j]:
            i += 1
        found.append(min(i, len(old) - 1))
        i += i < len(old) and best[i][j] > best[i][j + 1]
    return found


def line_maps(originals: Mapping[str, bytes], edited: Mapping[str, bytes]) -> dict[str, LineMap]:
    """The maps of edited files, by their names."""
    return {name: LineMap(originals[name], text) for name, text in edited.items()}


def original_places(maps: Mapping[str, LineMap]) -> Callable[[Location], Location]:
    """What leads from a location in edited files to that in the original ones."""

    def place(location: Location) -> Location:
        known = maps.get(location.file)
        return location if known is None else Location(location.file, known.line(location.line))

    return place
