"""Files of C that were read before: the next reading of a program takes over what stays the same.

The search tries one text after the other, most of whose files are those of the text before. What
a file says depends on it, its headers and its flags alone. Analyses change the model that they are
given, so that a copy is kept: the bytes of `pickle`, of which a new model is made in a fraction of
the time that reading takes.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from imbrex.transform.model.program import Program
from imbrex.transform.readers.c import Asked, read_c
from imbrex.transform.readers.c_headers import identifiers_of

_MOST = 4  # readings of one file: as it was, and of what the search has last tried


@dataclass(slots=True)
class Reading:
    """What a file said, and what that depended on."""

    flags: list[str]
    data: bytes
    asked: Asked
    headers: dict[str, bytes]
    checking: bool  # checks of codes are read otherwise than they stand
    coded: bool  # some of them by the names of variables
    throws: bool
    variables: frozenset[str]
    model: bytes

    def holds(self, asked: Asked, contents: Mapping[Path, bytes]) -> bool:
        """Whether reading the file anew would give the same."""
        known = self.asked
        if asked.checks != known.checks and (self.checking or not known.checks):
            return False
        if asked.not_codes != known.not_codes and (
            self.coded or not asked.not_codes >= known.not_codes
        ):
            return False
        if asked.aborts != known.aborts and (self.throws or not known.aborts):
            return False
        if self._rows(asked) != self._rows(known):
            return False
        return all(contents.get(Path(name), text) == text for name, text in self.headers.items())

    def _rows(self, asked: Asked) -> dict[str, object]:
        lengths = asked.row_lengths
        return {key: lengths[key] for key in lengths if key in self.variables}


@dataclass(slots=True)
class KeptFiles:
    """What files said while one program was searched."""

    _readings: dict[Path, list[Reading]] = field(default_factory=dict)

    def read(
        self,
        path: Path,
        flags: list[str],
        data: bytes,
        asked: Asked,
        contents: Mapping[Path, bytes],
    ) -> Program:
        """What a file says, as `read_c`, with its own model each time."""
        reading = self.known(path, flags, data, asked, contents)
        if reading is not None:
            return _restored(reading)
        part, reading = read_to_keep(path, flags, data, asked, contents)
        if reading is not None:
            self.keep(path, reading)
        return part

    def keep(self, path: Path, reading: Reading) -> None:
        """Have what a file said at hand from now on."""
        readings = self._readings.setdefault(path, [])
        readings.append(reading)
        if len(readings) > _MOST:
            del readings[1]  # the first one is the text as the user has it

    def known(
        self,
        path: Path,
        flags: list[str],
        data: bytes,
        asked: Asked,
        contents: Mapping[Path, bytes],
    ) -> Reading | None:
        """What such a file says, if that is at hand."""
        for reading in self._readings.get(path, []):
            same = reading.flags == flags and reading.data == data
            if same and reading.holds(asked, contents):
                return reading
        return None


def read_to_keep(
    path: Path,
    flags: list[str],
    data: bytes,
    asked: Asked,
    contents: Mapping[Path, bytes],
) -> tuple[Program, Reading | None]:
    """What a file says, as `read_c`, and how it is kept.

    None instead for one that is nested very deeply: it is read each time.
    """
    part = read_c(path, flags, data, asked, contents)
    try:
        return part, _kept(part, path, flags, asked)
    except (RecursionError, pickle.PicklingError):
        return part, None


def _kept(part: Program, path: Path, flags: list[str], asked: Asked) -> Reading:
    source = part.files[str(path)]
    routines = list(part.routines.values())
    exported = [routine.exported for routine in routines]
    for routine in routines:
        routine.exported = frozenset()  # the names in all its texts, which are kept as they are
    try:
        model = pickle.dumps(part, pickle.HIGHEST_PROTOCOL)
    finally:
        for routine, names in zip(routines, exported, strict=True):
            routine.exported = names
    return Reading(
        flags,
        source.data,
        asked,
        {name: header.data for name, header in part.headers.items()},
        bool(source.checking or source.checked or source.code_checks),
        bool(source.code_checks),
        part.throws,
        frozenset(part.variables),
        model,
    )


def _restored(reading: Reading) -> Program:
    part: Program = pickle.loads(reading.model)
    texts = [source.data for source in part.sources()]
    names = frozenset().union(*map(identifiers_of, texts))
    for routine in part.routines.values():
        routine.exported = names
    return part
