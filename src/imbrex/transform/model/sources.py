"""The files of a program: their text, their language, their lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from imbrex.transform.model.covered_calls import CheckedCall, CodeCheck

CXX_SUFFIXES = frozenset({".cc", ".cpp", ".cxx", ".C"})


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
        return self.data.count(b"\n", 0, offset) + 1
