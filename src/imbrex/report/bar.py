"""The bar of a run for a terminal: one line of letters, and what they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from imbrex.diagnosis import wording
from imbrex.diagnosis.segments import OPEN, WAITING, Segment

OTHERS = "others"
LETTERS = {
    "compute": ("=", "green"),
    "late_sender": ("s", "red"),
    "late_receiver": ("r", "red"),
    "late_collective": ("c", "magenta"),
    "transfer": ("T", "blue"),
    "stalled": ("X", "yellow"),
    "library": ("m", "cyan"),
    "file_io": ("f", "magenta"),
    "unattributed": ("?", "dim"),
    WAITING: ("w", "red"),
    OPEN: ("-", "dim"),
    OTHERS: (".", "dim"),
}
WORTH_A_LETTER = 0.005
"""Parts of the run below that are told together, beside others that have a letter of their own."""
WORTH_A_WORD = 0.001
"""The same where no part but compute has a letter."""


def _told(parts: Sequence[Segment]) -> tuple[Segment, ...]:
    """The parts that have a letter of their own; the small ones are one, where they have one."""
    large = [p for p in parts if p.kind == "compute" or p.share >= WORTH_A_LETTER]
    if all(p.kind == "compute" for p in large):
        return tuple(parts)
    rest = sum(p.share for p in parts if p not in large)
    small = [Segment(OTHERS, "other", rest)] if rest >= WORTH_A_LETTER else []
    return (*large, *small)


def bar(parts: Sequence[Segment], width: int) -> Text:
    """The bar in `width` columns; every part has its share of them, to the nearest."""
    text = Text()
    end = 0.0
    for part in _told(parts):
        begin, end = end, end + part.share
        letter, style = LETTERS[part.kind]
        text.append(letter * (round(width * min(end, 1.0)) - round(width * begin)), style=style)
    return text


def legend(parts: Sequence[Segment], width: int) -> list[Text]:
    """What the letters stand for, with the share of each, in lines of at most `width`."""
    lines = [Text()]
    for part in _told(parts):
        if part.share < WORTH_A_WORD:
            continue
        letter, style = LETTERS[part.kind]
        entry = Text.assemble((letter, style), f" {part.words} {wording.percent(part.share)}")
        if lines[-1] and len(lines[-1]) + 3 + len(entry) > width:
            lines.append(Text())
        if lines[-1]:
            lines[-1].append("   ")
        lines[-1].append_text(entry)
    return lines
