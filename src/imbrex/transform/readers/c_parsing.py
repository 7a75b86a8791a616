"""A file of C as libclang parses it, with the flags of its compiler."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clang import cindex

from imbrex.errors import ImbrexError
from imbrex.transform.model.sources import CXX_SUFFIXES
from imbrex.transform.readers import c_declarations
from imbrex.transform.readers.c_encoding import as_text
from imbrex.transform.readers.c_precompiled import is_as_written, precompiled
from imbrex.transform.readers.c_source import (
    C_SUFFIXES,
    HEADERS,
    compiler_headers,
    is_compiler_header,
)

# What C before 1999 has, and compilers of C still take; functions of MPI want their header.
_OLD = (
    "-Wno-implicit-int",
    "-Wno-return-type",
    "-Wimplicit-function-declaration",
    "-Wno-error=implicit-function-declaration",
)
# What compilers of C++ take with a warning where the value is no constant: `int n[] = {a_long};`.
_NARROWING = ("-Wno-c++11-narrowing",)
_UNDECLARED_MPI = re.compile(r"(?:call to undeclared|implicit declaration of) function 'P?MPI_")
_OPENMP = re.compile(r"-[fq]?openmp(?:-simd|=\S+)?")


def parsed(path: Path, flags: list[str], data: bytes, contents: Mapping[Path, bytes]) -> Any:
    """libclang's translation unit of a file with this text."""
    plus_plus = path.suffix in CXX_SUFFIXES
    # No limit: an error of the file must not be hidden by many in the compiler's own headers.
    arguments = [*_plain_loops(flags), *compiler_headers(), "-ferror-limit=0"]
    arguments += ["-idirafter", str(HEADERS)]
    arguments = [*(_NARROWING if plus_plus else _OLD), *arguments]
    language = "c++" if plus_plus else "c"
    kept = precompiled(path, data, language, arguments, contents)
    arguments = ["-x", language, *arguments]
    more = [] if kept is None else kept.arguments
    index = cindex.Index.create(excludeDecls=kept is not None)
    declared = c_declarations.declarations()
    text = as_text(path, data)
    with tempfile.TemporaryFile() as captured:
        try:
            with _errors_into(captured.fileno()):
                given = [(str(path), text), (str(HEADERS / c_declarations.NAME), declared)]
                given += [
                    (prefix + str(other), as_text(other, edited))
                    for other, edited in contents.items()
                    if other != path and other.suffix not in C_SUFFIXES - {".h"}
                    for prefix in ("", "./")  # libclang tells the two apart
                ]
                unit = index.parse(str(path), args=[*arguments, *more], unsaved_files=given)
                if kept is not None and not is_as_written(unit, kept):
                    unit = index.parse(str(path), args=arguments, unsaved_files=given)
        except cindex.TranslationUnitLoadError as error:
            captured.seek(0)
            said = re.search(rb"error: (.*)", captured.read())
            message = said[1].decode(errors="replace") if said else str(error)
            flags_text = " ".join(flags) or "no flags"
            raise ImbrexError(
                f"{path} cannot be read by libclang with {flags_text}: {message}"
            ) from error
    for message in unit.diagnostics:
        undeclared = _UNDECLARED_MPI.match(message.spelling) is not None
        if message.severity >= cindex.Diagnostic.Error or undeclared:
            place = message.location
            if place.file and is_compiler_header(place.file.name):
                continue
            where = f"{place.file}:{place.line}" if place.file else str(path)
            raise ImbrexError(
                f"{where}: {message.spelling} "
                "(give the compiler's flags after --, or -p compile_commands.json)"
            )
    return unit


def _plain_loops(flags: list[str]) -> list[str]:
    """Flags with which libclang reads the loops behind OpenMP's directives, not constructs."""
    read: list[str] = []
    for flag in flags:
        if _OPENMP.fullmatch(flag):
            read += [] if "simd" in flag else ["-D_OPENMP=201511"]
        else:
            read.append(flag)
    return read


@contextlib.contextmanager
def _errors_into(target: int) -> Iterator[None]:
    """Have what libclang itself says of the flags, which goes to standard error, in a file."""
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(target, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
