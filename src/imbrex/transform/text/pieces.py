"""Lists of declarators and of arguments as text."""

from __future__ import annotations


def pieces(text: str) -> list[str]:
    """The parts of a list, split at commas outside parentheses, brackets and braces."""
    return [text[start:end] for start, end in spans(text)]


def spans(text: str) -> list[tuple[int, int]]:
    """Where the parts of a list begin and end, without the blanks around them."""
    found, depth, last = [], 0, 0
    for position, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            found.append((last, position))
            last = position + 1
    return [_stripped(text, start, end) for start, end in [*found, (last, len(text))]]


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    first = start + len(part) - len(part.lstrip())
    return first, max(first, start + len(part.rstrip()))
