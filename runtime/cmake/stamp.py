"""Write what this runtime is of and which MPI it belongs to: stamp.py MPICC VERSION LIBRARY FILE.

`imbrex run --runtime` reads the file that an installation has (docs/guide/run.md). LIBRARY is where
libimbrex.so is installed, relative to the prefix.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# The library answers before MPI_Init; in a process of its own, whatever it does when loaded.
ASK = """
import ctypes, sys
text, length = ctypes.create_string_buffer(65536), ctypes.c_int()
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL).MPI_Get_library_version(text, ctypes.byref(length))
sys.stdout.write(text.value.decode("utf-8", "replace").splitlines()[0])
"""


def linked_library(compiler: str) -> Path | None:
    """The MPI library that a program of this compiler loads; None where it cannot be told."""
    with tempfile.TemporaryDirectory() as scratch:
        source, program = Path(scratch) / "a.c", Path(scratch) / "a"
        source.write_text("#include <mpi.h>\nint main(void) { int f; return MPI_Finalized(&f); }\n")
        compiled = subprocess.run(
            [compiler, "-o", str(program), str(source)], capture_output=True, check=False
        )
        if compiled.returncode:
            return None
        try:
            done = subprocess.run(
                ["ldd", str(program)], capture_output=True, text=True, check=False
            )
        except OSError:
            return None
    found = re.search(r"^\s*libmpi\S*\.so\S* => (\S+)", done.stdout, re.MULTILINE)
    return Path(found[1]) if found else None


def version_line(library: Path) -> str:
    """The first line of MPI_Get_library_version; empty where the library does not say."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(library)],
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def main() -> None:
    compiler, version, installed, file = sys.argv[1:]
    library = linked_library(compiler)
    content = {
        "format": "imbrex-runtime",
        "schema_version": 1,
        "imbrex_version": version,
        "library": installed,
        "mpi": {
            "soname": library.name if library else "",
            "version": version_line(library) if library else "",
        },
    }
    Path(file).write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
