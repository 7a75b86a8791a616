"""Which files that others include may be changed with them."""

from __future__ import annotations

import os

from imbrex.transform.model.program import Program
from imbrex.transform.model.sources import CXX_SUFFIXES, SourceFile


def is_editable(program: Program, source: SourceFile) -> bool:
    """Whether a file may be written, is in the program's folder where that is known, and has one
    name: under another it would be read as it was. Sources that others include count as read-only.
    """
    place = source.path.resolve()
    if program.root is not None and not place.is_relative_to(program.root):
        return False
    if source.header and source.path.suffix in CXX_SUFFIXES | {".c"}:
        return False
    if str(source.path) != source.name or not os.access(source.path, os.W_OK):
        return False
    return not any(s.name != source.name and s.path.resolve() == place for s in program.sources())
