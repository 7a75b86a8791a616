"""The words in the text of statements, where more may be named than the model says."""

from __future__ import annotations

import re

from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Statement


def words_in(program: Program, routine: Routine, statement: Statement) -> set[bytes]:
    """Those of a statement of a routine, in small letters."""
    source = program.files.get(routine.file) or program.headers[routine.file]
    return set(re.findall(rb"\w+", source.data[statement.start : statement.end].lower()))
