"""A runtime that somebody has installed with CMake: where it is, and whether it fits."""

from __future__ import annotations

from pathlib import Path

from imbrex import __version__
from imbrex.errors import ImbrexError
from imbrex.formats.schema import Field, JsonFormat
from imbrex.formats.value_types import Object, Text, Whole
from imbrex.mpi_environment.mpi_library import MpiLibrary
from imbrex.network import library_version
from imbrex.network.assemble import library_name_and_version

STAMP = Path("share") / "imbrex" / "runtime.json"
_REMEDY = "install the runtime again (cmake --install)"
_LINE = Text(r"[^\x00-\x08\n-\x1f]{0,500}", "one line")
RUNTIME = JsonFormat(
    "the runtime.json of an installed runtime",
    _REMEDY,
    Object(
        (
            Field("format", Text(), '"imbrex-runtime"'),
            Field("schema_version", Whole(1), "1"),
            Field("imbrex_version", Text(r"[\w.+-]{1,40}", "a version"), "which Imbrex it is of"),
            Field(
                "library",
                Text(r"[\w./+-]{1,500}", "a path"),
                "libimbrex.so, relative to the prefix",
            ),
            Field(
                "mpi",
                Object(
                    (
                        Field("soname", _LINE, "file name of the MPI library, or empty"),
                        Field("version", _LINE, "first line of MPI_Get_library_version, or empty"),
                    )
                ),
                "the MPI library that it was built for",
            ),
        )
    ),
    identity="imbrex-runtime",
)


def installed_runtime(place: Path, library: MpiLibrary) -> Path:
    """The libimbrex.so of an installation, absolute; `place` is its prefix or that file.

    ImbrexError where there is none, or where it is of another Imbrex or for another MPI than
    `library`.
    """
    prefix = _prefix(place.absolute())
    found = RUNTIME.load(prefix / STAMP)
    if found["imbrex_version"] != __version__:
        raise ImbrexError(
            f"{place}: the runtime is of Imbrex {found['imbrex_version']}, this is {__version__}: "
            "install one of the same version, or leave it out"
        )
    theirs = library_version(library.file)
    ours = library_name_and_version(found["mpi"]["version"]) if found["mpi"]["version"] else None
    if theirs is not None and ours is not None and theirs != ours:
        raise ImbrexError(
            f"{place}: the runtime was built for {' '.join(ours)}, the program uses "
            f"{' '.join(theirs)}: name one that was built for it, or leave it out"
        )
    soname = found["mpi"]["soname"]
    if (theirs is None or ours is None) and soname and soname != library.soname:
        raise ImbrexError(
            f"{place}: the runtime was built for {soname}, the program loads {library.soname}: "
            "name one that was built for it, or leave it out"
        )
    runtime: Path = prefix / found["library"]
    if not runtime.is_file():
        raise ImbrexError(f"{runtime}: missing; {_REMEDY}")
    if " " in str(runtime) or ":" in str(runtime):
        raise ImbrexError(f"{runtime}: LD_PRELOAD takes no path with a blank or a colon")
    return runtime


def _prefix(place: Path) -> Path:
    """The prefix of an installation, from itself or from its libimbrex.so."""
    if place.is_dir() and (place / STAMP).is_file():
        return place
    if place.is_file():
        for folder in list(place.resolve().parents)[:4]:
            if (folder / STAMP).is_file():
                return folder
    raise ImbrexError(
        f"{place}: no runtime of Imbrex is installed there (no {STAMP}): "
        "give the prefix of cmake --install, or its libimbrex.so"
    )
