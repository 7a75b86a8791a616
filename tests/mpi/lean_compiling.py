"""Flags that leave out of an MPI's headers what takes longest to compile and no program here uses.

These are the bindings for C++, which MPI has removed, and the interfaces of MPI_SIZEOF in Open MPI.
"""

from __future__ import annotations

from pathlib import Path

HEADERS = Path(__file__).parent / "transform" / "quick_headers"
WITHOUT_BINDINGS = ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
WITHOUT_SIZEOF = [f"-I{HEADERS}"]
OF_SUFFIX = {
    ".c": [],
    ".cpp": WITHOUT_BINDINGS,
    ".f": WITHOUT_SIZEOF,
    ".f90": WITHOUT_SIZEOF,
}
