"""Lists of declarators and of arguments as text."""

from __future__ import annotations


def pieces(text: str) -> list[str]:
    """The parts of a list, split at commas outside parentheses, brackets and braces."""
    found, depth, last = [], 0, 0
    for position, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            found.append(text[last:position].strip())
            last = position + 1
    return [*found, text[last:].strip()]
