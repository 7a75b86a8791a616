"""What writes the statements of a routine: that of the language which its file is in."""

from __future__ import annotations

from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.text.c_text import CText
from imbrex.transform.text.emit import Text
from imbrex.transform.text.fortran_text import FortranText


def text_of(program: Program, source: SourceFile, routine: Routine, count: int) -> Text:
    """The writer of a routine with `count` requests of its own."""
    if source.language is Language.C:
        return CText(source, routine, count)
    return FortranText(program, source, routine, count)
