"""Integer expressions as text: sums and differences in the form that a person would write."""

from __future__ import annotations

import re

_SUM = re.compile(r"(?P<rest>.*\S)\s*(?P<sign>[+-])\s*(?P<number>\d+)")
_ATOM = re.compile(r"[\w.%>\[\]\-]*\w\]?|\w+\([^()]*\)")
_PRODUCT = re.compile(r"[\w\s*+.%-]*")


def _closed(text: str) -> bool:
    """Whether a number may be added behind the text without parentheses."""
    return bool(_ATOM.fullmatch(text) or _PRODUCT.fullmatch(text)) or is_in_parentheses(text)


def is_in_parentheses(text: str) -> bool:
    """Whether the first parenthesis of a text is closed by its last character."""
    depth = 0
    for number, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth <= 0:
            return number == len(text) - 1 and letter == ")"
    return False


def shifted(text: str, amount: int) -> str:
    """`text + amount`."""
    text = text.strip()
    if not amount:
        return text
    if text.lstrip("-").isdigit():
        return str(int(text) + amount)
    match = _SUM.fullmatch(text)
    if match and _closed(match["rest"]):
        old = int(match["number"]) * (1 if match["sign"] == "+" else -1)
        return shifted(match["rest"], old + amount)
    if not _closed(text):
        text = f"({text})"
    return f"{text} {'+' if amount > 0 else '-'} {abs(amount)}"


def product(left: str | int, right: str | int) -> str:
    """`left * right`, of numbers or texts that may stand in a product."""
    sides = [str(left), str(right)]
    if all(side.isdigit() for side in sides):
        return str(int(sides[0]) * int(sides[1]))
    return " * ".join(side for side in sides if side != "1")


def difference(high: str, low: str) -> str:
    """`high - low`."""
    if low.strip().lstrip("-").isdigit():
        return shifted(high, -int(low))
    high, low = high.strip(), low.strip()
    left = high if _closed(high) else f"({high})"
    right = low if re.fullmatch(r"\w+", low) else f"({low})"
    return f"{left} - {right}"
