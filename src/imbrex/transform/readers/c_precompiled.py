"""The system's headers of a C or C++ file, read once however often files with them are read.

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
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from clang import cindex

from imbrex.transform.readers.c_first_headers import FirstHeaders
from imbrex.transform.readers.c_source import (
    HEADERS,
    header_folders,
    is_compiler_header,
    is_of_the_system,
)

MPI = "mpi.h"
_MOST = 16
"""So many are kept, of some megabytes each."""
_FOR_SERIALIZATION = (
    cindex.TranslationUnit.PARSE_INCOMPLETE | 0x10  # CXTranslationUnit_ForSerialization
)
# Or the end of each file read with them instantiates all that these headers use of themselves.
_INSTANTIATED = "-fpch-instantiate-templates"
_CAPITAL = re.compile(rb"\b[A-Z]\w*")
_asked: Counter[tuple[str, tuple[str, ...], tuple[str, ...]]] = Counter()


@dataclass(frozen=True, slots=True)
class Kept:
    """Headers that were read: the file that has them, and what the program must have besides."""

    file: Path
    own: tuple[str, ...]  # headers of the program that include them

    @property
    def arguments(self) -> list[str]:
        """Further arguments of libclang."""
        return ["-include-pch", str(self.file)]


def precompiled(
    path: Path,
    data: bytes,
    language: str,
    arguments: Sequence[str],
    contents: Mapping[Path, bytes],
) -> Kept | None:
    """What is kept of the headers of a file with this text; None where nothing is.

    `language`: "c" or "c++"; `arguments` are those with which it is read, but for its language;
    `contents`: what to read in the place of headers on disk.
    """
    folders = header_folders(arguments)
    first = FirstHeaders(contents, [*folders["-iquote"], *folders["-I"]])
    first.find(path, data)
    names = tuple(name for name in dict.fromkeys(first.names) if name != MPI)
    if not names or _are_changed(names, arguments):
        return None
    key = (language, names, tuple(arguments))
    _asked[key] += 1
    made = _made(*key) if _asked[key] > 1 else None
    if made is None or (first.guards and _may_mean_more(first.guards, made, arguments)):
        return None
    return Kept(made.file, tuple(first.own))


def is_as_written(unit: Any, kept: Kept) -> bool:
    """Whether a file read so means the same: without errors, and with the reader's own mpi.h.

    Another mpi.h may depend on what was included before it. Headers of the program are those whose
    beginnings were looked at.
    """
    found = {str(include.include.name) for include in unit.get_includes()}
    return (
        not has_errors(unit)
        and {name.removeprefix("./") for name in found}.issuperset(kept.own)
        and all(name.startswith(str(HEADERS)) for name in found if Path(name).name == MPI)
    )


def has_errors(unit: Any) -> bool:
    """Whether libclang did not understand all of it."""
    return any(message.severity >= cindex.Diagnostic.Error for message in unit.diagnostics)


def _are_changed(names: Sequence[str], arguments: Sequence[str]) -> bool:
    """Whether folders of the program's own, or files included before all, change these headers."""
    if any(argument.startswith("-include") for argument in arguments):
        return True
    return any(
        (folder / name).exists()
        for of_option in header_folders(arguments).values()
        for folder in of_option
        for name in (*names, MPI)
        if folder != HEADERS and not is_compiler_header(str(folder / name))
    )


@dataclass(frozen=True, slots=True)
class _Made:
    """Headers as libclang keeps them, and the files that they are made of."""

    file: Path
    of: tuple[str, ...]


@lru_cache(maxsize=_MOST)
def _made(language: str, names: tuple[str, ...], arguments: tuple[str, ...]) -> _Made | None:
    """The file that has read these headers; None where they cannot be read alone."""
    try:
        folder = Path(tempfile.mkdtemp(dir=_folder(os.getpid())))
        source, kept = folder / "headers.hpp", folder / "headers.pch"
        source.write_text("".join(f"#include <{name}>\n" for name in names))
        words = ["-x", f"{language}-header", _INSTANTIATED, *arguments]
        unit = cindex.Index.create().parse(str(source), args=words, options=_FOR_SERIALIZATION)
        files = [str(include.include.name) for include in unit.get_includes()]
        if has_errors(unit) or not all(map(is_of_the_system, files)):
            return None
        given = header_folders(arguments)
        own = tuple(f"{folder}/" for folder in (*given["-iquote"], *given["-I"]))
        if any(name.startswith(own) for name in files):  # its functions are the program's
            return None
        unit.save(str(kept))
    except (OSError, cindex.TranslationUnitLoadError, cindex.TranslationUnitSaveError):
        return None
    return _Made(kept, tuple(dict.fromkeys(files)))


def _may_mean_more(guards: Set[str], made: _Made, arguments: Sequence[str]) -> bool:
    """Whether macros that guard headers of the program may stand for anything else as well."""
    given = any(guard in argument for guard in guards for argument in arguments)
    return given or not guards.isdisjoint(_names_in_upper_case(made.of))


@lru_cache(maxsize=_MOST)
def _names_in_upper_case(files: tuple[str, ...]) -> frozenset[str]:
    """The names in these headers, and in those of MPI, that begin with a capital letter."""
    texts = [file.read_bytes() for file in (*map(Path, files), *HEADERS.glob("*.h"))]
    return frozenset(name.decode() for text in texts for name in _CAPITAL.findall(text))


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
