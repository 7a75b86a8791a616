"""The system's headers of a C++ file, read once however often the file is read.

`#include <vector>` is 20,000 lines, and a program is read again at each step of the search for
rewrites. What a file includes first, of the system alone, is kept as libclang keeps it for itself,
from the second reading on.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from clang import cindex

from imbrex.transform.readers.c_source import HEADERS, is_compiler_header, is_of_the_system

MPI = "mpi.h"
_MOST = 16
"""So many are kept, of some megabytes each."""
_BEGIN = re.compile(
    rb"\s+|//[^\n]*|/\*.*?\*/|#[ \t]*include[ \t]*<(?P<name>[a-z][a-z_0-9]*(?:\.h)?)>", re.DOTALL
)
_FOLDERS = ("-isystem", "-iquote", "-idirafter", "-I")
_FOR_SERIALIZATION = (
    cindex.TranslationUnit.PARSE_INCOMPLETE | 0x10  # CXTranslationUnit_ForSerialization
)
_asked: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()


def precompiled(data: bytes, arguments: Sequence[str]) -> list[str]:
    """Further arguments of libclang for a C++ file with this text; none where nothing is kept.

    `arguments` are those with which it is read, but for its language.
    """
    names = _first_headers(data)
    if not names or _are_changed(names, arguments):
        return []
    key = (names, tuple(arguments))
    _asked[key] += 1
    file = _made(*key) if _asked[key] > 1 else None
    return [] if file is None else ["-include-pch", str(file)]


def is_as_written(unit: Any) -> bool:
    """Whether a file read so means the same: without errors, and with the reader's own mpi.h.

    Another mpi.h may depend on what was included before it.
    """
    found = (str(include.include.name) for include in unit.get_includes())
    return not has_errors(unit) and all(
        name.startswith(str(HEADERS)) for name in found if Path(name).name == MPI
    )


def has_errors(unit: Any) -> bool:
    """Whether libclang did not understand all of it."""
    return any(message.severity >= cindex.Diagnostic.Error for message in unit.diagnostics)


def _first_headers(data: bytes) -> tuple[str, ...]:
    """What a file includes before anything else, but for mpi.h."""
    names: dict[str, None] = {}
    at = 0
    while (match := _BEGIN.match(data, at)) is not None:
        at = match.end()
        if match["name"] is not None:
            names[match["name"].decode()] = None
    names.pop(MPI, None)
    return tuple(names)


def _are_changed(names: Sequence[str], arguments: Sequence[str]) -> bool:
    """Whether folders of the program's own, or files included before all, change these headers."""
    if any(argument.startswith("-include") for argument in arguments):
        return True
    words = iter(arguments)
    folders = []
    for argument in words:
        option = next((o for o in _FOLDERS if argument.startswith(o)), None)
        if option is not None:
            folders.append(Path(argument[len(option) :] or next(words, "")))
    return any(
        (folder / name).exists()
        for folder in folders
        for name in (*names, MPI)
        if folder != HEADERS and not is_compiler_header(str(folder / name))
    )


@lru_cache(maxsize=_MOST)
def _made(names: tuple[str, ...], arguments: tuple[str, ...]) -> Path | None:
    """The file that has read these headers; None where they cannot be read alone."""
    try:
        folder = Path(tempfile.mkdtemp(dir=_folder(os.getpid())))
        source, kept = folder / "headers.hpp", folder / "headers.pch"
        source.write_text("".join(f"#include <{name}>\n" for name in names))
        words = ["-x", "c++-header", *arguments]
        unit = cindex.Index.create().parse(str(source), args=words, options=_FOR_SERIALIZATION)
        files = [str(include.include.name) for include in unit.get_includes()]
        if has_errors(unit) or not all(map(is_of_the_system, files)):
            return None
        unit.save(str(kept))
    except (OSError, cindex.TranslationUnitLoadError, cindex.TranslationUnitSaveError):
        return None
    return kept


@lru_cache(maxsize=1)
def _folder(process: int) -> str:
    """A folder of this process, not of one that it was forked from, until its end."""
    folder = tempfile.mkdtemp(prefix="imbrex-headers-")

    def remove() -> None:
        if os.getpid() == process:
            with contextlib.suppress(OSError):
                shutil.rmtree(folder)

    atexit.register(remove)
    return folder
