"""Which MPI a library file is, asked of the file itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from imbrex.network.assemble import library_name_and_version

_TIMEOUT_S = 20
# MPI_Get_library_version may be called before MPI_Init. In a process of its own: whatever the
# library does when it is loaded, it does not do it to us. The program is read with sys.argv.
_ASK = """
import ctypes, sys
text, length = ctypes.create_string_buffer(65536), ctypes.c_int()
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL).MPI_Get_library_version(text, ctypes.byref(length))
sys.stdout.buffer.write(text.value.split(b"\\n")[0])
"""


def library_version(file: Path) -> tuple[str, str] | None:
    """Short name and version of the MPI library in `file`; None where it does not say."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _ASK, str(file)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0 or not done.stdout.strip():
        return None
    return library_name_and_version(done.stdout.strip())
