"""Programs that differ from another one in a few places."""

from __future__ import annotations

from collections.abc import Mapping


def changed(text: str, replacements: Mapping[str, str]) -> str:
    """The text with each of the old parts, which must be there, as the new one."""
    for old, new in replacements.items():
        assert old in text, old
        text = text.replace(old, new)
    return text
