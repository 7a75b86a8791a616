"""Programs that differ from another one in a few places."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from imbrex.transform.engine import transform
from imbrex.transform.options import Options


def changed(text: str, replacements: Mapping[str, str]) -> str:
    """The text with each of the old parts, which must be there, as the new one."""
    for old, new in replacements.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def rewritten(path: Path, text: str) -> str:
    """The text of a whole program of one file, at a place, as transform leaves it."""
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome.after[str(path)].decode()
