"""All files of a program read as one."""

from __future__ import annotations

from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.transform.call_stack import with_deep_stack
from imbrex.transform.model.program import Program
from imbrex.transform.options import Options
from imbrex.transform.readers import c_vectors
from imbrex.transform.readers.c import Asked, read_c
from imbrex.transform.readers.c_headers import settle_headers
from imbrex.transform.readers.c_joined import join
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
    for path in paths:
        try:
            data = options.contents.get(path)
            if data is None:
                data = path.read_bytes()
            if not data.strip():
                raise ImbrexError(f"{path}: the file is empty")
            flags = options.flags_for(path)
            if path.suffix in C_SUFFIXES:
                plain = [f for f in flags if not is_form_flag(f)]
                # A program of one file changes with each attempt.
                read = options.kept.read if len(paths) > 1 else read_c
                join(program, read(path, plain, data, asked, options.contents))
            elif path.suffix.lower() in FORTRAN_SUFFIXES:
                units.append(Units.of(path, data, flags))
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
