"""C sources as files: preprocessor lines, compiler flags, compile databases."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.transform.readers.fortran_lines import is_form_flag

HEADERS = Path(__file__).resolve().parent.parent / "headers"
_FOLDERS = ("-isystem", "-iquote", "-idirafter", "-I")
C_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cxx", ".C", ".h"})

_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(\w*)((?:\\\r?\n|[^\n])*)", re.MULTILINE)
# Pragmas that leave the meaning of the loop behind them as it is written.
_HARMLESS = re.compile(
    rb"\s*(omp\s+(parallel\s+for|for|simd|parallel\s+for\s+simd|for\s+simd)\b|GCC\s+ivdep|ivdep"
    rb"|unroll|clang\s+loop|simd|vector|GCC\s+unroll|imbrex\s+independent)"
)


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessor line; `attached` ones belong to the statement that follows."""

    start: int
    end: int
    text: str
    attached: bool


def directives(data: bytes) -> list[Directive]:
    """All preprocessor lines of a file, in order."""
    found = []
    for match in _DIRECTIVE.finditer(data):
        attached = match[1] == b"pragma" and _HARMLESS.match(match[2]) is not None
        text = match[0].decode(errors="replace").strip().split("\n")[0]
        found.append(Directive(match.start(), match.end(), text, attached))
    return found


@lru_cache(maxsize=1)
def compiler_headers() -> list[str]:
    """Flags that show libclang the compiler's own headers (stddef.h and the like)."""
    for compiler in ("gcc", "clang", "cc"):
        path = shutil.which(compiler)
        if path is None:
            continue
        answer = subprocess.run(
            [path, "-print-file-name=include"], capture_output=True, text=True, check=False
        ).stdout.strip()
        if Path(answer).is_dir():
            return ["-isystem", answer]
    return []


def is_compiler_header(name: str) -> bool:
    """Whether a file is one of the compiler's own headers, as xmmintrin.h.

    Those of gcc use functions of gcc that libclang does not know. What such an error takes away
    from a program is an error in the program's own file too.
    """
    return any(name.startswith(folder + "/") for folder in compiler_headers()[1:])


@lru_cache(maxsize=4096)
def is_of_the_system(name: str) -> bool:
    """Whether a header is of the system: no part of the program, whatever it holds.

    libclang names those of the C++ library by their way from its own folder.
    """
    place = os.path.realpath(name) if "/../" in name else name
    return place.startswith("/usr/") or is_compiler_header(place)


def header_folders(arguments: Sequence[str]) -> dict[str, list[Path]]:
    """The folders of headers that a compiler's arguments name, by the option that names them."""
    words = iter(arguments)
    found: dict[str, list[Path]] = {option: [] for option in _FOLDERS}
    for argument in words:
        option = next((o for o in _FOLDERS if argument.startswith(o)), None)
        if option is not None:
            found[option].append(Path(argument[len(option) :] or next(words, "")))
    return found


_DEEP = "it is nested too deeply"


def compile_database(path: Path) -> dict[Path, list[str]]:
    """Flags per source file of a `compile_commands.json`.

    Raises ImbrexError where the file is missing or not a compile database.
    """
    if path.is_dir():
        path = path / "compile_commands.json"
    try:
        entries = json.loads(path.read_text())
        if not isinstance(entries, list):
            raise ValueError("it is no list of entries")
        return dict(_flags_of(number, entry) for number, entry in enumerate(entries, start=1))
    except OSError as error:
        raise ImbrexError(f"{path} is not a readable compile database: {error.strerror}") from error
    except RecursionError as error:
        raise ImbrexError(f"{path} is not a readable compile database: {_DEEP}") from error
    except ValueError as error:
        raise ImbrexError(f"{path} is not a readable compile database: {error}") from error


def _flags_of(number: int, entry: object) -> tuple[Path, list[str]]:
    """The file of an entry and its flags.

    Raises ValueError, with the entry and the key, where it is not as it should be.
    """
    known = entry if isinstance(entry, dict) else {}
    for key in ("directory", "file"):
        if not isinstance(known.get(key), str):
            raise ValueError(f"entry {number} has no {key}")
    arguments = known.get("arguments")
    if arguments is None and isinstance(known.get("command"), str):
        try:
            arguments = shlex.split(known["command"])
        except ValueError as error:
            raise ValueError(f"the command of entry {number}: {error}") from error
    if not isinstance(arguments, list) or not all(
        isinstance(argument, str) for argument in arguments
    ):
        raise ValueError(f"entry {number} has neither a command nor arguments")
    folder = Path(known["directory"])
    return (folder / known["file"]).resolve(), _relevant(arguments[1:], folder)


def _relevant(arguments: list[str], folder: Path) -> list[str]:
    """The flags that matter for reading, with include paths made absolute."""
    kept: list[str] = []
    pending: str | None = None
    for argument in arguments:
        if pending is not None:
            value = argument if pending == "-D" else str(folder / argument)
            kept += [pending, value]
            pending = None
        elif argument in ("-I", "-isystem", "-include", "-iquote", "-D"):
            pending = argument
        elif argument.startswith("-I"):
            kept.append("-I" + str(folder / argument[2:]))
        elif argument.startswith(("-D", "-U", "-std")) or is_form_flag(argument):
            kept.append(argument)
    return kept
