"""The `imbrex` command of this Python, in a folder, on real ranks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def imbrex(
    folder: Path, *arguments: object, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "imbrex.cli", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        env={**os.environ, **environment},
    )
