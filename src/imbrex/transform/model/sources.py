"""The files of a program: their text, their language, their lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from pathlib import Path

from imbrex.transform.model.covered_calls import CheckedCall, CodeCheck

CXX_SUFFIXES = frozenset({".cc", ".cpp", ".cxx", ".C"})


_NO_CODE = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\[^\n]|[^'\\\n])'", re.DOTALL
)


@lru_cache(maxsize=16)
def code_of_c(data: bytes) -> bytes:
    """A text of C or C++ with blanks in the place of comments, strings and characters."""
    return _NO_CODE.sub(lambda found: b" " * len(found[0]), data)


@lru_cache(maxsize=16)
def line_starts(data: bytes) -> tuple[int, ...]:
    """The bytes at which the lines of a text begin."""
    return (0, *(match.end() for match in re.finditer(rb"\n", data)))


class Language(Enum):
    C = "C"
    FORTRAN_FIXED = "Fortran, fixed form"
    FORTRAN_FREE = "Fortran, free form"


@dataclass(slots=True)
class SourceFile:
    path: Path
    name: str
    data: bytes
    language: Language
    notes: list[str] = field(default_factory=list)
    mpi_known_from: int = -1  # C: where mpi.h is included, itself or through another header
    header: bool = False  # C: it is not given but included by files that are
    in_cxx: bool = False  # a header that a file of C++ includes
    # C: calls that are read without the macro around them, by where the call begins.
    checked: dict[int, CheckedCall] = field(default_factory=dict)
    # C: statements that check a variable's code, by where its name stands, read as that name.
    code_checks: dict[int, CodeCheck] = field(default_factory=dict)
    checking: frozenset[str] = frozenset()  # C: macros that do nothing with a code of success

    @property
    def is_fortran(self) -> bool:
        return self.language is not Language.C

    @property
    def is_cxx(self) -> bool:
        return self.in_cxx or self.path.suffix in CXX_SUFFIXES

    @property
    def binds_c(self) -> bool:
        """Whether Fortran code gives procedures the names that they have in C."""
        return re.search(rb"(?i)\bbind\s*\(\s*c\b", self.data) is not None

    def line_of(self, offset: int) -> int:
        return bisect_right(line_starts(self.data), offset)

    def start_of(self, line: int) -> int:
        """Where a line begins, the first of which is 1; the end of the text behind the last."""
        starts = line_starts(self.data)
        return starts[line - 1] if line <= len(starts) else len(self.data)
