"""Edits of a file as byte ranges: untouched bytes stay as they are."""

from __future__ import annotations

import difflib
import os
import re
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
        _lines(before),
        _lines(after),
        f"a/{name}",
        f"b/{name}",
    )
    text = ""
    for line in lines:
        text += line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
    return text


def _lines(data: bytes) -> list[str]:
    """Lines as `patch` counts them: a form feed ends none."""
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode(errors="surrogateescape"))


def replace_files(changes: list[tuple[Path, bytes, bytes]]) -> None:
    """Put the second text in the place of the first in each file, or leave all as they are.

    Raises ImbrexError where a file has changed meanwhile or cannot be written.
    """
    staged: list[tuple[Path, Path]] = []
    done: list[tuple[Path, bytes]] = []
    path = Path()
    try:
        for path, before, after in changes:
            target = path.resolve()
            if target.read_bytes() != before:
                raise ImbrexError(f"{path} has changed since it was read: run again")
            # Root may write whatever the mode says, but was not told to.
            if not target.stat().st_mode & 0o222 or not os.access(target, os.W_OK):
                raise ImbrexError(f"{path} is read-only: nothing was changed")
            staged.append((target, _beside(target, after)))
        for (name, before, _), (target, temporary) in zip(changes, staged, strict=True):
            path = name
            temporary.replace(target)
            done.append((target, before))
    except OSError as error:
        for target, before in done:
            _beside(target, before).replace(target)
        raise ImbrexError(f"{path} cannot be replaced: {error.strerror}") from error
    finally:
        for _, temporary in staged:
            temporary.unlink(missing_ok=True)


def _beside(target: Path, data: bytes) -> Path:
    """A file next to `target`, with its mode, that holds `data`."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
