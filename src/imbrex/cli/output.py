"""What `-o FILE` gets: its suffix says it, and the suffix of something else is refused."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from imbrex.errors import ImbrexError


class Kind(Enum):
    """What a command can write, with the suffixes that stand for it."""

    TEXT = ("text", (".txt", ".log", ".out"))
    JSON = ("JSON", (".json",))
    CSV = ("CSV", (".csv",))
    ARRAYS = ("NumPy arrays", (".npz",))
    HTML = ("HTML", (".html", ".htm"))
    PATCH = ("a patch", (".diff", ".patch"))
    FIGURE = ("a figure", (".png", ".svg", ".pdf"))

    def __init__(self, words: str, suffixes: tuple[str, ...]) -> None:
        self.words = words
        self.suffixes = suffixes


# Suffixes of what no command writes, which a reader of the file would trust.
_OTHERS = frozenset(
    f".{name}"
    for names in (
        "xml yaml yml toml md tex tsv xlsx xls ods docx sqlite h5 npy",
        "jpg jpeg gif ps eps gz zip tar",
    )
    for name in names.split()
)


def kind_of(output: Path | None, command: str, formats: Sequence[Kind]) -> Kind:
    """What to write to `output`, of the kinds that the command can; the first where no suffix says.

    ImbrexError where the suffix stands for something else.
    """
    suffix = "" if output is None else output.suffix.lower()
    for kind in formats:
        if suffix in kind.suffixes:
            return kind
    if suffix in _OTHERS or any(suffix in kind.suffixes for kind in Kind):
        can = ", ".join(f"{kind.words} ({', '.join(kind.suffixes)})" for kind in formats)
        raise ImbrexError(f"-o {output}: {command} writes {can} here, not {suffix}")
    return formats[0]


def json_wanted(output: Path | None, command: str, *, as_json: bool) -> bool:
    """Whether a command of text or JSON is to write JSON: with --json, or by the suffix."""
    formats = (Kind.JSON, Kind.TEXT) if as_json else (Kind.TEXT, Kind.JSON)
    return kind_of(output, command, formats) is Kind.JSON or as_json
