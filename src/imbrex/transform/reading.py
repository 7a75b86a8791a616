"""All files of a program read as one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.transform.call_stack import with_deep_stack
from imbrex.transform.model.program import Program
from imbrex.transform.options import Options
from imbrex.transform.readers import c_vectors
from imbrex.transform.readers.c import Asked, read_c
from imbrex.transform.readers.c_headers import settle_headers
from imbrex.transform.readers.c_joined import join
from imbrex.transform.readers.c_side_by_side import FileOfC, read_ahead
from imbrex.transform.readers.c_sole_instances import settle_instances
from imbrex.transform.readers.c_source import C_SUFFIXES
from imbrex.transform.readers.fortran import read_fortran
from imbrex.transform.readers.fortran_lines import is_form_flag
from imbrex.transform.readers.fortran_units import FORTRAN_SUFFIXES, Units
from imbrex.transform.readers.stated import read_stated


def read_program(paths: list[Path], options: Options) -> Program:
    """Read all files; those that cannot be read are noted in `skipped`.

    Raises ImbrexError where none can be read.
    """
    return with_deep_stack(lambda: _read_program(paths, options))


def _read_program(paths: list[Path], options: Options) -> Program:
    program = Program(
        single_thread=options.single_thread,
        errors_are_fatal=options.errors_are_fatal,
        reassociation=options.reassociation,
        root=options.root,
        aborts=options.aborts,
        row_lengths=options.row_lengths or {},
    )
    asked = Asked(options.checks, options.not_codes, options.aborts, options.row_lengths or {})
    units: list[Units] = []
    unreadable: dict[Path, str] = {}
    if len(paths) > 1:
        unreadable = read_ahead(options.kept, _of_c(paths, options), asked, options.contents)
    for path in paths:
        try:
            if path in unreadable:
                raise ImbrexError(unreadable[path])
            data = _text(path, options)
            if not data.strip():
                raise ImbrexError(f"{path}: the file is empty")
            if path.suffix in C_SUFFIXES:
                flags = _plain_flags(path, options)
                # A program of one file changes with each attempt.
                read = options.kept.read if len(paths) > 1 else read_c
                join(program, read(path, flags, data, asked, options.contents))
            elif path.suffix.lower() in FORTRAN_SUFFIXES:
                units.append(Units.of(path, data, options.flags_for(path)))
            else:
                raise ImbrexError(f"{path}: its name does not end like that of a C or Fortran file")
        except OSError as error:
            program.skipped[str(path)] = f"{path}: {error.strerror}"
        except ImbrexError as error:
            program.skipped[str(path)] = str(error)
    read_fortran(units, program, options.shared_names)
    settle_instances(program)
    settle_headers(program)
    c_vectors.settle(program)
    read_stated(program)
    if program.skipped:
        program.has_main = False  # what the file that was not read does is not known
    if not program.files:
        raise ImbrexError("; ".join(program.skipped.values()) or "no files were given")
    return program


def _text(path: Path, options: Options) -> bytes:
    given = options.contents.get(path)
    return path.read_bytes() if given is None else given


def _plain_flags(path: Path, options: Options) -> list[str]:
    """The flags of a file of C, without those that are of Fortran alone."""
    return [flag for flag in options.flags_for(path) if not is_form_flag(flag)]


def _of_c(paths: list[Path], options: Options) -> Iterator[FileOfC]:
    """The files of C; not those that cannot be opened, of which nothing can be kept."""
    for path in paths:
        if path.suffix in C_SUFFIXES:
            with contextlib.suppress(OSError):
                yield FileOfC(path, _plain_flags(path, options), _text(path, options))
