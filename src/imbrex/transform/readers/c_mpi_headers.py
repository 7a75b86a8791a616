"""Headers of an MPI library that the compiler's flags name, as `-I$MPI_HOME/include`.

They are no part of the program: with `-I` alone libclang takes the C++ bindings there for code of
the program's, whose calls to MPI are then reported, and which no analysis can follow.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from imbrex.transform.readers.c_source import header_folders

_OF_A_LIBRARY = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(?:OMPI_MAJOR_VERSION|MPICH_VERSION|I_MPI_VERSION)\b",
    re.MULTILINE,
)


def as_of_the_system(flags: list[str]) -> list[str]:
    """The flags with the folders of MPI libraries after `-isystem`, also those of CPATH, which
    environment modules set and libclang reads as `-I`."""
    told: list[str] = []
    for flag, folder in _with_folders(flags):
        told += ["-isystem", folder] if _is_of_a_library(folder) else flag
    for folder in os.environ.get("CPATH", "").split(os.pathsep):
        told += ["-isystem", folder] if _is_of_a_library(folder) else []
    return told


def is_of_a_library(name: str, flags: list[str]) -> bool:
    """Whether a header lies in, or below, a folder of an MPI library that the flags name."""
    return any(
        name.startswith(f"{folder}/") and _is_of_a_library(str(folder))
        for folder in header_folders(flags)["-isystem"]
    )


def _with_folders(flags: Iterable[str]) -> Iterator[tuple[list[str], str]]:
    """Each flag with what belongs to it, and the folder that an `-I` names; empty for others."""
    words = iter(flags)
    for flag in words:
        if flag == "-I":
            folder = next(words, "")
            yield [flag, folder], folder
        else:
            yield [flag], flag[2:] if flag.startswith("-I") else ""


@lru_cache(maxsize=256)
def _is_of_a_library(folder: str) -> bool:
    if not folder:
        return False
    try:
        return _OF_A_LIBRARY.search(Path(folder, "mpi.h").read_bytes()) is not None
    except OSError:
        return False
