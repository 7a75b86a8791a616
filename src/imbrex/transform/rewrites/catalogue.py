"""What the rewrites say of themselves: their docstrings, for `--rewrites list` and for the docs."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

from imbrex.transform.rewrites.base import Rewrite
from imbrex.transform.rewrites.registry import ALL

_EXAMPLE = re.compile(r"\A(.*?)\nBefore:\n(.*?)\nAfter:\n(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """A rewrite's name, what it does, and an example of it."""

    name: str
    text: str
    before: str
    after: str


def entry(rewrite: type[Rewrite[Any, Any, Any]]) -> Entry:
    """What the docstring of a rewrite says.

    Raises ValueError where it has no text, or no example.
    """
    found = _EXAMPLE.match(inspect.getdoc(rewrite) or "")
    if found is None:
        raise ValueError(f"{rewrite.__name__} has no `Before:` and `After:` in its docstring")
    text, before, after = (inspect.cleandoc(part) for part in found.groups())
    return Entry(rewrite.name, text, before, after)


def listing() -> str:
    """All rewrites, as a terminal shows them."""
    parts = []
    for found in map(entry, ALL):
        examples = (("before", found.before), ("after", found.after))
        shown = [f"  {title}:\n{_indented(text, 6)}" for title, text in examples]
        parts.append("\n".join([found.name, _indented(found.text, 2), *shown]))
    return "\n\n".join(parts) + "\n"


def page() -> str:
    """All rewrites, as the documentation shows them."""
    parts = []
    for found in map(entry, ALL):
        examples = (found.before, found.after)
        before, after = (f"```c\n{text}\n```" for text in examples)
        parts.append(f"### `{found.name}`\n\n{found.text}\n\n{before}\n\nbecomes\n\n{after}")
    return "\n\n".join(parts)


def _indented(text: str, width: int) -> str:
    return "\n".join(" " * width + line if line else "" for line in text.splitlines())
