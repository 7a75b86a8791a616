"""Files that are written as a whole or stay as they were."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path

from imbrex.errors import ImbrexError


def write_whole(file: Path, text: str, errors: str = "strict") -> None:
    """Write a file, or leave the one that was there; ImbrexError where it cannot be written.

    What is there and no plain file (/dev/stdout, /dev/null, a pipe) is written to, never replaced.
    """
    try:
        target = file.resolve()
        if (file.exists() and not file.is_file()) or not os.access(target.parent, os.W_OK):
            file.write_text(text, encoding="utf-8", errors=errors)
            return
        scratch = target.with_name(f".{target.name[:200]}.{uuid.uuid4().hex[:12]}")
        try:
            scratch.write_text(text, encoding="utf-8", errors=errors)
            if target.exists():
                scratch.chmod(target.stat().st_mode & 0o7777)
            scratch.replace(target)
        finally:
            with contextlib.suppress(OSError):
                scratch.unlink(missing_ok=True)
    except OSError as error:
        raise ImbrexError(f"{file}: cannot be written ({error.strerror})") from error
