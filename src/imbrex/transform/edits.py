"""Edits of a file as byte ranges: untouched bytes stay as they are."""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from imbrex.errors import ImbrexError


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes start..end (end excluded) by `text`."""

    start: int
    end: int
    text: str


def apply_edits(data: bytes, edits: list[Edit]) -> bytes:
    """The edited bytes; edits at one place keep their order.

    Raises ValueError where two edits overlap.
    """
    pieces = []
    position = 0
    for edit in sorted(edits, key=lambda item: (item.start, item.end)):
        if edit.start < position:
            raise ValueError(f"edits overlap at byte {edit.start}")
        pieces += [data[position : edit.start], edit.text.encode()]
        position = edit.end
    pieces.append(data[position:])
    return b"".join(pieces)


def unified_diff(name: str, before: bytes, after: bytes) -> str:
    """A diff that `patch -p1` takes."""
    lines = difflib.unified_diff(
        before.decode(errors="surrogateescape").splitlines(keepends=True),
        after.decode(errors="surrogateescape").splitlines(keepends=True),
        f"a/{name}",
        f"b/{name}",
    )
    text = ""
    for line in lines:
        text += line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
    return text


def replace_file(path: Path, before: bytes, after: bytes) -> None:
    """Put `after` in the place of `before` in one step, or leave the file as it is.

    Raises ImbrexError where the file has changed meanwhile or cannot be written.
    """
    try:
        target = path.resolve()
        if target.read_bytes() != before:
            raise ImbrexError(f"{path} has changed since it was read: run again")
        if not os.access(target, os.W_OK):
            raise ImbrexError(f"{path} is read-only: nothing was changed")
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise ImbrexError(f"{path} cannot be replaced: {error.strerror}") from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(after)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise ImbrexError(f"{path} cannot be replaced: {error.strerror}") from error
