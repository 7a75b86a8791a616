"""Sources of C that are not UTF-8: what other bytes say in comments and strings is not asked."""

from __future__ import annotations

import re
from pathlib import Path

from imbrex.errors import ImbrexError

_TEXT = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?P<number>'(?:\\.|[^'\\\n])*')", re.DOTALL
)
_BEYOND = re.compile(rb"[\x80-\xff]")


def as_text(path: Path, data: bytes) -> str:
    """The text of a source, which has as many bytes in UTF-8 as the source.

    Raises ImbrexError where the source is not UTF-8 outside of comments and strings.
    """
    at = data.find(b"\0")
    if at < 0:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            data = _TEXT.sub(_plain, data)
        found = _BEYOND.search(data)
        if found is None:
            return data.decode("ascii")
        at = found.start()
    raise ImbrexError(f"{path} is not UTF-8 or Latin-1 (byte {at}): convert it first")


def _plain(match: re.Match[bytes]) -> bytes:
    """A comment or string without such bytes; a character, which is a number, stays."""
    return match[0] if match["number"] else _BEYOND.sub(b"_", match[0])
