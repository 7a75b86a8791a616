"""The sources of a measured program, and the flags to read them, from debug information."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.profile.compile_units import CompileUnit, compile_units
from imbrex.profile.run import Run
from imbrex.profile.sites import Site
from imbrex.transform.headers_found import folders_of_headers
from imbrex.transform.readers.c_source import C_SUFFIXES, compile_database
from imbrex.transform.readers.fortran_units import FORTRAN_SUFFIXES

MOST_FILES = 100
"""Of a program of more files those are read that its calls were made in and reached through."""
_DATABASES = ("compile_commands.json", "build/compile_commands.json")
_SYSTEM = ("/usr/", "/opt/", "/lib/")


def own_units(units: Iterable[CompileUnit]) -> list[CompileUnit]:
    """The units of the user's own sources that a rewrite can read."""
    known = C_SUFFIXES | FORTRAN_SUFFIXES
    return [
        unit
        for unit in units
        if unit.source.suffix in known and not str(unit.source).startswith(_SYSTEM)
    ]


def flags_of_units(
    root: Path, units: Iterable[CompileUnit], database: Path | None
) -> dict[Path, list[str]]:
    """The flags for reading each file: of a compile database, else what debug information tells.

    Its own folders of the user's come first, then those of the other files and where headers were
    found, and last what compilers took of the system.
    """
    if database is None:
        database = next((root / name for name in _DATABASES if (root / name).is_file()), None)
    known = compile_database(database) if database is not None else {}
    units = [unit for unit in units if unit.source in known or unit.source.is_file()]
    unknown = [unit for unit in units if unit.source not in known]
    taken = list(dict.fromkeys(folder for unit in unknown for folder in unit.includes))
    own = [folder for folder in taken if not _is_of_the_system(folder)]
    found = folders_of_headers(root, [unit.source for unit in unknown], own)
    mine = list(dict.fromkeys([*own, *found]))
    system = [folder for folder in taken if folder not in own]
    return {
        unit.source: known[unit.source] if unit.source in known else _flags(unit, mine, system)
        for unit in units
    }


def _flags(unit: CompileUnit, mine: Sequence[Path], system: Sequence[Path]) -> list[str]:
    own = [folder for folder in unit.includes if not _is_of_the_system(folder)]
    shared = [folder for folder in mine if folder not in own]
    # A strict standard hides what headers define with the program's own -D, which is unknown.
    standard = [o.replace("=c", "=gnu") for o in unit.options if o.startswith("-std=c")]
    form = [o for o in unit.options if o in ("-ffixed-form", "-ffree-form")]
    if unit.language == "Fortran":
        return [*(f"-I{folder}" for folder in (*own, *shared)), *standard, *form]
    last = [f"-idirafter{folder}" for folder in (*shared, *system)]
    return [*(f"-I{folder}" for folder in own), *last, *standard]


def _is_of_the_system(folder: Path) -> bool:
    return f"{folder}/".startswith(_SYSTEM)


def flags_of_run(run: Run) -> dict[Path, list[str]]:
    """The flags for reading each source of the program and libraries that made a run's calls."""
    units = _units(run)
    return flags_of_units(_common(units), units, None) if units else {}


def sources_of_run(run: Run) -> list[Path]:
    """The sources of the program and libraries that made a run's calls, as seen from here.

    ImbrexError where none is known, or is on this machine.
    """
    files = {unit.source: None for unit in _units(run)}
    if len(files) > MOST_FILES:
        places = {Path(site.file) for site in _places(run) if site.file is not None}
        files = {file: None for file in files if file in places}
    if not files:
        raise ImbrexError(
            f"{run.directory}: the sources of its program are not known here: name the files "
            "(it has no debug information, was moved, or its sources are elsewhere)"
        )
    return [_seen_from_here(file) for file in files]


def _units(run: Run) -> list[CompileUnit]:
    images = dict.fromkeys(site.image for site in _places(run) if site.image is not None)
    units = [unit for image in images for unit in compile_units(Path(image))]
    return [unit for unit in own_units(units) if unit.source.is_file()]


def _places(run: Run) -> tuple[Site, ...]:
    return run.sites + run.frames


def _common(units: list[CompileUnit]) -> Path:
    """The folder that holds all sources, and from which they were compiled."""
    folders = [f for u in units for f in (u.source.parent, u.folder) if not _is_of_the_system(f)]
    return Path(os.path.commonpath([folder for folder in folders if folder != Path("/")]))


def _seen_from_here(file: Path) -> Path:
    """Relative where it lies below the working directory."""
    here = Path.cwd().resolve()
    return file.relative_to(here) if file.is_relative_to(here) else file
