"""The `imbrex` command of this Python, in a folder, on real ranks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests import forked


def imbrex(
    folder: Path, *arguments: object, **environment: str
) -> subprocess.CompletedProcess[str]:
    words = [str(argument) for argument in arguments]
    return forked.imbrex(words, cwd=folder, env={**os.environ, **environment}, timeout=200)
