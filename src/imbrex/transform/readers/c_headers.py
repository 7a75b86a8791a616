"""Headers of a program in C or C++: the functions in them, and which of these may be edited."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from imbrex.transform.model.headers import is_editable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile

_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")


def note_headers(
    program: Program, unit: Any, source: SourceFile, texts: Mapping[str, bytes]
) -> None:
    """Enter the headers of one source file into what it says, and where they know MPI from."""
    known = _mpi_known_from(unit)
    for name, data in texts.items():
        if name != source.name:
            header = SourceFile(Path(name), name, data, Language.C, header=True)
            header.mpi_known_from = known.get(name, -1)
            header.in_cxx = source.is_cxx
            program.headers[name] = header


def join_headers(program: Program, headers: Mapping[str, SourceFile]) -> None:
    """Enter the headers of one source file beside those of others.

    MPI is known in them from where all that include them know it.
    """
    for name, header in headers.items():
        known = program.headers.get(name)
        if name in program.files:
            continue
        if known is None:
            program.headers[name] = header
            continue
        offsets = known.mpi_known_from, header.mpi_known_from
        known.mpi_known_from = -1 if min(offsets) < 0 else max(offsets)
        known.in_cxx = known.in_cxx or header.in_cxx


def header_of(program: Program, name: str) -> SourceFile:
    """The file that a function stands in, which may be none of the program's own."""
    found = program.files.get(name) or program.headers.get(name)
    path = Path(name)
    return found or SourceFile(path, name, path.read_bytes(), Language.C, header=True)


def _mpi_known_from(unit: Any) -> dict[str, int]:
    """Per header the byte from which on mpi.h is included: 0 where that was before the header."""
    found: dict[str, int] = {}
    known = False
    above: list[tuple[str, int]] = []  # the headers that are open, and where each goes on
    for include in unit.get_includes():
        name = str(include.include.name).removeprefix("./")
        del above[include.depth - 1 :]
        if above:
            above[-1] = (above[-1][0], int(include.location.offset))
        if known:
            found.setdefault(name, 0)
        elif Path(name).name == "mpi.h":
            known = True
            found.update(dict(above))
        above.append((name, 0))
    return found


@lru_cache(maxsize=1024)
def identifiers_of(data: bytes) -> frozenset[str]:
    """All names in a text; many files share one header."""
    return frozenset(match.decode() for match in _IDENTIFIER.findall(data))


def settle_headers(program: Program) -> None:
    """Let the headers be edited that have functions and one name; tell it of all others."""
    places = Counter((r.file, r.body.start) for r in program.routines.values())
    names: frozenset[str] | None = None
    for name, routines in _inside(program).items():
        header = program.headers.get(name)
        editable = header is not None and is_editable(program, header)
        if header is not None and editable:
            program.files[name] = header
            if names is None:
                names = frozenset().union(*(identifiers_of(s.data) for s in program.sources()))
        for routine in routines:
            if editable and names is not None:
                routine.exported = names
                if places[name, routine.body.start] == 1:
                    continue
                routine.problem = routine.problem or ReasonKind.HEADER_DIFFERS(file=name)
            routine.problem = routine.problem or ReasonKind.IN_HEADER(file=name)
            routine.body.insertable = False


def _inside(program: Program) -> dict[str, list[Routine]]:
    """The functions that are defined in each header."""
    found: dict[str, list[Routine]] = {}
    for routine in program.routines.values():
        if routine.file not in program.files:
            found.setdefault(routine.file, []).append(routine)
    return found
