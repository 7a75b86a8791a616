"""The members of a static library, one by one.

`ar x` extracts one of several members of one name, and nothing of a thin archive (of meson).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_WHOLE, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60
# Symbol tables (also of BSD), which a new archive gets of its own.
_TABLES = ("/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED")


def archive_members(archive: Path) -> Iterator[bytes]:
    """The content of every member in order; ValueError or OSError where it is no archive."""
    data = archive.read_bytes()
    thin = data.startswith(_THIN)
    if not thin and not data.startswith(_WHOLE):
        raise ValueError("no archive")
    long_names = b""
    at = len(_WHOLE)
    while at + _HEADER <= len(data):
        header = data[at : at + _HEADER]
        name, size = header[:16].decode().rstrip(), int(header[48:58])
        at += _HEADER
        content = data[at : at + size]
        inside = True
        if name == "//":
            long_names = content
        elif name not in _TABLES:
            if thin:
                inside = False
                yield (archive.parent / _name(name, long_names)).read_bytes()
            else:
                # BSD keeps a long name in front of the content.
                yield content[int(name[3:]) :] if name.startswith("#1/") else content
        if inside:
            at += size + size % 2


def _name(short: str, long_names: bytes) -> str:
    """A member's name, which a table has where it is long."""
    if not short[1:].isdigit() or short[0] != "/":
        return short.rstrip("/")
    rest = long_names[int(short[1:]) :]
    return rest[: rest.index(b"/\n")].decode()
